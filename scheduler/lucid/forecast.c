/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expected arrivals: from a file (Lucid's throughput predictor writes one), or as many
 * as lately. Buckets are ten minutes, the horizon is five of them. */
#include "scheduler/lucid/lucid.h"

#include "sim/csv.h"
#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HORIZON = 5 };

static size_t find_field(const struct ct_csv *c, const char *name)
{
	for (size_t i = 0; i < ct_csv_fields(c); i++)
		if (strcmp(ct_csv_field(c, i).s, name) == 0)
			return i;
	return SIZE_MAX;
}

static int read_number(const struct ct_csv *c, size_t field, double *out, struct ct_err *err)
{
	struct ct_loc at = ct_csv_loc(c, field < ct_csv_fields(c) ? field : SIZE_MAX);
	struct ct_csv_field f;

	if (field >= ct_csv_fields(c))
		return ct_err_at(err, CT_ECONFIG, &at, "the row is too short");
	f = ct_csv_field(c, field);
	if (ct_parse_f64(f.s, f.n, out))
		return ct_err_at(err, CT_ECONFIG, &at, "a forecast wants numbers, got '%.40s'", f.s);
	return 0;
}

static int read_rows(struct ct_lucid_forecast *f, struct ct_csv *c, struct ct_err *err)
{
	size_t jobs, gpus;
	struct ct_loc head;

	if (ct_csv_next(c, err) != 1)
		return err->code ? (int)err->code : ct_err_at(err, CT_ECONFIG, NULL, "the forecast is empty");
	jobs = find_field(c, "pred_gpu_job");
	gpus = find_field(c, "pred_gpu_num");
	head = ct_csv_loc(c, SIZE_MAX);
	if (jobs == SIZE_MAX || gpus == SIZE_MAX)
		return ct_err_at(err, CT_ECONFIG, &head,
				 "a forecast wants the columns 'pred_gpu_job' and 'pred_gpu_num'");
	while (ct_csv_next(c, err) == 1) {
		CT_GROW(f->jobs, f->cap_jobs, f->n + 1);
		CT_GROW(f->gpus, f->cap_gpus, f->n + 1);
		if (read_number(c, jobs, &f->jobs[f->n], err) || read_number(c, gpus, &f->gpus[f->n], err))
			break;
		f->n++;
	}
	return (int)err->code;
}

int ct_lucid_forecast_init(struct ct_lucid *l, const struct ct_view *v)
{
	struct ct_err err = { .code = CT_OK };
	struct ct_csv *c;

	if (!l->forecast_file || !*l->forecast_file) {
		if (l->packing_switch == CT_LUCID_FORECAST)
			return v->host->fail(v->host->ctx, "'policy.switch=forecast' wants 'policy.forecast', a file");
		return 0;
	}
	if (ct_csv_open(l->forecast_file, ',', &c, &err))
		return v->host->fail(v->host->ctx, err.text);
	read_rows(&l->forecast, c, &err);
	ct_csv_close(c);
	return err.code ? v->host->fail(v->host->ctx, err.text) : 0;
}

static void move_on(struct ct_lucid_forecast *f, const struct ct_view *v)
{
	int64_t now = v->now_us / CT_LUCID_BUCKET;
	size_t n = sizeof f->recent / sizeof *f->recent;

	for (size_t k = 0; f->bucket < now && k < n; k++, f->bucket++) {
		memmove(f->recent + 1, f->recent, (n - 1) * sizeof *f->recent);
		f->recent[0] = 0;
	}
	f->bucket = now;
}

void ct_lucid_forecast_count(struct ct_lucid *l, const struct ct_view *v)
{
	move_on(&l->forecast, v);
	l->forecast.recent[0]++;
}

static double next_buckets(const double *series, size_t n, ct_time now_us)
{
	size_t from = (size_t)(now_us / CT_LUCID_BUCKET) + 1, k = 0;
	double sum = 0;

	for (; k < HORIZON && from + k < n; k++)
		sum += series[from + k];
	return k ? sum / (double)k : (double)NAN;
}

double ct_lucid_expected_jobs(struct ct_lucid *l, const struct ct_view *v)
{
	uint32_t sum = 0;

	if (l->packing_switch == CT_LUCID_FORECAST)
		return next_buckets(l->forecast.jobs, l->forecast.n, v->now_us);
	move_on(&l->forecast, v);
	for (size_t k = 1; k <= HORIZON; k++)
		sum += l->forecast.recent[k];
	return (double)sum / HORIZON;
}

double ct_lucid_expected_gpus(struct ct_lucid *l, const struct ct_view *v)
{
	return next_buckets(l->forecast.gpus, l->forecast.n, v->now_us);
}
