/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paper names the twelve workloads and "a 24-hour mixed workload", and nothing
 * else about the jobs; so this is made of assumptions, each a row of testbed.csv.
 *
 *  1. Job i has one stream of draws, in a fixed order: kind, model, GPUs, run time,
 *     user, time of day. A parameter (load, spread, tilt) changes how draws become
 *     numbers, never which draws are made: two scenarios share their randomness.
 *  2. Jobs 0, 1, 2, ... are taken until their work reaches load x GPUs x span, and the
 *     last one only when that comes nearer. More load means the same jobs and further
 *     ones, as when arrivals are superposed; less means thinned.
 *  3. Arrival times are independent given their number, by a rate with a daily wave:
 *     a Poisson process of that rate, given its count.
 *
 * Run times are log-normal with a fixed median, whatever the spread; GPU counts have
 * weight x count^tilt. */
#include "traces/generate_testbed.h"

#include "sim/random.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOBS = 50 * 1000 * 1000, DAY_S = 86400, BISECTIONS = 60 };

struct recipe {
	const struct ct_constant_table *train_gpus, *infer_gpus, *train_model, *infer_model, *isl;
	double start_hour, amplitude, peak_hour, infer_share, median, sigma, cap, floor, tilt, osl;
	uint32_t users;
	double span_s, work; /* GPU-seconds wanted */
};

static int is_weights(const struct ct_constant_table *t)
{
	double sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (!(t->row[i].value >= 0))
			return 0;
		sum += t->row[i].value;
	}
	return sum > 0;
}

static int read_recipe(const struct ct_generate_options *o, const struct ct_constants *c, struct recipe *r,
		       struct ct_err *err)
{
	*r = (struct recipe){ .train_gpus = ct_constant_table(c, "train_gpus", 1, err),
			      .infer_gpus = ct_constant_table(c, "infer_gpus", 1, err),
			      .train_model = ct_constant_table(c, "train_model", 1, err),
			      .infer_model = ct_constant_table(c, "infer_model", 1, err),
			      .isl = ct_constant_table(c, "isl", 1, err),
			      .start_hour = ct_constant(c, "start_hour", err),
			      .amplitude = ct_constant(c, "wave_amplitude", err),
			      .peak_hour = ct_constant(c, "wave_peak_hour", err),
			      .infer_share = ct_constant(c, "infer_share", err),
			      .median = ct_constant(c, "duration_median_s", err),
			      .sigma = ct_constant(c, "duration_sigma", err),
			      .cap = ct_constant(c, "duration_cap_s", err),
			      .floor = ct_constant(c, "duration_floor_s", err),
			      .tilt = ct_constant(c, "gpu_tilt", err),
			      .osl = ct_constant(c, "osl", err) };
	double users = ct_constant(c, "users", err);

	CT_TRY((int)err->code);
	if (!(r->amplitude >= 0 && r->amplitude < 1) || !(r->infer_share >= 0 && r->infer_share <= 1) ||
	    !(r->sigma >= 0) || !(r->floor > 0 && r->median >= r->floor && r->cap >= r->median) ||
	    !(users >= 1 && users <= 1e6))
		return ct_constants_refuse(
		    c, err, "%s",
		    "wanted 0 <= wave_amplitude < 1, 0 <= infer_share <= 1, duration_sigma >= 0, "
		    "0 < floor <= median <= cap, 1 to 1000000 users");
	if (!is_weights(r->train_gpus) || !is_weights(r->infer_gpus) || !is_weights(r->train_model) ||
	    !is_weights(r->infer_model))
		return ct_constants_refuse(c, err, "%s", "wanted weights of at least 0, not all 0");
	r->users = (uint32_t)users;
	if (o->spread > 0)
		r->sigma = o->spread;
	r->tilt += o->tilt;
	return 0;
}

static int settle(const struct ct_generate_options *o, struct recipe *r, struct ct_err *err)
{
	if (!(o->days > 0) || !(o->gpus > 0))
		return ct_err_at(err, CT_ECONFIG, NULL, "a testbed's day wants a number of days and of GPUs");
	if (o->jobs)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "the number of jobs follows from days, GPUs and load; leave it out");
	if (!(o->spread >= 0 && o->spread <= 4) || !(fabs(o->tilt) <= 4))
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "wanted a spread of 0 to 4 and a tilt of -4 to 4, got %g and %g", o->spread, o->tilt);
	r->span_s = o->days * DAY_S;
	r->work = (o->load > 0 ? o->load : CT_MIXED_LOAD) * o->gpus * r->span_s;
	return 0;
}

/* ---- draws */

/* A row by weight x key^tilt; text keys have no number and no tilt. */
static const struct ct_constant_row *pick(const struct ct_constant_table *t, double tilt, double u)
{
	double total = 0, sum = 0;

	for (size_t i = 0; i < t->n; i++)
		total += t->row[i].value * (tilt < 0 || tilt > 0 ? pow(t->row[i].at_number, tilt) : 1);
	for (size_t i = 0; i < t->n; i++) {
		sum += t->row[i].value * (tilt < 0 || tilt > 0 ? pow(t->row[i].at_number, tilt) : 1);
		if (u * total < sum)
			return &t->row[i];
	}
	return &t->row[t->n - 1];
}

/* Integral of the arrival rate from the start to t, over its mean. */
static double arrivals_until(const struct recipe *r, double t)
{
	double w = 2 * M_PI / DAY_S, phase = w * (r->start_hour - r->peak_hour) * 3600;

	return t + r->amplitude / w * (sin(w * t + phase) - sin(phase));
}

/* Where the share u of all arrivals has come; the integral ascends, so bisection. */
static double arrival_at(const struct recipe *r, double u)
{
	double want = u * arrivals_until(r, r->span_s), lo = 0, hi = r->span_s;

	for (int i = 0; i < BISECTIONS; i++) {
		double mid = (lo + hi) / 2;

		if (arrivals_until(r, mid) < want)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Ranks with probability ~ 1 / rank, by the continuous law of the same shape. */
static uint32_t user_of(const struct recipe *r, double u)
{
	double rank = exp(u * log((double)r->users + 1));

	return rank < r->users ? (uint32_t)rank : r->users;
}

struct draft {
	const char *kind;
	const struct ct_constant_row *model;
	uint64_t number;
	uint32_t gpus, user;
	double seconds, at;
};

static struct draft draw(const struct recipe *r, uint64_t seed, uint64_t i)
{
	struct ct_stream s;
	double u[6], seconds;
	int infer;

	ct_stream_init(&s, seed, CT_RANDOM_WORKLOAD, i);
	for (int k = 0; k < 6; k++)
		u[k] = gsl_rng_uniform_pos(&s.rng);
	infer = u[0] < r->infer_share;
	seconds = r->median * exp(r->sigma * gsl_cdf_ugaussian_Pinv(u[3]));
	return (struct draft){
		.number = i,
		.kind = infer ? "infer" : "train",
		.model = pick(infer ? r->infer_model : r->train_model, 0, u[1]),
		.gpus = (uint32_t)pick(infer ? r->infer_gpus : r->train_gpus, r->tilt, u[2])->at_number,
		.seconds = fmin(fmax(seconds, r->floor), r->cap),
		.user = user_of(r, u[4]),
		.at = arrival_at(r, u[5]),
	};
}

static void set_number(struct ct_workload *w, const char *column, uint32_t job, double value)
{
	char text[32];
	int n = snprintf(text, sizeof text, "%.0f", value);

	ct_workload_set_extra(w, ct_workload_column(w, column), job, text, (size_t)n);
}

static void add(struct ct_workload *w, const struct recipe *r, const struct draft *d)
{
	struct ct_job job = CT_JOB_INIT;
	double isl = ct_constant_at(r->isl, d->model->at);
	char text[32];
	uint32_t at;

	job.id = ct_workload_text(w, text, (size_t)snprintf(text, sizeof text, "j%llu", (unsigned long long)d->number));
	job.user = ct_strings_add(&w->strings, text, (size_t)snprintf(text, sizeof text, "user%u", d->user));
	job.model = ct_strings_add(&w->strings, d->model->at, strlen(d->model->at));
	job.submit_us = (ct_time)(d->at * 1e6);
	job.duration_us = (ct_time)(d->seconds * 1e6);
	job.num_gpus = d->gpus;
	at = ct_workload_add(w, &job);
	ct_workload_set_extra(w, ct_workload_column(w, "kind"), at, d->kind, strlen(d->kind));
	if (!isnan(isl)) {
		set_number(w, "isl", at, isl);
		set_number(w, "osl", at, r->osl);
	}
}

static int by_arrival(const void *a, const void *b)
{
	const struct draft *x = a, *y = b;

	if (x->at < y->at || x->at > y->at)
		return x->at < y->at ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

int ct_generate_testbed(const struct ct_generate_options *o, const struct ct_constants *c, struct ct_workload *w,
			struct ct_err *err)
{
	struct draft *drafts = NULL;
	size_t n = 0, cap = 0;
	struct recipe r;
	double work = 0;

	CT_TRY(read_recipe(o, c, &r, err));
	CT_TRY(settle(o, &r, err));
	while (work < r.work && n < MOST_JOBS) {
		struct draft d = draw(&r, o->seed, n);
		double more = d.seconds * d.gpus;

		if (work > 0 && work + more - r.work > r.work - work)
			break;
		CT_GROW(drafts, cap, n + 1);
		drafts[n++] = d;
		work += more;
	}
	if (n == MOST_JOBS)
		ct_err_at(err, CT_ECONFIG, NULL, "a load of %g for %g GPUs and %g days is more than %d jobs", o->load,
			  o->gpus, o->days, MOST_JOBS);
	if (n)
		qsort(drafts, n, sizeof *drafts, by_arrival);
	for (size_t i = 0; i < n && !err->code; i++)
		add(w, &r, &drafts[i]);
	free(drafts);
	return (int)err->code;
}

/* ---- the check */

static void compare(struct ct_marginals *m, const char *name, double target, double got, double limit)
{
	ct_marginals_add(m, &(struct ct_marginal){ .name = name,
						   .measure = "absolute",
						   .target = target,
						   .got = got,
						   .distance = fabs(target - got),
						   .limit = limit });
}

/* Limits of shares: four standard errors. */
int ct_generate_testbed_check(const struct ct_generate_options *o, const struct ct_constants *c,
			      const struct ct_workload *w, struct ct_marginals *out, struct ct_err *err)
{
	double n = (double)w->n, infer = 0, below = 0, first_half = 0, work = 0, share;
	struct recipe r;
	size_t kind;

	CT_TRY(read_recipe(o, c, &r, err));
	CT_TRY(settle(o, &r, err));
	for (kind = 0; kind < w->n_columns && strcmp(w->columns[kind].name, "kind") != 0;)
		kind++;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];

		if (kind < w->n_columns)
			infer += !strcmp(ct_strings_text(&w->strings, w->columns[kind].value[i]), "infer");
		below += ct_seconds(j->duration_us) < r.median;
		first_half += ct_seconds(j->submit_us) < r.span_s / 2;
		work += ct_seconds(j->duration_us) * j->num_gpus;
	}
	share = arrivals_until(&r, r.span_s / 2) / arrivals_until(&r, r.span_s);
	compare(out, "share of inference", r.infer_share, infer / n, 4 * sqrt(r.infer_share * (1 - r.infer_share) / n));
	compare(out, "share below the median run time", 0.5, below / n, 4 * sqrt(0.25 / n));
	compare(out, "share of arrivals in the first half", share, first_half / n, 4 * sqrt(0.25 / n));
	compare(out, "work over load x GPUs x span", 1, work / r.work, 0.02);
	return 0;
}
