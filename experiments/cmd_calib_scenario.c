/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant calib scenario [--out FILE.csv] */
#include "experiments/cmd_calib.h"
#include "experiments/data_path.h"
#include "experiments/repro/scenario_fit.h"
#include "experiments/table.h"
#include "sim/output.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 12, STARTS = 4, EVALUATIONS = 30, SEEDS = 60 };
enum { FIT_SEED = 1001, HELD_OUT_SEED = 2001 };

static void say(void *ctx, const struct ct_scenario_vector *v, size_t n)
{
	(void)ctx;
	ct_note("%3zu: load %.3f, spread %.3f, tilt %+.3f: loss %.2f", n, v->x[0], v->x[1], v->x[2], v->loss);
}

static void print(const struct ct_scenario_fit *f)
{
	struct ct_table t;
	size_t kept = 0;

	ct_table_init(&t);
	ct_table_column(&t, "load", "", CT_RIGHT);
	ct_table_column(&t, "spread", "", CT_RIGHT);
	ct_table_column(&t, "tilt", "", CT_RIGHT);
	for (size_t k = 0; k < f->n_figures; k++)
		ct_table_column(&t, f->figure[k]->id, f->figure[k]->unit, CT_RIGHT);
	ct_table_column(&t, "loss", "", CT_RIGHT);
	ct_table_column(&t, "above best", "", CT_RIGHT);
	ct_table_column(&t, "std. error", "", CT_RIGHT);
	ct_table_column(&t, "kept", "", CT_LEFT);
	for (int k = 0; k < 3; k++)
		ct_table_text(&t, k ? "" : "published");
	for (size_t k = 0; k < f->n_figures; k++)
		ct_table_number(&t, f->figure[k]->value, 2);
	ct_table_end_row(&t);
	for (size_t i = 0; i < f->n; i++) {
		const struct ct_scenario_vector *v = &f->v[i];

		kept += v->kept != 0;
		if (i >= SHOWN)
			continue;
		for (int k = 0; k < CT_SCENARIO_UNKNOWNS; k++)
			ct_table_number(&t, v->x[k], 3);
		for (size_t k = 0; k < f->n_figures; k++)
			ct_table_number(&t, v->ours[k], 2);
		ct_table_number(&t, v->loss, 2);
		ct_table_number(&t, v->above, 2);
		ct_table_number(&t, v->above_se, 2);
		ct_table_text(&t, v->kept ? "yes" : "no");
	}
	ct_table_print(&t, stdout);
	ct_table_fini(&t);
	printf("\n%zu vectors, %zu within two standard errors of the best: as good, given %u seeds\n", f->n, kept,
	       f->seeds);
	printf("loss of the best over %u other seeds: %.2f\n", f->seeds, f->v[0].held_out);
	printf("generate: {load: %g, spread: %g, tilt: %g}\n", f->v[0].x[0], f->v[0].x[1], f->v[0].x[2]);
}

static int write_vectors(const struct ct_scenario_fit *f, const char *volcano, const char *path, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(ct_output_open(&o, path, err));
	ct_output_text(&o, "volcano,load,spread,tilt,loss,above,above_se,kept");
	for (size_t k = 0; k < f->n_figures; k++) {
		ct_output_text(&o, ",");
		ct_output_field(&o, f->figure[k]->id);
	}
	for (size_t i = 0; i < f->n; i++) {
		const struct ct_scenario_vector *v = &f->v[i];
		const double number[] = { v->x[0], v->x[1], v->x[2], v->loss, v->above, v->above_se };

		ct_output_text(&o, "\n");
		ct_output_field(&o, volcano);
		for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
			ct_output_text(&o, ",");
			ct_output_f64(&o, number[k]);
		}
		ct_output_text(&o, v->kept ? ",yes" : ",no");
		for (size_t k = 0; k < f->n_figures; k++) {
			ct_output_text(&o, ",");
			ct_output_f64(&o, v->ours[k]);
		}
	}
	ct_output_text(&o, "\n");
	return ct_output_close(&o, err);
}

static int fit(struct ct_calib_args *a, struct ct_paper *p, struct ct_scenario_fit *f, struct ct_err *err)
{
	const char *volcano = a->volcano ? a->volcano : "volcano";

	f->paper = p;
	CT_TRY(ct_paper_play(p, "volcano", volcano, err));
	CT_TRY(ct_scenario_fit(f, err));
	print(f);
	return a->out ? write_vectors(f, volcano, a->out, err) : 0;
}

int ct_calib_cmd_scenario(struct ct_calib_args *a)
{
	struct ct_scenario_fit f = { .without = a->without,
				     .starts = STARTS,
				     .evaluations = a->evaluations ? a->evaluations : EVALUATIONS,
				     .seeds = a->seeds ? a->seeds : SEEDS,
				     .first_seed = FIT_SEED,
				     .held_out_seed = HELD_OUT_SEED,
				     .how = { .processes = a->processes, .interrupted = a->interrupted },
				     .evaluated = say };
	struct ct_err err = { 0 };
	struct ct_paper *p = NULL;
	const char *published;

	if (a->argc)
		return ct_misuse(a->command, "scenario takes no operand, got '%.60s'", a->argv[0]);
	if (ct_data_path("data:experiments/paper/published.yaml", a->arena, &published, &err) == 0 &&
	    ct_data_path("data:experiments/paper/scenario.yaml", a->arena, &f.scenario, &err) == 0 &&
	    ct_paper_load(published, &p, &err) == 0)
		fit(a, p, &f, &err);
	ct_scenario_fit_fini(&f);
	ct_paper_free(p);
	if (err.code)
		return ct_fail(&err);
	return a->interrupted && *a->interrupted ? CT_EXIT_INTERRUPTED : CT_OK;
}
