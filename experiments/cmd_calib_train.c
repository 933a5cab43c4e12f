/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant calib train --out iac.h5 */
#include "calib/predictor.h"
#include "experiments/cmd_calib.h"

#include "experiments/cmd_calib_iac.h"
#include "experiments/data_path.h"
#include "sim/csv.h"
#include "sim/json.h"

#include <string.h>

int ct_calib_iac_world(const struct ct_calib_args *a, struct ct_calib_iac *w, struct ct_err *err)
{
	double gpu = 80 * 1024, reserve = 512;
	const char *dir;

	w->truth = ct_slowdown_published();
	if ((a->gpu_mem && (ct_parse_f64(a->gpu_mem, strlen(a->gpu_mem), &gpu) || gpu <= 0)) ||
	    (a->reserve && (ct_parse_f64(a->reserve, strlen(a->reserve), &reserve) || reserve < 0)))
		return ct_err_at(err, CT_EUSAGE, NULL, "--gpu-mem-mib and --reserve-mib want numbers of MiB");
	w->memory_mib = gpu - reserve;
	CT_TRY(ct_data_path(a->dir ? a->dir : "data:calib/a100-40gb", a->arena, &dir, err));
	return ct_profiles_load(dir, &w->set, err);
}

static void describe(const struct ct_dataset *d, FILE *to)
{
	for (int t = 0; t < CT_PAIR_TYPES; t++)
		fprintf(to, "%s: %zu pairs, %zu of the variants fit, %zu of other configurations\n",
			ct_pair_type_name[t], d->pairs[t], d->possible[t], d->topped_up[t]);
}

static int print_json(const struct ct_predictor *p, const struct ct_dataset *d, const char *out, struct ct_err *err)
{
	struct ct_json j;

	ct_json_begin(&j, stdout);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_text(&j, "predictor", p->name);
	ct_json_text(&j, "file", out);
	ct_json_i64(&j, "samples", (int64_t)d->samples.n);
	ct_json_open(&j, "pairs", '{', 1);
	for (int t = 0; t < CT_PAIR_TYPES; t++)
		ct_json_i64(&j, ct_pair_type_name[t], (int64_t)d->pairs[t]);
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, "standard output", err);
}

static int train(const struct ct_calib_args *a, const struct ct_calib_iac *w, const char *name, struct ct_err *err)
{
	struct ct_dataset_options o = ct_dataset_defaults(a->seed);
	struct ct_observation seen = { o.seed, o.counter_sd };
	struct ct_predictor *p = NULL;
	struct ct_dataset d;
	int rc;

	o.memory_mib = w->memory_mib;
	ct_dataset_make(&o, w->set, &w->truth, &d);
	rc = ct_predictor_train(name, &d.samples, a->seed, w->set, &seen, &p, err);
	if (rc == 0)
		rc = ct_predictor_save(p, a->out, err);
	if (rc == 0 && a->json)
		rc = print_json(p, &d, a->out, err);
	else if (rc == 0)
		describe(&d, stdout);
	if (p)
		p->free(p);
	ct_dataset_fini(&d);
	return rc;
}

int ct_calib_cmd_train(struct ct_calib_args *a)
{
	struct ct_calib_iac w = { 0 };
	struct ct_err err = { 0 };
	int rc;

	if (a->argc)
		return ct_misuse(a->command, "'train' takes no file, got '%.200s'", a->argv[0]);
	if (!a->out)
		return ct_misuse(a->command, "'train' wants --out FILE.h5");
	rc = ct_calib_iac_world(a, &w, &err);
	if (rc == 0)
		rc = train(a, &w, a->predictor ? a->predictor : "dnn", &err);
	ct_profiles_free(w.set);
	return rc ? ct_fail(&err) : CT_OK;
}
