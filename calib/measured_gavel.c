/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON is YAML, so libyaml reads it. */
#include "calib/measured_build.h"

#include "calib/real_cells.h"
#include "sim/memory.h"
#include "sim/shown.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { JOBS = 4096 };

struct gavel {
	struct ct_measured_build b;
	const char *path, *solo, *gpu;
	struct ct_name_list jobs; /* number = that of its configuration in b */
	struct ct_name_list alone;
	double *speed; /* of `alone` */
	size_t cap_speed;
	struct ct_err *err;
};

/* ---- jobs */

static int fail(struct gavel *g, const struct ct_loc *at, const char *why, const char *s, size_t n)
{
	char shown[CT_SHOWN];

	return ct_err_add(g->err, CT_ECONFIG, at, "%s, got '%s'", why, ct_shown(shown, s, n));
}

/* "LM (batch size 40)" -> "LM", b40; without the bracket "default". */
static int split_job(struct gavel *g, const struct ct_loc *at, const char *s, size_t n, char *workload, size_t cap,
		     struct ct_profile *p)
{
	static const char mark[] = " (batch size ";
	const char *open = memmem(s, n, mark, sizeof mark - 1);
	size_t model = open ? (size_t)(open - s) : n;
	int64_t batch = 0;

	if (open) {
		const char *number = open + sizeof mark - 1;
		size_t left = n - (size_t)(number - s);

		if (left < 2 || number[left - 1] != ')' || ct_parse_i64(number, left - 1, &batch) || batch < 1 ||
		    batch > 1 << 20)
			return fail(g, at, "want 'MODEL (batch size N)'", s, n);
	}
	if (!model || model >= cap || memchr(s, 0, n))
		return fail(g, at, "want a model's name of 1 to 31 bytes", s, n);
	memcpy(workload, s, model);
	workload[model] = '\0';
	p->batch = (uint32_t)batch;
	if (batch)
		snprintf(p->name, sizeof p->name, "b%u", p->batch);
	else
		snprintf(p->name, sizeof p->name, "default");
	return 0;
}

/* The job's number, a new configuration when it is new. UINT32_MAX: an error. */
static uint32_t job_of(struct gavel *g, const struct ct_loc *at, const char *s, size_t n, double alone)
{
	size_t k = ct_name_list_find(&g->jobs, s, n);
	struct ct_profile p = { .train = 1,
				.sm_active = NAN,
				.dram_active = NAN,
				.sm_occupancy = NAN,
				.tensor_active = NAN,
				.host = NAN,
				.throughput = alone,
				.weight = 1 };
	char workload[32];

	if (k != SIZE_MAX) {
		double was = g->b.c->config[k].profile.throughput;

		if (fabs(was - alone) <= 1e-9 * was)
			return (uint32_t)k;
		ct_err_add(g->err, CT_ECONFIG, at, "the throughput alone is %g, above it was %g", alone, was);
		return UINT32_MAX;
	}
	if (g->jobs.n >= JOBS) {
		ct_err_add(g->err, CT_ECONFIG, at, "more than %d jobs", JOBS);
		return UINT32_MAX;
	}
	if (split_job(g, at, s, n, workload, sizeof workload, &p))
		return UINT32_MAX;
	ct_name_list_add(&g->jobs, s, n);
	return ct_measured_config(&g->b, workload, &p);
}

static void add_pair(struct gavel *g, uint32_t i, uint32_t j, double packed_i, double packed_j)
{
	const struct ct_calib_config *c = g->b.c->config;
	double s_i = CT_CALIB_FAILED, s_j = CT_CALIB_FAILED;

	if (packed_i > 0 && packed_j > 0) {
		s_i = fmin(c[i].profile.throughput / packed_i, CT_CALIB_FAILED);
		s_j = fmin(c[j].profile.throughput / packed_j, CT_CALIB_FAILED);
	}
	g->b.report->rows++;
	ct_measured_pair(&g->b, i, j, s_i, s_j);
}

/* ---- CSV */

enum { GPU, JOB_A, SCALE_A, JOB_B, SCALE_B, ALONE_A, ALONE_B, PACKED_A, PACKED_B, COLUMNS };
static const char *const columns[COLUMNS] = { "gpu",     "job_a",   "scale_a",  "job_b",   "scale_b",
					      "alone_a", "alone_b", "packed_a", "packed_b" };

static void read_row(struct gavel *g, const struct ct_table *t)
{
	struct ct_csv_field f = ct_table_cell(t, GPU);
	double v[COLUMNS] = { 0 };
	uint32_t job[2];

	if (f.n != strlen(g->gpu) || memcmp(f.s, g->gpu, f.n) != 0)
		return;
	for (size_t k = SCALE_A; k < COLUMNS; k++)
		if (k != JOB_B)
			v[k] = ct_cell_number(t, k, k >= PACKED_A ? 0 : k >= ALONE_A ? 1e-9 : 1, 1e12);
	if (v[SCALE_A] > 1 || v[SCALE_B] > 1) {
		g->b.report->several_gpus++;
		return;
	}
	if (g->err->code)
		return;
	for (size_t k = 0; k < 2; k++) {
		struct ct_loc at = ct_table_loc(t, k ? JOB_B : JOB_A);

		f = ct_table_cell(t, k ? JOB_B : JOB_A);
		job[k] = job_of(g, &at, f.s, f.n, v[ALONE_A + k]);
	}
	if (job[0] != UINT32_MAX && job[1] != UINT32_MAX)
		add_pair(g, job[0], job[1], v[PACKED_A], v[PACKED_B]);
}

static int read_csv(struct gavel *g)
{
	struct ct_table t;

	CT_TRY(ct_table_open(&t, g->path, columns, COLUMNS, CT_TABLE_KEEP_UNKNOWN, g->err));
	while (ct_table_next(&t) == 1)
		read_row(g, &t);
	return ct_table_close(&t);
}

/* ---- CSV of decays, with the throughputs alone from another file */

static void read_solo_row(struct gavel *g, const struct ct_table *t)
{
	struct ct_csv_field f = ct_table_cell(t, GPU);

	if (f.n != strlen(g->gpu) || memcmp(f.s, g->gpu, f.n) != 0)
		return;
	for (size_t k = 0; k < 2; k++) {
		double v = ct_cell_number(t, ALONE_A + k, 1e-9, 1e12);
		size_t before = g->alone.n, i;

		if (ct_cell_number(t, k ? SCALE_B : SCALE_A, 1, 1e6) > 1)
			continue;
		f = ct_table_cell(t, k ? JOB_B : JOB_A);
		i = ct_name_list_add(&g->alone, f.s, f.n);
		CT_GROW(g->speed, g->cap_speed, g->alone.n);
		if (i == before)
			g->speed[i] = v;
	}
}

static int read_solo(struct gavel *g)
{
	struct ct_table t;

	CT_TRY(ct_table_open(&t, g->solo, columns, ALONE_B + 1, CT_TABLE_KEEP_UNKNOWN, g->err));
	while (ct_table_next(&t) == 1)
		read_solo_row(g, &t);
	return ct_table_close(&t);
}

static uint32_t known_job(struct gavel *g, const struct ct_table *t, size_t cell)
{
	struct ct_csv_field f = ct_table_cell(t, cell);
	struct ct_loc at = ct_table_loc(t, cell);
	size_t i = ct_name_list_find(&g->alone, f.s, f.n);

	if (i != SIZE_MAX)
		return job_of(g, &at, f.s, f.n, g->speed[i]);
	fail(g, &at, "a configuration wants a throughput alone in the file of --solo", f.s, f.n);
	return UINT32_MAX;
}

static int read_decays(struct gavel *g)
{
	static const char *const names[] = { "gpu", "config_a", "config_b", "decay_a", "decay_b" };
	struct ct_loc head = { .file = g->path, .line = 1 };
	struct ct_table t;

	if (!g->solo)
		return ct_err_at(g->err, CT_ECONFIG, &head,
				 "decays alone say no throughput: --solo FILE with gpu,job_a,...,alone_a,alone_b");
	CT_TRY(read_solo(g));
	CT_TRY(ct_table_open(&t, g->path, names, sizeof names / sizeof *names, CT_TABLE_KEEP_UNKNOWN, g->err));
	while (ct_table_next(&t) == 1) {
		struct ct_csv_field f = ct_table_cell(&t, 0);
		uint32_t i, j;
		double a, b;

		if (f.n != strlen(g->gpu) || memcmp(f.s, g->gpu, f.n) != 0)
			continue;
		i = known_job(g, &t, 1);
		j = known_job(g, &t, 2);
		a = ct_cell_number(&t, 3, 0, 10);
		b = ct_cell_number(&t, 4, 0, 10);
		if (i == UINT32_MAX || j == UINT32_MAX || isnan(a) || isnan(b))
			continue;
		add_pair(g, i, j, a * g->b.c->config[i].profile.throughput, b * g->b.c->config[j].profile.throughput);
	}
	return ct_table_close(&t);
}

/* The header tells the two forms apart. */
static int is_decays(FILE *f)
{
	char line[4096];

	return fgets(line, sizeof line, f) && strstr(line, "decay_a") != NULL;
}

/* ---- JSON */

struct json {
	struct gavel *g;
	yaml_document_t doc;
};

static const yaml_node_t *node(struct json *j, int id)
{
	return yaml_document_get_node(&j->doc, id);
}

static struct ct_loc place(const struct json *j, const yaml_node_t *n)
{
	return (struct ct_loc){ j->g->path, n->start_mark.line + 1, n->start_mark.column + 1 };
}

static const char *text_of(const yaml_node_t *n, size_t *size)
{
	*size = n->type == YAML_SCALAR_NODE ? n->data.scalar.length : 0;
	return n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
}

static int is_text(const yaml_node_t *n, const char *s)
{
	size_t size;
	const char *t = text_of(n, &size);

	return n->type == YAML_SCALAR_NODE && size == strlen(s) && memcmp(t, s, size) == 0;
}

static double number_of(struct json *j, const yaml_node_t *n, double lo, const char *what)
{
	struct ct_loc at = place(j, n);
	size_t size;
	const char *s = text_of(n, &size);
	char why[80];
	double v;

	if (n->type == YAML_SCALAR_NODE && ct_parse_f64(s, size, &v) == 0 && v >= lo && v <= 1e12)
		return v;
	snprintf(why, sizeof why, "%s wants a number from %g to 1e+12", what, lo);
	fail(j->g, &at, why, s, size);
	return NAN;
}

/* A key names a job on one GPU: its plain name, out of "('NAME', GPUS)" where that is the
 * form. 0: a job on several, counted by the caller. */
static int one_gpu(const yaml_node_t *key, const char **s, size_t *n)
{
	static const char head[] = "('", tail[] = "', 1)";

	*s = text_of(key, n);
	if (*n < sizeof head - 1 || memcmp(*s, head, sizeof head - 1) != 0)
		return 1;
	if (*n < sizeof head + sizeof tail - 2 || memcmp(*s + *n - (sizeof tail - 1), tail, sizeof tail - 1) != 0)
		return 0;
	*s += sizeof head - 1;
	*n -= sizeof head + sizeof tail - 2;
	return 1;
}

static int want(struct json *j, const yaml_node_t *n, yaml_node_type_t type, const char *what)
{
	struct ct_loc at = place(j, n);

	return n->type == type ? 0 : ct_err_add(j->g->err, CT_ECONFIG, &at, "wanted %s", what);
}

/* First pass: the jobs and their throughput alone. */
static void read_alone(struct json *j, const yaml_node_t *key, const yaml_node_t *value)
{
	struct ct_loc at = place(j, key);
	const char *s;
	size_t n;

	if (!one_gpu(key, &s, &n) || want(j, value, YAML_MAPPING_NODE, "an object of throughputs"))
		return;
	for (const yaml_node_pair_t *p = value->data.mapping.pairs.start; p < value->data.mapping.pairs.top; p++)
		if (is_text(node(j, p->key), "null")) {
			double alone = number_of(j, node(j, p->value), 1e-9, "'null', the throughput alone,");

			if (ct_name_list_find(&j->g->jobs, s, n) != SIZE_MAX)
				fail(j->g, &at, "a job stands twice", s, n);
			else if (!isnan(alone))
				job_of(j->g, &at, s, n, alone);
			return;
		}
	fail(j->g, &at, "a job wants 'null', its throughput alone", s, n);
}

static void read_partner(struct json *j, size_t self, const yaml_node_t *key, const yaml_node_t *value)
{
	struct ct_loc at = place(j, key);
	double packed[2];
	size_t n, other;
	const char *s;

	if (is_text(key, "null"))
		return;
	if (!one_gpu(key, &s, &n)) {
		j->g->b.report->several_gpus++;
		return;
	}
	other = ct_name_list_find(&j->g->jobs, s, n);
	if (other == SIZE_MAX) {
		fail(j->g, &at, "a partner wants an entry of its own", s, n);
		return;
	}
	if (want(j, value, YAML_SEQUENCE_NODE, "a list of two throughputs"))
		return;
	if (value->data.sequence.items.top - value->data.sequence.items.start != 2) {
		at = place(j, value);
		ct_err_add(j->g->err, CT_ECONFIG, &at, "wanted a list of two throughputs");
		return;
	}
	for (int k = 0; k < 2; k++)
		packed[k] = number_of(j, node(j, value->data.sequence.items.start[k]), 0, "a throughput together");
	if (!isnan(packed[0]) && !isnan(packed[1]))
		add_pair(j->g, (uint32_t)self, (uint32_t)other, packed[0], packed[1]);
}

static void read_gpu(struct json *j, const yaml_node_t *of)
{
	const yaml_node_pair_t *from, *to;

	if (want(j, of, YAML_MAPPING_NODE, "an object of jobs"))
		return;
	from = of->data.mapping.pairs.start;
	to = of->data.mapping.pairs.top;
	for (const yaml_node_pair_t *p = from; p < to; p++)
		read_alone(j, node(j, p->key), node(j, p->value));
	for (const yaml_node_pair_t *p = from; p < to && !j->g->err->code; p++) {
		const yaml_node_t *value = node(j, p->value);
		const char *s;
		size_t n, self;

		if (!one_gpu(node(j, p->key), &s, &n)) {
			j->g->b.report->several_gpus++;
			continue;
		}
		self = ct_name_list_find(&j->g->jobs, s, n);
		for (const yaml_node_pair_t *q = value->data.mapping.pairs.start; q < value->data.mapping.pairs.top;
		     q++)
			read_partner(j, self, node(j, q->key), node(j, q->value));
	}
}

static void read_document(struct json *j)
{
	const yaml_node_t *root = yaml_document_get_root_node(&j->doc);
	struct ct_loc whole = { .file = j->g->path };

	if (!root) {
		ct_err_add(j->g->err, CT_ECONFIG, &whole, "is empty");
		return;
	}
	if (want(j, root, YAML_MAPPING_NODE, "an object of GPUs"))
		return;
	for (const yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++)
		if (is_text(node(j, p->key), j->g->gpu))
			read_gpu(j, node(j, p->value));
}

static int read_json(struct gavel *g, FILE *f)
{
	struct json j = { .g = g };
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser))
		return ct_err_at(g->err, CT_EIO, NULL, "libyaml cannot start");
	yaml_parser_set_input_file(&parser, f);
	if (yaml_parser_load(&parser, &j.doc)) {
		read_document(&j);
		yaml_document_delete(&j.doc);
	} else {
		struct ct_loc at = { g->path, parser.problem_mark.line + 1, parser.problem_mark.column + 1 };

		ct_err_at(g->err, CT_ECONFIG, &at, "not valid JSON: %s", parser.problem ? parser.problem : "");
	}
	yaml_parser_delete(&parser);
	return (int)g->err->code;
}

/* ---- both */

/* Gavel counts steps. Samples, of a job whose batch size is known: configurations of one
 * workload are compared by their throughput. Slow-downs are ratios and stay. */
static void count_samples(struct ct_calibration *c)
{
	for (size_t i = 0; i < c->n_configs; i++)
		if (c->config[i].profile.batch)
			c->config[i].profile.throughput *= c->config[i].profile.batch;
}

/* "{" first: JSON. */
static int read_either(struct gavel *g)
{
	FILE *f = fopen(g->path, "rb");
	int c, rc;

	if (!f)
		return ct_err_at(g->err, CT_EIO, NULL, "cannot read '%s': %s", g->path, strerror(errno));
	do
		c = fgetc(f);
	while (c == ' ' || c == '\n' || c == '\r' || c == '\t');
	rewind(f);
	rc = c == '{' ? read_json(g, f) : is_decays(f) ? read_decays(g) : read_csv(g);
	fclose(f);
	return rc;
}

int ct_measured_gavel(const char *path, const char *solo, const char *gpu, const char *gpus,
		      struct ct_measured_report *report, struct ct_calibration **out, struct ct_err *err)
{
	struct gavel g = { .path = path, .solo = solo, .gpu = gpu, .err = err };
	int rc;

	ct_measured_begin(&g.b, report);
	rc = read_either(&g);
	if (!rc)
		count_samples(g.b.c);
	if (rc)
		ct_measured_drop(&g.b);
	else
		rc = ct_measured_end(&g.b, gpu, gpus, path, out, err);
	ct_name_list_fini(&g.jobs);
	ct_name_list_fini(&g.alone);
	free(g.speed);
	return rc;
}
