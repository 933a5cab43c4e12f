/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant calib fit: own measurements, or a calibration folder with Table 6. */
#include "calib/table6.h"
#include "calib/user_fit.h"
#include "experiments/cmd_calib.h"
#include "experiments/data_path.h"
#include "experiments/table.h"
#include "sim/csv.h"
#include "sim/json.h"

#include <math.h>
#include <string.h>

static int number(const struct ct_calib_args *a, const char *flag, const char *text, double *out)
{
	if (!text)
		return 0;
	if (ct_parse_f64(text, strlen(text), out) || *out < 0 || *out > 4e9)
		return ct_misuse(a->command, "--%s wants 0 to 4e9, got '%.40s'", flag, text);
	return 0;
}

static int mode_of(const struct ct_calib_args *a, int *mode)
{
	*mode = -1;
	if (!a->mode || !strcmp(a->mode, "auto"))
		return 0;
	for (int k = 0; k < CT_CALIB_MODES; k++)
		if (!strcmp(a->mode, ct_calib_mode_name((enum ct_calib_mode)k))) {
			*mode = k;
			return 0;
		}
	return ct_misuse(a->command, "--mode wants auto, counters, latent or overrides, got '%.40s'", a->mode);
}

static void print_pairs(const struct ct_calibration *c)
{
	struct ct_table t;
	char label[160];

	ct_table_init(&t);
	ct_table_column(&t, "pair", "", CT_LEFT);
	for (int side = 0; side < 2; side++) {
		ct_table_column(&t, "measured", "", CT_RIGHT);
		ct_table_column(&t, "fitted", "", CT_RIGHT);
		ct_table_column(&t, "left out", "", CT_RIGHT);
	}
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct ct_calib_pair *p = &c->pair[i];
		const struct ct_calib_config *x = &c->config[p->measured.a], *y = &c->config[p->measured.b];

		snprintf(label, sizeof label, "%s %s / %s %s", x->workload, x->profile.name, y->workload,
			 y->profile.name);
		ct_table_text(&t, label);
		ct_table_number(&t, 1 / p->measured.s_a, 3);
		ct_table_number(&t, 1 / p->fit[0], 3);
		ct_table_number(&t, 1 / p->lopo[0], 3);
		ct_table_number(&t, 1 / p->measured.s_b, 3);
		ct_table_number(&t, 1 / p->fit[1], 3);
		ct_table_number(&t, 1 / p->lopo[1], 3);
	}
	ct_table_print(&t, stdout);
	ct_table_fini(&t);
}

void ct_calib_print_holdouts(const struct ct_calibration *c, const char *title)
{
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, title, "", CT_LEFT);
	ct_table_column(&t, "MAPE of S", "%", CT_RIGHT);
	ct_table_column(&t, "R2 of 1/S", "", CT_RIGHT);
	for (size_t i = 0; i < c->n_holdouts; i++) {
		ct_table_text(&t, c->holdout[i].predictor);
		ct_table_number(&t, c->holdout[i].mape, 2);
		ct_table_number(&t, c->holdout[i].r2, 3);
	}
	ct_table_print(&t, stdout);
	ct_table_fini(&t);
}

static void print_text(const struct ct_calibration *c, int table6)
{
	if (table6)
		print_pairs(c);
	printf("%s, mode %s: %zu configurations, %zu pairs\n", c->gpu, ct_calib_mode_name(c->mode), c->n_configs,
	       c->n_pairs);
	if (c->mode != CT_CALIB_OVERRIDES)
		printf("fitted: MAE of the decay %.4f, worst %.3f, MAPE of S %.2f %%, R2 %.3f, Spearman of pair means "
		       "%.3f\n",
		       c->fit.mae, c->fit.worst, c->fit.mape, c->fit.r2, c->fit.spearman);
	if (table6)
		printf("one pair left out: MAE %.4f, worst %.3f\n", c->lopo.mae, c->lopo.worst);
	ct_calib_print_holdouts(c, "pairs not seen by the fit");
	if (table6)
		puts("Table 6 calibrates this model and does not validate it: 54 unknowns, most held by their priors.");
}

static void json_score(struct ct_json *j, const char *key, const struct ct_fit_score *s)
{
	ct_json_open(j, key, '{', 1);
	ct_json_f64(j, "mae", s->mae);
	ct_json_f64(j, "mape", s->mape);
	ct_json_f64(j, "worst", s->worst);
	ct_json_f64(j, "r2", s->r2);
	ct_json_f64(j, "spearman", s->spearman);
	ct_json_i64(j, "confused", s->confused);
	ct_json_close(j);
}

static int report(const struct ct_calib_args *a, const struct ct_calibration *c, int table6, struct ct_err *err)
{
	struct ct_json j;

	if (!a->json) {
		print_text(c, table6);
		return 0;
	}
	ct_json_begin(&j, stdout);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_text(&j, "gpu", c->gpu);
	ct_json_text(&j, "mode", ct_calib_mode_name(c->mode));
	ct_json_i64(&j, "configurations", (int64_t)c->n_configs);
	ct_json_i64(&j, "pairs", (int64_t)c->n_pairs);
	json_score(&j, "fit", &c->fit);
	json_score(&j, "unseen", &c->lopo);
	ct_json_open(&j, "rows", '[', 0);
	for (size_t i = 0; i < c->n_holdouts; i++) {
		ct_json_open(&j, NULL, '{', 1);
		ct_json_text(&j, "predictor", c->holdout[i].predictor);
		ct_json_f64(&j, "mape", c->holdout[i].mape);
		ct_json_f64(&j, "r2", c->holdout[i].r2);
		ct_json_close(&j);
	}
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, "standard output", err);
}

static int measured(struct ct_calib_args *a, struct ct_calibration **c, struct ct_err *err)
{
	struct ct_user_fit_options o = { .gpu = a->gpu, .seed = a->seed, .warnings = stderr };

	if (!a->solo || !a->pairs)
		return ct_misuse(a->command, "'fit' wants --solo and --pairs, or neither");
	if (mode_of(a, &o.mode) || number(a, "gpu-mem-mib", a->gpu_mem, &o.mem_mib) ||
	    number(a, "reserve-mib", a->reserve, &o.reserve_mib))
		return CT_EUSAGE;
	CT_TRY(ct_data_path(a->solo, a->arena, &o.solo, err));
	CT_TRY(ct_data_path(a->pairs, a->arena, &o.pairs, err));
	return ct_user_fit(&o, c, err);
}

static int folder(struct ct_calib_args *a, struct ct_calibration **c, struct ct_err *err)
{
	const char *dir;

	CT_TRY(ct_data_path(a->dir ? a->dir : "data:calib/a100-40gb", a->arena, &dir, err));
	return ct_table6_fit(dir, a->measured, c, err);
}

int ct_calib_cmd_fit(struct ct_calib_args *a)
{
	int own = a->solo || a->pairs, rc;
	struct ct_calibration *c = NULL;
	struct ct_err err = { 0 };

	if (a->argc)
		return ct_misuse(a->command, "'fit' takes no operand, got '%.60s'", a->argv[0]);
	if (!a->out)
		return ct_misuse(a->command, "'fit' wants --out FILE.h5");
	if (own && a->dir)
		return ct_misuse(a->command, "--dir and --solo exclude each other");
	rc = own ? measured(a, &c, &err) : folder(a, &c, &err);
	if (!rc && !(rc = ct_calibration_write(c, a->out, &err)))
		rc = report(a, c, !own, &err);
	ct_calibration_free(c);
	return err.code ? ct_fail(&err) : rc;
}
