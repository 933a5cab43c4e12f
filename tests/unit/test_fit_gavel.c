/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The latent fit on real pairs measured by others: Gavel's V100 and P100 (skipped where
 * the shared data is absent). */
#include "calib/csv_table.h"
#include "calib/fit.h"
#include "sim/memory.h"
#include "sim/random.h"
#include "sim/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GPU, CONFIG_A, CONFIG_B, DECAY_A, DECAY_B, G_COLUMNS };
static const char *const gavel_columns[G_COLUMNS] = { "gpu", "config_a", "config_b", "decay_a", "decay_b" };

struct gavel {
	struct ct_strings names;
	struct ct_fit_pair pair[512];
	size_t n;
};

static const char *gavel_path(char *out, size_t n)
{
	const char *root = getenv("COTENANT_SHARED_DATA");

	snprintf(out, n, "%s/gavel/gavel_pairs.csv", root ? root : "../shared/data");
	return access(out, R_OK) ? NULL : out;
}

static void gavel_read(struct gavel *g, const char *path, const char *gpu)
{
	struct ct_err err = { 0 };
	struct ct_table t;

	memset(g, 0, sizeof *g);
	ct_strings_init(&g->names);
	assert_int_equal(ct_table_open(&t, path, gavel_columns, G_COLUMNS, CT_TABLE_KEEP_UNKNOWN, &err), 0);
	while (ct_table_next(&t) == 1) {
		struct ct_csv_field a = ct_table_cell(&t, CONFIG_A), b = ct_table_cell(&t, CONFIG_B);

		if (strcmp(ct_table_cell(&t, GPU).s, gpu) != 0)
			continue;
		assert_true(g->n < 512);
		g->pair[g->n++] = (struct ct_fit_pair){
			.a = ct_strings_add(&g->names, a.s, a.n) - 1,
			.b = ct_strings_add(&g->names, b.s, b.n) - 1,
			.s_a = 1 / strtod(ct_table_cell(&t, DECAY_A).s, NULL),
			.s_b = 1 / strtod(ct_table_cell(&t, DECAY_B).s, NULL),
		};
	}
	assert_int_equal(ct_table_close(&t), 0);
}

/* Fisher-Yates, seeded. */
static void shuffle(struct gavel *g, uint64_t seed)
{
	struct ct_stream s;

	ct_stream_init(&s, seed, CT_RANDOM_TEST, 1);
	for (size_t i = g->n - 1; i > 0; i--) {
		size_t k = gsl_rng_uniform_int(&s.rng, i + 1);
		struct ct_fit_pair p = g->pair[i];

		g->pair[i] = g->pair[k];
		g->pair[k] = p;
	}
}

static struct ct_fit_score hold_out(const struct gavel *g, size_t train)
{
	struct ct_fit_latent l = { .n_configs = (uint32_t)g->names.n - 1 };
	struct ct_fit_model m = ct_fit_latents(&l);
	size_t from = g->n * 7 / 10, n = g->n - from;
	double(*s)[2] = ct_calloc(n, sizeof *s);
	struct ct_err err = { 0 };
	struct ct_fit_result r;
	struct ct_fit_score score;

	assert_int_equal(ct_fit_latents_best(&l, g->pair, train, 0.12, 2, 1, &r, &err), 0);
	ct_fit_predict(&m, r.t, g->pair + from, n, s);
	score = ct_fit_score(g->pair + from, n, (const double(*)[2])s);
	ct_fit_result_fini(&r);
	free(s);
	return score;
}

/* Limits of the specification, held by each of several splits and not by a lucky one. */
enum { SPLITS = 5 };
struct limit {
	size_t share;
	double mape, r2; /* at most, at least */
};

static void real_pairs(const char *gpu, const struct limit limit[2])
{
	char path[4096];

	if (!gavel_path(path, sizeof path)) {
		print_message("no gavel/gavel_pairs.csv: skipped\n");
		skip();
	}
	for (int k = 0; k < 2; k++) {
		double lo[2] = { INFINITY, INFINITY }, hi[2] = { 0, 0 }, sum[2] = { 0, 0 };

		for (uint64_t seed = 1; seed <= SPLITS; seed++) {
			struct ct_fit_score s;
			struct gavel g;

			gavel_read(&g, path, gpu);
			shuffle(&g, seed);
			s = hold_out(&g, g.n * limit[k].share / 100);
			for (int i = 0; i < 2; i++) {
				double v = i ? s.r2 : s.mape;

				lo[i] = fmin(lo[i], v);
				hi[i] = fmax(hi[i], v);
				sum[i] += v / SPLITS;
			}
			assert_true(s.mape <= limit[k].mape);
			assert_true(s.r2 >= limit[k].r2);
			ct_strings_fini(&g.names);
		}
		printf("%s, %zu %% of the pairs, %d splits: hold-out MAPE %.2f %% (%.2f to %.2f), R2 %.3f (%.3f to "
		       "%.3f)\n",
		       gpu, limit[k].share, SPLITS, sum[0], lo[0], hi[0], sum[1], lo[1], hi[1]);
	}
}

static void gavel_v100(void **state)
{
	(void)state;
	real_pairs("v100", (const struct limit[]){ { 30, 9, -1 }, { 70, 5.5, 0.94 } });
}

static void gavel_p100(void **state)
{
	(void)state;
	real_pairs("p100", (const struct limit[]){ { 30, 11, -1 }, { 70, 7.5, 0.86 } });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gavel_v100),
		cmocka_unit_test(gavel_p100),
	};

	gsl_set_error_handler_off();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
