/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schedules worked out by hand, a few jobs each: tests/golden/NAME.probe. Every `run`
 * of every file is one test, run in process; it compares first start and end of each
 * job to the microsecond.
 *
 *	# a comment: what is shown, and how each time was derived
 *	cluster 2x8                        nodes alike x GPUs each, or, any number of times,
 *	nodes 2 gpus=8 cpu=16 mem=64000 gpu_mem=40000 type=A100 speed=1 partition=p
 *	residents 2                        jobs a GPU may hold (1)
 *	cost resume 10                     seconds of a start, resume or migration (0)
 *	job ID SUBMIT GPUS SECONDS [key=value]...
 *	                                   priority min max milli cpu mem gpu_mem requested user
 *	                                   group model partition type; any other key is a column of the trace
 *	run POLICY [option=value]...       then one row for each job:
 *	ID START END                       seconds; '-' for never, 'rejected' for both
 *
 * Times and amounts are decimal; cpu in cores, memory in MiB. To add a probe, write
 * a file; to try one alone, give its name as argument. */
#include "experiments/option.h"
#include "scheduler/control.h"
#include "scheduler/registry.h"
#include "sim/csv.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_NODES = 16, MAX_WORDS = 32, MAX_JOBS = 64, MAX_COSTS = 4, MAX_OPTIONS = MAX_WORDS };

struct expected {
	const char *id;
	ct_time start, end; /* -1: never */
	bool rejected;
};

struct run {
	const char *file;
	size_t line;
	const char *policy, *option[MAX_OPTIONS];
	size_t n_options, n_rows;
	struct expected row[MAX_JOBS];
	struct probe *probe;
};

struct probe {
	struct ct_arena arena;
	struct ct_node_spec node[MAX_NODES];
	size_t n_nodes;
	struct ct_transition cost[MAX_COSTS];
	size_t n_costs;
	struct ct_workload *work;
	uint32_t residents, n_jobs;
	struct run *run; /* growing */
	size_t n_runs, cap_runs;
};

struct line {
	const char *file;
	size_t number, n;
	char *word[MAX_WORDS];
};

static _Noreturn void bad(const struct line *l, const char *what, const char *word)
{
	fprintf(stderr, "%s:%zu: %s '%s'\n", l->file, l->number, what, word);
	exit(1);
}

static double number(const struct line *l, const char *text)
{
	double x;

	if (ct_parse_f64(text, strlen(text), &x))
		bad(l, "wants a number, got", text);
	return x;
}

static uint32_t whole(const struct line *l, const char *text)
{
	double x = number(l, text);

	if (x < 0 || x > 1e9 || x != (uint32_t)x)
		bad(l, "wants a whole number, got", text);
	return (uint32_t)x;
}

static ct_time seconds(const struct line *l, const char *text)
{
	ct_time t;

	if (ct_time_parse(text, strlen(text), &t))
		bad(l, "wants seconds, got", text);
	return t;
}

static const char *keep(struct probe *p, const char *text)
{
	return ct_arena_text(&p->arena, text, strlen(text));
}

/* "key=value": the value, or NULL when it is another key. */
static const char *value_of(const char *word, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(word, key, n) && word[n] == '=' ? word + n + 1 : NULL;
}

/* ---- the lines */

static struct ct_node_spec *add_nodes(struct probe *p, const struct line *l, const char *count, const char *gpus)
{
	if (p->n_nodes == MAX_NODES)
		bad(l, "too many kinds of nodes at", count);
	p->node[p->n_nodes] = (struct ct_node_spec){ .count = whole(l, count), .gpus = whole(l, gpus), .gpu_speed = 1 };
	return &p->node[p->n_nodes++];
}

static void read_cluster(struct probe *p, const struct line *l)
{
	char *x = l->n == 2 ? strchr(l->word[1], 'x') : NULL;

	if (!x)
		bad(l, "wants 'cluster NODESxGPUS' at", l->word[0]);
	*x = '\0';
	add_nodes(p, l, l->word[1], x + 1);
}

static void read_nodes(struct probe *p, const struct line *l)
{
	struct ct_node_spec *n = add_nodes(p, l, l->n > 1 ? l->word[1] : "", "0");
	const char *x;

	for (size_t i = 2; i < l->n; i++) {
		const char *w = l->word[i];

		if ((x = value_of(w, "gpus")))
			n->gpus = whole(l, x);
		else if ((x = value_of(w, "cpu")))
			n->cpu_milli = (uint32_t)(1000 * number(l, x));
		else if ((x = value_of(w, "mem")))
			n->mem_mib = whole(l, x);
		else if ((x = value_of(w, "gpu_mem")))
			n->gpu_mem_mib = whole(l, x);
		else if ((x = value_of(w, "type")))
			n->gpu_type = keep(p, x);
		else if ((x = value_of(w, "speed")))
			n->gpu_speed = number(l, x);
		else if ((x = value_of(w, "partition")))
			n->partition = keep(p, x);
		else
			bad(l, "a node knows no", w);
	}
}

static void read_cost(struct probe *p, const struct line *l)
{
	static const char *const kind[CT_TRANSITION_KINDS] = { "start", "switch", "migrate", "resume" };
	int k = 0;

	if (l->n != 3 || p->n_costs == MAX_COSTS)
		bad(l, "wants 'cost KIND SECONDS' at", l->word[0]);
	while (k < CT_TRANSITION_KINDS && strcmp(kind[k], l->word[1]) != 0)
		k++;
	if (k == CT_TRANSITION_KINDS)
		bad(l, "there is no cost of", l->word[1]);
	p->cost[p->n_costs++] = (struct ct_transition){
		.kind = (enum ct_transition_kind)k, .cost_us = seconds(l, l->word[2]), .blocks = 1, .source = "probe"
	};
}

static bool set_number(struct ct_job *j, const struct line *l, const char *w)
{
	const char *x;

	if ((x = value_of(w, "priority")))
		j->priority = (int32_t)number(l, x);
	else if ((x = value_of(w, "min")))
		j->min_gpus = whole(l, x);
	else if ((x = value_of(w, "max")))
		j->max_gpus = whole(l, x);
	else if ((x = value_of(w, "milli")))
		j->gpu_milli = whole(l, x);
	else if ((x = value_of(w, "cpu")))
		j->cpu_milli = (uint32_t)(1000 * number(l, x));
	else if ((x = value_of(w, "mem")))
		j->mem_mib = whole(l, x);
	else if ((x = value_of(w, "gpu_mem")))
		j->gpu_mem_mib = whole(l, x);
	else if ((x = value_of(w, "requested")))
		j->requested_us = seconds(l, x);
	else
		return false;
	return true;
}

static bool set_text(struct probe *p, struct ct_job *j, const char *w)
{
	const struct {
		const char *key;
		uint32_t *at;
	} field[] = { { "user", &j->user },
		      { "group", &j->group },
		      { "model", &j->model },
		      { "type", &j->gpu_type },
		      { "partition", &j->partition } };

	for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
		const char *x = value_of(w, field[i].key);

		if (x) {
			*field[i].at = ct_strings_add(&p->work->strings, x, strlen(x));
			return true;
		}
	}
	return false;
}

static void read_job(struct probe *p, const struct line *l)
{
	struct ct_job j = CT_JOB_INIT;
	uint32_t at;

	if (l->n < 5 || p->n_jobs == MAX_JOBS)
		bad(l, "wants 'job ID SUBMIT GPUS SECONDS', at most 64 of them, at", l->word[0]);
	j.id = keep(p, l->word[1]);
	j.submit_us = seconds(l, l->word[2]);
	j.num_gpus = whole(l, l->word[3]);
	j.duration_us = seconds(l, l->word[4]);
	for (size_t i = 5; i < l->n; i++)
		if (!strchr(l->word[i], '='))
			bad(l, "wants key=value, got", l->word[i]);
		else if (!set_number(&j, l, l->word[i]))
			set_text(p, &j, l->word[i]);
	at = ct_workload_add(p->work, &j);
	p->n_jobs++;
	for (size_t i = 5; i < l->n; i++) {
		char *eq = strchr(l->word[i], '=');

		if (set_number(&j, l, l->word[i]) || set_text(p, &j, l->word[i]))
			continue;
		*eq = '\0';
		ct_workload_set_extra(p->work, ct_workload_column(p->work, l->word[i]), at, eq + 1, strlen(eq + 1));
	}
}

static void read_run(struct probe *p, const struct line *l)
{
	struct run *r;

	if (l->n < 2)
		bad(l, "wants 'run POLICY' at", l->word[0]);
	CT_GROW(p->run, p->cap_runs, p->n_runs + 1);
	r = &p->run[p->n_runs++];
	*r = (struct run){ .file = l->file, .line = l->number, .policy = keep(p, l->word[1]) };
	for (size_t i = 2; i < l->n; i++)
		r->option[r->n_options++] = keep(p, l->word[i]);
}

static ct_time time_or_never(const struct line *l, const char *text)
{
	return strcmp(text, "-") ? seconds(l, text) : -1;
}

static void read_row(struct probe *p, const struct line *l)
{
	struct run *r = p->n_runs ? &p->run[p->n_runs - 1] : NULL;
	struct expected *e;

	if (!r || r->n_rows == MAX_JOBS)
		bad(l, "a row without a run:", l->word[0]);
	e = &r->row[r->n_rows++];
	*e = (struct expected){ keep(p, l->word[0]), -1, -1, false };
	if (l->n == 2 && !strcmp(l->word[1], "rejected")) {
		e->rejected = true;
		return;
	}
	if (l->n != 3)
		bad(l, "wants 'ID START END' or 'ID rejected' at", l->word[0]);
	e->start = time_or_never(l, l->word[1]);
	e->end = time_or_never(l, l->word[2]);
}

static void read_line(struct probe *p, const struct line *l)
{
	const char *first = l->word[0];

	if (!strcmp(first, "cluster"))
		read_cluster(p, l);
	else if (!strcmp(first, "nodes"))
		read_nodes(p, l);
	else if (!strcmp(first, "cost"))
		read_cost(p, l);
	else if (!strcmp(first, "residents") && l->n == 2)
		p->residents = whole(l, l->word[1]);
	else if (!strcmp(first, "job"))
		read_job(p, l);
	else if (!strcmp(first, "run"))
		read_run(p, l);
	else
		read_row(p, l);
}

static struct probe *read_probe(const char *file)
{
	struct probe *p = ct_calloc(1, sizeof *p);
	struct line l = { .file = file };
	struct ct_err err = { 0 };
	FILE *f = fopen(file, "r");
	char *text = NULL;
	size_t cap = 0;

	if (!f)
		bad(&l, "cannot open", file);
	p->work = ct_workload_new();
	p->residents = 1;
	while (getline(&text, &cap, f) >= 0) {
		char *rest = text, *word;

		l.number++;
		text[strcspn(text, "#\n")] = '\0';
		for (l.n = 0; (word = strsep(&rest, " \t"));) {
			if (*word && l.n == MAX_WORDS)
				bad(&l, "too many words at", word);
			if (*word)
				l.word[l.n++] = word;
		}
		if (l.n)
			read_line(p, &l);
	}
	free(text);
	fclose(f);
	if (ct_workload_seal(p->work, &err))
		bad(&l, "the jobs are wrong:", err.text);
	return p;
}

/* ---- a run */

static void set_option(const struct run *r, const struct ct_policy *policy, void *state, struct ct_arena *arena,
		       const char *setting)
{
	struct ct_loc at = { r->file, r->line, 0 };
	struct ct_err err = { 0 };
	struct ct_opt_place place = { .key = setting, .at = &at, .code = CT_ECONFIG, .arena = arena, .err = &err };
	char name[64];
	size_t n = strcspn(setting, "=");
	const struct ct_opt *o;

	assert_true(n < sizeof name && setting[n] == '=');
	memcpy(name, setting, n);
	name[n] = '\0';
	o = ct_opt_find(policy->opts, name);
	if (!o)
		fail_msg("%s:%zu: policy '%s' has no option '%s'", r->file, r->line, r->policy, name);
	else if (ct_opt_set(&place, o, state, setting + n + 1))
		fail_msg("%s", err.text);
}

static const struct expected *row_of(const struct run *r, const char *id)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (!strcmp(r->row[i].id, id))
			return &r->row[i];
	return NULL;
}

static int compare_job(const struct run *r, const char *id, const struct ct_outcome *o)
{
	const struct expected *e = row_of(r, id);
	bool rejected = o->state == CT_JOB_REJECTED;

	if (!e) {
		print_error("%s:%zu: job '%s' has no row\n", r->file, r->line, id);
		return 1;
	}
	if (e->rejected == rejected && (rejected || (e->start == o->start_us && e->end == o->finish_us)))
		return 0;
	print_error("%s:%zu: job '%s': want %g to %g%s, got %g to %g%s\n", r->file, r->line, id, ct_seconds(e->start),
		    ct_seconds(e->end), e->rejected ? " (rejected)" : "", ct_seconds(o->start_us),
		    ct_seconds(o->finish_us), rejected ? " (rejected)" : "");
	return 1;
}

static void run_probe(void **test)
{
	const struct run *r = *test;
	struct probe *p = r->probe;
	const struct ct_policy *policy = ct_policy_find(r->policy);
	struct ct_arena arena = { 0 };
	struct ct_transition_table costs = { p->cost, p->n_costs };
	struct ct_err err = { 0 };
	struct ct_world *w = NULL;
	struct ct_control_spec spec = { .world = { .work = p->work,
						   .cluster = { p->node, p->n_nodes },
						   .transitions = &costs,
						   .residents = p->residents,
						   .until_us = CT_NEVER,
						   .seed = 1 } };
	int wrong = 0;

	if (!policy)
		fail_msg("%s:%zu: no policy '%s'", r->file, r->line, r->policy);
	else
		spec.policy = policy;
	spec.policy_state = ct_arena_alloc(&arena, policy->state_size ? policy->state_size : 1, 64);
	ct_opt_defaults(policy->opts, (void *)(uintptr_t)spec.policy_state, &arena);
	for (size_t i = 0; i < r->n_options; i++)
		set_option(r, policy, (void *)(uintptr_t)spec.policy_state, &arena, r->option[i]);
	if (ct_control_run(&spec, &w, NULL, &err))
		fail_msg("%s:%zu: %s", r->file, r->line, err.text);
	for (uint32_t i = 0; i < p->work->n; i++)
		wrong += compare_job(r, p->work->jobs[i].id, &ct_world_outcomes(w)[i]);
	ct_world_free(w);
	ct_arena_fini(&arena);
	assert_int_equal(wrong, 0);
	assert_int_equal(r->n_rows, p->work->n);
}

/* ---- all of them */

static const char *name_of(struct run *r)
{
	char text[256];
	int n = snprintf(text, sizeof text, "%s:%zu %s", strrchr(r->file, '/') ? strrchr(r->file, '/') + 1 : r->file,
			 r->line, r->policy);

	for (size_t i = 0; i < r->n_options && n < (int)sizeof text; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, " %s", r->option[i]);
	return keep(r->probe, text);
}

int main(int argc, char **argv)
{
	glob_t files;
	struct probe **probe;
	struct CMUnitTest *test = NULL;
	size_t n = 0, cap = 0;
	int failed;

	if (glob(argc > 1 ? argv[1] : "tests/golden/*.probe", 0, NULL, &files)) {
		fprintf(stderr, "no probes\n");
		return 1;
	}
	probe = ct_calloc(files.gl_pathc, sizeof(struct probe *));
	for (size_t i = 0; i < files.gl_pathc; i++) {
		probe[i] = read_probe(files.gl_pathv[i]);
		for (size_t k = 0; k < probe[i]->n_runs; k++) {
			struct run *r = &probe[i]->run[k];

			r->probe = probe[i];
			CT_GROW(test, cap, n + 1);
			test[n++] =
			    (struct CMUnitTest){ .name = name_of(r), .test_func = run_probe, .initial_state = r };
		}
	}
	failed = _cmocka_run_group_tests("probes", test, n, NULL, NULL);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		ct_workload_free(probe[i]->work);
		ct_arena_fini(&probe[i]->arena);
		free(probe[i]->run);
		free(probe[i]);
	}
	free(probe);
	free(test);
	globfree(&files);
	return failed;
}
