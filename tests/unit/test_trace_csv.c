/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The generic reader: what it takes, and the exact message, with its place, for what
 * it does not. Expected values are worked out by hand from the text of each input. */
#include "traces/trace.h"

#include "sim/csv.h"
#include "traces/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

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
	static const char *const files[] = { "t.csv", "out.csv", "t.csv.gz" };
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

static struct ct_workload *read_file(const char *path, const struct ct_trace_options *o)
{
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;

	if (ct_trace_read(path, o, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static struct ct_workload *read_text(const char *text, const struct ct_trace_options *o)
{
	put_file("t.csv", text, strlen(text));
	return read_file("t.csv", o);
}

/* The messages, one a line. */
static void refuses_bytes(const void *bytes, size_t n, const struct ct_trace_options *o, enum ct_code code,
			  const char *messages)
{
	struct ct_workload *const untouched = (struct ct_workload *)root, *w = untouched;
	struct ct_err err = { 0 };

	put_file("t.csv", bytes, n);
	assert_int_equal(ct_trace_read("t.csv", o, &w, &err), code);
	assert_string_equal(err.text, messages);
	assert_int_equal(err.code, code);
	assert_ptr_equal(w, untouched);
}

static void refuses(const char *text, const char *messages)
{
	refuses_bytes(text, strlen(text), NULL, CT_ETRACE, messages);
}

static const char *text_of(const struct ct_workload *w, uint32_t k)
{
	return ct_strings_text(&w->strings, k);
}

static uint64_t count_of(const struct ct_workload *w, const char *rule)
{
	for (unsigned i = 0; i < w->report.n_rules; i++)
		if (!strcmp(w->report.rules[i].rule, rule))
			return w->report.rules[i].rows;
	return 0;
}

/* ---- what is read */

static void test_all_columns(void **state)
{
	static const char text[] =
	    "state,sm_frac,gpu_mem_mib,mem_mib,num_cpus,requested_time,deadline,priority,max_gpus,min_gpus,"
	    "gpu_milli,gpu_type,partition,model,group,user,duration,num_gpus,submit_time,job_id\n"
	    "Done,0.25,11949.258,2048,0.2,7200,1e4,-3,8,2,250,A100,vc1,bert,g1,u1,100.5,4,10.25,a b\n";
	struct ct_workload *w = read_text(text, NULL);
	const struct ct_job *j = w->jobs;

	(void)state;
	assert_int_equal(w->n, 1);
	assert_string_equal(j->id, "a b");
	assert_int_equal(j->submit_us, 10250000);
	assert_int_equal(j->duration_us, 100500000);
	assert_int_equal(j->requested_us, 7200000000);
	assert_int_equal(j->deadline_us, 10000000000);
	assert_int_equal(j->num_gpus, 4);
	assert_int_equal(j->gpu_milli, 250);
	assert_int_equal(j->min_gpus, 2);
	assert_int_equal(j->max_gpus, 8);
	assert_int_equal(j->cpu_milli, 200);
	assert_int_equal(j->mem_mib, 2048);
	assert_int_equal(j->gpu_mem_mib, 11950); /* rounded up, and counted */
	assert_int_equal(count_of(w, "rounded_memory"), 1);
	assert_int_equal(j->priority, -3);
	assert_true(j->sm_frac == 0.25f);
	assert_string_equal(text_of(w, j->user), "u1");
	assert_string_equal(text_of(w, j->group), "g1");
	assert_string_equal(text_of(w, j->model), "bert");
	assert_string_equal(text_of(w, j->partition), "vc1");
	assert_string_equal(text_of(w, j->gpu_type), "A100");
	assert_string_equal(text_of(w, j->state), "Done");
	assert_int_equal(j->line, 2);
	assert_int_equal(w->n_columns, 0);
	assert_string_equal(w->report.source, "t.csv");
	assert_string_equal(w->report.format, "csv");
	ct_workload_free(w);
}

static void test_empty_cells_are_absent(void **state)
{
	struct ct_workload *w = read_text("job_id,submit_time,num_gpus,duration,user,priority,deadline,requested_time,"
					  "sm_frac,gpu_milli,min_gpus,max_gpus,num_cpus,mem_mib,num_inst,note\n"
					  "x,0,2,5,,,,,,,,,,,,\n",
					  NULL);
	const struct ct_job *j = w->jobs;

	(void)state;
	assert_int_equal(j->user, 0);
	assert_int_equal(j->priority, 0);
	assert_int_equal(j->deadline_us, -1);
	assert_int_equal(j->requested_us, -1);
	assert_true(isnan(j->sm_frac));
	assert_int_equal(j->num_gpus, 2);
	assert_int_equal(j->gpu_milli, 1000);
	assert_int_equal(j->min_gpus, 2);
	assert_int_equal(j->max_gpus, 2);
	assert_int_equal(j->cpu_milli, 0);
	assert_int_equal(w->columns[0].value[0], 0);
	ct_workload_free(w);
}

/* Each alias alone, in a mixed case, must reach its column; and no name may reach two. */
static void test_aliases(void **state)
{
	const struct ct_trace_column *c;

	(void)state;
	for (size_t i = 0; (c = ct_trace_column_at(i)); i++) {
		char *copy = strdup(c->aliases), *save, *a;

		for (a = strtok_r(copy, " ", &save); a; a = strtok_r(NULL, " ", &save)) {
			for (size_t k = 0; k < CT_COLUMNS; k++)
				assert_int_equal(ct_column_fit((enum ct_column_id)k, a),
						 k == i ? CT_FIT_ALIAS : CT_FIT_NONE);
			*a = (char)(*a - 32);
			assert_int_equal(ct_column_fit((enum ct_column_id)i, a), CT_FIT_ALIAS);
		}
		free(copy);
		assert_int_equal(ct_column_fit((enum ct_column_id)i, c->name), CT_FIT_EXACT);
	}
	assert_int_equal(ct_column_fit(CT_COLUMN_JOB_ID, "Job_ID"), CT_FIT_CASE);
	assert_int_equal(ct_column_fit(CT_COLUMN_JOB_ID, ""), CT_FIT_NONE);
	assert_int_equal(ct_column_fit(CT_COLUMN_GPU_MILLI, ""), CT_FIT_NONE);
}

static void test_header_in_any_order_and_case(void **state)
{
	struct ct_workload *a = read_text("job_id,submit_time,num_gpus,duration,partition\n7,1,2,3,p\n", NULL);
	struct ct_workload *b = read_text("VC,RunTime,GPUs,Arrival_Time,ID\np,3,2,1,7\n", NULL);

	(void)state;
	assert_string_equal(a->digest, b->digest);
	ct_workload_free(a);
	ct_workload_free(b);
}

/* The canonical name wins; its alias is then a column like any other. */
static void test_exact_name_beats_alias(void **state)
{
	struct ct_workload *w = read_text("timestamp,job_id,submit_time,num_gpus,duration,Duration\n"
					  "99,1,5,1,60,61\n",
					  NULL);

	(void)state;
	assert_int_equal(w->jobs[0].submit_us, 5000000);
	assert_int_equal(w->jobs[0].duration_us, 60000000);
	assert_int_equal(w->n_columns, 2);
	assert_string_equal(w->columns[0].name, "timestamp");
	assert_string_equal(text_of(w, w->columns[0].value[0]), "99");
	assert_string_equal(w->columns[1].name, "Duration");
	ct_workload_free(w);
}

static void test_column_map(void **state)
{
	static const struct ct_column_map map[] = { { "submit_time", "submit_s" },
						    { "requested_time", "duration" },
						    { "partition", "queue name" } };
	const struct ct_trace_options o = { .columns = map, .n_columns = 3 };
	struct ct_workload *w = read_text("id,submit_s,submit_time,gpus,duration,queue name,queue\n"
					  "1,5,6,1,60,blue,red\n",
					  &o);

	(void)state;
	assert_int_equal(w->jobs[0].submit_us, 5000000);
	assert_int_equal(w->jobs[0].duration_us, 60000000);
	assert_int_equal(w->jobs[0].requested_us, 60000000);
	assert_string_equal(text_of(w, w->jobs[0].partition), "blue");
	assert_int_equal(w->n_columns, 2);
	assert_string_equal(w->columns[0].name, "file.submit_time");
	assert_string_equal(w->columns[1].name, "queue");
	ct_workload_free(w);
}

static void test_extra_columns(void **state)
{
	struct ct_workload *w = read_text("job_id,,submit_time,num_gpus,duration,note,note2\n"
					  "1,r1,0,1,1,\"a,b\",\n2,r2,0,1,1,\"say \"\"x\"\"\",z\n",
					  NULL);

	(void)state;
	assert_int_equal(w->n_columns, 3);
	assert_string_equal(w->columns[0].name, "column_2");
	assert_string_equal(w->columns[1].name, "note");
	assert_string_equal(text_of(w, w->columns[0].value[1]), "r2");
	assert_string_equal(text_of(w, w->columns[1].value[0]), "a,b");
	assert_string_equal(text_of(w, w->columns[1].value[1]), "say \"x\"");
	assert_string_equal(text_of(w, w->columns[2].value[0]), "");
	assert_string_equal(text_of(w, w->columns[2].value[1]), "z");
	ct_workload_free(w);
}

static void test_shares_of_gpus(void **state)
{
	static const struct {
		const char *gpus, *milli, *inst;
		uint32_t num, share;
	} cases[] = {
		{ "0.5", "", "", 1, 500 },     { "0.25", "", "", 1, 250 },  { "2", "", "", 2, 1000 },
		{ "1.5", "", "", 2, 750 },     { "2.0", "", "", 2, 1000 },  { "0.01", "", "", 1, 10 },
		{ "7.000", "", "1", 7, 1000 }, { "1", "460", "", 1, 460 },  { "4", "0", "", 4, 1000 },
		{ "1", "1000", "", 1, 1000 },  { "0.25", "", "4", 4, 250 }, { "1.5", "", "3", 6, 750 },
		{ "8", "", "10", 80, 1000 },   { "2.25", "0", "", 3, 750 }, { "0.3333333", "", "", 1, 333 },
		{ "0.9999", "", "", 1, 1000 }, { "1e1", "", "", 10, 1000 }, { "4294967295", "", "", UINT32_MAX, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256];
		struct ct_workload *w;

		snprintf(text, sizeof text, "job_id,submit_time,duration,num_gpu,gpu_milli,num_inst\n1,0,1,%s,%s,%s\n",
			 cases[i].gpus, cases[i].milli, cases[i].inst);
		w = read_text(text, NULL);
		assert_int_equal(w->jobs[0].num_gpus, cases[i].num);
		assert_int_equal(w->jobs[0].gpu_milli, cases[i].share);
		assert_int_equal(count_of(w, "rounded_num_gpus"), i == 14 || i == 15);
		ct_workload_free(w);
	}
}

static void test_instances_multiply(void **state)
{
	struct ct_workload *w = read_text("job_id,submit_time,duration,num_gpu,num_inst,num_cpu,memory_mib\n"
					  "1,0,1,2,3,1.5,100\n",
					  NULL);

	(void)state;
	assert_int_equal(w->jobs[0].num_gpus, 6);
	assert_int_equal(w->jobs[0].cpu_milli, 4500);
	assert_int_equal(w->jobs[0].mem_mib, 300);
	ct_workload_free(w);
}

/* The PAI trace's jobs without a GPU. */
static void test_cpu_only_job(void **state)
{
	struct ct_workload *w =
	    read_text("job_id,submit_time,duration,num_gpu,num_cpu\n1,0,9,0,8\n2,0,9,0.00,0.01\n", NULL);

	(void)state;
	assert_int_equal(w->n, 2);
	assert_int_equal(w->jobs[0].num_gpus, 0);
	assert_int_equal(w->jobs[0].cpu_milli, 8000);
	assert_int_equal(w->jobs[1].cpu_milli, 10);
	assert_int_equal(count_of(w, "cpu_only_job"), 2);
	assert_true(ct_workload_gpu_seconds(w) == 0);
	ct_workload_free(w);
}

static void test_generated_ids(void **state)
{
	const struct ct_trace_options drop = { .on_bad_row = CT_BAD_ROW_DROP };
	struct ct_workload *w = read_text("time,gpus,runtime\n0,1,5\n0,1,0\n1,2,6\n", &drop);

	(void)state;
	assert_int_equal(w->n, 2);
	assert_string_equal(w->jobs[0].id, "1");
	assert_string_equal(w->jobs[1].id, "3"); /* the row's number, whatever was dropped */
	assert_int_equal(count_of(w, "generated_job_id"), 2);
	ct_workload_free(w);
}

static void test_unsorted_and_shifted(void **state)
{
	const struct ct_trace_options shift = { .shift_to_zero = 1 };
	static const char text[] = "job_id,submit_time,num_gpus,duration,deadline\n"
				   "a,-1.5,1,5,100\nb,-3,1,5,\nc,2,1,5,10\n";
	struct ct_workload *w = read_text(text, &shift);

	(void)state;
	assert_string_equal(w->jobs[0].id, "b");
	assert_int_equal(w->jobs[0].submit_us, 0);
	assert_int_equal(w->jobs[0].deadline_us, -1);
	assert_string_equal(w->jobs[1].id, "a");
	assert_int_equal(w->jobs[1].submit_us, 1500000);
	assert_int_equal(w->jobs[1].deadline_us, 103000000);
	assert_int_equal(w->jobs[2].submit_us, 5000000);
	assert_int_equal(count_of(w, "unsorted_submit"), 1);
	assert_int_equal(count_of(w, "shifted_submit"), 3);
	ct_workload_free(w);
	refuses(text, "t.csv:2:3: 'submit_time' must not be negative, got '-1.5'\n"
		      "t.csv:3:3: 'submit_time' must not be negative, got '-3'");
}

/* Byte order mark, CRLF, blanks, blank lines, no last newline: the same jobs. */
static void test_same_jobs_in_other_clothes(void **state)
{
	static const char *const texts[] = {
		"job_id,submit_time,num_gpus,duration\n1,0,1,5\n2,3,2,6\n",
		"job_id,submit_time,num_gpus,duration\r\n1,0,1,5\r\n2,3,2,6\r\n",
		"\xef\xbb\xbfjob_id,submit_time,num_gpus,duration\n1,0,1,5\n2,3,2,6",
		"job_id, submit_time ,num_gpus,duration\n\n 1,0 ,1,5\n\n2,3,\t2,6\n\n",
		"\"job_id\",\"submit_time\",num_gpus,duration\n\"1\",\"0\",1,5\n2,\"3\",2,6\n",
		"job_id,submit_time,num_gpus,duration\r1,0,1,5\r2,3,2,6\r",
		"job_id,submit_time,num_gpus,duration\n1,0.0000004,1.0,5e0\n2,+3,2,0.6E1\n",
	};
	char digest[CT_DIGEST_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct ct_workload *w = read_text(texts[i], NULL);

		if (i)
			assert_string_equal(w->digest, digest);
		memcpy(digest, w->digest, sizeof digest);
		ct_workload_free(w);
	}
}

static void test_gzip(void **state)
{
	static const char text[] = "job_id,submit_time,num_gpus,duration\n1,0,1,5\n2,3,2,6\n";
	struct ct_workload *plain = read_text(text, NULL), *packed;
	gzFile f = gzopen("t.csv.gz", "wb");

	(void)state;
	assert_int_equal(gzwrite(f, text, sizeof text - 1), sizeof text - 1);
	assert_int_equal(gzclose(f), Z_OK);
	packed = read_file("t.csv.gz", NULL);
	assert_string_equal(plain->digest, packed->digest);
	ct_workload_free(plain);
	ct_workload_free(packed);
}

/* ---- what is refused */

#define HEAD "job_id,submit_time,num_gpus,duration\n"

static void test_bad_headers(void **state)
{
	static const struct ct_column_map map[] = { { "submit_time", "submit_s" }, { "durations", "x" } };
	const struct ct_trace_options mapped = { .columns = map, .n_columns = 1 };
	const struct ct_trace_options unknown = { .columns = map + 1, .n_columns = 1 };
	static const char semicolons[] = "job_id;submit_time;num_gpus;duration\n1;0;1;5\n";

	(void)state;
	refuses("", "t.csv: is empty");
	refuses("\n\n", "t.csv: is empty");
	refuses(HEAD, "t.csv: holds no jobs");
	refuses("job_id,\"submit_time\n\",num_gpus,duration\n",
		"t.csv:1:8: column name 'submit_time?' holds a control character");
	refuses("1,0,1,100\n2,0,1,5\n", "t.csv:1:1: wanted a line of column names first, got the value '1'");
	refuses(semicolons, "t.csv:1:1: looks delimited by ';', wanted ','");
	refuses("job_id\tsubmit_time\tnum_gpus\tduration\n", "t.csv:1:1: looks delimited by tabs, wanted ','");
	refuses("job_id|submit_time|num_gpus|duration\n", "t.csv:1:1: looks delimited by '|', wanted ','");
	refuses(
	    "job_id,submit_tim,duration\n1,0,5\n",
	    "t.csv:1: no column 'submit_time' (or: submission_time submit arrival_time time creation_time timestamp); "
	    "did you mean 'submit_tim'?\n"
	    "t.csv:1: no column 'num_gpus' (or: num_gpu gpu_num gpus num_replicas); name it with "
	    "trace.columns.num_gpus=NAME");
	refuses("job_id,time,timestamp,gpus,duration\n1,0,0,1,5\n",
		"t.csv:1:13: columns 'time' and 'timestamp' both mean 'submit_time'; choose with "
		"trace.columns.submit_time=NAME");
	refuses("job_id,submit_time,num_gpus,duration,note,duration,note\n",
		"t.csv:1:43: column 'duration' stands twice, as fields 4 and 6\n"
		"t.csv:1:52: column 'note' stands twice, as fields 5 and 7");
	refuses_bytes(
	    "id,submit_x,gpus,duration\n", 26, &mapped, CT_ETRACE,
	    "t.csv:1: no column 'submit_s', which 'trace.columns.submit_time' names; did you mean 'submit_x'?");
	refuses_bytes(HEAD, sizeof HEAD - 1, &unknown, CT_ECONFIG,
		      "no job column 'trace.columns.durations'; did you mean 'duration'?");
}

static void test_bad_rows(void **state)
{
	(void)state;
	refuses(HEAD "1,0,1,0\n2,0,1,-5\n3,0,0,5\n4,0,-1,5\n", "t.csv:2:7: 'duration' must be positive, got '0'\n"
							       "t.csv:3:7: 'duration' must be positive, got '-5'\n"
							       "t.csv:4:5: 'num_gpus' must be positive, got '0'\n"
							       "t.csv:5:5: 'num_gpus' must be positive, got '-1'");
	refuses(HEAD "1,x,1,5\n2,nan,inf,0x10\n3,,1,5\n,0,1,5\n", "t.csv:2:3: 'submit_time' wants seconds, got 'x'\n"
								  "t.csv:3:3: 'submit_time' wants seconds, got 'nan'\n"
								  "t.csv:3:7: 'num_gpus' wants a number, got 'inf'\n"
								  "t.csv:3:11: 'duration' wants seconds, got '0x10'\n"
								  "t.csv:4:3: 'submit_time' is empty\n"
								  "t.csv:5:1: 'job_id' is empty");
	refuses(HEAD "1,0,1\n2,0,1,5,6\n3\n", "t.csv:2:5: row ends after 3 fields, wanted 4 as in the header\n"
					      "t.csv:3:9: row has 5 fields, wanted 4 as in the header\n"
					      "t.csv:4:1: row ends after 1 fields, wanted 4 as in the header");
	refuses(HEAD "a,0,1,5\n\nb,0,1,5\na,1,2,6\n", "t.csv:5:1: 'job_id' 'a' is taken by line 2");
	refuses(HEAD "1,0,1,5\n2,0,1,5\n2,0,1,5\n1,0,1,5\n01,0,1,5\n", "t.csv:4:1: 'job_id' '2' is taken by line 3\n"
								       "t.csv:5:1: 'job_id' '1' is taken by line 2");
	refuses(HEAD "1,1e99,1,5\n2,0,1,9007199255\n3,0,5000000000,5\n4,0,1.0001,5\n5,0,0.0001,5\n6,0,1.001,5\n",
		"t.csv:2:3: 'submit_time' wants seconds of at most 288230376151, got '1e99'\n"
		"t.csv:3:7: 'duration' wants 0 to 9007199254 seconds, got '9007199255'\n"
		"t.csv:4:5: 'num_gpus' wants 0 to 4294967295, got '5000000000'\n"
		"t.csv:6:5: 'num_gpus' wants at least a thousandth of a GPU, got '0.0001'\n"
		"t.csv:7:5: 'num_gpus' of '1.001' is not 2 equal shares of whole thousandths of a GPU");
}

static void test_bad_optional_cells(void **state)
{
	(void)state;
	refuses("id,time,gpus,runtime,gpu_milli,priority,min_gpus,max_gpus,deadline,sm_frac,num_cpus\n"
		"1,0,1,5,1001,,,,,,\n"
		"2,0,1.5,5,500,,,,,,\n"
		"3,0,1,5,,1.5,,,,,\n"
		"4,0,1,5,,3000000000,,,,,\n"
		"5,0,2,5,,,3,,,,\n"
		"6,0,2,5,,,,1,,,\n"
		"7,9,2,5,,,,,8,,\n"
		"8,0,2,5,,,,,-8,,\n"
		"9,0,2,5,,,,,,1.5,-1\n"
		"10,0,2,5,,,0,,,x,\n",
		"t.csv:2:9: 'gpu_milli' wants 0 to 1000, got '1001'\n"
		"t.csv:3:5: 'gpus' wants whole GPUs beside 'gpu_milli', got '1.5'\n"
		"t.csv:4:10: 'priority' wants a whole number, got '1.5'\n"
		"t.csv:5:10: 'priority' wants -2147483648 to 2147483647, got '3000000000'\n"
		"t.csv:6:11: 'min_gpus' wants at most the 2 GPUs of the job, got 3\n"
		"t.csv:7:12: 'max_gpus' wants at least the 2 GPUs of the job, got 1\n"
		"t.csv:8:13: 'deadline' lies before the submission (both count from the same zero)\n"
		"t.csv:9:13: 'deadline' wants 0 to 288230376151 seconds, got '-8'\n"
		"t.csv:10:14: 'sm_frac' wants 0 to 1, got '1.5'\n"
		"t.csv:10:18: 'num_cpus' wants 0 to 4294967, got '-1'\n"
		"t.csv:11:12: 'min_gpus' wants 1 to 4294967295, got '0'\n"
		"t.csv:11:16: 'sm_frac' wants a number, got 'x'");
	refuses("id,time,gpus,runtime,num_inst\n1,0,4000000000,5,2\n2,0,1,5,0\n",
		"t.csv:2:18: 2 instances of 'num_gpus' 4000000000 are more than 4294967295\n"
		"t.csv:3:9: 'num_inst' wants 1 to 4294967295, got '0'");
}

/* Every row keeps its line, also behind quoted fields that span lines. */
static void test_places_after_long_records(void **state)
{
	(void)state;
	refuses("job_id,note,submit_time,num_gpus,duration\n1,\"two\nlines\",0,1,5\n2,\"x\ny\",0,1,zz\n",
		"t.csv:5:8: 'duration' wants seconds, got 'zz'");
}

static void test_foreign_text_in_messages(void **state)
{
	(void)state;
	refuses(HEAD "1,\"a\nb\033[1m\",1,5\n", "t.csv:2:3: 'submit_time' wants seconds, got 'a?b?[1m'");
	refuses(HEAD "1,0123456789012345678901234567890123456789012345678901234567890123456789x,1,5\n",
		"t.csv:2:3: 'submit_time' wants seconds, got "
		"'012345678901234567890123456789012345678901234567890123456789...'");
}

/* All errors are counted, twenty are shown. */
static void test_many_errors(void **state)
{
	char text[8192] = HEAD;
	struct ct_err err = { 0 };
	struct ct_workload *w;

	(void)state;
	for (int i = 0; i < 100; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%d,0,1,0\n", i);
	put_file("t.csv", text, strlen(text));
	assert_int_equal(ct_trace_read("t.csv", NULL, &w, &err), CT_ETRACE);
	assert_int_equal(err.count, 100);
	assert_int_equal(err.kept, 20);
}

static void test_not_text(void **state)
{
	static const char nul[] = HEAD "1,0,1,5\n2,0\0,1,5\n";
	static const char utf16[] = "\xff\xfej\0o\0b\0";
	static const char elf[] = "\177ELF\2\1\1\0";

	(void)state;
	refuses_bytes(nul, sizeof nul - 1, NULL, CT_ETRACE, "t.csv:3:4: a NUL byte; is this a text file in UTF-8?");
	refuses_bytes(utf16, sizeof utf16 - 1, NULL, CT_ETRACE, "t.csv: is UTF-16 text, wanted UTF-8");
	refuses_bytes(elf, sizeof elf - 1, NULL, CT_ETRACE,
		      "t.csv: is in no known trace format; wanted text with a header line, or HDF5");
	refuses(HEAD "1,\"0,1,5\n", "t.csv:2:3: a quote that is never closed");
}

static void test_long_lines(void **state)
{
	size_t n = 1 << 20; /* the limit of a record */
	char *text = malloc(2 * n);
	struct ct_workload *w;
	int k = snprintf(text, n, "job_id,submit_time,num_gpus,duration,note\n1,0,1,5,");

	(void)state;
	memset(text + k, 'x', n);
	text[(size_t)k + n - 100] = '\0';
	w = read_text(text, NULL); /* just below it */
	assert_int_equal(strlen(text_of(w, w->columns[0].value[0])), n - 100);
	ct_workload_free(w);
	text[(size_t)k + n - 100] = 'x';
	refuses_bytes(text, (size_t)k + n, NULL, CT_ETRACE, "t.csv:2: a record is longer than 1 MiB");
	free(text);
}

static void test_long_names_and_wide_files(void **state)
{
	char *text = calloc(1, 20000), id[300];

	(void)state;
	memset(id, 'a', sizeof id);
	snprintf(text, 20000, "%.256s,submit_time\n", id);
	refuses(text,
		"t.csv:1:1: column name 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is longer "
		"than 255 bytes");
	snprintf(text, 20000, HEAD "%.256s,0,1,5\n", id);
	refuses(text, "t.csv:2:1: 'job_id' wants at most 255 bytes, got "
		      "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'");
	memset(text, ',', 5000);
	text[5000] = '\0';
	refuses(text, "t.csv:1:4097: 5001 columns, wanted at most 4096");
	free(text);
}

static void test_truncated_gzip(void **state)
{
	unsigned char packed[4096];
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;
	gzFile f = gzopen("t.csv.gz", "wb");
	FILE *raw;
	size_t n;

	(void)state;
	gzprintf(f, HEAD);
	for (int i = 0; i < 500; i++)
		gzprintf(f, "%d,%d,1,%d\n", i, i * 7919 % 1000, i * 104729 % 5000 + 1);
	assert_int_equal(gzclose(f), Z_OK);
	raw = fopen("t.csv.gz", "rb");
	n = fread(packed, 1, sizeof packed, raw);
	fclose(raw);
	assert_true(n > 100);
	refuses_bytes(packed, n / 2, NULL, CT_EIO, "t.csv: gzip data is truncated");
	refuses_bytes(packed, n - 1, NULL, CT_EIO, "t.csv: gzip data is truncated");
	assert_int_equal(ct_trace_read("absent.csv", NULL, &w, &err), CT_EIO);
	assert_string_equal(err.text, "cannot open 'absent.csv': No such file or directory");
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_trace_read(".", NULL, &w, &err), CT_ETRACE);
	assert_string_equal(err.text, ".: './t.csv' and './t.csv.gz' are both a trace ('csv'); name one of them");
}

/* ---- dropping */

static void test_dropped_rows_are_counted(void **state)
{
	static const char text[] = "job_id,submit_time,num_gpus,duration,gpu_milli\n"
				   "1,0,1,5,\n"      /* kept */
				   "2,0,1,0,\n"      /* zero duration */
				   "3,0,1,-1,\n"     /* negative duration */
				   "4,0,0,5,\n"      /* zero GPUs */
				   "5,0,-2,5,\n"     /* negative GPUs */
				   "1,0,1,5,\n"      /* duplicate */
				   "7,x,1,5,\n"      /* not a number */
				   "8,0,1\n"         /* field count */
				   "9,,1,5,\n"       /* missing */
				   "10,-1,1,5,\n"    /* negative submission */
				   "11,0,1,5,2000\n" /* out of range */
				   "2,0,1,6,\n"      /* kept: the dropped row 2 does not hold the id */
				   "12,y,0,0,\n";    /* several faults: the first counts */
	const struct ct_trace_options drop = { .on_bad_row = CT_BAD_ROW_DROP };
	struct ct_workload *w = read_text(text, &drop);
	static const char *const one[] = { "dropped_zero_gpus",       "dropped_negative_duration",
					   "dropped_negative_gpus",   "dropped_duplicate_id",
					   "dropped_field_count",     "dropped_missing_value",
					   "dropped_negative_submit", "dropped_out_of_range" };
	uint64_t dropped = 0;

	(void)state;
	assert_int_equal(w->n, 2);
	assert_int_equal(w->report.rows_read, 13);
	assert_int_equal(w->report.rows_kept, 2);
	for (size_t i = 0; i < sizeof one / sizeof *one; i++)
		assert_int_equal(count_of(w, one[i]), 1);
	assert_int_equal(count_of(w, "dropped_not_a_number"), 2);
	assert_int_equal(count_of(w, "dropped_zero_duration"), 1);
	for (unsigned i = 0; i < w->report.n_rules; i++)
		dropped += w->report.rules[i].dropped ? w->report.rules[i].rows : 0;
	assert_int_equal(dropped, 11);
	ct_workload_free(w);
	refuses_bytes(HEAD "1,0,0,1\n", sizeof HEAD + 7, &drop, CT_ETRACE,
		      "t.csv: holds no jobs: all 1 rows were dropped");
}

/* ---- the files of the conformance set */

static void test_conformance_bad(void **state)
{
	static const struct {
		const char *file, *message; /* NULL: accepted */
		uint64_t kept;
		const char *rule; /* counted when dropping */
	} cases[] = {
		{ "good", NULL, 4, NULL },
		{ "float", NULL, 3, NULL },
		{ "unsorted", NULL, 3, NULL },
		{ "too_big", NULL, 3, NULL },
		{ "dup_id", "3:1: 'job_id' '0' is taken by line 2", 2, "dropped_duplicate_id" },
		{ "neg_duration", "3:8: 'duration' must be positive, got '-5'", 2, "dropped_negative_duration" },
		{ "zero_duration", "3:8: 'duration' must be positive, got '0'", 2, "dropped_zero_duration" },
		{ "zero_gpus", "3:6: 'num_gpus' must be positive, got '0'", 2, "dropped_zero_gpus" },
	};
	const struct ct_trace_options drop = { .on_bad_row = CT_BAD_ROW_DROP };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char path[5000], message[6000];
		struct ct_err err = { 0 };
		struct ct_workload *w = NULL;
		int rc;

		snprintf(path, sizeof path, "%s/tests/data/conformance/bad/%s.csv", root, cases[i].file);
		rc = ct_trace_read(path, NULL, &w, &err);
		assert_int_equal(rc, cases[i].message ? CT_ETRACE : 0);
		if (rc) {
			snprintf(message, sizeof message, "%s:%s", path, cases[i].message);
			assert_string_equal(err.text, message);
			w = read_file(path, &drop);
			assert_int_equal(count_of(w, cases[i].rule), 1);
		}
		assert_int_equal(w->n, cases[i].kept);
		if (!strcmp(cases[i].file, "float"))
			assert_int_equal(w->jobs[1].submit_us, 10250000);
		if (!strcmp(cases[i].file, "unsorted")) {
			assert_int_equal(count_of(w, "unsorted_submit"), 2);
			assert_string_equal(w->jobs[0].id, "2");
		}
		ct_workload_free(w);
	}
}

/* ---- writing */

static void test_written_csv_reads_the_same(void **state)
{
#define WIDE                                                                                                       \
	"job_id,submit_time,num_gpus,duration,priority,deadline,requested_time,sm_frac,num_cpus,mem_mib,min_gpus," \
	"max_gpus,user,note\n"
/* extra columns whose names are aliases of columns that no job uses */
#define SHADOWED "job_id,submit_time,num_gpus,duration,num_inst,inst_num,partition,vc,user,User,Job_ID\n"
	static const char *const texts[] = {
		"id,time,gpus,runtime\n1,0.000001,1,5.25\n2,3,0.5,6\n",
		(WIDE "\" a\",9,4,1e3,-5,20,10,0.3,0.001,7,2,8,\"x,\"\"y\"\"\",\"line\nbreak \"\n"
		      "b,0,1,1,,,,0.333333343,,,,,,'\n"),
		(SHADOWED "1,0,1,5,2,7,,blue,,x,9\n"),
		"job_id,submit_time,num_gpus,duration,num_cpus,state,max_gpus\n1,0,0,5,0.001,,\n2,0,1.5,5,,S,3\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct ct_workload *a = read_text(texts[i], NULL), *b;
		struct ct_err err = { 0 };

		assert_int_equal(ct_trace_write_csv(a, "out.csv", &err), 0);
		b = read_file("out.csv", NULL);
		assert_string_equal(a->digest, b->digest);
		assert_int_equal(a->n_columns, b->n_columns);
		ct_workload_free(a);
		ct_workload_free(b);
	}
}

static void test_written_csv_text(void **state)
{
	struct ct_workload *w =
	    read_text("gpus,runtime,time,id,note,sm_frac\n0.5,100.5,3,j1,\"a,b\",0.3\n2,1,0,j2,,\n", NULL);
	char text[512];
	struct ct_err err = { 0 };
	FILE *f;
	size_t n;

	(void)state;
	assert_int_equal(ct_trace_write_csv(w, "out.csv", &err), 0);
	f = fopen("out.csv", "rb");
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	assert_string_equal(text, "job_id,submit_time,num_gpus,duration,gpu_milli,sm_frac,note\n"
				  "j2,0,2,1,1000,,\n"
				  "j1,3,1,100.5,500,0.3,\"a,b\"\n");
	assert_int_equal(ct_trace_write_csv(w, "absent/out.csv", &err), CT_EIO);
	assert_string_equal(err.text, "cannot write 'absent/out.csv': No such file or directory");
	ct_workload_free(w);
}

static void test_formats(void **state)
{
	const struct ct_trace_options wrong = { .format = "swiff" }, csv = { .format = "csv" };
	struct ct_workload *w;
	size_t n = 0;

	(void)state;
	refuses_bytes(HEAD "1,0,1,1\n", sizeof HEAD + 7, &wrong, CT_ECONFIG,
		      "no trace format 'swiff'; 'cotenant trace formats' lists them");
	w = read_text(HEAD "1,0,1,1\n", &csv);
	ct_workload_free(w);
	while (ct_trace_format_at(n))
		n++;
	assert_true(n >= 2);
	assert_string_equal(ct_trace_format_at(n - 1)->name, "csv"); /* any text: must come last */
	for (n = 0; ct_trace_column_at(n); n++)
		assert_true(*ct_trace_column_at(n)->meaning);
	assert_int_equal(n, CT_COLUMNS);
}

struct seen {
	uint64_t calls, done, total;
};

static void progress(void *ctx, uint64_t done, uint64_t total)
{
	struct seen *s = ctx;

	s->calls++;
	assert_true(done >= s->done);
	s->done = done;
	s->total = total;
}

static void test_progress(void **state)
{
	struct seen seen = { 0 };
	const struct ct_trace_options o = { .progress = progress, .progress_ctx = &seen };
	FILE *f = fopen("t.csv", "wb");
	long size;

	(void)state;
	fprintf(f, HEAD);
	for (int i = 0; i < 50000; i++) /* also past the reader's reservation, ids descending */
		fprintf(f, "%d,%d,1,5\n", 50000 - i, i);
	size = ftell(f);
	fclose(f);
	ct_workload_free(read_file("t.csv", &o));
	assert_true(seen.calls > 1);
	assert_int_equal(seen.done, size);
	assert_int_equal(seen.total, size);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_columns),
		cmocka_unit_test(test_empty_cells_are_absent),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_header_in_any_order_and_case),
		cmocka_unit_test(test_exact_name_beats_alias),
		cmocka_unit_test(test_column_map),
		cmocka_unit_test(test_extra_columns),
		cmocka_unit_test(test_shares_of_gpus),
		cmocka_unit_test(test_instances_multiply),
		cmocka_unit_test(test_cpu_only_job),
		cmocka_unit_test(test_generated_ids),
		cmocka_unit_test(test_unsorted_and_shifted),
		cmocka_unit_test(test_same_jobs_in_other_clothes),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_bad_headers),
		cmocka_unit_test(test_bad_rows),
		cmocka_unit_test(test_bad_optional_cells),
		cmocka_unit_test(test_places_after_long_records),
		cmocka_unit_test(test_foreign_text_in_messages),
		cmocka_unit_test(test_many_errors),
		cmocka_unit_test(test_not_text),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_long_names_and_wide_files),
		cmocka_unit_test(test_truncated_gzip),
		cmocka_unit_test(test_dropped_rows_are_counted),
		cmocka_unit_test(test_conformance_bad),
		cmocka_unit_test(test_written_csv_reads_the_same),
		cmocka_unit_test(test_written_csv_text),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
