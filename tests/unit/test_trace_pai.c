/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of the PAI tables: the joins on a trace of a few rows whose numbers were
 * worked out by hand, a table of malformed and partial inputs with what becomes of
 * each, and the counts of the real files (specs/pai.md) when they are there. */
#include "sim/csv.h"
#include "traces/figures.h"
#include "traces/pai_machines.h"
#include "traces/trace.h"

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

#define A "aaaaaaaaaaaaaaaaaaaaaaaa" /* jobs */
#define B "bbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccc"
#define M "111111111111111111111111" /* machines */

struct folder {
	char path[64];
	char file[8][128];
	int n;
};

static int open_folder(void **state)
{
	struct folder *f = calloc(1, sizeof *f);

	strcpy(f->path, "/tmp/cotenant-pai-XXXXXX");
	*state = f;
	return mkdtemp(f->path) ? 0 : -1;
}

static int close_folder(void **state)
{
	struct folder *f = *state;

	for (int i = 0; i < f->n; i++)
		unlink(f->file[i]);
	rmdir(f->path);
	free(f);
	return 0;
}

static const char *write_file(struct folder *f, const char *name, const char *text)
{
	char *path = f->file[f->n], place[128];
	FILE *to;
	int known = 0;

	snprintf(place, sizeof place, "%s/%s", f->path, name);
	memcpy(path, place, sizeof place);
	for (int i = 0; i < f->n; i++)
		known |= strcmp(f->file[i], path) == 0;
	f->n += !known;
	to = fopen(path, "w");
	assert_non_null(to);
	assert_true(fputs(text, to) >= 0);
	assert_int_equal(fclose(to), 0);
	return path;
}

static uint64_t count_of(const struct ct_workload *w, const char *rule)
{
	for (unsigned i = 0; i < w->report.n_rules; i++)
		if (strcmp(w->report.rules[i].rule, rule) == 0)
			return w->report.rules[i].rows;
	return 0;
}

static const char *extra(const struct ct_workload *w, const char *name, size_t job)
{
	for (size_t i = 0; i < w->n_columns; i++)
		if (strcmp(w->columns[i].name, name) == 0)
			return ct_strings_text(&w->strings, w->columns[i].value[job]);
	return "(no such column)";
}

static const char *name_of(const struct ct_workload *w, uint32_t string)
{
	return ct_strings_text(&w->strings, string);
}

static struct ct_workload *must_read(const char *path, enum ct_bad_row bad)
{
	const struct ct_trace_options o = { .on_bad_row = bad };
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;

	if (ct_trace_read(path, &o, &w, &err))
		fail_msg("%s", err.text);
	assert_string_equal(w->report.format, "pai");
	return w;
}

/* ---- joins */

static void write_tables(struct folder *f)
{
	write_file(f, "pai_job_table.csv",
		   A ",ia,user1,Terminated,1000.0,2000.0\n" B ",ib,user2,Terminated,500.0,900.0\n" C
		     ",ic,user1,Failed,600.0,\n");
	write_file(f, "pai_task_table.csv",
		   A ",worker,3.0,Terminated,1000.0,2000.0,600.0,29.296875,50.0,T4\n" A
		     ",ps,1.0,Terminated,1000.0,2000.0,100.0,2.0,,\n" B
		     ",tensorflow,1.0,Terminated,500.0,900.0,600.0,,200.0,\n" C
		     ",tensorflow,1.0,Failed,600.0,,600.0,2.0,100.0,MISC\n");
	write_file(f, "pai_group_tag_table.csv", "ia,user1,,g1,bert\n");
	/* worker 0: 100 s; worker 1: 200 s after a failed attempt; worker 2: 300 s, run twice, the later end counts */
	write_file(f, "pai_instance_table.csv",
		   A ",worker,i0,w0,x,Terminated,1010.0,1110.0," M "\n" A ",worker,i1,w1,x,Failed,1012.0,," M "\n" A
		     ",worker,i1,w1b,x,Terminated,1100.0,1300.0," M "\n" A ",worker,i2,w2,x,Terminated,1200.0,1260.0," M
		     "\n" A ",worker,i2,w2,x,Terminated,1300.0,1600.0," M "\n" A ",ps,i3,w3,x,Running,,," M "\n" B
		     ",tensorflow,i4,w4,y,Terminated,560.0,900.0," M "\n" C ",tensorflow,i5,w5,z,Failed,610.0,," M
		     "\n");
	write_file(f, "pai_sensor_table.csv",
		   A ",worker,w0,ia," M ",T4,80,10.0,1,2,1.0,2.0,,,,\n" A ",worker,w1b,ia," M
		     ",T4,80,30.0,1,2,1.0,3.5,,,,\n" B ",tensorflow,w4,ib," M ",V100,80,120.0,1,2,1.0,,,,,\n");
	write_file(f, "pai_machine_spec.csv", M ",V100,96,512,8\n");
}

static void test_joins_all_tables(void **state)
{
	struct folder *f = *state;
	struct ct_workload *w;
	const struct ct_job *a, *b;

	write_tables(f);
	w = must_read(f->path, CT_BAD_ROW_REFUSE);
	assert_int_equal(w->n, 2);
	b = &w->jobs[0];
	a = &w->jobs[1];
	assert_string_equal(a->id, A);
	assert_int_equal(a->submit_us, 1000 * CT_SECOND);
	assert_int_equal(a->duration_us, 200 * CT_SECOND); /* (100 + 200 + 300) / 3 */
	assert_int_equal(a->num_gpus, 3);
	assert_int_equal(a->gpu_milli, 500);
	assert_int_equal(a->cpu_milli, 3 * 6000 + 1000);
	assert_int_equal(a->mem_mib, 3 * 30000 + 2048);
	assert_int_equal(a->gpu_mem_mib, 3584);
	assert_float_equal(a->sm_frac, .20, 1e-6);
	assert_string_equal(name_of(w, a->user), "user1");
	assert_string_equal(name_of(w, a->group), "g1");
	assert_string_equal(name_of(w, a->gpu_type), "T4");
	assert_string_equal(extra(w, "task_name", 1), "worker+ps");
	assert_string_equal(extra(w, "instances", 1), "3");
	assert_string_equal(extra(w, "plan_gpu", 1), "50");
	assert_string_equal(extra(w, "wait_s", 1), "10");
	assert_string_equal(extra(w, "gpu_util", 1), "20");
	assert_string_equal(extra(w, "tag", 1), "bert");
	assert_string_equal(b->id, B);
	assert_int_equal(b->num_gpus, 2);
	assert_int_equal(b->gpu_milli, 1000);
	assert_int_equal(b->duration_us, 340 * CT_SECOND);
	assert_float_equal(b->sm_frac, .60, 1e-6); /* 120 % of one GPU, on two */
	assert_string_equal(name_of(w, b->gpu_type), "V100");
	assert_string_equal(extra(w, "wait_s", 0), "60");
	assert_int_equal(count_of(w, "repeated_worker"), 1);
	assert_int_equal(count_of(w, "gpu_type_from_machine"), 1);
	assert_int_equal(count_of(w, "no_group"), 1);
	assert_int_equal(count_of(w, "dropped_failed"), 1);
	assert_int_equal(count_of(w, "no_task_table") + count_of(w, "no_sensor_table"), 0);
	ct_workload_free(w);
}

static void test_leaves_out_parameter_servers(void **state)
{
	struct folder *f = *state;
	const struct ct_trace_option ps = { .name = "ps", .value = "drop" };
	const struct ct_trace_options o = { .options = &ps, .n_options = 1 };
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;

	write_tables(f);
	assert_int_equal(ct_trace_read(f->path, &o, &w, &err), 0);
	assert_int_equal(w->jobs[1].cpu_milli, 3 * 6000);
	ct_workload_free(w);
}

static void test_tasks_alone(void **state)
{
	struct folder *f = *state;
	struct ct_workload *w;
	const char *path =
	    write_file(f, "pai_task_table.csv",
		       A ",evaluator,1.0,Terminated,10.0,20.0,600,,25.0,T4\n" A
			 ",worker,2.0,Terminated,10.0,40.0,600,,250.0,T4\n" B ",ps,4.0,Terminated,5.0,5.0,100,2,,\n");

	w = must_read(path, CT_BAD_ROW_REFUSE);
	assert_int_equal(w->n, 2);
	/* 1 x 0.25 and 2 x 3 GPUs: 6250 thousandths over 7 */
	assert_int_equal(w->jobs[1].num_gpus, 7);
	assert_int_equal(w->jobs[1].gpu_milli, 893);
	assert_int_equal(w->jobs[1].duration_us, 30 * CT_SECOND);
	assert_int_equal(w->jobs[0].num_gpus, 0);
	assert_int_equal(w->jobs[0].cpu_milli, 4000);
	assert_int_equal(w->jobs[0].duration_us, CT_SECOND);
	assert_int_equal(count_of(w, "uneven_share"), 1);
	assert_int_equal(count_of(w, "rounded_gpus"), 1);
	assert_int_equal(count_of(w, "one_second"), 1);
	assert_int_equal(count_of(w, "cpu_only_job"), 1);
	assert_int_equal(count_of(w, "run_time_from_task"), 2);
	assert_int_equal(count_of(w, "no_instance_table"), 2);
	ct_workload_free(w);
}

/* ---- malformed and partial inputs */

#define TASK     "pai_task_table.csv"
#define INSTANCE "pai_instance_table.csv"
#define JOB      "pai_job_table.csv"
#define GOOD     A ",worker,1,Terminated,10,20,600,2,100,T4\n"

static const struct probe {
	const char *file, *text;
	const char *refused; /* in the message; NULL: it is read */
	const char *rule;    /* counted when bad rows are dropped, or at all */
	uint64_t rows;       /* by that rule */
	size_t jobs;         /* then; SIZE_MAX: refused, too */
} probes[] = {
	/* missing columns, and one too many */
	{ TASK, GOOD B ",worker,1,Terminated,10\n", ":2:", "dropped_field_count", 1, 1 },
	{ TASK, GOOD B ",worker,1,Terminated,10,20,600,2,100,T4,x\n", ":2:", "dropped_field_count", 1, 1 },
	/* empty end, "nan" and 0 as missing */
	{ TASK, GOOD B ",worker,1,Terminated,10,,600,2,100,T4\n", NULL, "dropped_no_times", 1, 1 },
	{ TASK, GOOD B ",worker,1,Terminated,nan,20,600,2,100,T4\n", NULL, "dropped_no_times", 1, 1 },
	{ TASK, GOOD B ",worker,1,Terminated,0,20,600,2,100,T4\n", NULL, "dropped_no_times", 1, 1 },
	/* Waiting rows have no times, workers and machines */
	{ INSTANCE, A ",worker,i,w,x,Terminated,10,20," M "\n" B ",worker,i,,x,Waiting,,,\n", NULL, "dropped_waiting",
	  1, 1 },
	{ TASK, GOOD B ",worker,1,Running,10,,600,2,100,T4\n", NULL, "dropped_running", 1, 1 },
	{ INSTANCE, A ",worker,i,w,x,Terminated,10,20," M "\n" B ",worker,i,w2,x,Interrupted,,30,\n", NULL,
	  "dropped_interrupted", 1, 1 },
	/* quoted commas: one field */
	{ TASK, GOOD B ",\"wor,ker\",1,Terminated,10,20,600,2,100,T4\n", NULL, "no_job_table", 2, 2 },
	/* scientific notation */
	{ TASK, A ",worker,1e0,Terminated,1e1,2.0e1,6e2,2,1e2,T4\n", NULL, "no_job_table", 1, 1 },
	/* times in reverse, in a task, an instance and a job */
	{ TASK, GOOD B ",worker,1,Terminated,20,10,600,2,100,T4\n", NULL, "reversed_times", 1, 1 },
	{ INSTANCE, A ",worker,i,w,x,Terminated,10,20," M "\n" A ",worker,j,v,x,Terminated,30,20," M "\n", NULL,
	  "reversed_times", 1, 1 },
	{ JOB, A ",ia,u,Terminated,10,20\n" B ",ib,u,Terminated,20,10\n", NULL, "dropped_reversed_times", 1, 1 },
	/* unknown status and GPU type */
	{ TASK, GOOD B ",worker,1,Paused,10,20,600,2,100,T4\n", NULL, "dropped_other_status", 1, 1 },
	{ TASK, GOOD B ",worker,1,Terminated,10,20,600,2,100,H100\n", NULL, "other_gpu_type", 1, 2 },
	/* duplicates: the first is kept */
	{ TASK, GOOD GOOD, NULL, "duplicate_task", 1, 1 },
	{ JOB, A ",ia,u,Terminated,10,20\n" A ",ib,u,Failed,20,10\n", NULL, "duplicate_job", 1, 1 },
	/* not finite, not a number, negative, no name */
	{ TASK, GOOD B ",worker,1,Terminated,inf,20,600,2,100,T4\n", ":2:", "dropped_not_a_number", 1, 1 },
	{ TASK, GOOD B ",worker,1,Terminated,10,20,600,2,1e999,T4\n", ":2:", "dropped_not_a_number", 1, 1 },
	{ TASK, GOOD B ",worker,1,Terminated,10,20,600,2,half,T4\n", ":2:", "dropped_not_a_number", 1, 1 },
	{ TASK, GOOD B ",worker,1,Terminated,-10,20,600,2,100,T4\n", ":2:", "dropped_negative", 1, 1 },
	{ TASK, GOOD ",worker,1,Terminated,10,20,600,2,100,T4\n", ":2:1:", "dropped_no_name", 1, 1 },
	/* no request at all */
	{ TASK, GOOD B ",worker,1,Terminated,10,20,,,,\n", NULL, "dropped_no_request", 1, 1 },
	/* a header, which the published files do not have */
	{ TASK, "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n" GOOD,
	  NULL, "header_line", 1, 1 },
	/* nothing usable */
	{ TASK, B ",worker,1,Waiting,,,600,2,100,T4\n", "holds no jobs", NULL, 0, SIZE_MAX },
	{ TASK, "", "", NULL, 0, SIZE_MAX },
	{ TASK, GOOD "\"open", "quote", NULL, 0, SIZE_MAX },
};

static void run_probe(struct folder *f, size_t number, enum ct_bad_row bad)
{
	const struct probe *p = &probes[number];
	const struct ct_trace_options o = { .on_bad_row = bad, .format = "pai" };
	int refused = p->jobs == SIZE_MAX || (p->refused && bad == CT_BAD_ROW_REFUSE);
	const char *path = write_file(f, p->file, p->text);
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;
	int rc = ct_trace_read(path, &o, &w, &err);

	if (refused) {
		if (rc != CT_ETRACE || !strstr(err.text, p->refused) || !strstr(err.text, path))
			fail_msg("probe %zu: %d: %s", number, rc, err.text);
		return;
	}
	if (rc)
		fail_msg("probe %zu: %s", number, err.text);
	if (w->n != p->jobs || count_of(w, p->rule) != p->rows)
		fail_msg("probe %zu: %zu jobs, %s=%llu", number, w->n, p->rule,
			 (unsigned long long)count_of(w, p->rule));
	ct_workload_free(w);
}

static void test_malformed(void **state)
{
	struct folder *f = *state;

	for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
		run_probe(f, i, CT_BAD_ROW_REFUSE);
		run_probe(f, i, CT_BAD_ROW_DROP);
		for (int k = 0; k < f->n; k++)
			unlink(f->file[k]);
		f->n = 0;
	}
}

static void test_truncated_gzip(void **state)
{
	struct folder *f = *state;
	const char *path = write_file(f, "pai_task_table.csv.gz", "");
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;
	gzFile z = gzopen(path, "wb");

	for (int i = 0; i < 2000; i++)
		gzprintf(z, "%024x,worker,1,Terminated,%d,%d,600,2,100,T4\n", i * 7919, i + 1, 2 * i + 5);
	gzclose(z);
	w = must_read(path, CT_BAD_ROW_REFUSE);
	assert_int_equal(w->n, 2000);
	ct_workload_free(w);
	w = NULL;
	assert_int_equal(truncate(path, 5000), 0);
	assert_int_equal(ct_trace_read(path, NULL, &w, &err), CT_EIO);
	assert_non_null(strstr(err.text, "truncated"));
	assert_null(w);
}

static void test_two_job_tables(void **state)
{
	struct folder *f = *state;
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;

	write_file(f, "pai_job_table.csv", A ",ia,u,Terminated,10,20\n");
	write_file(f, "pai_job_table.copy.csv", A ",ia,u,Terminated,10,20\n");
	assert_int_equal(ct_trace_read(f->path, NULL, &w, &err), CT_ETRACE);
	assert_non_null(strstr(err.text, "both a 'pai_job_table'"));
}

/* ---- figures */

static struct ct_workload *read_figures(const char *path, struct ct_figures *f)
{
	const struct ct_trace_options o = { .figures = f, .format = "pai" };
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;

	if (ct_trace_read(path, &o, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static double figure(const struct ct_figures *f, const char *name)
{
	const struct ct_figure *x = ct_figures_find(f, name);

	if (!x)
		fail_msg("no figure '%s'", name);
	assert_true(*x->definition);
	return x->value;
}

static void lacks(const struct ct_figures *f, const char *name, const char *table)
{
	assert_true(isnan(figure(f, name)));
	if (!strstr(ct_figures_find(f, name)->definition, table))
		fail_msg("%s: %s", name, ct_figures_find(f, name)->definition);
}

static void has_curve(const struct ct_figures *f, const char *name, const double *want, size_t n)
{
	const struct ct_curve *c = ct_figures_find_curve(f, name);

	if (!c)
		fail_msg("no curve '%s'", name);
	assert_int_equal(c->n * c->n_columns, n);
	for (size_t i = 0; i < n; i++)
		if (!(fabs(c->v[i] - want[i]) <= 1e-12 || (isinf(c->v[i]) && isinf(want[i]))))
			fail_msg("%s, value %zu is %.17g", name, i, c->v[i]);
}

/* u1: group g1, five jobs; u2: group g2, five jobs; u3: g3 and a job without group;
 * u4: two jobs without group, its only small task failed. */
#define FIGURE_JOBS                                                                     \
	"j1,i1,u1,Terminated,1,9\nj2,i2,u1,Terminated,1,9\nj3,i3,u1,Terminated,1,9\n"   \
	"j4,i4,u1,Terminated,1,9\nj5,i5,u1,Terminated,1,9\nj6,i6,u2,Terminated,1,9\n"   \
	"j7,i7,u2,Terminated,1,9\nj8,i8,u2,Terminated,1,9\nj9,i9,u2,Terminated,1,9\n"   \
	"j10,i10,u2,Terminated,1,9\nj11,i11,u3,Terminated,1,9\nj12,i12,u3,Failed,1,9\n" \
	"j13,i13,u4,Terminated,1,9\nj14,i14,u4,Failed,1,9\n"
#define FIGURE_TASKS                                                                               \
	"j1,worker,1,Terminated,1,9,600,2,50,T4\nj2,worker,9,Terminated,1,9,600,2,50,T4\n"         \
	"j3,worker,1,Terminated,1,9,600,2,25,T4\nj4,worker,1,Terminated,1,9,600,2,100,T4\n"        \
	"j5,worker,1,Terminated,1,9,600,2,50,T4\nj5,ps,1,Terminated,1,9,600,2,,\n"                 \
	"j6,tensorflow,1,Terminated,1,9,600,2,100,T4\nj7,tensorflow,1,Terminated,1,9,600,2,100,\n" \
	"j8,tensorflow,1,Terminated,1,9,600,2,100,T4\nj9,tensorflow,1,Terminated,1,9,600,2,100,\n" \
	"j10,tensorflow,1,Terminated,1,9,600,2,100,\nj11,worker,1,Terminated,1,9,600,2,400,\n"     \
	"j12,worker,1,Failed,1,9,600,2,800,\nj12,evaluator,1,Terminated,1,9,600,2,160,\n"          \
	"j13,worker,4,Terminated,1,9,600,2,500,\nj14,worker,1,Failed,1,9,600,2,10,\n"

static void write_figure_tables(struct folder *f)
{
	write_file(f, "pai_job_table.csv", FIGURE_JOBS);
	write_file(f, "pai_task_table.csv", FIGURE_TASKS);
	write_file(f, "pai_group_tag_table.csv",
		   "i1,u1,,g1,\ni2,u1,,g1,\ni3,u1,,g1,\ni4,u1,,g1,\ni5,u1,,g1,\ni6,u2,,g2,\ni7,u2,,g2,\n"
		   "i8,u2,,g2,\ni9,u2,,g2,\ni10,u2,,g2,\ni11,u3,,g3,\n");
	/* the fourth row has no utilisation; the last one is of a job that is not here */
	write_file(f, "pai_sensor_table.csv",
		   "j1,worker,w0,i1," M ",T4,80,0,1,2,1.0,2.0,,,,\nj1,worker,w1,i1," M ",T4,80,20,1,2,1.0,2.0,,,,\n"
		   "j2,worker,w0,i2," M ",T4,80,60,1,2,1.0,2.0,,,,\nj2,worker,w1,i2," M ",T4,80,,1,2,1.0,2.0,,,,\n"
		   "j3,worker,w0,i3," M ",T4,80,5,1,2,1.0,2.0,,,,\nzz,worker,w0,zz," M ",T4,80,15,1,2,1.0,2.0,,,,\n");
}

static void test_figures(void **state)
{
	static const struct {
		const char *name;
		double value;
	} wanted[] = {
		{ "tasks", 16 },
		{ "gpu_tasks", 15 }, /* all but the ps */
		{ "fractional_share", 5. / 15 },
		{ "request_to_25_share", 2. / 15 },
		{ "request_to_50_share", 3. / 15 },
		{ "request_to_75_share", 0 },
		{ "request_to_100_share", 6. / 15 },
		{ "request_to_200_share", 1. / 15 },
		{ "request_above_200_share", 3. / 15 },
		{ "request_5_share", 0 },
		{ "request_10_share", 1. / 15 },
		{ "request_25_share", 1. / 15 },
		{ "request_50_share", 3. / 15 },
		{ "request_100_share", 6. / 15 },
		{ "request_200_share", 0 }, /* 160 is in its bin only */
		{ "request_800_share", 1. / 15 },
		{ "groups", 3 },
		{ "recurrent_groups", 2 },
		{ "recurrent_job_share", 10. / 14 },
		{ "recurrent_task_share", 11. / 16 },
		{ "group_configs_share", 1. / 2 }, /* g1 */
		{ "group_configs_max", 3 },        /* 25, 50, 100 */
		{ "users", 4 },
		{ "user_jobs_p10", 2 }, /* of 2, 2, 5, 5 */
		{ "user_jobs_p50", 3.5 },
		{ "user_jobs_p75", 5 },
		{ "user_jobs_max", 5 },
		{ "user_tasks_p25", 2.75 }, /* of 2, 3, 5, 6 */
		{ "user_tasks_p50", 4 },
		{ "user_tasks_p90", 5.7 },
		{ "user_tasks_max", 6 },
		{ "flexibility_ratio_p50", 4.5 },     /* of 1, 4, 5, 50 */
		{ "smaller_request_share", 7. / 14 }, /* j1 j2 j4 j5, j11 j12, j13 */
		{ "large_tasks", 3 },                 /* 400, 800, 500 */
		{ "flexible_share", 2. / 3 },         /* those of u3 */
		{ "util_rows", 5 },
		{ "util_mean", 20 }, /* (0 + 20 + 60 + 5 + 15) / 5 */
		{ "util_max", 60 },
		{ "util_zero_share", 1. / 5 },
		{ "util_below_10_share", 2. / 5 },
		{ "util_below_50_share", 4. / 5 },
		/* training is j2, of nine instances; j1 and j3 are small and short; zz is of no job */
		{ "util_train_mean", 60 },
		{ "util_train_rows", 1 },
		{ "util_train_below_50_share", 0 },
		{ "util_infer_mean", 25. / 3 },
		{ "util_infer_rows", 3 },
		{ "util_infer_below_50_share", 1 },
		{ "util_correlation_bins", 1 },
	};
	static const double large[] = { 4, 5, 1, 0, 5, 6, 0, 1, 6, 8, 0, 0, 8, (double)INFINITY, 1, 0 };
	static const double configs[] = { 1, 1, 2, 0, 3, 1 }; /* g2 has one, g1 three */
	static const double flexible[] = { 1, .25, .5, 4, .5, 1, 5, .75, 1, 50, 1, 1 };
	struct ct_figures f = { 0 };
	struct ct_workload *w;

	write_figure_tables(*state);
	w = read_figures(((struct folder *)*state)->path, &f);
	assert_int_equal(w->n, 12); /* the two failed ones count for the figures all the same */
	has_curve(&f, "large_tasks", large, sizeof large / sizeof *large);
	has_curve(&f, "configs", configs, sizeof configs / sizeof *configs);
	has_curve(&f, "flexibility_cdf", flexible, sizeof flexible / sizeof *flexible);
	assert_int_equal(ct_figures_find_curve(&f, "util_cdf")->n, 201);
	/* at 5 %: of training none of 60, of inference 0 and 5 of 0, 5, 20 */
	assert_float_equal(ct_figures_find_curve(&f, "util_cdf")->v[4 * 10 + 1], 0, 0);
	assert_float_equal(ct_figures_find_curve(&f, "util_cdf")->v[4 * 10 + 2], 2. / 3, 1e-12);
	assert_float_equal(ct_figures_find_curve(&f, "util_cdf")->v[4 * 10 + 3], 2. / 4, 1e-12);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (!(fabs(figure(&f, wanted[i].name) - wanted[i].value) <= 1e-12))
			fail_msg("%s is %.17g", wanted[i].name, figure(&f, wanted[i].name));
	ct_workload_free(w);
	ct_figures_fini(&f);
}

/* Medians of six hours: of training 10, 20, 30, of inference 3, 1, 2, so r = -1/2 and, with
 * one degree of freedom, p = 1 - 2 atan(1 / sqrt(3)) / pi = 2/3. The fourth six hours have
 * training alone, the job after 45 days counts in none. The tag, the parameter
 * server and the run time make training of what is small. */
static void test_utilisation_over_time(void **state)
{
	static const double bins[] = { .125, 10, 3, 3, 1, .375, 20, 1,           1, 2,
				       .625, 30, 2, 1, 1, .875, 40, (double)NAN, 1, 0 };
	struct folder *folder = *state;
	struct ct_figures f = { 0 };
	const struct ct_curve *c;

	write_file(folder, "pai_job_table.csv",
		   "a,a,u,Terminated,1000,9000\nb,b,u,Terminated,1000,9000\nc,c,u,Terminated,30000,39000\n"
		   "d,d,u,Terminated,30000,39000\ne,e,u,Terminated,50000,59000\nf,f,u,Terminated,50000,59000\n"
		   "g,g,u,Terminated,70000,79000\nh,h,u,Terminated,3889000,3889100\n");
	write_file(folder, "pai_task_table.csv",
		   "a,worker,1,Terminated,1000,1999,1,1,50,\nb,worker,1,Terminated,1000,1100,1,1,50,\n"
		   "c,worker,1,Terminated,30000,30100,1,1,50,\nc,ps,1,Terminated,30000,30100,1,1,,\n"
		   "d,worker,1,Terminated,30000,30100,1,1,50,\ne,worker,1,Terminated,50000,50100,1,1,25,\n"
		   "f,worker,1,Terminated,50000,50100,1,1,25,\ng,worker,1,Terminated,70000,70100,1,1,100,\n"
		   "h,worker,1,Terminated,3889000,3889100,1,1,100,\n");
	write_file(folder, "pai_group_tag_table.csv", "e,u,,g,nmt\nf,u,,g,bert\n");
	write_file(folder, "pai_sensor_table.csv",
		   "a,worker,w0,a," M ",T4,80,4,1,2,1.0,2.0,,,,\na,worker,w1,a," M ",T4,80,10,1,2,1.0,2.0,,,,\n"
		   "a,worker,w2,a," M ",T4,80,99,1,2,1.0,2.0,,,,\nb,worker,w0,b," M ",T4,80,3,1,2,1.0,2.0,,,,\n"
		   "c,worker,w0,c," M ",T4,80,20,1,2,1.0,2.0,,,,\nd,worker,w0,d," M ",T4,80,0,1,2,1.0,2.0,,,,\n"
		   "d,worker,w1,d," M ",T4,80,2,1,2,1.0,2.0,,,,\ne,worker,w0,e," M ",T4,80,30,1,2,1.0,2.0,,,,\n"
		   "f,worker,w0,f," M ",T4,80,2,1,2,1.0,2.0,,,,\ng,worker,w0,g," M ",T4,80,40,1,2,1.0,2.0,,,,\n"
		   "h,worker,w0,h," M ",T4,80,50,1,2,1.0,2.0,,,,\n");
	ct_workload_free(read_figures(folder->path, &f));
	assert_float_equal(figure(&f, "util_correlation"), -.5, 1e-12);
	assert_float_equal(figure(&f, "util_correlation_p"), 2. / 3, 1e-9);
	assert_float_equal(figure(&f, "util_correlation_bins"), 3, 0);
	assert_float_equal(figure(&f, "util_train_rows"), 7, 0);
	c = ct_figures_find_curve(&f, "util_6h");
	assert_int_equal(c->n, 4);
	for (size_t i = 0; i < 20; i++)
		if (!(fabs(c->v[i] - bins[i]) <= 1e-9 || (isnan(c->v[i]) && isnan(bins[i]))))
			fail_msg("value %zu is %.17g", i, c->v[i]);
	ct_figures_fini(&f);
}

/* A workload with the generator's columns gives what tables with the same jobs give. */
static void test_figures_of_a_workload(void **state)
{
	static const char text[] =
	    "job_id,submit_time,num_gpus,gpu_milli,num_cpus,duration,user,group,state,task_name,instances,"
	    "plan_gpu,gpu_util,tag,kind\n"
	    "a,0,1,500,1,60,u,g,Terminated,worker,1,50,10,,infer\n"
	    "b,0,1,1000,1,60,u,g,Terminated,worker,1,100,40,,train\n"
	    "c,30000,4,1000,1,60,u,g,Terminated,worker,1,400,60,,train\n"
	    "d,30000,0,1000,1,60,v,h,Failed,ps,1,,,,train\n";
	static const double large[] = { 4, 5, 1, 0, 5, 6, 0, 0, 6, 8, 0, 0, 8, (double)INFINITY, 0, 0 };
	struct folder *folder = *state;
	const struct ct_trace_options o = { 0 };
	struct ct_figures f = { 0 }, none = { 0 };
	struct ct_workload *w = NULL;
	struct ct_err err = { 0 };

	if (ct_trace_read(write_file(folder, "jobs.csv", text), &o, &w, &err))
		fail_msg("%s", err.text);
	assert_int_equal(ct_workload_figures(w, &f), 1);
	assert_float_equal(figure(&f, "gpu_tasks"), 3, 0);
	assert_float_equal(figure(&f, "fractional_share"), 1. / 3, 1e-12);
	assert_float_equal(figure(&f, "flexibility_ratio_p50"), 8, 1e-12);
	assert_float_equal(figure(&f, "util_mean"), 110. / 3, 1e-12);
	assert_float_equal(figure(&f, "util_train_mean"), 50, 1e-12);
	assert_float_equal(figure(&f, "util_infer_mean"), 10, 1e-12);
	has_curve(&f, "large_tasks", large, sizeof large / sizeof *large);
	ct_workload_free(w);
	ct_figures_fini(&f);
	w = NULL;
	if (ct_trace_read(write_file(folder, "jobs.csv", "job_id,submit_time,num_gpus,duration\na,0,1,9\n"), &o, &w,
			  &err))
		fail_msg("%s", err.text);
	assert_int_equal(ct_workload_figures(w, &none), 0);
	assert_int_equal(none.n, 0);
	ct_workload_free(w);
}

/* What the tables do not hold is not a number, and says why. */
static void test_figures_of_some_tables(void **state)
{
	struct folder *folder = *state;
	struct ct_figures tasks = { 0 }, instances = { 0 }, no_groups = { 0 };
	const char *path = write_file(folder, "pai_task_table.csv", FIGURE_TASKS);

	ct_workload_free(read_figures(path, &tasks));
	assert_float_equal(figure(&tasks, "fractional_share"), 5. / 15, 1e-12);
	lacks(&tasks, "users", "no pai_job_table");
	lacks(&tasks, "user_jobs_p50", "no pai_job_table");
	lacks(&tasks, "recurrent_task_share", "no pai_job_table");
	lacks(&tasks, "flexibility_ratio_p50", "no pai_job_table");
	lacks(&tasks, "util_mean", "no pai_sensor_table");
	write_file(folder, "pai_job_table.csv", FIGURE_JOBS);
	ct_workload_free(read_figures(folder->path, &no_groups));
	assert_float_equal(figure(&no_groups, "flexibility_ratio_p50"), 4.5, 1e-12);
	lacks(&no_groups, "recurrent_groups", "no pai_group_tag_table");
	path = write_file(folder, "pai_instance_table.csv", "j1,worker,i,w,x,Terminated,10,20,m\n");
	ct_workload_free(read_figures(path, &instances));
	assert_float_equal(figure(&instances, "tasks"), 1, 0);
	lacks(&instances, "gpu_tasks", "no pai_task_table");
	lacks(&instances, "fractional_share", "no pai_task_table");
	lacks(&instances, "group_configs_max", "no pai_job_table");
	ct_figures_fini(&tasks);
	ct_figures_fini(&no_groups);
	ct_figures_fini(&instances);
}

/* Tables that are there, but with nothing in them to say it from. */
static void test_figures_of_no_requests(void **state)
{
	struct ct_figures f = { 0 }, none = { 0 };
	const struct ct_trace_options o = { .figures = &none, .format = "pai" };
	struct ct_err err = { 0 };
	struct ct_workload *w = NULL;
	const char *path = write_file(*state, "pai_task_table.csv", "j1,ps,1,Waiting,,,600,2,,\n");

	w = read_figures(path, &f);
	assert_int_equal(w->n, 0); /* no job that could be replayed, but figures */
	assert_float_equal(figure(&f, "tasks"), 1, 0);
	assert_float_equal(figure(&f, "gpu_tasks"), 0, 0);
	lacks(&f, "fractional_share", "there are none");
	ct_workload_free(w);
	ct_figures_fini(&f);
	w = NULL;
	path = write_file(*state, "pai_task_table.csv", "");
	assert_int_equal(ct_trace_read(path, &o, &w, &err), CT_ETRACE);
	assert_int_equal(none.n, 0);
}

/* ---- machines */

static void test_machines(void **state)
{
	struct folder *f = *state;
	struct ct_cluster_spec spec;
	struct ct_arena arena = { 0 };
	struct ct_err err = { 0 };
	const char *path =
	    write_file(f, "machines.csv", "m1,CPU,96,512,0\nm2,T4,96,512,2\nm3,T4,96,512,2\nm4,T4,96,384,2\n");

	assert_int_equal(ct_pai_machines_load(path, &arena, &spec, &err), 0);
	assert_int_equal(spec.n, 3);
	assert_null(spec.nodes[0].gpu_type);
	assert_int_equal(spec.nodes[1].count, 2);
	assert_string_equal(spec.nodes[1].gpu_type, "T4");
	assert_int_equal(spec.nodes[1].cpu_milli, 96000);
	assert_int_equal(spec.nodes[2].mem_mib, 384 * 1024);
	path = write_file(f, "machines.csv", "m1,T4,96,512,2\nm1,T4,96,512,2\nm2,T4,x,512,2\nm3,T4,96\nm4,,9,5,1\n");
	assert_int_equal(ct_pai_machines_load(path, &arena, &spec, &err), CT_ECONFIG);
	assert_int_equal(err.count, 4);
	assert_non_null(strstr(err.text, ":2:1: "));
	assert_non_null(strstr(err.text, ":3:7: 'cap_cpu' wants a number"));
	assert_non_null(strstr(err.text, ":4: "));
	ct_arena_fini(&arena);
}

/* ---- the real files */

static const char *shared(char out[512], const char *name)
{
	const char *given = getenv("COTENANT_SHARED_DATA");

	snprintf(out, 512, "%s/%s", given ? given : "../shared/data", name);
	if (access(out, R_OK) == 0)
		return out;
	print_message("%s is not there\n", out);
	skip();
	return NULL;
}

static void test_real_instances(void **state)
{
	char path[512];
	struct ct_workload *w;

	(void)state;
	w = must_read(shared(path, "pai/pai_instance_table_tail.csv.gz"), CT_BAD_ROW_REFUSE);
	assert_int_equal(w->report.rows_read, 28008);
	assert_int_equal(count_of(w, "jobs_seen"), 5212);
	assert_int_equal(count_of(w, "instances_terminated"), 19142);
	assert_int_equal(count_of(w, "instances_running"), 2657);
	assert_int_equal(count_of(w, "instances_failed"), 2634);
	assert_int_equal(count_of(w, "instances_interrupted"), 2528);
	assert_int_equal(count_of(w, "instances_waiting"), 1047);
	assert_int_equal(count_of(w, "no_task_table"), 5212);
	assert_int_equal(w->n + count_of(w, "dropped_failed") + count_of(w, "dropped_running") +
			     count_of(w, "dropped_waiting") + count_of(w, "dropped_interrupted") +
			     count_of(w, "dropped_no_times") + count_of(w, "dropped_no_request"),
			 5212);
	ct_workload_free(w);
}

static void test_real_machines(void **state)
{
	char path[512];
	struct ct_cluster_spec spec;
	struct ct_arena arena = { 0 };
	struct ct_err err = { 0 };
	uint64_t machines = 0, gpus = 0, cores = 0;

	(void)state;
	assert_int_equal(ct_pai_machines_load(shared(path, "pai/pai_machine_spec.csv"), &arena, &spec, &err), 0);
	for (size_t i = 0; i < spec.n; i++) {
		machines += spec.nodes[i].count;
		gpus += (uint64_t)spec.nodes[i].count * spec.nodes[i].gpus;
		cores += (uint64_t)spec.nodes[i].count * spec.nodes[i].cpu_milli / 1000;
	}
	assert_int_equal(spec.n, 7); /* V100 with 384 and with 512 GB */
	assert_int_equal(machines, 1897);
	assert_int_equal(gpus, 6742);
	assert_int_equal(cores, 156576);
	ct_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_joins_all_tables, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_leaves_out_parameter_servers, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_tasks_alone, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_malformed, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_truncated_gzip, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_two_job_tables, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_figures, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_utilisation_over_time, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_figures_of_a_workload, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_figures_of_some_tables, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_figures_of_no_requests, open_folder, close_folder),
		cmocka_unit_test_setup_teardown(test_machines, open_folder, close_folder),
		cmocka_unit_test(test_real_instances),
		cmocka_unit_test(test_real_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
