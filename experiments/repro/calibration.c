/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables 6 and 7 of the paper: what calibrates the truth, and how well the predictors
 * learn it. Nothing here is a prediction. */
#include "calib/table6.h"
#include "experiments/calib_scores.h"
#include "experiments/data_path.h"
#include "experiments/repro/repro.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 1 };                  /* more, with intervals: cotenant calib eval */
#define MEMORY_MIB (80 * 1024 - 512) /* of the generated set: specs/interference.md, section 3 */

static void add(struct ct_repro *out, const struct ct_paper_figure *f, double ours, size_t seeds, double half)
{
	struct ct_paper_figure *own = CT_NEW(&out->arena, struct ct_paper_figure, 1);
	struct ct_repro_row *row;

	*own = *f;
	own->role = CT_ROLE_BESIDE;
	own->scale = 1;
	own->over = SIZE_MAX;
	row = ct_repro_add(out, own);
	row->seeds = seeds;
	row->ours = ours;
	row->mean_lo = ours - half;
	row->mean_hi = ours + half;
	ct_repro_aim(row);
}

static const char *text(struct ct_repro *out, const char *a, const char *b, const char *c)
{
	char t[128];

	return ct_arena_text(&out->arena, t, (size_t)snprintf(t, sizeof t, "%.40s.%.40s.%.40s", a, b, c));
}

/* ---- Table 6 */

static void pair_rows(const struct ct_table6 *t, const struct ct_profiles *set, struct ct_repro *out)
{
	const struct ct_slowdown_params truth = ct_slowdown_published();

	(void)set;
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		const struct ct_fit_pair *p = &t->pair[i];
		struct ct_demand a = ct_slowdown_demand(&truth, t->config[p->a]),
				 b = ct_slowdown_demand(&truth, t->config[p->b]);
		char name[2][64], place[160];

		ct_table6_label(t, (uint32_t)p->a, name[0]);
		ct_table6_label(t, (uint32_t)p->b, name[1]);
		for (int side = 0; side < 2; side++) {
			double s = side ? ct_slowdown_of(&truth, &b, &a, CT_RESOURCES)
					: ct_slowdown_of(&truth, &a, &b, CT_RESOURCES);
			char number[16];
			size_t n;

			snprintf(number, sizeof number, "%02u", i + 1);
			n = (size_t)snprintf(place, sizeof place, "Table 6, %.60s beside %.60s", name[side],
					     name[!side]);
			add(out,
			    &(struct ct_paper_figure){
				.id = text(out, "table6", number, side ? "b" : "a"),
				.table = "table6",
				.unit = "frac",
				.place = ct_arena_text(&out->arena, place, n),
				.definition = "throughput kept beside the other, by the truth without its residual",
				.note = "",
				.value = 1 / (side ? p->s_b : p->s_a),
				.tolerance = 0.2 },
			    1 / s, 1, NAN);
		}
	}
}

static int table6(const char *dir, const struct ct_profiles *set, struct ct_repro *out, struct ct_err *err)
{
	struct ct_table6 *t = ct_calloc(1, sizeof *t);
	int rc = ct_table6_load(dir, set, t, err);

	if (!rc)
		pair_rows(t, set, out);
	free(t);
	return rc;
}

/* ---- Table 7 */

static unsigned type_number(const char *name)
{
	static const char *const types[CT_SCORES] = { "T+T", "T+I", "I+I", "overall" };
	unsigned k = 0;

	while (k < CT_SCORE_ALL && strcmp(types[k], name) != 0)
		k++;
	return k;
}

static void score_rows(const struct ct_score_list *s, const struct ct_published *p, size_t n, struct ct_repro *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct ct_score_line *l =
		    ct_score_find(s, "generated", ct_split_name[CT_SPLIT_PAIR], p[i].predictor);

		for (int r2 = 0; l && r2 < 2; r2++) {
			struct ct_mean m = ct_score_mean(l, type_number(p[i].type), r2 ? CT_R2 : CT_MAPE_PCT);

			if (isnan(r2 ? p[i].r2 : p[i].mape_pct))
				continue;
			add(out,
			    &(struct ct_paper_figure){
				.id = text(out, p[i].predictor, p[i].type, r2 ? "r2" : "mape"),
				.table = "table7",
				.unit = r2 ? "" : "%",
				.place = "Table 7 and section 5.5",
				.definition = "5-fold cross-validation by pair on the generated co-location set",
				.note = "",
				.value = r2 ? p[i].r2 : p[i].mape_pct,
				.tolerance = r2 ? 0.05 : 0.15,
				.relative = !r2 },
			    m.mean, l->seeds, m.half);
		}
	}
}

static int table7(const struct ct_profiles *set, struct ct_repro *out, struct ct_err *err)
{
	const struct ct_slowdown_params truth = ct_slowdown_published();
	const struct ct_scores_options o = {
		.set = set, .truth = &truth, .memory_mib = MEMORY_MIB, .seed = 1, .seeds = SEEDS
	};
	struct ct_published published[CT_PUBLISHED_MOST];
	struct ct_score_list s = { 0 };
	const char *path;
	size_t n;
	int rc;

	CT_TRY(ct_data_path("data:calib/published/table7.csv", &out->arena, &path, err));
	CT_TRY(ct_published_load(path, published, &n, err));
	rc = ct_scores_generated(&o, &s, err);
	if (!rc)
		score_rows(&s, published, n, out);
	ct_score_list_fini(&s);
	return rc;
}

int ct_repro_calibration(const char *table, struct ct_repro *out, struct ct_err *err)
{
	int all = !strcmp(table, "all"), rc = 0;
	struct ct_profiles *set;
	const char *dir;

	if (!all && strcmp(table, "table6") != 0 && strcmp(table, "table7") != 0)
		return 0;
	CT_TRY(ct_data_path("data:calib/a100-40gb", &out->arena, &dir, err));
	CT_TRY(ct_profiles_load(dir, &set, err));
	if (all || !strcmp(table, "table6"))
		rc = table6(dir, set, out, err);
	if (!rc && (all || !strcmp(table, "table7")))
		rc = table7(set, out, err);
	ct_profiles_free(set);
	return rc;
}
