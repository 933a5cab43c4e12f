/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/iac.h"

#include "experiments/data_path.h"
#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A configuration as jobs with the default's lengths run it. */
struct option {
	struct ct_profile profile;
	struct ct_demand demand;
	double rate; /* over that of the workload's fastest */
	int is_default;
};

struct choices {
	struct option *option;
	size_t n;
};

static struct choices choices_of(const struct ct_profiles *set, const struct ct_slowdown_params *truth,
				 const struct ct_workload_model *m)
{
	const struct ct_profile *normal = &m->profile[m->default_profile];
	struct choices c = { ct_calloc(m->n, sizeof *c.option), 0 };
	double fastest = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		struct option o = { .profile = m->profile[i], .is_default = &m->profile[i] == normal };

		if (!m->train) {
			if (o.profile.seqlen < normal->isl + normal->osl)
				continue;
			o.profile.isl = normal->isl;
			o.profile.osl = normal->osl;
			ct_profile_fill(&set->knobs, m, &o.profile);
		}
		if (o.profile.fb_mib > set->knobs.gpu_mem_mib)
			continue;
		o.demand = ct_slowdown_demand(truth, &o.profile);
		fastest = fmax(fastest, o.profile.throughput);
		c.option[c.n++] = o;
	}
	for (size_t i = 0; i < c.n; i++)
		c.option[i].rate = c.option[i].profile.throughput / fastest;
	return c;
}

struct tally {
	size_t pairs, losing[CT_IAC_GANGS];
	double best, blind_rate, blind; /* aggregates of the pair of workloads */
	int defaults, default_losing;
};

static void count_pair(struct ct_iac_expected *e, struct tally *t, const struct option *i, const struct option *j,
		       double s_i, double s_j)
{
	double done = i->rate / s_i + j->rate / s_j, rate = i->rate + j->rate, both = 1 / s_i + 1 / s_j;

	t->pairs++;
	for (int g = 0; g < CT_IAC_GANGS; g++) {
		double n = 1 << g;

		t->losing[g] += n / s_i + 1 / s_j < n;
	}
	e->least = fmin(e->least, both);
	t->best = fmax(t->best, done);
	if (rate > t->blind_rate) {
		t->blind_rate = rate;
		t->blind = done;
	}
	if (i->is_default && j->is_default) {
		t->defaults = 1;
		t->default_losing = both < 1;
	}
}

static struct tally count(struct ct_iac_expected *e, const struct ct_profiles *set,
			  const struct ct_slowdown_params *truth, const struct choices *a, const struct choices *b)
{
	struct tally t = { .best = 1, .blind = 1 };

	for (size_t i = 0; i < a->n; i++)
		for (size_t j = 0; j < b->n; j++) {
			const struct option *x = &a->option[i], *y = &b->option[j];

			if (ct_slowdown_fits(&set->knobs, &x->profile, &y->profile))
				count_pair(e, &t, x, y, ct_slowdown_of(truth, &x->demand, &y->demand, CT_RESOURCES),
					   ct_slowdown_of(truth, &y->demand, &x->demand, CT_RESOURCES));
		}
	return t;
}

/* Shares of kinds beside kinds are a doubly stochastic matrix, symmetric or made so without a
 * loss, and a linear sum over these is largest at a permutation (Birkhoff). best[set]: the
 * first kinds, as many as the set has, beside the kinds of the set. */
double ct_iac_matching(const double *w, size_t n)
{
	size_t sets = (size_t)1 << n;
	double *best = ct_calloc(sets, sizeof *best), result;

	CT_CHECK(NULL, n >= 1 && n <= 16, "%zu kinds of jobs", n);
	for (size_t set = 1; set < sets; set++) {
		size_t row = (size_t)__builtin_popcountll(set) - 1;

		best[set] = -INFINITY;
		for (size_t j = 0; j < n; j++)
			if (set >> j & 1)
				best[set] = fmax(best[set], best[set & ~((size_t)1 << j)] + w[row * n + j]);
	}
	result = best[sets - 1] / (double)n;
	free(best);
	return result;
}

struct ct_iac_expected ct_iac_expect(const struct ct_profiles *set, const struct ct_slowdown_params *truth)
{
	struct ct_iac_expected e = { .least = INFINITY };
	struct choices *c = ct_calloc(set->n_models, sizeof *c);
	double *w = ct_calloc((size_t)set->n_models * set->n_models, sizeof *w), n = 0, defaults = 0,
	       gangs[CT_IAC_GANGS] = { 0 };

	for (uint32_t i = 0; i < set->n_models; i++)
		c[i] = choices_of(set, truth, &set->model[i]);
	for (uint32_t i = 0; i < set->n_models; i++)
		for (uint32_t j = 0; j < set->n_models; j++) {
			struct tally t = count(&e, set, truth, &c[i], &c[j]);

			w[i * set->n_models + j] = t.best;
			n++;
			e.informed += t.best;
			e.blind += t.blind;
			e.blind_losing += t.blind < 1;
			if (!t.pairs)
				continue;
			e.pairs += t.pairs;
			for (int g = 0; g < CT_IAC_GANGS; g++) {
				if (g > 1 && !set->model[i].train)
					continue;
				gangs[g]++;
				e.losing[g] += (double)t.losing[g] / (double)t.pairs;
			}
			defaults += t.defaults;
			e.losing_default += t.default_losing;
		}
	for (int g = 0; g < CT_IAC_GANGS; g++)
		e.losing[g] /= gangs[g];
	e.informed /= n;
	e.blind /= n;
	e.blind_losing /= n;
	e.losing_default /= defaults;
	e.matched = ct_iac_matching(w, set->n_models);
	free(w);
	for (uint32_t i = 0; i < set->n_models; i++)
		free(c[i].option);
	free(c);
	return e;
}

/* ---- rows */

static void add(struct ct_repro *out, const char *what, const char *unit, double ours, const char *definition,
		const char *note)
{
	struct ct_paper_figure *f = CT_NEW(&out->arena, struct ct_paper_figure, 1);
	char id[80];

	*f = (struct ct_paper_figure){ .id = ct_arena_text(&out->arena, id,
							   (size_t)snprintf(id, sizeof id, "iac.%.60s", what)),
				       .table = "iac",
				       .unit = unit,
				       .place = "from the truth",
				       .definition = definition,
				       .note = ct_arena_text(&out->arena, note, strlen(note)),
				       .value = NAN,
				       .tolerance = NAN,
				       .role = CT_ROLE_BESIDE,
				       .over = SIZE_MAX,
				       .against = SIZE_MAX,
				       .scale = 1 };
	ct_repro_add(out, f)->ours = ours;
}

/* The sign of a change that co-locates everything, by the numbers alone. */
static void signs(const struct ct_iac_expected *e, char *out, size_t n)
{
	int length =
	    snprintf(out, n,
		     "expected without IAC: %.2g %% of the pairs that fit do less together than one of them alone, so "
		     "sharing by itself %s throughput; beside one member of a gang of 8 it is %.3g %%: %s",
		     100 * e->losing[0], e->losing[0] < 0.5 ? "should not cost" : "costs", 100 * e->losing[3],
		     e->losing[3] > 0.5 ? "gangs should lose" : "gangs should not lose either");

	snprintf(out + length, n - (size_t)length,
		 "; but pairs chosen without seeing slow-downs do %.3f of one job alone in its fastest configuration, "
		 "with configurations chosen by them %.3f, with partners too %.3f: %s",
		 e->blind, e->informed, e->matched,
		 e->blind < e->informed ? "less throughput than with IAC, gangs or not" : "no less than with IAC");
}

int ct_repro_expect(const char *table, struct ct_repro *out, struct ct_err *err)
{
	const struct ct_slowdown_params truth = ct_slowdown_published();
	static const char *const gangs[CT_IAC_GANGS] = { "losing.1", "losing.2", "losing.4", "losing.8" };
	struct ct_iac_expected e;
	struct ct_profiles *set;
	const char *dir;
	char text[600];

	if (strcmp(table, "iac") != 0)
		return 0;
	CT_TRY(ct_data_path("data:calib/a100-40gb", &out->arena, &dir, err));
	CT_TRY(ct_profiles_load(dir, &set, err));
	e = ct_iac_expect(set, &truth);
	ct_profiles_free(set);
	signs(&e, text, sizeof text);
	for (int g = 0; g < CT_IAC_GANGS; g++)
		add(out, gangs[g], "%", 100 * e.losing[g],
		    g ? "pairs in which a gang of so many GPUs, one of them shared, and the other do less than the "
			"gang alone"
		      : "pairs of configurations that fit 40 GB together with 1/S_i + 1/S_j below 1",
		    g ? "" : text);
	add(out, "losing.default", "%", 100 * e.losing_default, "the first, of default configurations alone", "");
	add(out, "least", "x", e.least, "smallest 1/S_i + 1/S_j", "");
	add(out, "informed", "x", e.informed,
	    "work of two jobs on one GPU over one alone in its fastest configuration, configurations chosen with their "
	    "slow-downs, mean over pairs of workloads",
	    "");
	add(out, "matched", "x", e.matched, "that, and the best partners for equal numbers of jobs of each workload",
	    "");
	add(out, "blind", "x", e.blind, "the same, chosen as if there were no slow-down", "");
	add(out, "blind.losing", "%", 100 * e.blind_losing, "pairs of workloads in which that is below 1", "");
	return 0;
}

static const struct ct_repro_row *find(const struct ct_repro *rows, const char *id)
{
	for (size_t i = 0; i < rows->n; i++)
		if (!strcmp(rows->row[i].figure->id, id))
			return &rows->row[i];
	return NULL;
}

/* Throughput without IAC over that with it, with gangs and without; 0: there are no such runs. */
static int sentence(const struct ct_repro *rows, const char *of, const char *study, const char *alone, char *out,
		    size_t n)
{
	const struct ct_repro_row *r[2] = { find(rows, study), find(rows, alone) };

	if (!r[0] || !r[1] || !isfinite(r[0]->ours) || !isfinite(r[1]->ours))
		return 0;
	snprintf(out, n, "%s: throughput x %.3f (%.3f to %.3f) of ElastiCo's, without gangs x %.3f (%.3f to %.3f), %s",
		 of, r[0]->ours, r[0]->mean_lo, r[0]->mean_hi, r[1]->ours, r[1]->mean_lo, r[1]->mean_hi,
		 r[1]->mean_hi < 1   ? "a loss that does not need gangs"
		 : r[0]->mean_hi < 1 ? "a loss that appears only through gangs"
				     : "no loss is shown");
	return 1;
}

void ct_repro_find_iac(struct ct_repro *rows)
{
	char free_choice[200], fixed[200], text[500];

	if (!sentence(rows, "found without IAC", "iac.main.no-iac.throughput", "iac.no-gangs.no-iac.throughput",
		      free_choice, sizeof free_choice) ||
	    !sentence(rows, "in default configurations", "iac.no-rst.no-iac.throughput",
		      "iac.no-rst-no-gangs.no-iac.throughput", fixed, sizeof fixed))
		return;
	snprintf(text, sizeof text, "%s; %s", free_choice, fixed);
	add(rows, "through-gangs", "x",
	    find(rows, "iac.no-rst.no-iac.throughput")->ours /
		find(rows, "iac.no-rst-no-gangs.no-iac.throughput")->ours,
	    "throughput without IAC over with it, in default configurations: with gangs over without", text);
}

void ct_repro_prepend(struct ct_repro *rows, struct ct_repro *first)
{
	if (!first->n)
		return;
	CT_GROW(rows->row, rows->cap, rows->n + first->n);
	memmove(rows->row + first->n, rows->row, rows->n * sizeof *rows->row);
	memcpy(rows->row, first->row, first->n * sizeof *first->row);
	rows->n += first->n;
	first->n = 0; /* its arena still holds the figures: it goes after the rows */
}
