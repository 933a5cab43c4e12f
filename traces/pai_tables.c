/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/pai_tables.h"

#include "sim/shown.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	size_t fields;
	size_t key; /* characters of the first field */
	const char *columns;
} tables[CT_PAI_TABLES] = {
	[CT_PAI_MACHINE_SPEC] = { "pai_machine_spec", 5, 24, "machine,gpu_type,cap_cpu,cap_mem,cap_gpu" },
	[CT_PAI_JOB] = { "pai_job_table", 6, 24, "job_name,inst_id,user,status,start_time,end_time" },
	[CT_PAI_TASK] = { "pai_task_table", 10, 24,
			  "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_"
			  "type" },
	[CT_PAI_GROUP_TAG] = { "pai_group_tag_table", 5, 60, "inst_id,user,gpu_type_spec,group,workload" },
	[CT_PAI_INSTANCE] = { "pai_instance_table", 9, 24,
			      "job_name,task_name,inst_name,worker_name,inst_id,status,start_time,end_time,machine" },
	[CT_PAI_SENSOR] = { "pai_sensor_table", 16, 24,
			    "job_name,task_name,worker_name,inst_id,machine,gpu_name,cpu_usage,gpu_wrk_util,avg_mem,"
			    "max_mem,avg_gpu_wrk_mem,max_gpu_wrk_mem,read,write,read_count,write_count" },
	[CT_PAI_MACHINE_METRIC] = { "pai_machine_metric", 12, 60,
				    "worker_name,machine,start_time,end_time,machine_cpu_iowait,machine_cpu_kernel,"
				    "machine_cpu_usr,machine_gpu,machine_load_1,machine_net_receive,"
				    "machine_num_worker,machine_cpu" },
};
static const char *const statuses[CT_PAI_STATUSES] = { "Terminated", "Failed",  "Interrupted",
						       "Running",    "Waiting", "other" };

const char *ct_pai_table_name(enum ct_pai_table t)
{
	return tables[t].name;
}

size_t ct_pai_table_fields(enum ct_pai_table t)
{
	return tables[t].fields;
}

const char *ct_pai_status_name(enum ct_pai_status s)
{
	return s < CT_PAI_STATUSES ? statuses[s] : "";
}

enum ct_pai_status ct_pai_status_of(struct ct_csv_field f)
{
	for (int s = 0; s < CT_PAI_OTHER_STATUS; s++)
		if (strcmp(f.s, statuses[s]) == 0)
			return (enum ct_pai_status)s;
	return f.n ? CT_PAI_OTHER_STATUS : CT_PAI_NO_STATUS;
}

static int is_hex(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strchr("0123456789abcdef", s[i]) || !s[i])
			return 0;
	return 1;
}

/* Fields of the first line and characters of the first field; the tables have no
 * quotes. 0 when the line does not end in the head. */
static size_t first_line(const char *head, size_t n, size_t *key)
{
	size_t fields = 1, i = 0;

	*key = 0;
	for (; i < n && head[i] != '\n'; i++) {
		if (head[i] != ',')
			continue;
		if (fields == 1)
			*key = i;
		fields++;
	}
	return i < n || n < CT_SOURCE_HEAD ? fields : 0;
}

static enum ct_pai_table by_content(const char *head, size_t n)
{
	size_t key, fields = first_line(head, n, &key);

	for (int t = 0; t < CT_PAI_TABLES; t++) {
		size_t k = strlen(tables[t].columns);

		if (n >= k && strncmp(head, tables[t].columns, k) == 0)
			return (enum ct_pai_table)t;
	}
	for (int t = 0; t < CT_PAI_TABLES; t++)
		if (fields == tables[t].fields && key == tables[t].key && is_hex(head, key))
			return (enum ct_pai_table)t;
	return CT_PAI_OTHER;
}

enum ct_pai_table ct_pai_table_of(const char *name, const char *head, size_t n)
{
	size_t k = strlen(name);

	if (k > 7 && strcmp(name + k - 7, ".header") == 0)
		return CT_PAI_OTHER; /* the published list of columns beside each table */
	for (int t = 0; t < CT_PAI_TABLES; t++)
		if (strncmp(name, tables[t].name, strlen(tables[t].name)) == 0)
			return (enum ct_pai_table)t;
	return by_content(head, n);
}

/* ---- rows */

static int note(struct ct_pai_rows *r, const char *rule, const char *meaning)
{
	int first = !r->bad;

	r->bad = 1;
	if (r->o->on_bad_row == CT_BAD_ROW_REFUSE)
		return 1;
	if (first)
		ct_workload_count(r->w, rule, meaning, 1, 1);
	return 0;
}

#define BAD(r, field, rule, meaning, ...)                                   \
	do {                                                                \
		if (note((r), (rule), (meaning))) {                         \
			struct ct_loc at_ = ct_csv_loc((r)->in, (field));   \
			ct_err_add((r)->err, CT_ETRACE, &at_, __VA_ARGS__); \
		}                                                           \
	} while (0)

static const char *const not_a_number = "row of a table with a cell that is not a number";
static const char *const negative = "row of a table with a number below zero";

static void progress(const struct ct_pai_rows *r)
{
	uint64_t done, total;

	if (!r->o->progress || r->w->report.rows_read % 65536)
		return;
	ct_csv_progress(r->in, &done, &total);
	r->o->progress(r->o->progress_ctx, done, total);
}

/* The published files have no header; a copy may have got one. */
static int is_header(struct ct_pai_rows *r)
{
	const char *columns = tables[r->table].columns;
	struct ct_csv_field f = ct_csv_field(r->in, 0);

	return f.n == strcspn(columns, ",") && strncmp(f.s, columns, f.n) == 0;
}

int ct_pai_next(struct ct_pai_rows *r)
{
	size_t want = tables[r->table].fields;
	int rc;

	while ((rc = ct_csv_next(r->in, r->err)) == 1) {
		size_t n = ct_csv_fields(r->in);

		if (!r->last++ && is_header(r)) {
			ct_workload_count(r->w, "header_line", "first line of a table with the names of its columns", 1,
					  0);
			continue;
		}
		r->last = 1;
		r->bad = 0;
		r->w->report.rows_read++;
		progress(r);
		if (n == want)
			return 1;
		BAD(r, n < want ? n - 1 : want, "dropped_field_count", "row of a table with more or fewer fields",
		    "row of '%s' has %zu fields, wanted %zu", tables[r->table].name, n, want);
	}
	return rc;
}

struct ct_csv_field ct_pai_cell(const struct ct_pai_rows *r, size_t i)
{
	return ct_csv_field(r->in, i);
}

struct ct_csv_field ct_pai_key(struct ct_pai_rows *r, size_t i)
{
	struct ct_csv_field f = ct_csv_field(r->in, i);

	if (!f.n || f.n > 255)
		BAD(r, i, "dropped_no_name", "row of a table without a name that it needs",
		    "field %zu of '%s' wants a name of at most 255 bytes, got %zu", i + 1, tables[r->table].name, f.n);
	return f;
}

static int missing(struct ct_csv_field f)
{
	return !f.n || strcasecmp(f.s, "nan") == 0;
}

ct_time ct_pai_time(struct ct_pai_rows *r, size_t i)
{
	struct ct_csv_field f = ct_csv_field(r->in, i);
	ct_time t = 0;
	char shown[CT_SHOWN];

	if (missing(f))
		return -1;
	if (ct_time_parse(f.s, f.n, &t))
		BAD(r, i, "dropped_not_a_number", not_a_number, "field %zu of '%s' wants seconds, got '%s'", i + 1,
		    tables[r->table].name, ct_shown(shown, f.s, f.n));
	else if (t < 0)
		BAD(r, i, "dropped_negative", negative, "field %zu of '%s' must not be negative, got '%s'", i + 1,
		    tables[r->table].name, ct_shown(shown, f.s, f.n));
	return t > 0 ? t : -1;
}

double ct_pai_number(struct ct_pai_rows *r, size_t i)
{
	struct ct_csv_field f = ct_csv_field(r->in, i);
	double v = (double)NAN;
	char shown[CT_SHOWN];

	if (missing(f))
		return (double)NAN;
	if (ct_parse_f64(f.s, f.n, &v))
		BAD(r, i, "dropped_not_a_number", not_a_number, "field %zu of '%s' wants a number, got '%s'", i + 1,
		    tables[r->table].name, ct_shown(shown, f.s, f.n));
	else if (v < 0)
		BAD(r, i, "dropped_negative", negative, "field %zu of '%s' must not be negative, got '%s'", i + 1,
		    tables[r->table].name, ct_shown(shown, f.s, f.n));
	return v;
}
