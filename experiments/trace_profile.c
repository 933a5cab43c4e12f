/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/trace_profile.h"

#include "sim/output.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DAY_S = 86400, QUANTILES = 200 };

/* ---- GPUs held */

struct step {
	ct_time t;
	int64_t milli; /* thousandths of a GPU, more or fewer */
	int jobs;
};

/* At one instant, ends come before beginnings, as in the simulator. */
static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->jobs < y->jobs ? -1 : x->jobs > y->jobs;
}

static const struct ct_extra_column *waits(const struct ct_workload *w)
{
	for (size_t c = 0; c < w->n_columns; c++)
		if (!strcmp(w->columns[c].name, "wait_s"))
			return &w->columns[c];
	return NULL;
}

static ct_time begin_of(const struct ct_workload *w, const struct ct_extra_column *wait, size_t i)
{
	const char *text = wait ? ct_strings_text(&w->strings, wait->value[i]) : "";
	ct_time t;

	if (!*text || ct_time_parse(text, strlen(text), &t) || t < 0)
		t = 0;
	return w->jobs[i].submit_us + t;
}

static struct step *steps_of(const struct ct_workload *w)
{
	const struct ct_extra_column *wait = waits(w);
	struct step *step = ct_calloc(2 * w->n, sizeof *step);

	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];
		int64_t milli = (int64_t)j->num_gpus * j->gpu_milli;
		ct_time begin = begin_of(w, wait, i);

		step[2 * i] = (struct step){ begin, milli, 1 };
		step[2 * i + 1] = (struct step){ begin + j->duration_us, -milli, -1 };
	}
	qsort(step, 2 * w->n, sizeof *step, by_time);
	return step;
}

/* Adds what was held in [a, b) to the bins. */
static void add_to_bins(struct ct_trace_profile *p, double a, double b, double gpus, double jobs)
{
	double width = (p->last_s - p->first_s) / CT_PROFILE_BINS;

	a = a < p->first_s ? p->first_s : a;
	b = b > p->last_s ? p->last_s : b;
	if (!(b > a) || !(width > 0))
		return;
	for (int k = (int)((a - p->first_s) / width); k < CT_PROFILE_BINS; k++) {
		double lo = p->first_s + k * width, hi = lo + width;
		double part = ((b < hi ? b : hi) - (a > lo ? a : lo)) / width;

		if (lo >= b)
			return;
		if (part > 0) {
			p->bin[k].gpus += gpus * part;
			p->bin[k].jobs += jobs * part;
		}
	}
}

static void hold(struct ct_trace_profile *p, const struct ct_workload *w)
{
	struct step *step = steps_of(w);
	int64_t milli = 0, peak = -1;
	int64_t jobs = 0;

	for (size_t i = 0; i < 2 * w->n; i++) {
		milli += step[i].milli;
		jobs += step[i].jobs;
		if (milli > peak) {
			peak = milli;
			p->peak_s = ct_seconds(step[i].t);
		}
		if (i + 1 < 2 * w->n && step[i + 1].t > step[i].t)
			add_to_bins(p, ct_seconds(step[i].t), ct_seconds(step[i + 1].t), (double)milli / 1000,
				    (double)jobs);
	}
	p->peak_gpus = (double)peak / 1000;
	for (int k = 0; k < CT_PROFILE_BINS; k++)
		p->mean_gpus += p->bin[k].gpus / CT_PROFILE_BINS;
	free(step);
}

void ct_trace_profile(const struct ct_workload *w, struct ct_trace_profile *out)
{
	double width;

	memset(out, 0, sizeof *out);
	out->first_s = ct_seconds(w->jobs[0].submit_us);
	out->last_s = ct_seconds(w->jobs[w->n - 1].submit_us);
	width = (out->last_s - out->first_s) / CT_PROFILE_BINS;
	for (size_t i = 0; i < w->n; i++) {
		ct_time t = w->jobs[i].submit_us / CT_SECOND;
		int k = width > 0 ? (int)((ct_seconds(w->jobs[i].submit_us) - out->first_s) / width) : 0;

		out->by_hour[t % DAY_S / 3600]++;
		out->bin[k < CT_PROFILE_BINS ? k : CT_PROFILE_BINS - 1].arrivals++;
	}
	hold(out, w);
}

/* ---- text and JSON */

void ct_trace_profile_print(const struct ct_trace_profile *p, FILE *to)
{
	uint64_t most = 1;

	fprintf(to, "%-14s mean %.2f between first and last submission, peak %.2f at %.6g s\n", "GPUs in use",
		p->mean_gpus, p->peak_gpus, p->peak_s);
	fputs("               (each job at its own time: its submission, and the wait where the trace reports one)\n",
	      to);
	for (int h = 0; h < 24; h++)
		most = p->by_hour[h] > most ? p->by_hour[h] : most;
	fputs("\nhour  arrivals\n", to);
	for (int h = 0; h < 24; h++)
		fprintf(to, "%4d %9llu %.*s\n", h, (unsigned long long)p->by_hour[h], (int)(40 * p->by_hour[h] / most),
			"########################################");
}

void ct_trace_profile_json(const struct ct_trace_profile *p, struct ct_json *j)
{
	ct_json_f64(j, "mean_gpus_in_use", p->mean_gpus);
	ct_json_f64(j, "peak_gpus_in_use", p->peak_gpus);
	ct_json_f64(j, "peak_gpus_at_s", p->peak_s);
	ct_json_open(j, "arrivals_by_hour", '[', 1);
	for (int h = 0; h < 24; h++)
		ct_json_i64(j, NULL, (int64_t)p->by_hour[h]);
	ct_json_close(j);
}

/* ---- CSV */

static int open_in(struct ct_output *o, const char *directory, const char *name, struct ct_err *err)
{
	size_t n = strlen(directory) + strlen(name) + 2;
	char *path = ct_realloc_array(NULL, n, 1);
	int rc;

	snprintf(path, n, "%s/%s", directory, name);
	rc = ct_output_open(o, path, err);
	free(path);
	return rc;
}

static void cell(struct ct_output *o, double v, const char *after)
{
	ct_output_f64(o, v);
	ct_output_text(o, after);
}

static int write_demand(const struct ct_trace_profile *p, const char *directory, struct ct_err *err)
{
	double width = (p->last_s - p->first_s) / CT_PROFILE_BINS;
	struct ct_output o;

	CT_TRY(open_in(&o, directory, "demand.csv", err));
	ct_output_text(&o, "time,gpus_in_use,jobs_running,arrivals_per_h\n");
	for (int k = 0; k < CT_PROFILE_BINS; k++) {
		cell(&o, p->first_s + k * width, ",");
		cell(&o, p->bin[k].gpus, ",");
		cell(&o, p->bin[k].jobs, ",");
		cell(&o, width > 0 ? (double)p->bin[k].arrivals * 3600 / width : 0, "\n");
	}
	return ct_output_close(&o, err);
}

static int write_arrivals(const struct ct_trace_profile *p, const char *directory, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(open_in(&o, directory, "arrivals.csv", err));
	ct_output_text(&o, "hour,arrivals\n");
	for (int h = 0; h < 24; h++) {
		ct_output_i64(&o, h);
		ct_output_text(&o, ",");
		ct_output_i64(&o, (int64_t)p->by_hour[h]);
		ct_output_text(&o, "\n");
	}
	return ct_output_close(&o, err);
}

struct request {
	int64_t milli;
	double work;
};

static int by_milli(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	if (x->milli != y->milli)
		return x->milli < y->milli ? -1 : 1;
	return x->work < y->work ? -1 : x->work > y->work;
}

static int write_sizes(const struct ct_workload *w, const char *directory, struct ct_err *err)
{
	struct request *r = ct_calloc(w->n, sizeof *r);
	struct ct_output o;
	int rc = open_in(&o, directory, "sizes.csv", err);

	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];

		r[i].milli = (int64_t)j->num_gpus * j->gpu_milli;
		r[i].work = ct_seconds(j->duration_us) * (double)r[i].milli / 1000;
	}
	qsort(r, w->n, sizeof *r, by_milli);
	if (!rc) {
		ct_output_text(&o, "gpus,jobs,gpu_s\n");
		for (size_t i = 0, k; i < w->n; i = k) {
			double work = 0;

			for (k = i; k < w->n && r[k].milli == r[i].milli; k++)
				work += r[k].work;
			cell(&o, (double)r[i].milli / 1000, ",");
			ct_output_i64(&o, (int64_t)(k - i));
			ct_output_text(&o, ",");
			cell(&o, work, "\n");
		}
		rc = ct_output_close(&o, err);
	}
	free(r);
	return rc;
}

static int write_durations(const struct ct_workload *w, const char *directory, struct ct_err *err)
{
	double *v = ct_calloc(w->n, sizeof *v);
	struct ct_output o;
	int rc = open_in(&o, directory, "durations.csv", err);

	for (size_t i = 0; i < w->n; i++)
		v[i] = ct_seconds(w->jobs[i].duration_us);
	gsl_sort(v, 1, w->n);
	if (!rc) {
		ct_output_text(&o, "quantile,duration_s\n");
		for (int k = 0; k <= QUANTILES; k++) {
			double q = (double)k / QUANTILES;

			cell(&o, q, ",");
			cell(&o, gsl_stats_quantile_from_sorted_data(v, 1, w->n, q), "\n");
		}
		rc = ct_output_close(&o, err);
	}
	free(v);
	return rc;
}

int ct_trace_profile_csv(const struct ct_trace_profile *p, const struct ct_workload *w, const char *directory,
			 struct ct_err *err)
{
	if (mkdir(directory, 0777) != 0 && errno != EEXIST)
		return ct_err_at(err, CT_EIO, NULL, "cannot make directory '%s': %s", directory, strerror(errno));
	CT_TRY(write_demand(p, directory, err));
	CT_TRY(write_arrivals(p, directory, err));
	CT_TRY(write_sizes(w, directory, err));
	return write_durations(w, directory, err);
}
