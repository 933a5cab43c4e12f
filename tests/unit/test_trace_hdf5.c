/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canonical HDF5 form: it replays to the same digest as its source, other
 * programs can read it, and files that are not one are refused. Bad files are made
 * by changing a good one with the HDF5 library, or by cutting its bytes. */
#include "traces/trace.h"

#include "traces/hdf5_layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[4096]; /* the project, from which the tests are run */

static int enter(void **state)
{
	char *dir = strdup("/tmp/cotenant-test-XXXXXX");

	if (!getcwd(root, sizeof root) || !mkdtemp(dir) || chdir(dir))
		return -1;
	*state = dir;
	return 0;
}

static int leave(void **state)
{
	static const char *const files[] = { "t.csv", "t.h5", "u.h5", "t.py", "out.txt" };
	int rc;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		unlink(files[i]);
	if (chdir(root))
		return -1;
	rc = rmdir(*state);
	free(*state);
	return rc;
}

static void put_file(const char *name, const void *bytes, size_t n)
{
	FILE *f = fopen(name, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static char *get_file(const char *name, size_t *n)
{
	FILE *f = fopen(name, "rb");
	char *bytes;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*n = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*n + 1);
	assert_int_equal(fread(bytes, 1, *n, f), *n);
	bytes[*n] = '\0';
	fclose(f);
	return bytes;
}

static struct ct_workload *read_file(const char *path, const struct ct_trace_options *o)
{
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;

	if (ct_trace_read(path, o, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static void write_h5(const struct ct_workload *w, const char *path)
{
	struct ct_err err = { 0 };

	if (ct_trace_write_h5(w, path, &err))
		fail_msg("%s", err.text);
}

static void refuses(const char *path, const char *message)
{
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;

	assert_int_equal(ct_trace_read(path, NULL, &w, &err), CT_ETRACE);
	assert_string_equal(err.text, message);
	assert_null(w);
}

static const char sample[] =
    "job_id,submit_time,num_gpus,duration,user,group,model,partition,gpu_type,gpu_milli,min_gpus,max_gpus,priority,"
    "deadline,requested_time,num_cpus,mem_mib,gpu_mem_mib,sm_frac,state,a/b.c,\xc3\xa9t\xc3\xa9\n"
    "j1,0.000001,4,100.5,u1,g,bert,p,A100,,2,8,-7,1e6,200,0.5,1024,2048,0.3,ok,x,\"1,2\"\n"
    "j-two,5,1,7,u2,,,,,250,,,,,,,,,,,,\n"
    "3,3,0,7,u1,,vgg,,,,,,,,,8,,,,,y,z\n";

static struct ct_workload *read_sample(void)
{
	put_file("t.csv", sample, sizeof sample - 1);
	return read_file("t.csv", NULL);
}

/* ---- round trips */

static void assert_same(const struct ct_workload *a, const struct ct_workload *b)
{
	assert_string_equal(a->digest, b->digest);
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_columns, b->n_columns);
	for (size_t i = 0; i < a->n_columns; i++)
		assert_string_equal(a->columns[i].name, b->columns[i].name);
	for (size_t i = 0; i < a->n; i++)
		assert_int_equal(a->jobs[i].line, b->jobs[i].line);
}

static void test_all_columns_come_back(void **state)
{
	struct ct_workload *a = read_sample(), *b;

	(void)state;
	write_h5(a, "t.h5");
	b = read_file("t.h5", NULL);
	assert_same(a, b);
	assert_string_equal(b->report.format, "cotenant-hdf5");
	assert_string_equal(b->report.source, "t.h5");
	assert_string_equal(b->jobs[0].id, "j1");
	assert_int_equal(b->jobs[0].submit_us, 1);
	assert_int_equal(b->jobs[0].priority, -7);
	ct_workload_free(a);
	ct_workload_free(b);
}

static void test_report_survives(void **state)
{
	const struct ct_trace_options drop = { .on_bad_row = CT_BAD_ROW_DROP };
	static const char text[] = "job_id,submit_time,num_gpus,duration\na,5,1,1\nb,1,1,0\nc,2,1,3\n";
	struct ct_workload *a, *b, *c;

	(void)state;
	put_file("t.csv", text, sizeof text - 1);
	a = read_file("t.csv", &drop);
	write_h5(a, "t.h5");
	b = read_file("t.h5", NULL);
	write_h5(b, "u.h5"); /* a copy of a copy still knows the first */
	c = read_file("u.h5", NULL);
	assert_string_equal(b->report.origin, "t.csv (csv)");
	assert_string_equal(c->report.origin, "t.csv (csv)");
	assert_int_equal(c->report.rows_read, 3);
	assert_int_equal(c->report.rows_kept, 2);
	assert_int_equal(c->report.n_rules, 2);
	assert_string_equal(c->report.rules[0].rule, "dropped_zero_duration");
	assert_int_equal(c->report.rules[0].rows, 1);
	assert_int_equal(c->report.rules[0].dropped, 1);
	assert_string_equal(c->report.rules[1].rule, "unsorted_submit");
	assert_string_equal(c->report.rules[1].meaning, a->report.rules[1].meaning);
	assert_int_equal(c->report.rules[1].dropped, 0);
	assert_same(a, c);
	ct_workload_free(a);
	ct_workload_free(b);
	ct_workload_free(c);
}

/* Several chunks; and the same bytes for the same jobs. */
static void test_many_jobs_and_same_bytes(void **state)
{
	struct ct_workload *a, *b;
	FILE *f = fopen("t.csv", "wb");
	char *one, *two;
	size_t n_one, n_two;

	(void)state;
	fputs("job_id,submit_time,num_gpus,duration,user,note\n", f);
	for (int i = 0; i < 3 * CT_H5_BLOCK + 17; i++)
		fprintf(f, "job-%d,%d.25,%d,%d,u%d,n%d\n", i, i / 3, i % 8 + 1, i % 977 + 1, i % 50, i);
	fclose(f);
	a = read_file("t.csv", NULL);
	write_h5(a, "t.h5");
	write_h5(a, "u.h5");
	b = read_file("t.h5", NULL);
	assert_same(a, b);
	one = get_file("t.h5", &n_one);
	two = get_file("u.h5", &n_two);
	assert_int_equal(n_one, n_two);
	assert_memory_equal(one, two, n_one);
	free(one);
	free(two);
	ct_workload_free(a);
	ct_workload_free(b);
}

static void test_conformance_files(void **state)
{
	static const char *const files[] = { "conformance/jobs_1000_le8.csv.gz", "pai_sim/pai_sim_synth_2000.csv.gz" };

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[5000];
		struct ct_workload *a, *b;

		snprintf(path, sizeof path, "%s/tests/data/%s", root, files[i]);
		a = read_file(path, NULL);
		assert_true(a->n == 1000 || a->n == 2000);
		write_h5(a, "t.h5");
		b = read_file("t.h5", NULL);
		assert_same(a, b);
		ct_workload_free(a);
		ct_workload_free(b);
	}
}

static void test_column_names(void **state)
{
	static const struct {
		const char *name, *link;
	} pairs[] = {
		{ "plain_name-2", "plain_name-2" }, { "a/b.c", "a%2Fb%2Ec" }, { ".", "%2E" }, { "50%", "50%25" }
	};
	static const char *const bad[] = { "", "a.b", "%", "%2", "%zz", "%00", "a%2f" };
	char link[CT_H5_LINK_LIMIT], name[CT_NAME_LIMIT + 1];

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		ct_h5_link_name(pairs[i].name, link);
		assert_string_equal(link, pairs[i].link);
		assert_int_equal(ct_h5_column_name(link, name), 0);
		assert_string_equal(name, pairs[i].name);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(ct_h5_column_name(bad[i], name), -1);
}

/* ---- another program */

/* Output in out.txt; skips the test where python or h5py is missing. */
static void run_python(const char *program)
{
	FILE *f = fopen("t.py", "wb");
	int rc;

	fprintf(f, "import sys\ntry:\n    import h5py, numpy as np\nexcept ImportError:\n    sys.exit(77)\n%s",
		program);
	fclose(f);
	rc = system("test -x /usr/bin/python3 || exit 77; exec /usr/bin/python3 t.py >out.txt");
	if (WIFEXITED(rc) && WEXITSTATUS(rc) == 77) {
		print_message("skipped: no /usr/bin/python3 with h5py\n");
		skip();
	}
	assert_int_equal(rc, 0);
}

static const char python[] =
    "f = h5py.File('t.h5', 'r')\n"
    "text = f['strings'][:].tobytes().split(b'\\0')[:-1]\n"
    "j = f['jobs']\n"
    "for i in range(f.attrs['jobs']):\n"
    "    print(j['job_id'][i].decode(), j['submit_time'][i], j['duration'][i], j['num_gpus'][i], j['gpu_milli'][i],\n"
    "          j['num_cpus'][i], j['deadline'][i], text[j['user'][i]].decode(), '%.1f' % j['sm_frac'][i], end=' ')\n"
    "    print(*(text[d[i]].decode() for d in sorted(f['extra'].values(), key=lambda d: d.attrs['order'])), sep='|')\n"
    "print(j['submit_time'].attrs['unit'].decode(), f['report'].attrs['origin'].decode())\n";

static void test_h5py_reads_it(void **state)
{
	struct ct_workload *w;
	char *out;
	size_t n;

	(void)state;
	w = read_sample();
	write_h5(w, "t.h5");
	ct_workload_free(w);
	run_python(python);
	out = get_file("out.txt", &n);
	assert_string_equal(out, "j1 1 100500000 4 1000 500 1000000000000 u1 0.3 x|1,2\n"
				 "3 3000000 7000000 0 1000 8000 -1 u1 nan y|z\n"
				 "j-two 5000000 7000000 1 250 0 -1 u2 nan |\n"
				 "us t.csv (csv)\n");
	free(out);
}

/* What someone writes with h5py, without digest, report and optional columns. */
static void test_h5py_writes_it(void **state)
{
	static const char writer[] = "f = h5py.File('t.h5', 'w')\n"
				     "f.attrs['format'] = 'cotenant-trace'; f.attrs['version'] = 1\n"
				     "g = f.create_group('jobs')\n"
				     "g['job_id'] = np.array([b'a', b'bb'])\n"
				     "g['submit_time'] = np.array([0, 2500000])\n"
				     "g['num_gpus'] = np.array([1, 2], dtype='u2')\n"
				     "g['duration'] = np.array([10, 20]) * 1000000\n"
				     "f.attrs['complete'] = 1\n";
	static const char text[] = "job_id,submit_time,num_gpus,duration\na,0,1,10\nbb,2.5,2,20\n";
	struct ct_workload *a, *b;

	(void)state;
	run_python(writer);
	put_file("t.csv", text, sizeof text - 1);
	a = read_file("t.h5", NULL);
	b = read_file("t.csv", NULL);
	assert_string_equal(a->digest, b->digest);
	ct_workload_free(a);
	ct_workload_free(b);
}

/* ---- what is refused */

static void make_good(void)
{
	struct ct_workload *w = read_sample();

	write_h5(w, "t.h5");
	ct_workload_free(w);
}

static void test_every_cut_is_refused(void **state)
{
	char *bytes;
	size_t n;

	(void)state;
	make_good();
	bytes = get_file("t.h5", &n);
	for (size_t cut = n - 1; cut >= 8; cut = cut > 512 ? cut - cut / 7 : cut - 8) {
		put_file("u.h5", bytes, cut);
		refuses("u.h5", "u.h5: is truncated or damaged: HDF5 cannot open it");
	}
	put_file("u.h5", bytes, 4); /* not even the signature */
	refuses("u.h5", "u.h5: is in no known trace format; wanted text with a header line, or HDF5");
	free(bytes);
}

static void test_not_hdf5(void **state)
{
	const struct ct_trace_options o = { .format = "cotenant-hdf5" };
	static const struct ct_column_map map = { "submit_time", "s" };
	const struct ct_trace_options mapped = { .columns = &map, .n_columns = 1 };
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;

	(void)state;
	put_file("t.csv", sample, sizeof sample - 1);
	assert_int_equal(ct_trace_read("t.csv", &o, &w, &err), CT_ETRACE);
	assert_string_equal(err.text, "t.csv: is truncated or damaged: HDF5 cannot open it");
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_trace_read("absent.h5", &o, &w, &err), CT_EIO);
	assert_string_equal(err.text, "cannot open 'absent.h5': No such file or directory");
	make_good();
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_trace_read("t.h5", &mapped, &w, &err), CT_ETRACE);
	assert_string_equal(err.text, "t.h5: has canonical columns; 'trace.columns' is for CSV");
	assert_null(w);
}

/* Replaces data set `name` of t.h5 by n values of a type. */
static void replace(hid_t file, const char *name, hid_t type, size_t n, const void *values)
{
	hsize_t dims = n;
	hid_t space = H5Screate_simple(1, &dims, NULL), d;

	if (H5Lexists(file, name, H5P_DEFAULT) > 0)
		assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
	d = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	assert_true(d >= 0);
	assert_true(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
	H5Dclose(d);
	H5Sclose(space);
}

static void set_i64(hid_t file, const char *name, int64_t v)
{
	hid_t a = H5Aopen(file, name, H5P_DEFAULT);

	assert_true(H5Awrite(a, H5T_NATIVE_INT64, &v) >= 0);
	H5Aclose(a);
}

enum fault {
	NO_COMPLETE,
	NOT_COMPLETE,
	OTHER_VERSION,
	NO_FORMAT,
	NO_JOBS,
	NO_DURATION,
	NO_STRINGS,
	SHORT_COLUMN,
	FLOAT_COLUMN,
	TEXT_COLUMN,
	ZERO_DURATION,
	NEGATIVE_SUBMIT,
	STRING_NUMBER,
	UNKNOWN_SET,
	EMPTY_ID,
	SAME_ID,
	CHANGED_CONTENT,
	BAD_STRINGS,
	TWICE_STRINGS,
	SHORT_EXTRA,
	GROUP_AS_SET,
	RANK_TWO,
	ZERO_GPUS,
	HUGE_CLAIM
};

static void rank_two(hid_t f)
{
	hsize_t dims[2] = { 3, 1 };
	hid_t space = H5Screate_simple(2, dims, NULL), d;

	assert_true(H5Ldelete(f, "jobs/duration", H5P_DEFAULT) >= 0);
	d = H5Dcreate2(f, "jobs/duration", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	H5Dclose(d);
	H5Sclose(space);
}

/* A data set of 2^40 rows of which no byte is stored. */
static void huge_claim(hid_t f)
{
	hsize_t n = (hsize_t)1 << 40, chunk = 1024;
	hid_t space = H5Screate_simple(1, &n, NULL), plist = H5Pcreate(H5P_DATASET_CREATE), d;

	assert_true(H5Ldelete(f, "jobs/submit_time", H5P_DEFAULT) >= 0);
	H5Pset_chunk(plist, 1, &chunk);
	d = H5Dcreate2(f, "jobs/submit_time", H5T_STD_I64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
	assert_true(d >= 0);
	H5Dclose(d);
	H5Pclose(plist);
	H5Sclose(space);
}

static void break_file(hid_t f, enum fault fault)
{
	static const int64_t two[] = { 0, 1 }, zero[] = { 5, 0, 5 }, negative[] = { 0, -1, 5 }, large[] = { 1, 99, 1 },
			     changed[] = { 1, 3000001, 5000000 }, none[] = { 1, 0, 0 };
	static const double floats[] = { 1, 2, 3 };
	static const char ids_empty[] = "a\0b", ids_same[] = "aba", letters[] = "abc";
	hid_t one = H5Tcopy(H5T_C_S1), g;

	switch (fault) {
	case NO_COMPLETE:
		assert_true(H5Adelete(f, "complete") >= 0);
		break;
	case NOT_COMPLETE:
		set_i64(f, "complete", 0);
		break;
	case OTHER_VERSION:
		set_i64(f, "version", 2);
		break;
	case NO_FORMAT:
		assert_true(H5Adelete(f, "format") >= 0);
		break;
	case NO_JOBS:
		assert_true(H5Ldelete(f, "jobs", H5P_DEFAULT) >= 0);
		break;
	case NO_DURATION:
		assert_true(H5Ldelete(f, "jobs/duration", H5P_DEFAULT) >= 0);
		break;
	case NO_STRINGS:
		assert_true(H5Ldelete(f, "strings", H5P_DEFAULT) >= 0);
		break;
	case SHORT_COLUMN:
		replace(f, "jobs/num_gpus", H5T_NATIVE_INT64, 2, two);
		break;
	case FLOAT_COLUMN:
		replace(f, "jobs/duration", H5T_NATIVE_DOUBLE, 3, floats);
		break;
	case TEXT_COLUMN:
		replace(f, "jobs/num_gpus", one, 3, letters);
		break;
	case ZERO_DURATION:
		replace(f, "jobs/duration", H5T_NATIVE_INT64, 3, zero);
		break;
	case NEGATIVE_SUBMIT:
		replace(f, "jobs/submit_time", H5T_NATIVE_INT64, 3, negative);
		break;
	case STRING_NUMBER:
		replace(f, "jobs/user", H5T_NATIVE_INT64, 3, large);
		break;
	case UNKNOWN_SET:
		replace(f, "jobs/usr", H5T_NATIVE_INT64, 3, zero);
		break;
	case EMPTY_ID:
		replace(f, "jobs/job_id", one, 3, ids_empty);
		break;
	case SAME_ID:
		replace(f, "jobs/job_id", one, 3, ids_same);
		break;
	case CHANGED_CONTENT:
		replace(f, "jobs/submit_time", H5T_NATIVE_INT64, 3, changed);
		break;
	case BAD_STRINGS:
		replace(f, "strings", H5T_NATIVE_UINT8, 3, "\0ab");
		break;
	case TWICE_STRINGS:
		replace(f, "strings", H5T_NATIVE_UINT8, 5, "\0a\0a");
		break;
	case SHORT_EXTRA:
		replace(f, "extra/a%2Fb%2Ec", H5T_NATIVE_INT64, 2, two);
		break;
	case GROUP_AS_SET:
		assert_true(H5Ldelete(f, "jobs/duration", H5P_DEFAULT) >= 0);
		g = H5Gcreate2(f, "jobs/duration", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
		H5Gclose(g);
		break;
	case RANK_TWO:
		rank_two(f);
		break;
	case ZERO_GPUS: /* row 2 asks for CPU, row 3 for nothing */
		replace(f, "jobs/num_gpus", H5T_NATIVE_INT64, 3, none);
		assert_true(H5Ldelete(f, "jobs/min_gpus", H5P_DEFAULT) >= 0);
		assert_true(H5Ldelete(f, "jobs/max_gpus", H5P_DEFAULT) >= 0);
		break;
	case HUGE_CLAIM:
		huge_claim(f);
		break;
	}
	H5Tclose(one);
}

static void test_malformed(void **state)
{
	static const struct {
		enum fault fault;
		const char *message;
	} cases[] = {
		{ NO_COMPLETE, "t.h5: is not complete: its writer did not finish" },
		{ NOT_COMPLETE, "t.h5: is not complete: its writer did not finish" },
		{ OTHER_VERSION, "t.h5: is of format version 2, wanted 1" },
		{ NO_FORMAT, "t.h5: is HDF5, but not a trace: wanted the attribute format = 'cotenant-trace'" },
		{ NO_JOBS, "t.h5: no group 'jobs'" },
		{ NO_DURATION, "t.h5: no data set 'jobs/duration'" },
		{ NO_STRINGS, "t.h5: 'jobs/user' of row 1 wants 0 to 0, got 1" },
		{ SHORT_COLUMN, "t.h5: 'jobs/num_gpus' has 2 rows, 'jobs/submit_time' has 3" },
		{ FLOAT_COLUMN, "t.h5: 'jobs/duration' wants integers" },
		{ TEXT_COLUMN, "t.h5: 'jobs/num_gpus' wants integers" },
		{ ZERO_DURATION, "t.h5: 'jobs/duration' of row 2 wants 1 to 9007199254740992, got 0" },
		{ NEGATIVE_SUBMIT, "t.h5: 'jobs/submit_time' of row 2 wants 0 to 288230376151711743, got -1" },
		{ STRING_NUMBER, "t.h5: 'jobs/user' of row 2 wants 0 to " }, /* ... */
		{ UNKNOWN_SET, "t.h5: unknown data set 'jobs/usr'; other columns stand in 'extra'" },
		{ EMPTY_ID, "t.h5: 'jobs/job_id' of row 2 is empty" },
		{ SAME_ID, "t.h5:3: job id 'a' was used before, in line 2" },
		{ CHANGED_CONTENT, "t.h5: content does not match its own digest: the file was changed" },
		{ BAD_STRINGS, "t.h5: 'strings' wants texts that end in a NUL byte, the empty one first" },
		{ TWICE_STRINGS, "t.h5: 'strings' holds 'a' twice" },
		{ SHORT_EXTRA, "t.h5: 'extra/a%2Fb%2Ec' has 2 rows, 'jobs/submit_time' has 3" },
		{ GROUP_AS_SET, "t.h5: 'jobs/duration' is not a data set" },
		{ RANK_TWO, "t.h5: 'jobs/duration' wants one dimension" },
		{ ZERO_GPUS, "t.h5: 'jobs/num_gpus' of row 3 must be positive, got 0" },
		{ HUGE_CLAIM, "t.h5: 'jobs/submit_time' claims 1099511627776 rows, more than the file can hold" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ct_err err = { 0 };
		struct ct_workload *w = NULL;
		hid_t f;

		make_good();
		f = H5Fopen("t.h5", H5F_ACC_RDWR, H5P_DEFAULT);
		break_file(f, cases[i].fault);
		assert_true(H5Fclose(f) >= 0);
		assert_int_equal(ct_trace_read("t.h5", NULL, &w, &err), CT_ETRACE);
		if (strncmp(err.text, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("wanted: %s\n   got: %s", cases[i].message, err.text);
		assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0); /* nothing left open */
		assert_null(w);
	}
}

/* No byte changed in the middle may crash the reader or pass with other content. */
static void test_changed_bytes(void **state)
{
	struct ct_workload *good = read_sample();
	size_t n, accepted = 0;
	char *bytes;

	(void)state;
	write_h5(good, "t.h5");
	bytes = get_file("t.h5", &n);
	for (size_t at = 8; at < n; at += 401) {
		struct ct_err err = { 0 };
		struct ct_workload *w = NULL;

		bytes[at] ^= 0x55;
		put_file("u.h5", bytes, n);
		bytes[at] ^= 0x55;
		if (ct_trace_read("u.h5", NULL, &w, &err)) {
			assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
			continue;
		}
		accepted++; /* unused bytes, or attributes that say nothing about jobs */
		assert_string_equal(w->digest, good->digest);
		ct_workload_free(w);
	}
	assert_true(accepted > 0);
	free(bytes);
	ct_workload_free(good);
}

static void test_cannot_write(void **state)
{
	struct ct_workload *w = read_sample();
	struct ct_err err = { 0 };

	(void)state;
	assert_int_equal(ct_trace_write_h5(w, "absent/t.h5", &err), CT_EIO);
	assert_string_equal(err.text, "cannot write 'absent/t.h5': No such file or directory");
	if (!access("/dev/full", W_OK)) {
		err = (struct ct_err){ 0 };
		assert_int_equal(ct_trace_write_h5(w, "/dev/full", &err), CT_EIO);
		assert_string_equal(err.text, "cannot write '/dev/full': No space left on device");
	}
	ct_workload_free(w);
}

/* The library's own printing must be on again for whoever else uses it. */
static void test_error_printing_is_put_back(void **state)
{
	H5E_auto2_t before, after;
	void *data;

	(void)state;
	assert_true(H5Eget_auto2(H5E_DEFAULT, &before, &data) >= 0);
	make_good();
	put_file("u.h5", "\211HDF\r\n\032\n", 8);
	refuses("u.h5", "u.h5: is truncated or damaged: HDF5 cannot open it");
	assert_true(H5Eget_auto2(H5E_DEFAULT, &after, &data) >= 0);
	assert_true(before == after);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_columns_come_back),
		cmocka_unit_test(test_report_survives),
		cmocka_unit_test(test_many_jobs_and_same_bytes),
		cmocka_unit_test(test_conformance_files),
		cmocka_unit_test(test_column_names),
		cmocka_unit_test(test_h5py_reads_it),
		cmocka_unit_test(test_h5py_writes_it),
		cmocka_unit_test(test_every_cut_is_refused),
		cmocka_unit_test(test_not_hdf5),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_changed_bytes),
		cmocka_unit_test(test_cannot_write),
		cmocka_unit_test(test_error_printing_is_put_back),
	};

	/* The library cannot close itself after it met damaged headers, and says so at exit. */
	if (H5dont_atexit() < 0)
		return 1;
	return cmocka_run_group_tests(tests, enter, leave);
}
