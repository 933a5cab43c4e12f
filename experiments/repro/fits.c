/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/fits.h"

#include "calib/csv_table.h"
#include "sim/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD, SPREAD, TILT, KEPT, COLUMNS };
static const char *const names[COLUMNS] = { "load", "spread", "tilt", "kept" };

static void read_vector(struct ct_table *t, struct ct_fits *out)
{
	struct ct_csv_field kept = ct_table_cell(t, KEPT);
	double x[CT_SCENARIO_UNKNOWNS];

	for (size_t k = 0; k < CT_SCENARIO_UNKNOWNS; k++) {
		struct ct_csv_field f = ct_table_cell(t, k);
		struct ct_loc at = ct_table_loc(t, k);

		if (ct_parse_f64(f.s, f.n, &x[k]))
			ct_err_add(t->err, CT_ECONFIG, &at, "'%s' wants a number", names[k]);
	}
	if (t->err->code || strcmp(kept.s, "yes") != 0)
		return;
	CT_GROW(out->x, out->cap, out->n + 1);
	memcpy(out->x[out->n++], x, sizeof x);
}

int ct_fits_load(const char *path, size_t most, struct ct_fits *out, struct ct_err *err)
{
	struct ct_table t;
	size_t n;

	CT_TRY(ct_table_open(&t, path, names, COLUMNS, CT_TABLE_KEEP_UNKNOWN, err));
	while (ct_table_next(&t) == 1)
		read_vector(&t, out);
	CT_TRY(ct_table_close(&t));
	if (!out->n)
		return ct_err_at(err, CT_ECONFIG, NULL, "'%s' keeps no vector", path);
	n = out->n < most ? out->n : most;
	for (size_t i = 0; i < n; i++)
		memmove(out->x[i], out->x[i * out->n / n], sizeof *out->x);
	out->n = n;
	return 0;
}

void ct_fits_fini(struct ct_fits *f)
{
	free(f->x);
	memset(f, 0, sizeof *f);
}

static int run_one(const double *x, const struct ct_paper *p, const char *scenario, const char *table, unsigned seeds,
		   const struct ct_study_run *how, double *lo, double *hi, struct ct_err *err)
{
	char text[CT_SCENARIO_UNKNOWNS][CT_F64_TEXT];
	struct ct_cell_set set[CT_SCENARIO_UNKNOWNS];
	struct ct_repro rows = { 0 };
	struct ct_study *s;
	int rc;

	for (int k = 0; k < CT_SCENARIO_UNKNOWNS; k++) {
		ct_f64_format(x[k], text[k]);
		set[k] = (struct ct_cell_set){ ct_scenario_key[k], text[k] };
	}
	s = ct_study_new(p, scenario, set, CT_SCENARIO_UNKNOWNS);
	ct_repro_want(p, s, table, seeds);
	rc = ct_study_run(s, how, err);
	if (!rc)
		ct_repro_rows(p, s, table, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		lo[i] = fmin(lo[i], rows.row[i].ours);
		hi[i] = fmax(hi[i], rows.row[i].ours);
	}
	ct_repro_fini(&rows);
	ct_study_free(s);
	return rc;
}

int ct_fits_range(const struct ct_fits *f, const struct ct_paper *p, const char *scenario, const char *table,
		  unsigned seeds, const struct ct_study_run *how, double *lo, double *hi, struct ct_err *err)
{
	for (size_t i = 0; i < f->n && !(how->interrupted && *how->interrupted); i++)
		CT_TRY(run_one(f->x[i], p, scenario, table, seeds, how, lo, hi, err));
	return 0;
}
