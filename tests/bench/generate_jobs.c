/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate_jobs - a job file of any size from a seed: Poisson arrivals, sizes from a
 * table, log-normal durations, an exact offered load. CSV on stdout.
 *
 *	generate_jobs --jobs 1000000 --gpus 6496 --load 0.9 > jobs.csv
 *	generate_jobs --jobs 360 --gpus 64 --load 1.2 --sizes 1:.4,2:.2,4:.2,8:.15,16:.05 \
 *	              --mu 8 --sigma 1.2 --users 12 --models bert,lstm --seed 7
 *
 * Every job has its own random stream, keyed by (seed, job), so the same job has the
 * same size and duration at any load and any number of jobs. Arrivals are drawn at
 * rate 1 and then scaled so that work / (GPUs x (last - first submission)) is the
 * load asked for, up to the rounding of times to whole seconds. */
#include "sim/csv.h"
#include "sim/memory.h"
#include "sim/random.h"

#include <getopt.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 32, MAX_MODELS = 64 };

struct plan {
	int64_t jobs, seed, gpus, users;
	double load, mu, sigma;
	double probability[MAX_SIZES];
	int64_t size[MAX_SIZES];
	size_t n_sizes;
	const char *model[MAX_MODELS];
	size_t n_models;
};

struct draft {
	double gap; /* to the job before it, mean 1 */
	int64_t size, duration_s, user;
	size_t model;
};

__attribute__((noreturn)) static void usage(const char *what, const char *got)
{
	fprintf(stderr, "generate_jobs: %s '%s'\n", what, got);
	fputs("usage: generate_jobs --jobs N --gpus N --load X [--seed N] [--sizes SIZE:P,...]\n"
	      "                     [--mu X] [--sigma X] [--users N] [--models A,B,...]\n",
	      stderr);
	exit(2);
}

static int64_t whole(const char *option, const char *s, int64_t min)
{
	int64_t v;

	if (ct_parse_i64(s, strlen(s), &v) || v < min)
		usage(option, s);
	return v;
}

static double number(const char *option, const char *s, double min)
{
	double v;

	if (ct_parse_f64(s, strlen(s), &v) || v < min)
		usage(option, s);
	return v;
}

static void parse_sizes(struct plan *p, char *s)
{
	char *save = NULL;

	p->n_sizes = 0;
	for (char *t = strtok_r(s, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		char *colon = strchr(t, ':');

		if (!colon || p->n_sizes == MAX_SIZES)
			usage("--sizes wants SIZE:PROBABILITY,..., got", t);
		*colon = '\0';
		p->size[p->n_sizes] = whole("--sizes: bad size", t, 1);
		p->probability[p->n_sizes++] = number("--sizes: bad probability", colon + 1, 0);
	}
	if (!p->n_sizes)
		usage("--sizes is", "empty");
}

static void parse_models(struct plan *p, char *s)
{
	char *save = NULL;

	for (char *t = strtok_r(s, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		if (p->n_models == MAX_MODELS)
			usage("--models: too many", t);
		p->model[p->n_models++] = t;
	}
}

static struct plan parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "jobs", 1, NULL, 'n' },  { "seed", 1, NULL, 's' },  { "gpus", 1, NULL, 'g' },
		{ "load", 1, NULL, 'l' },  { "mu", 1, NULL, 'm' },    { "sigma", 1, NULL, 'd' },
		{ "sizes", 1, NULL, 'z' }, { "users", 1, NULL, 'u' }, { "models", 1, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	struct plan p = { .seed = 1,
			  .mu = 6.4,
			  .sigma = 1.8,
			  .size = { 1, 2, 4, 8, 16, 256 },
			  .probability = { .70, .10, .10, .08, .017, .003 },
			  .n_sizes = 6 };

	for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		switch (c) {
		case 'n':
			p.jobs = whole("bad --jobs", optarg, 2);
			break;
		case 's':
			p.seed = whole("bad --seed", optarg, 0);
			break;
		case 'g':
			p.gpus = whole("bad --gpus", optarg, 1);
			break;
		case 'l':
			p.load = number("bad --load", optarg, 1e-6);
			break;
		case 'm':
			p.mu = number("bad --mu", optarg, -20);
			break;
		case 'd':
			p.sigma = number("bad --sigma", optarg, 0);
			break;
		case 'z':
			parse_sizes(&p, optarg);
			break;
		case 'u':
			p.users = whole("bad --users", optarg, 0);
			break;
		case 'o':
			parse_models(&p, optarg);
			break;
		default:
			usage("unknown or incomplete option near", argv[optind - 1]);
		}
	}
	if (optind < argc)
		usage("unexpected", argv[optind]);
	if (!p.jobs || !p.gpus || !(p.load > 0))
		usage("missing", "--jobs, --gpus or --load");
	return p;
}

/* The order of the draws is part of the format: gap, size, duration, user, model. */
static struct draft draw(const struct plan *p, gsl_ran_discrete_t *sizes, int64_t job)
{
	struct ct_stream s;
	struct draft d;
	double seconds;

	ct_stream_init(&s, (uint64_t)p->seed, CT_RANDOM_WORKLOAD, (uint64_t)job);
	d.gap = gsl_ran_exponential(&s.rng, 1);
	d.size = p->size[gsl_ran_discrete(&s.rng, sizes)];
	seconds = ceil(gsl_ran_lognormal(&s.rng, p->mu, p->sigma));
	d.duration_s = seconds > 4e9 ? (int64_t)4e9 : (int64_t)seconds;
	d.user = p->users ? (int64_t)gsl_rng_uniform_int(&s.rng, (unsigned long)p->users) : 0;
	d.model = p->n_models ? gsl_rng_uniform_int(&s.rng, p->n_models) : 0;
	return d;
}

static void write_jobs(const struct plan *p, const struct draft *d, double scale)
{
	double at = 0;

	printf("job_id,submit_time,duration,num_gpus%s%s\n", p->users ? ",user" : "", p->n_models ? ",model" : "");
	for (int64_t i = 0; i < p->jobs; i++) {
		at += i ? d[i].gap * scale : 0;
		printf("%lld,%lld,%lld,%lld", (long long)i, llround(at), (long long)d[i].duration_s,
		       (long long)d[i].size);
		if (p->users)
			printf(",u%02lld", (long long)d[i].user + 1);
		if (p->n_models)
			printf(",%s", p->model[d[i].model]);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct plan p = parse(argc, argv);
	gsl_ran_discrete_t *sizes = gsl_ran_discrete_preproc(p.n_sizes, p.probability);
	struct draft *d = ct_calloc((size_t)p.jobs, sizeof *d);
	double work = 0, gaps = 0;

	if (!sizes)
		usage("--sizes:", "no probabilities");
	for (int64_t i = 0; i < p.jobs; i++) {
		d[i] = draw(&p, sizes, i);
		work += (double)d[i].size * (double)d[i].duration_s;
		gaps += i ? d[i].gap : 0;
	}
	write_jobs(&p, d, work / (p.load * (double)p.gpus) / gaps);
	fprintf(stderr, "generate_jobs: %lld jobs, %.0f GPU s, span %.0f s\n", (long long)p.jobs, work,
		work / (p.load * (double)p.gpus));
	gsl_ran_discrete_free(sizes);
	free(d);
	if (fflush(stdout) || ferror(stdout)) {
		perror("generate_jobs: standard output");
		return 5;
	}
	return 0;
}
