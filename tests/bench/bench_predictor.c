/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_predictor.c - the interference predictor: inference alone and in batch, all
 * ordered pairs of the 768 configurations, training of five folds; CPU time, the least of
 * a few rounds, beside the limits. Exit 1 when one is missed. The digest is of the
 * trained network's answers to all pairs: the same from every compiler.
 *
 *	bench_predictor [FOLDER]     from the project's root; calib/a100-40gb */
#include "calib/crossval.h"
#include "calib/predictor.h"
#include "sim/digest.h"
#include "sim/memory.h"

#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 5, ALONE = 20000, BATCH = 200 };

/* Of the issue: microseconds a pair, CPU seconds; the paper reports 80 microseconds. */
static const struct {
	const char *what, *unit;
	double limit;
} lines[] = {
	{ "predicted slow-down, one pair alone", "us CPU", 5 },
	{ "predicted slow-down, in a batch of 200 pairs", "us CPU", 2 },
	{ "all ordered pairs of the 768 configurations", "s CPU", 3 },
	{ "training of 5 folds, 1,088 samples", "s CPU", 60 },
};
enum { LINE_ALONE, LINE_BATCH, LINE_ALL, LINE_TRAIN };

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int line(int which, double value)
{
	int ok = value <= lines[which].limit;

	printf("%-64s %10.3f %-9s <= %-8g %s\n", lines[which].what, value, lines[which].unit, lines[which].limit,
	       ok ? "PASS" : "FAIL");
	fflush(stdout);
	return !ok;
}

/* The least CPU seconds of predicting `n` pairs in pieces of `piece`. */
static double cost(const struct ct_predictor *p, const struct ct_config_pair *pair, size_t n, size_t piece, double *out)
{
	double best = 1e300;

	for (int round = 0; round < ROUNDS; round++) {
		double from = cpu_s(), took;

		for (size_t i = 0; i < n; i += piece)
			p->slowdown(p, pair + i, n - i < piece ? n - i : piece, out + i);
		took = cpu_s() - from;
		best = took < best ? took : best;
	}
	return best;
}

static int inference(const struct ct_predictor *p, uint32_t profiles)
{
	size_t n = (size_t)profiles * profiles;
	struct ct_config_pair *pair = ct_calloc(n, sizeof *pair);
	double *out = ct_calloc(n, sizeof *out);
	char text[CT_DIGEST_TEXT];
	struct ct_digest d;
	int missed = 0;

	for (size_t i = 0; i < n; i++) { /* a permutation: neighbours are far apart */
		size_t k = (size_t)((unsigned long long)i * 1000003 % n);

		pair[i] = (struct ct_config_pair){ (uint32_t)(k / profiles), (uint32_t)(k % profiles) };
	}
	missed |= line(LINE_ALONE, 1e6 * cost(p, pair, ALONE, 1, out) / ALONE);
	missed |= line(LINE_BATCH, 1e6 * cost(p, pair, ALONE, BATCH, out) / ALONE);
	missed |= line(LINE_ALL, cost(p, pair, n, n, out));
	ct_digest_init(&d);
	ct_digest_bytes(&d, out, n * sizeof *out);
	ct_digest_final(&d, text);
	printf("%-64s %.16s\n", "digest of these answers", text);
	free(pair);
	free(out);
	return missed;
}

static int training(const struct ct_samples *s, struct ct_err *err)
{
	struct ct_crossval_options o = { .folds = 5, .split = CT_SPLIT_PAIR, .seed = 1, .floor = 1 };
	struct ct_score score[CT_SCORES];
	double from = cpu_s();

	CT_TRY(ct_crossval(&ct_learner_dnn, s, &o, score, err));
	return line(LINE_TRAIN, cpu_s() - from);
}

int main(int argc, char **argv)
{
	struct ct_dataset_options o = ct_dataset_defaults(1);
	struct ct_slowdown_params truth = ct_slowdown_published();
	struct ct_observation seen = { o.seed, o.counter_sd };
	struct ct_predictor *p = NULL;
	struct ct_profiles *set = NULL;
	struct ct_err err = { 0 };
	struct ct_dataset d;
	int missed = 0;

	gsl_set_error_handler_off();
	if (ct_profiles_load(argc > 1 ? argv[1] : "calib/a100-40gb", &set, &err)) {
		ct_err_print(&err, stderr);
		return (int)err.code;
	}
	ct_dataset_make(&o, set, &truth, &d);
	if (!ct_predictor_train("dnn", &d.samples, 1, set, &seen, &p, &err)) {
		missed |= inference(p, set->n_profiles);
		missed |= training(&d.samples, &err);
		p->free(p);
	}
	if (err.code)
		ct_err_print(&err, stderr);
	ct_dataset_fini(&d);
	ct_profiles_free(set);
	return missed || err.code;
}
