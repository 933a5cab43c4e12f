/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests for image generation: one job a request, one GPU each.
 *
 *  1. Trend: requests by hour of the day (time 0 is midnight), linear from one hour's middle to the next,
 *     each day the same.
 *  2. Burstiness: the rate of minute m is gamma distributed around the trend, of
 *     shape trend / (F - 1) and scale F - 1, so that Poisson counts around it have a
 *     variance of F times their mean (negative binomial, the measured Fano factor).
 *  3. Number of requests: as wanted, or Poisson of the sum of these rates. Given it,
 *     each request falls into a minute by these rates, and anywhere in it: the same
 *     law as Poisson counts a minute.
 *  4. Each request: service time from the measured quantiles, linear in its logarithm;
 *     model and user by their rank in popularity; any pod alike.
 *
 * Runs of idle minutes come out of 1 to 4, but for `sample_overhang_s`: a sample of a
 * pod's duty cycle reaches so far past its minute, a value that was chosen among three
 * by looking at these runs. ct_generate_genai_check() compares them with the trace's.
 * A pod serves one request after the other.
 *
 * Minute m draws from the stream of entity m + 2^63, request i from that of i. */
#include "traces/generate_genai.h"

#include "sim/random.h"
#include "traces/genai.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAY_MIN = 1440, HOUR_MIN = 60, HOURS = 24, NAME = 32 };
#define MINUTE_STREAM (UINT64_C(1) << 63)
static const ct_time minute = 60 * CT_SECOND;

/* ---- the recipe */

struct recipe {
	const struct ct_constant_table *hours, *service, *models, *users, *classes;
	double fano, pods, starts; /* starts: hour of day at which the trace's hour 0 is */
	double day;                /* requests of a day */
};

static int ascending(const struct ct_constants *c, const struct ct_constant_table *t, double lo, double hi, int shares,
		     struct ct_err *err)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct ct_constant_row *r = &t->row[i], *before = i ? r - 1 : NULL;

		if (!(r->at_number >= lo) || !(r->at_number <= hi) || !(r->value > 0) || (shares && r->value > 1) ||
		    (before && (r->at_number <= before->at_number || r->value < before->value)))
			return ct_constants_refuse(c, err, "'%s' wants ascending keys %g to %g and ascending values",
						   t->name, lo, hi);
	}
	if (shares && t->row[t->n - 1].value != 1)
		return ct_constants_refuse(c, err, "'%s' wants a share of 1 at its last rank", t->name);
	return 0;
}

static int check_recipe(const struct ct_constants *c, struct recipe *r, struct ct_err *err)
{
	if (!(r->starts >= 0 && r->starts < HOURS))
		return ct_constants_refuse(c, err, "'hour_0_at' wants 0 to less than 24");
	if (r->hours->n != HOURS)
		return ct_constants_refuse(c, err, "'%s' wants 24 rows, got %zu", r->hours->name, r->hours->n);
	for (size_t i = 0; i < HOURS; i++) {
		if (!(r->hours->row[i].value >= 0) || r->hours->row[i].value > 1e9)
			return ct_constants_refuse(c, err, "'%s' wants 0 to 1e9", r->hours->name);
		r->day += r->hours->row[i].value;
	}
	if (!(r->day >= 1) || !(r->fano > 1 && r->fano <= 1e6) || !(r->pods >= 1 && r->pods <= 1e6))
		return ct_constants_refuse(c, err, "wanted some requests, 'fano' above 1 and 'pods' of at least 1");
	CT_TRY(ascending(c, r->service, 0, 1, 0, err));
	if (r->service->row[0].at_number != 0 || r->service->row[r->service->n - 1].at_number != 1)
		return ct_constants_refuse(c, err, "'%s' wants keys from 0 to 1", r->service->name);
	CT_TRY(ascending(c, r->models, 1, 1e6, 1, err));
	return ascending(c, r->users, 1, 1e6, 1, err);
}

static int read_recipe(const struct ct_constants *c, struct recipe *r, struct ct_err *err)
{
	memset(r, 0, sizeof *r);
	r->hours = ct_constant_table(c, "requests_by_hour", HOURS, err);
	r->service = ct_constant_table(c, "service_s", 2, err);
	r->models = ct_constant_table(c, "model_share_to", 1, err);
	r->users = ct_constant_table(c, "user_share_to", 1, err);
	r->classes = ct_constant_table(c, "class", 1, err);
	r->fano = ct_constant(c, "fano", err);
	r->pods = ct_constant(c, "pods", err);
	r->starts = ct_constant(c, "hour_0_at", err);
	return err->code ? (int)err->code : check_recipe(c, r, err);
}

/* ---- drawing from tables */

/* Quantile u by linear interpolation of the logarithm. */
static double service(const struct ct_constant_table *t, double u)
{
	size_t i = 1;
	double lo, hi, at;

	while (i < t->n - 1 && t->row[i].at_number < u)
		i++;
	lo = log(t->row[i - 1].value);
	hi = log(t->row[i].value);
	at = (u - t->row[i - 1].at_number) / (t->row[i].at_number - t->row[i - 1].at_number);
	return exp(lo + (hi - lo) * at);
}

/* Share u of the requests, ordered by rank: the rank it falls on, from 0. Ranks
 * between two rows of the table are alike. */
static uint32_t rank_at(const struct ct_constant_table *t, double u)
{
	double rank = 0, share = 0;
	size_t i = 0;

	while (i < t->n - 1 && t->row[i].value <= u) {
		rank = t->row[i].at_number;
		share = t->row[i++].value;
	}
	rank += floor((t->row[i].at_number - rank) * (u - share) / (t->row[i].value - share));
	return (uint32_t)(rank < t->row[i].at_number ? rank : t->row[i].at_number - 1);
}

/* ---- arrivals */

/* Requests a minute, on average, in minute m. */
static double trend(const struct recipe *r, uint64_t m)
{
	/* In hours from the middle of the trace's hour 0; minute 0 is midnight. */
	double at = ((double)(m % DAY_MIN) + .5) / HOUR_MIN - .5 - r->starts;
	double below = floor(at), part = at - below;
	size_t h = (size_t)(below + 2 * HOURS) % HOURS;

	return (r->hours->row[h].value * (1 - part) + r->hours->row[(h + 1) % HOURS].value * part) / HOUR_MIN;
}

struct arrivals {
	double *sum; /* of the rates of minutes 0..m */
	uint64_t minutes, jobs;
	double pods;
};

static void draw_rates(const struct recipe *r, uint64_t seed, double scale, struct arrivals *a)
{
	double sum = 0;

	a->sum = ct_calloc(a->minutes, sizeof *a->sum);
	for (uint64_t m = 0; m < a->minutes; m++) {
		double mean = trend(r, m) * scale;
		struct ct_stream s;

		ct_stream_init(&s, seed, CT_RANDOM_WORKLOAD, MINUTE_STREAM + m);
		if (mean > 0)
			sum += gsl_ran_gamma(&s.rng, mean / (r->fano - 1), r->fano - 1);
		a->sum[m] = sum;
	}
}

/* Minutes until the trend has brought so many requests. */
static uint64_t minutes_for(const struct recipe *r, double jobs)
{
	uint64_t days = (uint64_t)(jobs / r->day), m = 0;

	for (jobs -= (double)days * r->day; m < DAY_MIN && jobs > 0; m++)
		jobs -= trend(r, m);
	return days * DAY_MIN + m;
}

static int plan(const struct recipe *r, const struct ct_generate_options *o, struct arrivals *a, struct ct_err *err)
{
	double scale = o->gpus > 0 ? o->gpus / r->pods : 1;

	if (o->days > 0)
		a->minutes = (uint64_t)ceil(o->days * DAY_MIN);
	else
		a->minutes = minutes_for(r, (double)o->jobs / scale);
	a->minutes += a->minutes == 0;
	if (o->days > 0 && o->jobs)
		scale = (double)o->jobs / (r->day * (double)a->minutes / DAY_MIN);
	if (a->minutes > 100 * 366 * (uint64_t)DAY_MIN)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "%llu minutes are too many to generate, wanted at most 100 years",
				 (unsigned long long)a->minutes);
	a->pods = o->gpus > 0 ? ceil(o->gpus) : r->pods;
	draw_rates(r, o->seed, scale, a);
	a->jobs = o->jobs;
	if (!a->jobs) {
		double mean = a->sum[a->minutes - 1];
		struct ct_stream s;

		if (mean > UINT32_MAX / 2)
			return ct_err_at(err, CT_ECONFIG, NULL, "%.0f jobs are too many to generate", mean);
		ct_stream_init(&s, o->seed, CT_RANDOM_WORKLOAD, MINUTE_STREAM - 1);
		a->jobs = gsl_ran_poisson(&s.rng, mean);
	}
	if (!(a->sum[a->minutes - 1] > 0) || !a->jobs)
		return ct_err_at(err, CT_ECONFIG, NULL, "no request falls into so short a time");
	return 0;
}

static uint64_t minute_at(const struct arrivals *a, double rate)
{
	uint64_t lo = 0, hi = a->minutes - 1;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (a->sum[mid] > rate)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* ---- jobs */

struct request {
	ct_time at, took;
	uint32_t model, user, pod, entity;
};

static void draw_request(const struct recipe *r, const struct arrivals *a, uint64_t seed, uint32_t i, struct request *q)
{
	struct ct_stream s;
	uint64_t m;

	ct_stream_init(&s, seed, CT_RANDOM_WORKLOAD, i);
	m = minute_at(a, gsl_rng_uniform(&s.rng) * a->sum[a->minutes - 1]);
	q->at = (ct_time)m * minute + (ct_time)(gsl_rng_uniform(&s.rng) * (double)minute);
	q->took = llround(service(r->service, gsl_rng_uniform(&s.rng)) * 1e6);
	q->model = rank_at(r->models, gsl_rng_uniform(&s.rng));
	q->user = rank_at(r->users, gsl_rng_uniform(&s.rng));
	q->pod = (uint32_t)(gsl_rng_uniform(&s.rng) * a->pods);
	q->entity = i;
}

static int by_time(const void *x, const void *y)
{
	const struct request *a = x, *b = y;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->entity < b->entity ? -1 : a->entity > b->entity;
}

static uint32_t numbered(struct ct_workload *w, const char *form, uint32_t k)
{
	char s[NAME];
	int n = snprintf(s, sizeof s, "%s%u", form, k);

	return ct_strings_add(&w->strings, s, (size_t)n);
}

static void add_job(const struct recipe *r, struct ct_workload *w, const struct request *q, size_t column)
{
	const char *name = r->classes->row[q->model % r->classes->n].at;
	struct ct_job job = CT_JOB_INIT;
	char s[NAME];
	int n = snprintf(s, sizeof s, "genai-%zu", w->n + 1);
	uint32_t k;

	job.id = ct_workload_text(w, s, (size_t)n);
	job.submit_us = q->at;
	job.duration_us = q->took > 0 ? q->took : 1;
	job.model = ct_strings_add(&w->strings, name, strlen(name));
	job.group = numbered(w, "model-", q->model);
	job.user = numbered(w, "genai-user-", q->user);
	k = ct_workload_add(w, &job);
	n = snprintf(s, sizeof s, "%u", q->pod);
	ct_workload_set_extra(w, column, k, s, (size_t)n);
}

int ct_generate_genai(const struct ct_generate_options *o, const struct ct_constants *c, struct ct_workload *w,
		      struct ct_err *err)
{
	struct arrivals a = { 0 };
	struct request *q;
	struct recipe r;
	size_t column;
	int rc;

	CT_TRY(read_recipe(c, &r, err));
	rc = plan(&r, o, &a, err);
	if (rc) {
		free(a.sum);
		return rc;
	}
	q = ct_calloc(a.jobs, sizeof *q);
	for (uint64_t i = 0; i < a.jobs; i++)
		draw_request(&r, &a, o->seed, (uint32_t)i, &q[i]);
	qsort(q, a.jobs, sizeof *q, by_time);
	column = ct_workload_column(w, "pod");
	for (uint64_t i = 0; i < a.jobs; i++)
		add_job(&r, w, &q[i], column);
	free(q);
	free(a.sum);
	return 0;
}

/* ---- against the trace */

struct checker {
	const struct ct_workload *w;
	const struct ct_constants *c;
	struct ct_marginals *out;
	struct ct_err *err;
	struct recipe r;
	uint64_t minutes;
};

static void compare(struct checker *k, const char *name, const char *measure, double target, double got, double limit)
{
	double distance = fabs(got - target);

	if (!strcmp(measure, "relative"))
		distance /= fabs(target);
	ct_marginals_add(k->out, &(struct ct_marginal){ name, measure, target, got, distance, limit });
}

static void check_arrivals(struct checker *k)
{
	double *count = ct_calloc(k->minutes, sizeof *count), mean, var = 0;
	size_t n = 0;

	for (size_t i = 0; i < k->w->n; i++)
		count[k->w->jobs[i].submit_us / minute]++;
	for (uint64_t m = 0; m < k->minutes; m++)
		if (count[m] > 0)
			count[n++] = count[m];
	mean = gsl_stats_mean(count, 1, n);
	for (size_t i = 0; i < n; i++)
		var += (count[i] - mean) * (count[i] - mean) / (double)n;
	gsl_sort(count, 1, n);
	compare(k, "requests a day", "relative", k->r.day, (double)k->w->n * DAY_MIN / (double)k->minutes, .05);
	compare(k, "CV of requests a minute", "relative", ct_constant(k->c, "target_cv", k->err), sqrt(var) / mean,
		.06);
	compare(k, "95 % quantile of requests a minute", "relative", ct_constant(k->c, "target_p95", k->err),
		gsl_stats_quantile_from_sorted_data(count, 1, n, .95), .1);
	free(count);
}

/* The distribution function that service() inverts. */
static double service_cdf(const struct ct_constant_table *t, double v)
{
	size_t i = 1;
	double lo, hi, part;

	while (i < t->n - 1 && t->row[i].value < v)
		i++;
	lo = log(t->row[i - 1].value);
	hi = log(t->row[i].value);
	part = hi > lo ? (log(v) - lo) / (hi - lo) : 1;
	part = part < 0 ? 0 : part > 1 ? 1 : part;
	return t->row[i - 1].at_number + part * (t->row[i].at_number - t->row[i - 1].at_number);
}

static void check_service(struct checker *k)
{
	size_t n = k->w->n;
	double *v = ct_calloc(n, sizeof *v), ks = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = ct_seconds(k->w->jobs[i].duration_us);
	gsl_sort(v, 1, n);
	for (size_t i = 0; i < n; i++) {
		double f = service_cdf(k->r.service, v[i]);

		ks = fmax(ks, fmax(f - (double)i / (double)n, (double)(i + 1) / (double)n - f));
	}
	ct_marginals_add(k->out, &(struct ct_marginal){ "service time", "KS", service(k->r.service, .5),
							gsl_stats_median_from_sorted_data(v, 1, n), ks, .02 });
	free(v);
}

static double top_share(const struct ct_workload *w, size_t offset, size_t top)
{
	double *count = ct_calloc(w->strings.n + 1, sizeof *count), sum = 0;

	for (size_t i = 0; i < w->n; i++) {
		uint32_t name;

		memcpy(&name, (const char *)&w->jobs[i] + offset, sizeof name);
		count[name]++;
	}
	gsl_sort(count, 1, w->strings.n);
	for (size_t i = 0; i < top && i < w->strings.n; i++)
		sum += count[w->strings.n - 1 - i];
	free(count);
	return sum / (double)w->n;
}

static double share_to(const struct ct_constant_table *t, size_t rank)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->row[i].at_number >= (double)rank)
			return t->row[i].value;
	return 1;
}

static void check_popularity(struct checker *k)
{
	const size_t model = offsetof(struct ct_job, group), user = offsetof(struct ct_job, user);

	compare(k, "share of the first model", "absolute", share_to(k->r.models, 1), top_share(k->w, model, 1), .02);
	compare(k, "share of the first ten models", "absolute", share_to(k->r.models, 10), top_share(k->w, model, 10),
		.02);
	compare(k, "share of the first ten users", "absolute", share_to(k->r.users, 10), top_share(k->w, user, 10),
		.02);
}

/* ---- idle and busy minutes of the pods */

static uint32_t pod_of(const struct ct_workload *w, size_t job)
{
	const struct ct_extra_column *c = w->columns;
	size_t i = 0;

	while (i < w->n_columns && strcmp(c[i].name, "pod") != 0)
		i++;
	return i < w->n_columns ? (uint32_t)strtoul(ct_strings_text(&w->strings, c[i].value[job]), NULL, 10) : 0;
}

/* One sample a pod and minute; value 1 where a request shows in it. */
static struct ct_genai_sample *sample_pods(const struct checker *k, size_t pods)
{
	struct ct_genai_sample *v = ct_calloc(pods * k->minutes, sizeof *v);
	ct_time *free_at = ct_calloc(pods, sizeof *free_at);
	ct_time overhang = llround(ct_constant(k->c, "sample_overhang_s", k->err) * 1e6);

	for (size_t i = 0; i < pods * k->minutes; i++) {
		v[i].pod = (uint32_t)(i / k->minutes);
		v[i].k = (uint16_t)(i % k->minutes);
	}
	for (size_t i = 0; i < k->w->n; i++) {
		const struct ct_job *j = &k->w->jobs[i];
		uint32_t pod = pod_of(k->w, i);
		ct_time start = j->submit_us > free_at[pod] ? j->submit_us : free_at[pod];

		free_at[pod] = start + j->duration_us;
		for (ct_time m = start / minute; m <= (free_at[pod] + overhang) / minute && m < (ct_time)k->minutes;
		     m++)
			v[pod * k->minutes + (size_t)m].value = 1;
	}
	free(free_at);
	return v;
}

static void check_runs(struct checker *k, const struct ct_genai_sample *v, size_t n, int idle)
{
	static const char *const names[2][6] = { { "busy run, 25 %", "busy run, 50 %", "busy run, 75 %",
						   "busy run, 90 %", "busy run, 95 %", "busy run, 99 %" },
						 { "idle run, 25 %", "idle run, 50 %", "idle run, 75 %",
						   "idle run, 90 %", "idle run, 95 %", "idle run, 99 %" } };
	const struct ct_constant_table *t =
	    ct_constant_table(k->c, idle ? "target_idle_run_min" : "target_busy_run_min", 1, k->err);
	double *length = ct_calloc(n, sizeof *length);
	size_t runs = ct_genai_runs(v, n, idle, length);

	for (size_t i = 0; t && i < t->n && i < 6 && runs; i++) {
		double target = t->row[i].value;

		/* Whole minutes: one minute is as near as a short run can come. The longest
		 * runs are the night's, which the trace cuts where pods come and go. */
		compare(k, names[idle][i], "absolute", target,
			gsl_stats_quantile_from_sorted_data(length, 1, runs, t->row[i].at_number),
			fmax(1, t->row[i].at_number < .99 ? .4 * target : .6 * target));
	}
	free(length);
}

static void check_pods(struct checker *k)
{
	size_t pods = 0, zero = 0, n;
	struct ct_genai_sample *v;

	for (size_t i = 0; i < k->w->n; i++)
		pods = pod_of(k->w, i) >= pods ? pod_of(k->w, i) + 1 : pods;
	n = pods * k->minutes;
	v = sample_pods(k, pods);
	for (size_t i = 0; i < n; i++)
		zero += v[i].value == 0;
	compare(k, "share of idle minutes", "absolute", ct_constant(k->c, "target_zero_share", k->err),
		(double)zero / (double)n, .05);
	check_runs(k, v, n, 1);
	check_runs(k, v, n, 0);
	free(v);
}

int ct_generate_genai_check(const struct ct_generate_options *o, const struct ct_constants *c,
			    const struct ct_workload *w, struct ct_marginals *out, struct ct_err *err)
{
	struct checker k = { .w = w, .c = c, .out = out, .err = err };

	CT_TRY(read_recipe(c, &k.r, err));
	if (!w->n)
		return ct_err_at(err, CT_ECONFIG, NULL, "no jobs to compare with the recipe");
	k.minutes = (uint64_t)(w->jobs[w->n - 1].submit_us / minute) + 1;
	if (o->days > 0 && ceil(o->days * DAY_MIN) >= (double)k.minutes)
		k.minutes = (uint64_t)ceil(o->days * DAY_MIN);
	check_arrivals(&k);
	check_service(&k);
	check_popularity(&k);
	if (k.minutes <= UINT16_MAX)
		check_pods(&k);
	return (int)err->code;
}
