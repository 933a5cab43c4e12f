/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant calib import lucid DIR | gavel FILE: published measurements as they are. */
#include "calib/curve.h"
#include "calib/measured.h"
#include "experiments/cmd_calib.h"
#include "experiments/data_path.h"
#include "experiments/table.h"
#include "sim/csv.h"
#include "sim/json.h"

#include <math.h>
#include <string.h>

/* What a scheduler would have measured: 30 % of the pairs, the paper's 20 to 30 %. */
static const double shown = .3;
enum { FEW = 24 }; /* rows that the learners and a random share of pairs want */

static int read_table(struct ct_calib_args *a, struct ct_measured_report *r, struct ct_calibration **c,
		      struct ct_err *err)
{
	const char *path, *gpus, *solo = NULL;

	CT_TRY(ct_data_path(a->argv[1], a->arena, &path, err));
	CT_TRY(ct_data_path("data:calib/published/gpus.csv", a->arena, &gpus, err));
	if (a->solo)
		CT_TRY(ct_data_path(a->solo, a->arena, &solo, err));
	if (!strcmp(a->argv[0], "lucid"))
		CT_TRY(ct_measured_lucid(path, gpus, r, c, err));
	else
		CT_TRY(ct_measured_gavel(path, solo, a->gpu, gpus, r, c, err));
	if (a->gpu_mem && (ct_parse_f64(a->gpu_mem, strlen(a->gpu_mem), &(*c)->mem_mib) || (*c)->mem_mib < 0))
		return ct_err_at(err, CT_EUSAGE, NULL, "--gpu-mem-mib wants MiB, got '%.40s'", a->gpu_mem);
	if (a->reserve && (ct_parse_f64(a->reserve, strlen(a->reserve), &(*c)->reserve_mib) || (*c)->reserve_mib < 0))
		return ct_err_at(err, CT_EUSAGE, NULL, "--reserve-mib wants MiB, got '%.40s'", a->reserve);
	return 0;
}

/* Errors of predictors that saw 30 % of the pairs, on all others; kept in the file. */
static int hold_out(const struct ct_calib_args *a, struct ct_calibration *c, struct ct_err *err)
{
	const struct ct_curve_options o = { .seed = a->seed, .test_share = 1 - shown, .share = &shown, .n = 1 };
	struct ct_curve_score score[CT_CURVE_PREDICTORS];
	struct ct_samples s;
	int rc;

	ct_samples_calibration(c, &s);
	if (shown * (double)s.n < FEW) {
		ct_samples_fini(&s);
		return 0;
	}
	rc = ct_curve(&s, &o, score, err);
	ct_samples_fini(&s);
	if (rc)
		return rc;
	c->holdout = ct_calloc(CT_CURVE_PREDICTORS, sizeof *c->holdout);
	for (unsigned k = 0; k < CT_CURVE_PREDICTORS; k++) {
		struct ct_calib_holdout *h = &c->holdout[c->n_holdouts];

		if (!score[k].test)
			continue;
		snprintf(h->predictor, sizeof h->predictor, "%s", ct_curve_predictor(k));
		h->mape = 100 * score[k].mape;
		h->r2 = score[k].r2;
		c->n_holdouts++;
	}
	return 0;
}

/* ---- for people */

static void print_counts(const struct ct_measured_report *r)
{
	if (*r->unmeasured)
		printf("left out, since their speed is 1 in every pair (not measured): %s\n", r->unmeasured);
	if (*r->unpaired)
		printf("left out, since no pair has them: %s\n", r->unpaired);
	if (r->left_out)
		printf("%zu of %zu rows are of models left out\n", r->left_out, r->rows);
	if (r->several_gpus)
		printf("%zu rows of jobs on several GPUs are left out\n", r->several_gpus);
	if (r->repeated)
		printf("%zu rows repeat a pair: the mean of their speeds is kept\n", r->repeated);
	if (r->failed)
		printf("%zu pairs did not run together (throughput 0): kept with the slow-down %g\n", r->failed,
		       CT_CALIB_FAILED);
	if (r->speedups)
		printf("%zu slow-downs are below 1 (faster in company than alone), kept as measured\n", r->speedups);
	if (r->possible > r->pairs)
		printf("%zu of %zu possible pairs were never measured: in runs 'contention' says what they cost "
		       "(contention.fallback, 1 = nothing)\n",
		       r->possible - r->pairs, r->possible);
}

static void print_text(const struct ct_calibration *c, const struct ct_measured_report *r)
{
	printf("%s: %zu workloads, %zu configurations, %zu measured pairs\n", c->gpu, r->workloads, r->configs,
	       r->pairs);
	print_counts(r);
	if (!c->n_holdouts) {
		puts("too few pairs to keep any apart: no predictor was tried");
		return;
	}
	printf("\nPredictors that saw %.0f %% of the pairs, on the others\n", 100 * shown);
	ct_calib_print_holdouts(c, "predictor");
}

/* ---- for programs */

static int print_json(const struct ct_calibration *c, const struct ct_measured_report *r, struct ct_err *err)
{
	const struct {
		const char *name;
		size_t n;
	} count[] = { { "workloads", r->workloads },      { "configurations", r->configs }, { "pairs", r->pairs },
		      { "possible_pairs", r->possible },  { "failed", r->failed },          { "speedups", r->speedups },
		      { "repeated", r->repeated },        { "left_out", r->left_out },      { "rows", r->rows },
		      { "several_gpus", r->several_gpus } };
	struct ct_json j;

	ct_json_begin(&j, stdout);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_text(&j, "gpu", c->gpu);
	for (size_t i = 0; i < sizeof count / sizeof *count; i++)
		ct_json_i64(&j, count[i].name, (int64_t)count[i].n);
	ct_json_text(&j, "unmeasured", r->unmeasured);
	ct_json_text(&j, "unpaired", r->unpaired);
	ct_json_f64(&j, "train_share", shown);
	ct_json_open(&j, "rows_unseen", '[', 0);
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

int ct_calib_cmd_import(struct ct_calib_args *a)
{
	struct ct_calibration *c = NULL;
	struct ct_measured_report r;
	struct ct_err err = { 0 };
	int gavel = a->argc > 0 && !strcmp(a->argv[0], "gavel"), rc;

	if (a->argc != 2 || (!gavel && strcmp(a->argv[0], "lucid") != 0))
		return ct_misuse(a->command, "'import' wants 'lucid DIR' or 'gavel FILE'");
	if (!a->out)
		return ct_misuse(a->command, "'import' wants --out FILE.h5");
	if (gavel != (a->gpu != NULL))
		return ct_misuse(a->command, gavel ? "'import gavel' wants --gpu NAME, one of the file's"
						   : "--gpu belongs to 'import gavel'; Lucid's table is of one GPU");
	rc = read_table(a, &r, &c, &err);
	if (!rc)
		rc = hold_out(a, c, &err);
	if (!rc)
		rc = ct_calibration_write(c, a->out, &err);
	if (!rc && a->json)
		rc = print_json(c, &r, &err);
	else if (!rc)
		print_text(c, &r);
	ct_calibration_free(c);
	return rc ? ct_fail(&err) : CT_OK;
}
