/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant calib show: what a calibration says, as a table, and as CSV files that
 * the scripts in plots/ draw. */
#include "calib/calibration.h"
#include "experiments/cmd_calib.h"
#include "experiments/data_path.h"
#include "experiments/table.h"
#include "sim/json.h"
#include "sim/output.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { VARIANTS = 64 };

/* ---- the calibration */

static int of_folder(struct ct_calib_args *a, struct ct_calibration *c, struct ct_err *err)
{
	struct ct_profiles *set;
	const char *dir;

	CT_TRY(ct_data_path(a->dir ? a->dir : "data:calib/a100-40gb", a->arena, &dir, err));
	CT_TRY(ct_profiles_load(dir, &set, err));
	snprintf(c->gpu, sizeof c->gpu, "%s", set->signature);
	c->wstr = ct_slowdown_published();
	c->resources = CT_RESOURCES;
	c->n_configs = set->n_profiles;
	c->config = ct_calloc(c->n_configs, sizeof *c->config);
	for (uint32_t i = 0; i < set->n_profiles; i++) {
		const struct ct_workload_model *m = &set->model[set->profile[i].workload];

		snprintf(c->config[i].workload, sizeof c->config[i].workload, "%s", m->name);
		c->config[i].profile = set->profile[i];
		c->config[i].demand = ct_slowdown_demand(&c->wstr, &set->profile[i]);
		c->config[i].is_default = &set->profile[i] == &m->profile[m->default_profile];
	}
	ct_profiles_free(set);
	return 0;
}

static int load(struct ct_calib_args *a, struct ct_calibration **out, struct ct_err *err)
{
	const char *path;

	if (a->argc) {
		CT_TRY(ct_data_path(a->argv[0], a->arena, &path, err));
		return ct_calibration_read(path, out, err);
	}
	*out = ct_calloc(1, sizeof **out);
	return of_folder(a, *out, err);
}

/* ---- the table */

struct summary {
	const char *workload;
	size_t n;
	double mem[2], speed[2], sm, occ, dram, tensor, host; /* memory NaN: not measured */
};

/* Rows of one workload stand together. Returns the number of configurations. */
static size_t summarise(const struct ct_calibration *c, size_t first, struct summary *s)
{
	size_t i = first;

	*s =
	    (struct summary){ .workload = c->config[first].workload, .mem = { INFINITY, 0 }, .speed = { INFINITY, 0 } };
	for (; i < c->n_configs && !strcmp(c->config[i].workload, s->workload); i++) {
		const struct ct_profile *p = &c->config[i].profile;

		s->mem[0] = p->fb_mib ? fmin(s->mem[0], p->fb_mib / 1024.0) : (double)NAN;
		s->mem[1] = p->fb_mib ? fmax(s->mem[1], p->fb_mib / 1024.0) : (double)NAN;
		s->speed[0] = fmin(s->speed[0], p->throughput);
		s->speed[1] = fmax(s->speed[1], p->throughput);
		s->sm += p->sm_active;
		s->occ += p->sm_occupancy;
		s->dram += p->dram_active;
		s->tensor += p->tensor_active;
		s->host += p->host;
	}
	s->n = i - first;
	return s->n;
}

static void print_text(const struct ct_calibration *c)
{
	static const char *const means[] = { "SM", "occupancy", "DRAM", "tensor", "host" };
	struct ct_table t;
	struct summary s;
	double sm = 0, n = 0, possible = (double)c->n_configs * ((double)c->n_configs + 1) / 2;

	ct_table_init(&t);
	ct_table_column(&t, "workload", "", CT_LEFT);
	ct_table_column(&t, "configurations", "", CT_RIGHT);
	ct_table_column(&t, "memory from", "GiB", CT_RIGHT);
	ct_table_column(&t, "to", "GiB", CT_RIGHT);
	ct_table_column(&t, "throughput from", "1/s", CT_RIGHT);
	ct_table_column(&t, "to", "1/s", CT_RIGHT);
	for (size_t k = 0; k < 5; k++)
		ct_table_column(&t, means[k], "mean", CT_RIGHT);
	for (size_t i = 0; i < c->n_configs; i += s.n) {
		double k = (double)summarise(c, i, &s);
		const double mean[] = { s.sm, s.occ, s.dram, s.tensor, s.host };

		ct_table_text(&t, s.workload);
		ct_table_number(&t, k, 0);
		ct_table_number(&t, s.mem[0], 1);
		ct_table_number(&t, s.mem[1], 1);
		ct_table_number(&t, s.speed[0], 1);
		ct_table_number(&t, s.speed[1], 1);
		for (size_t m = 0; m < 5; m++)
			ct_table_number(&t, mean[m] / k, 3);
		sm += s.sm / k;
		n++;
	}
	ct_table_print(&t, stdout);
	ct_table_fini(&t);
	printf("%s: %zu configurations, %zu measured pairs\n", c->gpu, c->n_configs, c->n_pairs);
	if (c->mode == CT_CALIB_OVERRIDES && c->n_pairs)
		printf("no model: %.0f of %.0f possible pairs were never measured; in runs 'contention' says what they "
		       "cost\n",
		       possible - (double)c->n_pairs, possible);
	if (isfinite(sm))
		printf("mean over the workloads of their mean SM activity: %.3f (on assumed levels unless measured)\n",
		       sm / n);
}

/* ---- pairs of variants */

struct variant {
	const struct ct_calib_config *config;
	char label[72];
};

/* All of a small calibration; else of each workload the default, and what
 * checkpointing, mixed precision or prefix caching make of it. */
static int is_variant(const struct ct_calibration *c, size_t i)
{
	const struct ct_calib_config *k = &c->config[i];
	size_t d = i;

	if (c->n_configs <= VARIANTS || k->is_default)
		return 1;
	for (d = 0; d < c->n_configs; d++) {
		const struct ct_profile *p = &c->config[d].profile, *q = &k->profile;

		if (c->config[d].is_default && !strcmp(c->config[d].workload, k->workload))
			return p->batch == q->batch && p->seqlen == q->seqlen && p->fb_mib >= q->fb_mib &&
			       fabs(p->mu - q->mu) < 1e-9;
	}
	return 0;
}

static size_t variants(const struct ct_calibration *c, struct variant *v)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_configs && n < VARIANTS; i++)
		if (is_variant(c, i)) {
			const struct ct_calib_config *k = &c->config[i];
			const char *plus = strchr(k->profile.name, '+');

			v[n].config = k;
			snprintf(v[n++].label, sizeof v[0].label, "%s%s", k->workload,
				 k->is_default ? ""
				 : plus        ? plus
					       : k->profile.name);
		}
	return n;
}

/* Mean of what the two keep: measured when the calibration says so. NaN: not measured,
 * and there is no model. */
static double decay_of(const struct ct_calibration *c, const struct ct_calib_config *a, const struct ct_calib_config *b)
{
	uint32_t i = (uint32_t)(a - c->config), j = (uint32_t)(b - c->config);

	for (size_t k = 0; c->overrides && k < c->n_pairs; k++) {
		const struct ct_fit_pair *p = &c->pair[k].measured;

		if ((p->a == i && p->b == j) || (p->a == j && p->b == i))
			return (1 / p->s_a + 1 / p->s_b) / 2;
	}
	if (c->mode == CT_CALIB_OVERRIDES && c->n_pairs)
		return NAN;
	return (1 / ct_slowdown_of(&c->wstr, &a->demand, &b->demand, c->resources) +
		1 / ct_slowdown_of(&c->wstr, &b->demand, &a->demand, c->resources)) /
	       2;
}

/* ---- files */

static int open_in(const char *dir, const char *name, struct ct_output *o, struct ct_err *err)
{
	char path[4096];

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
		return ct_err_at(err, CT_EIO, NULL, "path of '%s' is too long", name);
	return ct_output_open(o, path, err);
}

/* What is not known stays empty. */
static void number(struct ct_output *o, double v, const char *after)
{
	if (isfinite(v))
		ct_output_f64(o, v);
	ct_output_text(o, after);
}

static int write_heatmap(const struct ct_calibration *c, const struct variant *v, size_t n, const char *dir,
			 struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(open_in(dir, "heatmap.csv", &o, err));
	ct_output_text(&o, "row,column,variant_row,variant_column,mean_decay\n");
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			ct_output_i64(&o, (int64_t)i);
			ct_output_text(&o, ",");
			ct_output_i64(&o, (int64_t)j);
			ct_output_text(&o, ",");
			ct_output_field(&o, v[i].label);
			ct_output_text(&o, ",");
			ct_output_field(&o, v[j].label);
			ct_output_text(&o, ",");
			number(&o, decay_of(c, v[i].config, v[j].config), "\n");
		}
	return ct_output_close(&o, err);
}

static int write_cdf(const struct ct_calibration *c, const struct variant *v, size_t n, const char *dir,
		     struct ct_err *err)
{
	double *d = ct_calloc(n * (n + 1) / 2 + 1, sizeof *d);
	struct ct_output o;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++) {
			d[k] = decay_of(c, v[i].config, v[j].config);
			k += isfinite(d[k]) != 0;
		}
	gsl_sort(d, 1, k);
	ct_note("%zu pairs of %zu variants: decay quantiles 10 %% %.3f, 50 %% %.3f, 90 %% %.3f", k, n,
		gsl_stats_quantile_from_sorted_data(d, 1, k, 0.1), gsl_stats_quantile_from_sorted_data(d, 1, k, 0.5),
		gsl_stats_quantile_from_sorted_data(d, 1, k, 0.9));
	if (!open_in(dir, "cdf.csv", &o, err)) {
		ct_output_text(&o, "mean_decay,fraction\n");
		for (size_t i = 0; i < k; i++) {
			number(&o, d[i], ",");
			number(&o, (double)(i + 1) / (double)k, "\n");
		}
		ct_output_close(&o, err);
	}
	free(d);
	return (int)err->code;
}

static double default_speed(const struct ct_calibration *c, const char *workload)
{
	double first = 0;

	for (size_t i = 0; i < c->n_configs; i++)
		if (!strcmp(c->config[i].workload, workload)) {
			if (c->config[i].is_default)
				return c->config[i].profile.throughput;
			first = first > 0 ? first : c->config[i].profile.throughput;
		}
	return first;
}

static int write_families(const struct ct_calibration *c, const char *dir, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(open_in(dir, "families.csv", &o, err));
	ct_output_text(&o, "workload,config,mem_gib,throughput,relative,sm_active,sm_occupancy,dram_active,"
			   "tensor_active,host,weight\n");
	for (size_t i = 0; i < c->n_configs; i++) {
		const struct ct_profile *p = &c->config[i].profile;

		ct_output_field(&o, c->config[i].workload);
		ct_output_text(&o, ",");
		ct_output_field(&o, p->name);
		ct_output_text(&o, ",");
		number(&o, p->fb_mib ? p->fb_mib / 1024.0 : (double)NAN, ",");
		number(&o, p->throughput, ",");
		number(&o, p->throughput / default_speed(c, c->config[i].workload), ",");
		number(&o, p->sm_active, ",");
		number(&o, p->sm_occupancy, ",");
		number(&o, p->dram_active, ",");
		number(&o, p->tensor_active, ",");
		number(&o, p->host, ",");
		number(&o, c->config[i].demand.weight, "\n");
	}
	return ct_output_close(&o, err);
}

static int write_fit(const struct ct_calibration *c, const char *dir, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(open_in(dir, "fit.csv", &o, err));
	ct_output_text(&o, "workload,config,partner,partner_config,measured,fitted,left_out\n");
	for (size_t i = 0; i < c->n_pairs; i++)
		for (int side = 0; side < 2; side++) {
			const struct ct_calib_pair *p = &c->pair[i];
			const struct ct_calib_config *x = &c->config[side ? p->measured.b : p->measured.a];
			const struct ct_calib_config *y = &c->config[side ? p->measured.a : p->measured.b];
			const char *const text[] = { x->workload, x->profile.name, y->workload, y->profile.name };

			for (size_t k = 0; k < 4; k++) {
				ct_output_field(&o, text[k]);
				ct_output_text(&o, ",");
			}
			number(&o, 1 / (side ? p->measured.s_b : p->measured.s_a), ",");
			number(&o, 1 / p->fit[side], ",");
			number(&o, 1 / p->lopo[side], "\n");
		}
	return ct_output_close(&o, err);
}

static int write_files(const struct ct_calibration *c, const char *dir, struct ct_err *err)
{
	struct variant *v = ct_calloc(VARIANTS, sizeof *v);
	size_t n = variants(c, v);

	if (mkdir(dir, 0777) && errno != EEXIST) {
		ct_err_at(err, CT_EIO, NULL, "cannot make folder '%s': %s", dir, strerror(errno));
	} else if (!write_heatmap(c, v, n, dir, err) && !write_cdf(c, v, n, dir, err) && !write_families(c, dir, err)) {
		if (c->n_pairs)
			write_fit(c, dir, err);
	}
	free(v);
	return (int)err->code;
}

int ct_calib_write_pairs(const char *folder, struct ct_err *err)
{
	struct ct_arena arena = { 0 };
	struct ct_calib_args a = { .arena = &arena };
	struct ct_calibration *c = NULL;

	if (!load(&a, &c, err))
		write_files(c, folder, err);
	ct_calibration_free(c);
	ct_arena_fini(&arena);
	return (int)err->code;
}

static int print_json(const struct ct_calibration *c, struct ct_err *err)
{
	struct ct_json j;
	struct summary s;

	ct_json_begin(&j, stdout);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_text(&j, "gpu", c->gpu);
	ct_json_i64(&j, "pairs", (int64_t)c->n_pairs);
	ct_json_open(&j, "rows", '[', 0);
	for (size_t i = 0; i < c->n_configs; i += s.n) {
		double n = (double)summarise(c, i, &s);

		ct_json_open(&j, NULL, '{', 1);
		ct_json_text(&j, "workload", s.workload);
		ct_json_i64(&j, "configurations", (int64_t)s.n);
		ct_json_f64(&j, "mem_gib_min", s.mem[0]);
		ct_json_f64(&j, "mem_gib_max", s.mem[1]);
		ct_json_f64(&j, "throughput_min", s.speed[0]);
		ct_json_f64(&j, "throughput_max", s.speed[1]);
		ct_json_f64(&j, "sm_active", s.sm / n);
		ct_json_close(&j);
	}
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, "standard output", err);
}

int ct_calib_cmd_show(struct ct_calib_args *a)
{
	struct ct_calibration *c = NULL;
	struct ct_err err = { 0 };

	if (a->argc > 1)
		return ct_misuse(a->command, "'show' wants one file at most, got '%.60s' too", a->argv[1]);
	if (a->solo || a->pairs || a->mode)
		return ct_misuse(a->command, "--solo, --pairs and --mode belong to 'fit'");
	if (!load(a, &c, &err)) {
		if (a->json)
			print_json(c, &err);
		else
			print_text(c);
		if (a->out)
			write_files(c, a->out, &err);
	}
	ct_calibration_free(c);
	return err.code ? ct_fail(&err) : CT_OK;
}
