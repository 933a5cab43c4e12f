/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a sweep by themselves: which cells a plan has, against nested loops; what
 * a hash depends on; shards; and what the store believes. */
#include "experiments/sweep/identity.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/prepare.h"
#include "experiments/sweep/shard.h"
#include "experiments/sweep/store.h"
#include "sim/random.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];

static int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	setenv("COTENANT_DATA", ".", 1);
	snprintf(folder, sizeof folder, "%s/sweepXXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

static const char *file(const char *name, const char *text)
{
	static char path[400];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

static struct ct_sweep_plan *plan_of(const char *text)
{
	struct ct_err err = { 0 };
	struct ct_sweep_plan *p = NULL;

	if (ct_sweep_plan_load(file("plan.yaml", text), &p, &err))
		fail_msg("%s", err.text);
	return p;
}

/* ---- plans */

/* Random numbers of values on three axes and random exclusions, against nested loops. */
static void test_product_and_exclusions(void **state)
{
	static const char *const key[] = { "cluster.nodes", "sim.residents", "sim.seed" };
	struct ct_stream s;

	(void)state;
	ct_stream_init(&s, 11, CT_RANDOM_TEST, 0);
	for (int round = 0; round < 200; round++) {
		int n[3], excluded[5][3], n_rules = (int)gsl_rng_uniform_int(&s.rng, 5), found = 0;
		char yaml[4096];
		size_t at = 0, cell = 0;
		struct ct_sweep_plan *p;

		for (int a = 0; a < 3; a++) {
			static const char *const head[] = { "cluster: {nodes: [", "sim: {residents: [", " seed: [" };

			n[a] = 1 + (int)gsl_rng_uniform_int(&s.rng, 4);
			at += (size_t)snprintf(yaml + at, sizeof yaml - at, "%s", head[a]);
			for (int i = 0; i < n[a]; i++)
				at += (size_t)snprintf(yaml + at, sizeof yaml - at, "%s%d", i ? ", " : "", i + 1);
			at += (size_t)snprintf(yaml + at, sizeof yaml - at, a == 0 ? "]}\n" : a == 1 ? "]," : "]}\n");
		}
		/* A rule names the first axis and perhaps the others; -1: any value. */
		at += (size_t)snprintf(yaml + at, sizeof yaml - at, "sweep: {exclude: [");
		for (int r = 0; r < n_rules; r++) {
			at += (size_t)snprintf(yaml + at, sizeof yaml - at, "%s{", r ? ", " : "");
			for (int a = 0; a < 3; a++) {
				int any = a && gsl_rng_uniform_int(&s.rng, 2);

				excluded[r][a] = any ? -1 : 1 + (int)gsl_rng_uniform_int(&s.rng, (unsigned long)n[a]);
				if (!any)
					at += (size_t)snprintf(yaml + at, sizeof yaml - at, "%s%s: %d", a ? ", " : "",
							       key[a], excluded[r][a]);
			}
			at += (size_t)snprintf(yaml + at, sizeof yaml - at, "}");
		}
		snprintf(yaml + at, sizeof yaml - at, "]}\n");

		for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
			const int v[] = { i / (n[1] * n[2]) + 1, i / n[2] % n[1] + 1, i % n[2] + 1 };
			int out = 0;

			for (int r = 0; r < n_rules; r++) {
				int all = 1;

				for (int a = 0; a < 3; a++)
					all = all && (excluded[r][a] == -1 || excluded[r][a] == v[a]);
				out = out || all;
			}
			found += !out;
		}
		if (!found)
			continue; /* an error, tested elsewhere */
		p = plan_of(yaml);
		assert_int_equal(p->n_cells, found);
		for (int x = 1; x <= n[0]; x++)
			for (int y = 1; y <= n[1]; y++)
				for (int z = 1; z <= n[2]; z++) {
					const int v[] = { x, y, z };
					int out = 0;

					for (int r = 0; r < n_rules; r++)
						out = out || ((excluded[r][0] == -1 || excluded[r][0] == x) &&
							      (excluded[r][1] == -1 || excluded[r][1] == y) &&
							      (excluded[r][2] == -1 || excluded[r][2] == z));
					if (out)
						continue;
					for (size_t k = 0; k < 3; k++)
						assert_int_equal(atoi(ct_sweep_plan_value(p, cell, k)), v[k]);
					cell++;
				}
		ct_sweep_plan_free(p);
	}
}

/* Seeds are the fastest wheel wherever they stand; cells the slowest. */
static void test_order_of_axes(void **state)
{
	struct ct_sweep_plan *p = plan_of("sim: {seed: [5, 6], residents: [1, 2]}\n"
					  "sweep: {cells: [{cluster.nodes: 3}, {policy.name: easy}]}\n");
	static const char *const expected[][4] = {
		{ "3", NULL, "1", "5" },    { "3", NULL, "1", "6" },    { "3", NULL, "2", "5" },
		{ "3", NULL, "2", "6" },    { NULL, "easy", "1", "5" }, { NULL, "easy", "1", "6" },
		{ NULL, "easy", "2", "5" }, { NULL, "easy", "2", "6" },
	};

	(void)state;
	assert_int_equal(p->n_cells, 8);
	assert_int_equal(p->n_keys, 4);
	for (size_t i = 0; i < 8; i++)
		for (size_t k = 0; k < 4; k++) {
			const char *v = ct_sweep_plan_value(p, i, k);

			if (!expected[i][k])
				assert_null(v);
			else
				assert_string_equal(v, expected[i][k]);
		}
	ct_sweep_plan_free(p);
}

/* Keys beside an included cluster are exceptions to it, also when one of the two is an axis. */
static void test_cluster_file_as_axis(void **state)
{
	struct ct_sweep_plan *p;
	struct ct_config c;
	struct ct_err err = { 0 };

	(void)state;
	file("small.yaml", "nodes: 2\ngpus_per_node: 4\n");
	file("large.yaml", "nodes: 9\ngpus_per_node: 8\n");
	file("t.csv", "submit_time,num_gpus,duration\n0,1,1\n");
	p = plan_of("trace: {file: t.csv}\npolicy: {name: fifo}\n"
		    "cluster: {file: [small.yaml, large.yaml], nodes: 5}\n");
	for (size_t i = 0; i < 2; i++) {
		ct_config_init(&c);
		if (ct_sweep_plan_config(p, i, NULL, 0, &c, &err))
			fail_msg("%s", err.text);
		assert_int_equal(c.cluster.nodes, 5);
		assert_int_equal(c.cluster.gpus_per_node, i ? 8 : 4);
		ct_config_fini(&c);
	}
	ct_sweep_plan_free(p);
}

/* ---- hashes */

static void hash_of(const struct ct_cell_set *set, size_t n, const char *jobs, char out[CT_SWEEP_HASH])
{
	struct ct_file_digests files = { 0 };
	struct ct_err err = { 0 };
	struct ct_config c;

	ct_config_init(&c);
	if (ct_cell_config(&c, NULL, set, n, &err) || ct_sweep_hash(&c, jobs, &files, out, &err))
		fail_msg("%s", err.text);
	ct_config_fini(&c);
	ct_file_digests_fini(&files);
}

static void test_hash(void **state)
{
	struct ct_cell_set set[] = {
		{ "trace.file", "a.csv" },       { "cluster.nodes", "8" },     { "policy.name", "fifo" },
		{ "contention.pairs", NULL },    { "transitions.file", NULL }, { "output.file", "x.h5" },
		{ "policy.placement", "count" }, { "trace.load", "0.5" },      { "sim.seed", "1" }
	};
	const size_t n = sizeof set / sizeof *set;
	char pairs[400], base[CT_SWEEP_HASH], other[CT_SWEEP_HASH];

	(void)state;
	strcpy(pairs, file("pairs.csv", "model,partner,factor\na,b,0.5\n"));
	set[3].value = pairs;
	set[4].value = "";
	hash_of(set, n, "jobs", base);
	hash_of(set, n, "jobs", other);
	assert_string_equal(base, other);
	/* Where things stand does not matter: names of trace and outputs, another copy of a table. */
	set[0].value = "elsewhere/b.csv";
	set[5].value = "";
	strcpy(pairs, file("copy.csv", "model,partner,factor\na,b,0.5\n"));
	hash_of(set, n, "jobs", other);
	assert_string_equal(base, other);
	/* What stands there does, and so does every key. */
	hash_of(set, n, "other jobs", other);
	assert_string_not_equal(base, other);
	strcpy(pairs, file("copy.csv", "model,partner,factor\na,b,0.6\n"));
	hash_of(set, n, "jobs", other);
	assert_string_not_equal(base, other);
	strcpy(pairs, file("copy.csv", "model,partner,factor\na,b,0.5\n"));
	for (size_t i = 0; i < n; i++) {
		static const char *const changed[] = { NULL, "9", "sjf", NULL, NULL, NULL, "pack", "0.6", "2" };
		const char *kept = set[i].value;

		if (!changed[i])
			continue;
		set[i].value = changed[i];
		hash_of(set, n, "jobs", other);
		assert_string_not_equal(base, other);
		set[i].value = kept;
	}
}

/* ---- shards */

static char *slurm(const char *name)
{
	static const char *const v[][2] = { { "SLURM_ARRAY_TASK_ID", "14" },
					    { "SLURM_ARRAY_TASK_MIN", "10" },
					    { "SLURM_ARRAY_TASK_STEP", "2" },
					    { "SLURM_ARRAY_TASK_COUNT", "5" },
					    { "JOB_COMPLETION_INDEX", "0" } };

	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		if (strcmp(v[i][0], name) == 0)
			return (char *)(uintptr_t)v[i][1];
	return NULL;
}

static char *kubernetes(const char *name)
{
	return strcmp(name, "JOB_COMPLETION_INDEX") == 0 ? (char *)(uintptr_t) "6" : NULL;
}

static char *nothing(const char *name)
{
	(void)name;
	return NULL;
}

static void test_shard_texts(void **state)
{
	static const struct {
		const char *text;
		char *(*get)(const char *);
		uint32_t index, of; /* 0: refused */
	} t[] = {
		{ "1/1", nothing, 1, 1 },       { "3/8", nothing, 3, 8 },       { "8/8", slurm, 8, 8 },
		{ "auto", slurm, 3, 5 },        { "auto/20", slurm, 14, 20 },   { "auto/14", slurm, 14, 14 },
		{ "auto/13", slurm, 0, 0 },     { "auto/8", kubernetes, 7, 8 }, { "auto", kubernetes, 0, 0 },
		{ "auto/6", kubernetes, 0, 0 }, { "auto", nothing, 0, 0 },      { "0/8", nothing, 0, 0 },
		{ "9/8", nothing, 0, 0 },       { "3", nothing, 0, 0 },         { "3/", nothing, 0, 0 },
		{ "/3", nothing, 0, 0 },        { "", nothing, 0, 0 },          { "autos/3", nothing, 0, 0 },
		{ "-1/3", nothing, 0, 0 },      { "1/2/3", nothing, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct ct_shard s = { 0 };
		struct ct_err err = { 0 };
		int rc = ct_shard_parse(t[i].text, t[i].get, &s, &err);

		if (rc != (t[i].of ? 0 : CT_EUSAGE) || s.index != t[i].index || s.of != t[i].of)
			fail_msg("'%s': %d, %u of %u, '%s'", t[i].text, rc, s.index, s.of, err.text);
	}
}

/* Every cell is in exactly one shard, whatever their number; what generates the same
 * jobs stays together while there are groups enough. */
static void test_shards_partition(void **state)
{
	struct ct_sweep_plan *p = plan_of("generate: {kind: testbed, days: 0.1}\ncluster: {nodes: 1}\n"
					  "policy: {name: [fifo, sjf, easy]}\nsweep: {runs: 7}\n");

	(void)state;
	for (uint32_t of = 1; of <= 25; of++) {
		int times[21] = { 0 };
		uint32_t shard_of_seed[7] = { 0 };

		for (uint32_t i = 1; i <= of; i++) {
			struct ct_sweep_prepared s = { .plan = p };
			struct ct_err err = { 0 };

			assert_int_equal(ct_sweep_configure(&s, &err), 0);
			assert_int_equal(s.n_groups, 7);
			ct_sweep_select(&s, (struct ct_shard){ i, of }, 0);
			for (size_t r = 0; r < s.table.n_rows; r++) {
				uint32_t cell = s.table.row[r].cell - 1, seed = cell % 7;

				times[cell]++;
				assert_true(of > 7 || !shard_of_seed[seed] || shard_of_seed[seed] == i);
				shard_of_seed[seed] = i;
			}
			ct_sweep_prepared_fini(&s);
		}
		for (int c = 0; c < 21; c++)
			assert_int_equal(times[c], 1);
	}
	ct_sweep_plan_free(p);
}

/* ---- the store */

#define HASH "0123456789abcdef0123456789abcdef"

static void put_cell(const char *summary)
{
	char path[500];

	snprintf(path, sizeof path, "%s/out", folder);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/out/cells", folder);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/out/cells/" HASH, folder);
	mkdir(path, 0777);
	file("out/cells/" HASH "/summary.csv", summary);
}

static enum ct_sweep_state state_of(struct ct_sweep_row *row, struct ct_arena *arena)
{
	char path[500];

	snprintf(path, sizeof path, "%s/out", folder);
	*row = (struct ct_sweep_row){ .cell = 1, .hash = HASH };
	ct_sweep_store_get(path, row, arena);
	return row->state;
}

/* Whatever prefix of a cell's file is there - a disk that was full, a machine that lost its
 * power - only the whole of it counts. */
static void test_cut_cell_is_missing(void **state)
{
	char text[8192];
	size_t n = (size_t)snprintf(text, sizeof text, "key,value\nhash,%s\n", HASH);
	struct ct_arena arena = { 0 };
	struct ct_sweep_row row;

	(void)state;
	for (int m = 0; m < CT_METRIC_COUNT; m++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s,%s\n", ct_metric_info[m].key,
				      m % 3 ? "1.5" : "nan");
	n += (size_t)snprintf(text + n, sizeof text - n, "revision,abc\ndigest," HASH HASH "\n");
	put_cell(text);
	assert_int_equal(state_of(&row, &arena), CT_SWEEP_DONE);
	assert_true(row.summary[1] == 1.5);
	assert_string_equal(row.digest, HASH HASH);
	for (size_t cut = 0; cut + 1 < n; cut += cut + 100 < n ? 7 : 1) {
		char kept = text[cut];

		text[cut] = '\0';
		put_cell(text);
		assert_int_equal(state_of(&row, &arena), CT_SWEEP_MISSING);
		text[cut] = kept;
	}
	text[strlen("key,value\nhash,")] = 'f'; /* another cell's */
	put_cell(text);
	assert_int_equal(state_of(&row, &arena), CT_SWEEP_MISSING);
	ct_arena_fini(&arena);
}

static void test_one_at_a_time(void **state)
{
	struct ct_sweep_store a, b;
	struct ct_err err = { 0 };
	char path[500], work[600];

	(void)state;
	snprintf(path, sizeof path, "%s/store", folder);
	assert_int_equal(ct_sweep_store_open(&a, path, &err), 0);
	assert_int_equal(ct_sweep_store_open(&b, path, &err), CT_EIO);
	assert_non_null(strstr(err.text, "another sweep is at work"));
	snprintf(work, sizeof work, "%s/cells/.half", path);
	assert_int_equal(mkdir(work, 0777), 0);
	ct_sweep_store_close(&b); /* nothing of its own: the other's work stays */
	assert_int_equal(access(work, F_OK), 0);
	ct_sweep_store_close(&a);
	assert_int_not_equal(access(work, F_OK), 0); /* of a worker that was killed at it */
	assert_int_equal(mkdir(work, 0777), 0);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_sweep_store_open(&b, path, &err), 0);
	assert_int_not_equal(access(work, F_OK), 0); /* work in hand of one who is gone */
	assert_int_equal(ct_sweep_store_count(&b), 0);
	ct_sweep_store_close(&b);
}

/* A sweep was killed, and a worker that it had just forked still holds the lock. */
static void test_lock_of_the_dead(void **state)
{
	struct ct_sweep_store a, b;
	struct ct_err err = { 0 };
	char path[500];
	int from_child[2], status;
	pid_t worker = 0, sweep;

	(void)state;
	snprintf(path, sizeof path, "%s/dead", folder);
	assert_int_equal(pipe(from_child), 0);
	sweep = fork();
	if (sweep == 0) {
		if (ct_sweep_store_open(&a, path, &err))
			_exit(1);
		worker = fork();
		if (worker == 0) {
			char end;

			close(from_child[0]);
			if (write(from_child[1], "x", 1) != 1 || read(a.lock, &end, 1) < 0)
				_exit(1);
			poll(NULL, 0, 300);
			_exit(0);
		}
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(sweep, &status, 0), sweep);
	assert_true(WIFSIGNALED(status));
	close(from_child[1]);
	assert_int_equal(read(from_child[0], &status, 1), 1);
	assert_int_equal(ct_sweep_store_open(&b, path, &err), 0);
	ct_sweep_store_close(&b);
	close(from_child[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_product_and_exclusions),
		cmocka_unit_test(test_order_of_axes),
		cmocka_unit_test(test_cluster_file_as_axis),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_shard_texts),
		cmocka_unit_test(test_shards_partition),
		cmocka_unit_test(test_cut_cell_is_missing),
		cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_lock_of_the_dead),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
