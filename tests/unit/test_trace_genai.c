/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GenAI reader on small files made for this test; every expected value is worked
 * out by hand from their text. What the published files give is tests/oracle/test_genai.c. */
#include "traces/trace.h"

#include "traces/figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define REQUESTS_HEADER                                                                                          \
	"gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length,negative_prompt_length," \
	"num_images_per_prompt,num_inference_steps,checkpoint_model_version_id,num_lora\n"
#define PROCESSED_HEADER                                                                                        \
	"predict_type,exec_time_seconds,style_type,prompt_length,negative_prompt_length,num_images_per_prompt," \
	"num_inference_steps,checkpoint_model_version_id,lora_args\n"
#define QPS_HEADER    "timestamp_anon,value,container_ip,request_type\n"
#define SERIES_HEADER "timestamp_anon,value,container_ip\n"

static char root[4096];

static int enter(void **state)
{
	char *dir = strdup("/tmp/cotenant-test-XXXXXX");

	if (!getcwd(root, sizeof root) || !mkdtemp(dir) || chdir(dir))
		return -1;
	*state = dir;
	return 0;
}

static void remove_files(void)
{
	DIR *d = opendir(".");
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlink(e->d_name);
	closedir(d);
}

static int leave(void **state)
{
	int rc;

	remove_files();
	rc = chdir(root) || rmdir(*state);
	free(*state);
	return rc;
}

static int empty(void **state)
{
	(void)state;
	remove_files();
	return 0;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

/* One member of a tar: ustar header with its checksum, content, padding. */
static void put_member(gzFile f, const char *name, const char *text, size_t n)
{
	char block[512] = { 0 }, zero[512] = { 0 };
	unsigned sum = 0;

	snprintf(block, 100, "%s", name);
	memcpy(block + 100, "0000644", 8);
	memcpy(block + 108, "0000000", 8);
	memcpy(block + 116, "0000000", 8);
	snprintf(block + 124, 12, "%011o", (unsigned)n);
	memcpy(block + 136, "00000000000", 12);
	memset(block + 148, ' ', 8);
	block[156] = '0';
	memcpy(block + 257,
	       "ustar\0"
	       "00",
	       8);
	for (size_t i = 0; i < sizeof block; i++)
		sum += (unsigned char)block[i];
	snprintf(block + 148, 8, "%06o", sum);
	gzwrite(f, block, 512);
	gzwrite(f, text, (unsigned)n);
	gzwrite(f, zero, (unsigned)((512 - n % 512) % 512));
}

/* A .tar.gz of one member, before it the file that a Mac puts there. */
static void put_archive(const char *path, const char *name, const char *text)
{
	static const char apple[] = "\0\5\26\7\0\2\0\0Mac OS X        \0\2";
	char end[1024] = { 0 }, hidden[64];
	gzFile f = gzopen(path, "wb");

	assert_non_null(f);
	snprintf(hidden, sizeof hidden, "._%s", name);
	put_member(f, hidden, apple, sizeof apple);
	put_member(f, name, text, strlen(text));
	gzwrite(f, end, sizeof end);
	assert_int_equal(gzclose(f), Z_OK);
}

struct run {
	struct ct_workload *w; /* NULL: refused */
	struct ct_figures figures;
	struct ct_err err;
};

/* `text`: "name=value;name=value" of trace.options. */
static struct run read_path(const char *path, const char *text, enum ct_bad_row mode)
{
	struct ct_trace_option option[8];
	struct run r = { 0 };
	struct ct_trace_options o = { .options = option, .on_bad_row = mode, .figures = &r.figures };
	char list[256], *save = NULL;

	snprintf(list, sizeof list, "%s", text);
	for (char *s = strtok_r(list, ";", &save); s; s = strtok_r(NULL, ";", &save)) {
		char *eq = strchr(s, '=');

		*eq = '\0';
		option[o.n_options++] = (struct ct_trace_option){ s, eq + 1 };
	}
	ct_trace_read(path, &o, &r.w, &r.err);
	assert_int_equal(!r.w, r.err.code != CT_OK);
	return r;
}

static void drop(struct run *r)
{
	ct_workload_free(r->w);
	ct_figures_fini(&r->figures);
}

static uint64_t count_of(const struct ct_workload *w, const char *rule)
{
	for (unsigned i = 0; i < w->report.n_rules; i++)
		if (!strcmp(w->report.rules[i].rule, rule))
			return w->report.rules[i].rows;
	return 0;
}

static double figure(const struct run *r, const char *name)
{
	const struct ct_figure *f = ct_figures_find(&r->figures, name);

	return f ? f->value : (double)NAN;
}

static const char *text_of(const struct ct_workload *w, uint32_t k)
{
	return ct_strings_text(&w->strings, k);
}

/* Two pods by hand. The first is busy from 0 to 90 s with two requests, the second from 120 s
 * for half a minute; what comes after the day does not count. */
static void test_figures_of_a_workload(void **state)
{
	const struct ct_trace_options o = { 0 };
	struct ct_err err = { 0 };
	struct run r = { 0 };
	const struct ct_curve *c;

	(void)state;
	put("day.csv", "job_id,submit_time,num_gpus,duration,pod\n1,0,1,30,a\n2,10,1,60,a\n3,120,1,30,b\n"
		       "4,86400,1,60,b\n");
	if (ct_trace_read("day.csv", &o, &r.w, &err))
		fail_msg("%s", err.text);
	assert_int_equal(ct_workload_figures(r.w, &r.figures), 1);
	assert_true(fabs(figure(&r, "duty_mean") - 200. / 2880) < 1e-12);
	assert_true(figure(&r, "duty_zeros") == 2877);
	assert_true(fabs(figure(&r, "duty_below_50_share") - 2877. / 2880) < 1e-12);
	assert_true(figure(&r, "qps_minutes") == 2);
	assert_true(fabs(figure(&r, "qps_cv") - 1. / 3) < 1e-12); /* .18 and .09 */
	c = ct_figures_find_curve(&r.figures, "qps");
	assert_true(fabs(c->v[1] - .18) < 1e-12);
	assert_true(fabs(c->v[2] - .27 / 6) < 1e-12); /* minutes 0 to 5 */
	assert_true(isnan(c->v[3 + 1]));
	assert_true(fabs(c->v[3 * 720] - .5) < 1e-12);
	c = ct_figures_find_curve(&r.figures, "duty_cdf");
	assert_true(fabs(c->v[2 * 99 + 1] - 2877. / 2880) < 1e-12); /* 49.5 % */
	assert_true(fabs(c->v[2 * 100 + 1] - 2879. / 2880) < 1e-12);
	drop(&r);
}

/* ---- mapping A */

/* u1 asks m1 at 10:00, 10:05, 10:20 and next morning, u2 in between, u1 also asks m2. */
static const char some_requests[] = REQUESTS_HEADER "2024-11-15 10:00:00,TXT_2_IMG,SUCCEED,10.0,u1,5.0,,2.0,30.0,m1,0\n"
						    "2024-11-15 10:00:30,TXT_2_IMG,SUCCEED,7.0,u2,5.0,,1.0,30.0,m1,1\n"
						    "2024-11-15 10:05:00,IMG_2_IMG,SUCCEED,20.0,u1,5.0,,4.0,30.0,m1,0\n"
						    "2024-11-15 10:20:00,TXT_2_IMG,SUCCEED,5.0,u1,5.0,,1.0,30.0,m1,0\n"
						    "2024-11-15 10:59:00,TXT_2_IMG,SUCCEED,3.0,u1,5.0,,1.0,30.0,m2,0\n"
						    "2024-11-15 11:00:00,TXT_2_IMG,FAILED,4.0,u1,5.0,,1.0,30.0,m2,0\n"
						    "2024-11-15 11:01:00,TXT_2_IMG,PENDING,0.0,u3,,,,,,0\n"
						    "2024-11-16 09:00:00,TXT_2_IMG,SUCCEED,8.0,u1,5.0,,1.0,30.0,m1,0\n";

struct job {
	double submit_s, work_s;
	const char *user, *group, *model;
};

static void check_jobs(const struct run *r, const struct job *want, size_t n)
{
	if (!r->w)
		fail_msg("%s", r->err.text);
	assert_int_equal(r->w->n, n);
	for (size_t i = 0; i < n; i++) {
		const struct ct_job *j = &r->w->jobs[i];

		assert_int_equal(j->submit_us, llround(want[i].submit_s * 1e6));
		assert_int_equal(j->duration_us, llround(want[i].work_s * 1e6));
		assert_string_equal(text_of(r->w, j->user), want[i].user);
		assert_string_equal(text_of(r->w, j->group), want[i].group);
		assert_string_equal(text_of(r->w, j->model), want[i].model);
		assert_int_equal(j->num_gpus, 1);
	}
}

enum { H = 3600, DAY = 86400 };

static void test_by_user(void **state)
{
	static const struct job want[] = { { 10 * H + 30, 7, "u2", "m1", "m1" },
					   { 10 * H + 300, 30, "u1", "m1", "m1" },
					   { 10 * H + 1200, 5, "u1", "m1", "m1" },
					   { 10 * H + 3540, 3, "u1", "m2", "m2" },
					   { DAY + 9 * H, 8, "u1", "m1", "m1" } };
	struct run r;

	(void)state;
	put("lora_request_trace.csv", some_requests);
	r = read_path("lora_request_trace.csv", "", CT_BAD_ROW_REFUSE);
	check_jobs(&r, want, 5);
	assert_int_equal(r.w->report.rows_read, 8);
	assert_int_equal(r.w->report.rows_kept, 6);
	assert_int_equal(count_of(r.w, "filtered_status"), 2);
	assert_string_equal(r.w->columns[0].name, "requests");
	assert_string_equal(text_of(r.w, r.w->columns[0].value[1]), "2");
	assert_string_equal(r.w->columns[1].name, "images");
	assert_string_equal(text_of(r.w, r.w->columns[1].value[1]), "6");
	assert_true(figure(&r, "work_succeed") == 53);
	assert_true(figure(&r, "work_all") == 57);
	assert_true(figure(&r, "users") == 3);
	assert_true(figure(&r, "models") == 2);
	drop(&r);
}

/* A gap of exactly 300 s does not end a job, 299 s do. */
static void test_gap_is_inclusive(void **state)
{
	struct run r;

	(void)state;
	put("r.csv", some_requests); /* known by its columns */
	r = read_path("r.csv", "gap=300", CT_BAD_ROW_REFUSE);
	assert_int_equal(r.w->n, 5);
	drop(&r);
	r = read_path("r.csv", "gap=299", CT_BAD_ROW_REFUSE);
	assert_int_equal(r.w->n, 6);
	drop(&r);
}

static void test_by_window(void **state)
{
	static const struct job want[] = { { 10 * H + 1200, 42, "", "m1", "m1" },
					   { 10 * H + 3540, 3, "", "m2", "m2" },
					   { DAY + 9 * H, 8, "", "m1", "m1" } };
	struct run r;

	(void)state;
	put("lora_request_trace.csv", some_requests);
	r = read_path("lora_request_trace.csv", "mapping=a2", CT_BAD_ROW_REFUSE);
	check_jobs(&r, want, 3);
	drop(&r);
}

/* One day over the other; the 53 s of work are scaled to one GPU all day. */
static void test_fold_and_demand(void **state)
{
	static const struct job want[] = { { 9 * H, 8. * 86400 / 53, "", "m1", "a" },
					   { 10 * H, 42. * 86400 / 53, "", "m1", "a" },
					   { 10 * H + 3540, 3. * 86400 / 53, "", "m2", "b" } };
	struct run r;

	(void)state;
	put("lora_request_trace.csv", some_requests);
	r = read_path("lora_request_trace.csv", "mapping=a2;fold=1;demand=1;submit=first;classes=a,b",
		      CT_BAD_ROW_REFUSE);
	check_jobs(&r, want, 3);
	drop(&r);
}

static void test_status(void **state)
{
	struct run r;

	(void)state;
	put("lora_request_trace.csv", some_requests);
	r = read_path("lora_request_trace.csv", "status=FAILED", CT_BAD_ROW_REFUSE);
	assert_int_equal(r.w->n, 1);
	assert_int_equal(r.w->jobs[0].duration_us, 4 * CT_SECOND);
	drop(&r);
	r = read_path("lora_request_trace.csv", "status=any", CT_BAD_ROW_REFUSE);
	assert_int_equal(count_of(r.w, "filtered_no_work"), 1);
	assert_int_equal(r.w->report.rows_kept, 7);
	drop(&r);
}

/* ---- mapping B */

/* Sample 10 stands at 1662858720 + 570: pod A 2 requests of 12 s, pod B 1 of unknown
 * time; sample 11: pod A 1 request of 15 s; one row of API requests. */
static const char some_qps[] = "value,request_type,container_ip,timestamp_anon\n"
			       "0.18000000000000002,Generative Requests,A,1662859290.0\n"
			       "0.09,Generative Requests,B,1662859290.0\n"
			       "0.45,API Requests,,1662859290.0\n"
			       "0.09,Generative Requests,A,1662859347.0\n";
static const char some_inference[] = SERIES_HEADER "1662859290.0,12000.0,A\n"
						   "1662859347.0,15000.0,A\n"
						   "1662859347.0,99000.0,C\n";

static void put_qps(void)
{
	put_archive("qps.tar.gz", "qps.csv", some_qps);
	put("pipeline_inference_data_anon.csv", some_inference);
	put("README.md", "# not a table\n");
}

static void test_stream(void **state)
{
	size_t of_a = 0, twelve = 0;
	struct run r;

	(void)state;
	put_qps();
	r = read_path(".", "", CT_BAD_ROW_REFUSE);
	if (!r.w)
		fail_msg("%s", r.err.text);
	assert_int_equal(r.w->n, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct ct_job *j = &r.w->jobs[i];
		int is_a = !strcmp(text_of(r.w, j->group), "A");

		of_a += (size_t)is_a;
		twelve += is_a && j->duration_us == 12 * CT_SECOND;
		assert_in_range(j->submit_us, i < 3 ? 600000000 : 660000000, i < 3 ? 659999999 : 719999999);
		assert_true(j->duration_us == 12 * CT_SECOND || j->duration_us == 15 * CT_SECOND);
	}
	assert_int_equal(of_a, 3);
	assert_int_equal(twelve, 2);
	assert_int_equal(count_of(r.w, "drawn_service_time"), 1);
	assert_int_equal(count_of(r.w, "filtered_api_requests"), 1);
	assert_int_equal(count_of(r.w, "empty_pod"), 1);
	assert_int_equal(count_of(r.w, "skipped_appledouble"), 1);
	assert_int_equal(count_of(r.w, "other_members"), 1);
	assert_true(figure(&r, "generative_requests") == 4);
	assert_true(figure(&r, "qps_minutes") == 2);
	assert_true(fabs(figure(&r, "qps_max") - .72) < 1e-12);
	assert_true(fabs(figure(&r, "qps_cv") - (.72 - .09) / (.72 + .09)) < 1e-12); /* of two values */
	drop(&r);
}

/* Another seed moves requests within their minute and nothing else. */
static void test_seed(void **state)
{
	struct run one, same, two;

	(void)state;
	put_qps();
	one = read_path(".", "", CT_BAD_ROW_REFUSE);
	same = read_path(".", "seed=1", CT_BAD_ROW_REFUSE);
	two = read_path(".", "seed=2", CT_BAD_ROW_REFUSE);
	assert_string_equal(one.w->digest, same.w->digest);
	assert_string_not_equal(one.w->digest, two.w->digest);
	drop(&one);
	drop(&same);
	drop(&two);
}

static void test_batches(void **state)
{
	struct run r;

	(void)state;
	put_qps();
	r = read_path(".", "batch=3", CT_BAD_ROW_REFUSE);
	assert_int_equal(r.w->n, 2);
	assert_string_equal(text_of(r.w, r.w->columns[0].value[0]), "3");
	assert_int_equal(r.w->jobs[1].duration_us, 15 * CT_SECOND);
	drop(&r);
	r = read_path(".", "batch_minutes=20", CT_BAD_ROW_REFUSE);
	assert_int_equal(r.w->n, 1);
	drop(&r);
	r = read_path(".", "batch=3;batch_minutes=20", CT_BAD_ROW_REFUSE);
	assert_int_equal(r.err.code, CT_ECONFIG);
	drop(&r);
}

/* ---- idle runs: 0 0 5 0 | hole | 0 0, another pod 0 */

static void test_idle_runs(void **state)
{
	static const char duty[] = "value,timestamp_anon,container_ip\n"
				   "0.0,1662858720.0,A\n0.0,1662858720.0,B\n0.0,1662858777.0,A\n"
				   "5.0,1662858834.0,A\n0.0,1662858891.0,A\n0.0,1662859005.0,A\n0.0,1662859062.0,A\n";
	struct run r;

	(void)state;
	put("pod_gpu_duty_cycle_anon.csv", duty);
	r = read_path("pod_gpu_duty_cycle_anon.csv", "", CT_BAD_ROW_REFUSE);
	assert_true(figure(&r, "idle_runs") == 4);
	assert_true(figure(&r, "idle_run_mean") == 1.5);
	assert_true(figure(&r, "idle_run_max") == 2);
	assert_true(figure(&r, "busy_runs") == 1);
	assert_true(figure(&r, "duty_zero_share") == 6. / 7);
	assert_true(fabs(figure(&r, "duty_mean") - 5. / 7) < 1e-15);
	assert_int_equal(r.w->n, 0);
	drop(&r);
}

/* ---- what is wrong with a file, and what happens */

struct wrong {
	const char *what, *file, *text;
	enum ct_code code;      /* when bad rows are refused */
	const char *message;    /* then */
	enum ct_code drop_code; /* when they are dropped */
	const char *rule;       /* which counts 1, in both modes where that is no error */
};

#define REQUEST(at, status, exec) at ",TXT_2_IMG," status "," exec ",u1,5.0,,1.0,30.0,m1,0\n"
#define GOOD_REQUEST              REQUEST("2024-11-15 10:00:00", "SUCCEED", "10.0")

static const struct wrong table[] = {
	{ "a column is missing", "qps.csv", "timestamp_anon,valu,container_ip,request_type\n", CT_ETRACE,
	  "qps.csv:1: no column 'value' in this 'qps' table; did you mean 'valu'?", CT_ETRACE, NULL },
	{ "no pod", "pod_memory_util_anon.csv", SERIES_HEADER "1662858720.0,0.5,\n", CT_OK, NULL, CT_OK, "empty_pod" },
	{ "scientific notation, below zero", "pod_memory_util_anon.csv", SERIES_HEADER "1662858720.0,-1.17e-05,A\n",
	  CT_OK, NULL, CT_OK, "negative_memory" },
	{ "'NULL' in words", "pod_memory_util_anon.csv", SERIES_HEADER "1662858720.0,1e-05,NULL\n", CT_OK, NULL, CT_OK,
	  "null_word" },
	{ "a duty cycle below zero", "pod_gpu_duty_cycle_anon.csv",
	  SERIES_HEADER "1662858720.0,0.0,A\n1662858777.0,-3.5,A\n", CT_ETRACE,
	  "pod_gpu_duty_cycle_anon.csv:3:14: 'value' of 'pod_gpu_duty_cycle_anon' is outside its limits: '-3.5'", CT_OK,
	  "dropped_out_of_range" },
	{ "a time off the grid", "queue_rt_raw_anon.csv",
	  "value,container_ip,timestamp_anon\n200.0,A,1662858720.0\n200.0,A,1662858721.0\n", CT_ETRACE,
	  "queue_rt_raw_anon.csv:3:9: 'timestamp_anon' wants 1662858720 + 57 k with k from 0 to 1440, got "
	  "'1662858721.0'",
	  CT_OK, "dropped_off_grid" },
	{ "a time after the day", "queue_rt_raw_anon.csv",
	  "value,container_ip,timestamp_anon\n200.0,A,1662858720.0\n200.0,A,1662940857.0\n", CT_ETRACE,
	  "queue_rt_raw_anon.csv:3:9: 'timestamp_anon' wants 1662858720 + 57 k with k from 0 to 1440, got "
	  "'1662940857.0'",
	  CT_OK, "dropped_off_grid" },
	{ "a value that is no number", "lora_update_latency_anon.csv",
	  SERIES_HEADER "1662858720.0,1,A\n1662858720.0,many,A\n", CT_ETRACE,
	  "lora_update_latency_anon.csv:3:14: 'value' wants a number, got 'many'", CT_OK, "dropped_not_a_number" },
	{ "no value", "lora_update_latency_anon.csv", SERIES_HEADER "1662858720.0,1,A\n1662858720.0,,A\n", CT_ETRACE,
	  "lora_update_latency_anon.csv:3:14: 'value' is empty", CT_OK, "dropped_missing_value" },
	{ "a row cut short", "lora_update_latency_anon.csv", SERIES_HEADER "1662858720.0,1,A\n1662858720.0,2\n",
	  CT_ETRACE, "lora_update_latency_anon.csv:3: row has 2 fields, wanted 3 as in the header", CT_OK,
	  "dropped_field_count" },
	{ "an unknown type of request", "qps.csv",
	  QPS_HEADER "1662858720.0,0.09,A,Generative Requests\n1662858720.0,0.09,A,Batch\n", CT_ETRACE,
	  "qps.csv:3:21: 'request_type' wants 'Generative Requests' or 'API Requests', got 'Batch'", CT_OK,
	  "dropped_unknown_type" },
	{ "an unknown status", "lora_request_trace.csv",
	  REQUESTS_HEADER GOOD_REQUEST REQUEST("2024-11-15 10:00:00", "LOST", "10.0"), CT_ETRACE,
	  "lora_request_trace.csv:3:31: 'predict_status' wants SUCCEED, FAILED, PENDING or PROCESSING, got 'LOST'",
	  CT_OK, "dropped_unknown_status" },
	{ "a day that does not exist", "lora_request_trace.csv",
	  REQUESTS_HEADER GOOD_REQUEST REQUEST("2023-02-29 10:00:00", "SUCCEED", "10.0"), CT_ETRACE,
	  "lora_request_trace.csv:3:1: 'gmt_create' wants YYYY-MM-DD HH:MM:SS, got '2023-02-29 10:00:00'", CT_OK,
	  "dropped_not_a_number" },
	{ "a negative execution time", "lora_request_trace.csv",
	  REQUESTS_HEADER GOOD_REQUEST REQUEST("2024-11-15 10:00:00", "SUCCEED", "-1"), CT_ETRACE,
	  "lora_request_trace.csv:3:39: 'exec_time_seconds' wants 0 to 1e9, got -1", CT_OK, "dropped_out_of_range" },
	{ "the same request twice", "lora_request_trace.csv", REQUESTS_HEADER GOOD_REQUEST GOOD_REQUEST, CT_OK, NULL,
	  CT_OK, "duplicate_request" },
	{ "a quote that is never closed", "data_trace_processed.csv",
	  PROCESSED_HEADER "x,1.0,,1.0,,1.0,30.0,m1,\"[{'modelVersionId': 'a'\n", CT_ETRACE,
	  "data_trace_processed.csv:2:25: a quote that is never closed", CT_ETRACE, NULL },
	{ "an empty file", "qps.csv", "", CT_ETRACE, "qps.csv: is empty", CT_ETRACE, NULL },
};

static void check_mode(const struct wrong *t, enum ct_bad_row mode)
{
	enum ct_code code = mode == CT_BAD_ROW_DROP ? t->drop_code : t->code;
	struct run r = read_path(t->file, "", mode);

	if (r.err.code != code)
		fail_msg("%s: code %d, wanted %d: %s", t->what, r.err.code, code, r.err.text);
	if (code && t->message && strcmp(r.err.text, t->message) != 0)
		fail_msg("%s: got\n%s\nwanted\n%s", t->what, r.err.text, t->message);
	if (!code && t->rule && count_of(r.w, t->rule) != 1)
		fail_msg("%s: rule '%s' counts %d, wanted 1", t->what, t->rule, (int)count_of(r.w, t->rule));
	drop(&r);
}

static void test_malformed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		put(table[i].file, table[i].text);
		check_mode(&table[i], CT_BAD_ROW_REFUSE);
		check_mode(&table[i], CT_BAD_ROW_DROP);
		unlink(table[i].file);
	}
}

static void test_quoted_lists(void **state)
{
	static const char processed[] =
	    PROCESSED_HEADER "x,10.0,,5.0,,2.0,30.0,m1,[]\n"
			     "x,10.0,,5.0,,2.0,30.0,m1,\"[{'modelVersionId': 'a', 'scale': 1.0}, "
			     "{'modelVersionId': 'b', 'scale': 0.8}]\"\n";
	static const char requests[] =
	    REQUESTS_HEADER "2024-11-15 10:00:00,TXT_2_IMG,SUCCEED,10.0,u1,5.0,,2.0,30.0,m1,2\n";
	struct run r;

	(void)state;
	put("data_trace_processed.csv", processed);
	put("lora_request_trace.csv", requests);
	r = read_path(".", "", CT_BAD_ROW_REFUSE);
	if (!r.w)
		fail_msg("%s", r.err.text);
	assert_true(figure(&r, "joined_rows") == 1);
	assert_true(figure(&r, "adapter_uses") == 2);
	assert_true(figure(&r, "adapters") == 2);
	drop(&r);
}

static void test_truncated_archive(void **state)
{
	char bytes[4096];
	size_t n;
	FILE *f;
	struct run r;

	(void)state;
	put_archive("qps.tar.gz", "qps.csv", some_qps);
	f = fopen("qps.tar.gz", "rb");
	assert_non_null(f);
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	f = fopen("qps.tar.gz", "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n - 40, f), n - 40);
	fclose(f);
	r = read_path("qps.tar.gz", "", CT_BAD_ROW_DROP);
	assert_int_equal(r.err.code, CT_EIO);
	assert_non_null(strstr(r.err.text, "qps.tar.gz"));
	drop(&r);
}

static void test_table_twice(void **state)
{
	struct run r;

	(void)state;
	put_archive("qps.tar.gz", "qps.csv", some_qps);
	put("qps.csv", some_qps);
	r = read_path(".", "", CT_BAD_ROW_REFUSE);
	assert_int_equal(r.err.code, CT_ETRACE);
	assert_non_null(strstr(r.err.text, "table 'qps' is there a second time"));
	drop(&r);
}

/* Every bad row of every table is reported in one go. */
static void test_all_errors(void **state)
{
	struct run r;

	(void)state;
	put("qps.csv", QPS_HEADER "1,0.09,A,Generative Requests\n1662858720.0,x,A,API Requests\n");
	put("lora_request_trace.csv", REQUESTS_HEADER REQUEST("soon", "SUCCEED", "10.0"));
	r = read_path(".", "", CT_BAD_ROW_REFUSE);
	assert_int_equal(r.err.count, 3);
	drop(&r);
}

static void test_options(void **state)
{
	static const struct {
		const char *options, *message;
	} t[] = {
		{ "gpa=3", "the 'genai' reader has no option 'trace.options.gpa'; did you mean 'gap'?" },
		{ "mapping=a3", "'trace.options.mapping' wants one of auto|a1|a2|qps, got 'a3'" },
		{ "gap=-1", "'trace.options.gap' wants a number 0 to 1e+09, got '-1'" },
		{ "gap=1;gap=2", "'trace.options.gap' is given twice" },
		{ "status=SUCCESS", "'trace.options.status' wants SUCCEED, FAILED, PENDING, PROCESSING or 'any', got "
				    "'SUCCESS'" },
	};

	(void)state;
	put("lora_request_trace.csv", some_requests);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct run r = read_path("lora_request_trace.csv", t[i].options, CT_BAD_ROW_REFUSE);

		assert_int_equal(r.err.code, CT_ECONFIG);
		assert_string_equal(r.err.text, t[i].message);
		drop(&r);
	}
}

/* A reader without options refuses them. */
static void test_options_of_another_reader(void **state)
{
	struct run r;

	(void)state;
	put("jobs.csv", "submit_time,duration,num_gpus\n0,1,1\n");
	r = read_path("jobs.csv", "gap=3", CT_BAD_ROW_REFUSE);
	assert_int_equal(r.err.code, CT_ECONFIG);
	assert_string_equal(r.err.text, "the 'csv' reader has no option 'trace.options.gap'");
	drop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_by_user, empty),
		cmocka_unit_test_setup(test_gap_is_inclusive, empty),
		cmocka_unit_test_setup(test_by_window, empty),
		cmocka_unit_test_setup(test_fold_and_demand, empty),
		cmocka_unit_test_setup(test_status, empty),
		cmocka_unit_test_setup(test_stream, empty),
		cmocka_unit_test_setup(test_seed, empty),
		cmocka_unit_test_setup(test_batches, empty),
		cmocka_unit_test_setup(test_idle_runs, empty),
		cmocka_unit_test_setup(test_malformed, empty),
		cmocka_unit_test_setup(test_quoted_lists, empty),
		cmocka_unit_test_setup(test_figures_of_a_workload, empty),
		cmocka_unit_test_setup(test_truncated_archive, empty),
		cmocka_unit_test_setup(test_table_twice, empty),
		cmocka_unit_test_setup(test_all_errors, empty),
		cmocka_unit_test_setup(test_options, empty),
		cmocka_unit_test_setup(test_options_of_another_reader, empty),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
