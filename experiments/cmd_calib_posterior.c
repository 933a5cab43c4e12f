/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant calib posterior: how sure the fit of a folder is, for calib.draw and calib.host. */
#include "calib/posterior.h"
#include "experiments/cmd_calib.h"
#include "experiments/data_path.h"
#include "experiments/table.h"

#include <math.h>
#include <stdio.h>

static void print(const struct ct_posterior *p)
{
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "workload", "", CT_LEFT);
	ct_table_column(&t, "unknown", "", CT_LEFT);
	ct_table_column(&t, "best fit", "", CT_RIGHT);
	ct_table_column(&t, "95 % from", "", CT_RIGHT);
	ct_table_column(&t, "to", "", CT_RIGHT);
	for (size_t i = 0; i < p->n; i++) {
		double v = p->unknown[i].value, sd = sqrt(p->covariance[i * p->n + i]);

		ct_table_text(&t, p->unknown[i].workload);
		ct_table_text(&t, p->unknown[i].name);
		ct_table_number(&t, v, 4);
		ct_table_number(&t, v * exp(-1.96 * sd), 4);
		ct_table_number(&t, v * exp(1.96 * sd), 4);
	}
	ct_table_print(&t, stdout);
	ct_table_fini(&t);
}

int ct_calib_cmd_posterior(struct ct_calib_args *a)
{
	struct ct_posterior p = { 0 };
	struct ct_err err = { 0 };
	const char *dir;

	if (a->argc)
		return ct_misuse(a->command, "'posterior' takes no operand, got '%.60s'", a->argv[0]);
	if (!ct_data_path(a->dir ? a->dir : "data:calib/a100-40gb", a->arena, &dir, &err) &&
	    !ct_posterior_fit(dir, a->blind_host, &p, &err) && (!a->out || !ct_posterior_save(&p, a->out, &err)))
		print(&p);
	ct_posterior_fini(&p);
	return err.code ? ct_fail(&err) : 0;
}
