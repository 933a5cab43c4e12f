/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/compare_sets.h"

#include "experiments/compare.h"
#include "experiments/table.h"
#include "sim/json.h"
#include "sim/memory.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const double LEVEL = 0.95;

static char *copy(const char *s)
{
	size_t n = s ? strlen(s) : 0;
	char *t = ct_calloc(n + 1, 1);

	if (n)
		memcpy(t, s, n);
	return t;
}

__attribute__((format(printf, 2, 3))) static void warn(struct ct_set_comparison *c, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	CT_CHECK(NULL, n >= 0, "out of memory");
	c->warning = ct_realloc_array(c->warning, c->n_warnings + 1, sizeof *c->warning);
	c->warning[c->n_warnings++] = s;
}

/* ---- one run */

static char *fact(const struct ct_result *r, const char *key)
{
	return copy(ct_result_get(r, CT_RESULT_MANIFEST, key));
}

int ct_set_run_take(struct ct_set_run *run, const struct ct_result *r, const char *name, enum ct_breakdown_by by,
		    struct ct_err *err)
{
	struct ct_user_fairness f;

	memset(run, 0, sizeof *run);
	if (by != CT_BY_NONE)
		CT_TRY(ct_breakdown_make(r, by, &run->parts, err));
	free(run->parts.of_row); /* the one large thing, and not needed */
	run->parts.of_row = NULL;
	memcpy(run->value, r->summary, sizeof r->summary);
	for (int v = CT_METRIC_COUNT; v < CT_SET_VALUES; v++)
		run->value[v] = NAN;
	if (by == CT_BY_USER) {
		CT_TRY(ct_user_fairness(r, &f, err));
		run->value[CT_SET_JAIN] = f.jain;
		run->value[CT_SET_FTF_MEAN] = f.ftf_mean;
		run->value[CT_SET_FTF_ABOVE] = f.ftf_above_frac;
		run->value[CT_SET_FTF_WORST] = f.ftf_worst_user;
	}
	run->name = copy(name);
	run->seed = fact(r, "seed");
	run->policy = fact(r, "policy");
	run->trace = fact(r, "trace_digest");
	run->cluster = fact(r, "cluster_digest");
	run->partial = r->partial;
	memcpy(run->digest, r->digest, sizeof run->digest);
	return 0;
}

static void run_fini(struct ct_set_run *run)
{
	free(run->name);
	free(run->seed);
	free(run->policy);
	free(run->trace);
	free(run->cluster);
	ct_breakdown_fini(&run->parts);
}

/* ---- pairs */

static int is_same_world(const struct ct_set_run *a, const struct ct_set_run *b)
{
	return strcmp(a->seed, b->seed) == 0 && strcmp(a->trace, b->trace) == 0;
}

static int check_set(const struct ct_run_set *s, struct ct_err *err)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < i; k++)
			if (is_same_world(&s->run[i], &s->run[k]))
				return ct_err_at(err, CT_EUSAGE, NULL,
						 "'%s' and '%s' of one set have the same seed and trace: they say the "
						 "same twice",
						 s->run[k].name, s->run[i].name);
	return 0;
}

struct partners {
	size_t *a, *b, n;
};

/* First those of the same world; then, of what is left, those of the same seed. */
static struct partners pair_up(struct ct_set_comparison *c, size_t b_set)
{
	const struct ct_run_set *a = &c->set[0], *b = &c->set[b_set];
	struct partners p = { .a = ct_calloc(a->n, sizeof *p.a), .b = ct_calloc(a->n, sizeof *p.b) };
	char *a_used = ct_calloc(a->n, 1), *b_used = ct_calloc(b->n, 1);

	for (int same_world = 1; same_world >= 0; same_world--)
		for (size_t i = 0; i < a->n; i++)
			for (size_t k = 0; k < b->n && !a_used[i]; k++) {
				if (b_used[k] || !(same_world ? is_same_world(&a->run[i], &b->run[k])
							      : strcmp(a->run[i].seed, b->run[k].seed) == 0))
					continue;
				a_used[i] = b_used[k] = 1;
				p.a[p.n] = i;
				p.b[p.n++] = k;
				if (!same_world)
					warn(c, "'%s' and '%s' have the same seed and different traces", a->run[i].name,
					     b->run[k].name);
			}
	if (p.n < a->n || p.n < b->n)
		warn(c, "%zu of %zu runs of '%s' and %zu of %zu of '%s' have no partner of the same seed: left out",
		     a->n - p.n, a->n, a->label, b->n - p.n, b->n, b->label);
	free(a_used);
	free(b_used);
	return p;
}

/* ---- rows */

static struct ct_set_row *new_row(struct ct_set_comparison *c, const char *metric, const char *unit, int digits,
				  size_t b_set)
{
	struct ct_set_row *row;

	CT_GROW(c->row, c->cap_rows, c->n_rows + 1);
	row = &c->row[c->n_rows++];
	*row = (struct ct_set_row){ .metric = metric, .unit = unit, .digits = digits, .b_set = b_set };
	return row;
}

/* Pairs of which one has no value are left out: n says how many are there. */
static void fill_row(const struct ct_set_comparison *c, struct ct_set_row *row, double *a, double *b, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(a[i]) && !isnan(b[i])) {
			a[kept] = a[i];
			b[kept++] = b[i];
		}
	row->p = ct_paired_compare(a, b, kept, LEVEL);
	row->ratio = ct_ratio_interval(a, b, kept, LEVEL);
	row->runs_needed = ct_runs_needed(row->p.mean.sd, c->width * fabs(row->p.a), LEVEL);
}

struct scratch {
	struct partners p;
	double *a, *b;
};

static void add_run_rows(struct ct_set_comparison *c, size_t b_set, const struct scratch *s)
{
	static const char *const fairness[] = { CT_FAIRNESS_KEYS };

	for (int v = 0; v < (c->by == CT_BY_USER ? CT_SET_VALUES : CT_METRIC_COUNT); v++) {
		const struct ct_metric_info *info = v < CT_METRIC_COUNT ? &ct_metric_info[v] : NULL;

		for (size_t k = 0; k < s->p.n; k++) {
			s->a[k] = c->set[0].run[s->p.a[k]].value[v];
			s->b[k] = c->set[b_set].run[s->p.b[k]].value[v];
		}
		fill_row(c,
			 new_row(c, info ? info->key : fairness[v - CT_METRIC_COUNT], info ? info->unit : "",
				 info ? info->digits : 4, b_set),
			 s->a, s->b, s->p.n);
	}
}

static double group_value(const struct ct_set_run *run, const char *group, enum ct_metric m)
{
	const struct ct_group *g = ct_breakdown_find(&run->parts, group);

	return g ? g->metric[m] : NAN;
}

static const enum ct_metric of_groups[] = {
	CT_METRIC_jobs_measured, CT_METRIC_mean_jct_s, CT_METRIC_p95_jct_s,
	CT_METRIC_mean_wait_s,   CT_METRIC_p95_wait_s, CT_METRIC_attainment_frac,
};
enum { OF_GROUPS = sizeof of_groups / sizeof *of_groups };

static void add_group_rows(struct ct_set_comparison *c, size_t b_set, const char *group, const struct scratch *s)
{
	for (size_t m = 0; m < OF_GROUPS; m++) {
		const struct ct_metric_info *info = &ct_metric_info[of_groups[m]];
		struct ct_set_row *row = new_row(c, info->key, info->unit, info->digits, b_set);

		row->group = group;
		for (size_t k = 0; k < s->p.n; k++) {
			s->a[k] = group_value(&c->set[0].run[s->p.a[k]], group, of_groups[m]);
			s->b[k] = group_value(&c->set[b_set].run[s->p.b[k]], group, of_groups[m]);
		}
		fill_row(c, row, s->a, s->b, s->p.n);
	}
}

/* The groups of the first set's runs, in the order of the first that has them. */
static int is_first(const struct ct_run_set *s, size_t run, const char *group)
{
	for (size_t i = 0; i < run; i++)
		if (ct_breakdown_find(&s->run[i].parts, group))
			return 0;
	return 1;
}

static void compare_with(struct ct_set_comparison *c, size_t b_set, const struct scratch *s, int groups)
{
	const struct ct_run_set *a = &c->set[0];

	if (!groups) {
		add_run_rows(c, b_set, s);
		return;
	}
	for (size_t i = 0; i < a->n; i++)
		for (size_t g = 0; g < a->run[i].parts.n; g++)
			if (is_first(a, i, a->run[i].parts.group[g].name))
				add_group_rows(c, b_set, a->run[i].parts.group[g].name, s);
}

/* ---- labels and warnings */

static const char *policy_of(const struct ct_run_set *s)
{
	return s->run[0].policy;
}

static void label_sets(struct ct_set_comparison *c)
{
	for (size_t i = 0; i < c->n_sets; i++) {
		const char *policy = policy_of(&c->set[i]), *slash = strrchr(c->set[i].run[0].name, '/');
		const char *base = slash ? slash + 1 : c->set[i].run[0].name;
		int shared = 0, n;

		for (size_t k = 0; k < c->n_sets; k++)
			shared |= k != i && strcmp(policy, policy_of(&c->set[k])) == 0;
		n = *policy && !shared ? asprintf(&c->set[i].label, "%s", policy)
				       : asprintf(&c->set[i].label, "%s (%s ...)", policy, base);
		CT_CHECK(NULL, n >= 0, "out of memory");
	}
}

static void warn_of_sets(struct ct_set_comparison *c)
{
	for (size_t i = 0; i < c->n_sets; i++) {
		const struct ct_run_set *s = &c->set[i];
		size_t partial = 0, other = 0;

		for (size_t k = 0; k < s->n; k++) {
			partial += s->run[k].partial != 0;
			other += strcmp(s->run[k].policy, policy_of(s)) != 0;
		}
		if (partial)
			warn(c, "%zu runs of '%s' were stopped before their end", partial, s->label);
		if (other)
			warn(c, "the runs of '%s' are not all of that policy", s->label);
		if (strcmp(s->run[0].cluster, c->set[0].run[0].cluster) != 0)
			warn(c, "'%s' and '%s' ran on different clusters", c->set[0].label, s->label);
	}
}

int ct_compare_sets_finish(struct ct_set_comparison *c, struct ct_err *err)
{
	struct scratch *s = ct_calloc(c->n_sets, sizeof *s);

	for (size_t i = 0; i < c->n_sets; i++)
		if (check_set(&c->set[i], err)) {
			free(s);
			return (int)err->code;
		}
	label_sets(c);
	warn_of_sets(c);
	for (size_t i = 1; i < c->n_sets; i++) {
		s[i].p = pair_up(c, i);
		s[i].a = ct_calloc(c->set[0].n, sizeof *s[i].a);
		s[i].b = ct_calloc(c->set[0].n, sizeof *s[i].b);
		compare_with(c, i, &s[i], 0);
	}
	for (size_t i = 1; i < c->n_sets; i++)
		compare_with(c, i, &s[i], 1);
	for (size_t i = 1; i < c->n_sets; i++) {
		free(s[i].p.a);
		free(s[i].p.b);
		free(s[i].a);
		free(s[i].b);
	}
	free(s);
	return 0;
}

static int load_set(struct ct_run_set *s, const struct ct_run_files *files, enum ct_breakdown_by by, struct ct_err *err)
{
	s->run = ct_calloc(files->n, sizeof *s->run);
	for (size_t i = 0; i < files->n; i++) {
		struct ct_result r;
		int rc;

		CT_TRY(ct_result_read_h5(files->path[i], &r, err));
		rc = ct_set_run_take(&s->run[i], &r, files->path[i], by, err);
		ct_result_fini(&r);
		s->n = i + 1;
		CT_TRY(rc);
	}
	return 0;
}

int ct_compare_sets_load(struct ct_set_comparison *c, const struct ct_run_files *files, size_t n,
			 enum ct_breakdown_by by, double width, struct ct_err *err)
{
	int rc = 0;

	*c = (struct ct_set_comparison){ .by = by, .width = width };
	if (n < 2)
		return ct_err_at(err, CT_EUSAGE, NULL, "wanted two sets of results at least, got %zu", n);
	for (size_t i = 0; i < n; i++)
		if (files[i].n == 0)
			return ct_err_at(err, CT_EUSAGE, NULL, "no result %s '--vs'", i ? "behind" : "before");
	c->set = ct_calloc(n, sizeof *c->set);
	for (; c->n_sets < n && !rc; c->n_sets++)
		rc = load_set(&c->set[c->n_sets], &files[c->n_sets], by, err);
	if (!rc)
		rc = ct_compare_sets_finish(c, err);
	if (rc)
		ct_compare_sets_fini(c);
	return rc;
}

void ct_compare_sets_fini(struct ct_set_comparison *c)
{
	for (size_t i = 0; i < c->n_sets; i++) {
		for (size_t k = 0; k < c->set[i].n; k++)
			run_fini(&c->set[i].run[k]);
		free(c->set[i].run);
		free(c->set[i].label);
	}
	for (size_t i = 0; i < c->n_warnings; i++)
		free(c->warning[i]);
	free(c->set);
	free(c->row);
	free(c->warning);
	memset(c, 0, sizeof *c);
}

/* ---- for people */

static int is_shown(const struct ct_set_row *r)
{
	int m = ct_metric_find(r->metric), is_count = !*r->unit && r->digits == 0;

	if (is_count && r->p.n_equal == r->p.n) /* as many jobs in both: says nothing */
		return 0;
	if ((r->p.a != 0.0 && !isnan(r->p.a)) || (r->p.b != 0.0 && !isnan(r->p.b)))
		return 1;
	return r->group || m < 0 || ct_metric_is_main((enum ct_metric)m);
}

/* That of the mean; beside it that of the median where it calls another winner, or one. */
static void put_verdict(const struct ct_paired *p, struct ct_table *t)
{
	int calls = p->median_verdict == CT_A_LOWER || p->median_verdict == CT_B_LOWER;
	char text[64];

	snprintf(text, sizeof text, "%s%s%s%s", ct_verdict_text(p->verdict),
		 calls && p->median_verdict != p->verdict ? " (median: " : "",
		 calls && p->median_verdict != p->verdict ? ct_verdict_text(p->median_verdict) : "",
		 calls && p->median_verdict != p->verdict ? ")" : "");
	ct_table_text(t, text);
}

static void print_row(const struct ct_set_row *r, int with_group, struct ct_table *t)
{
	const double mean[] = { r->p.a,         r->p.b,        r->p.mean.value,
				r->p.mean.lo,   r->p.mean.hi,  r->p.median.value,
				r->p.median.lo, r->p.median.hi };
	const double ratio[] = { r->ratio.value, r->ratio.lo, r->ratio.hi };

	if (with_group)
		ct_table_text(t, r->group);
	ct_table_text(t, r->metric);
	for (size_t i = 0; i < sizeof mean / sizeof *mean; i++)
		ct_table_number(t, mean[i], r->digits);
	for (size_t i = 0; i < sizeof ratio / sizeof *ratio; i++)
		ct_table_number(t, ratio[i], 3);
	ct_table_number(t, r->p.effect, 2);
	ct_table_number(t, (double)r->p.n, 0);
	ct_table_number(t, r->runs_needed ? (double)r->runs_needed : NAN, 0);
	put_verdict(&r->p, t);
}

/* At most so many groups, as `compare` of single runs has it. */
enum { GROUPS_SHOWN = 20 };
static void print_rows(const struct ct_set_comparison *c, size_t b_set, int groups, FILE *to)
{
	static const char *const title[] = { "a",     "b",     "mean b - a", "95 % from", "to", "median b - a",
					     "from",  "to",    "b / a",      "from",      "to", "effect",
					     "pairs", "needed" };
	const char *last = NULL;
	size_t seen = 0;
	struct ct_table t;

	ct_table_init(&t);
	if (groups)
		ct_table_column(&t, ct_breakdown_name(c->by), "", CT_LEFT);
	ct_table_column(&t, "metric", "", CT_LEFT);
	for (size_t i = 0; i < sizeof title / sizeof *title; i++)
		ct_table_column(&t, title[i], "", CT_RIGHT);
	ct_table_column(&t, "verdict", "", CT_LEFT);
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct ct_set_row *r = &c->row[i];

		if (r->b_set != b_set || (r->group != NULL) != groups || !is_shown(r))
			continue;
		seen += r->group != last;
		last = r->group;
		if (seen <= GROUPS_SHOWN)
			print_row(r, groups, &t);
	}
	ct_table_print(&t, to);
	ct_table_fini(&t);
	if (groups && seen > GROUPS_SHOWN)
		fprintf(to, "%zu of %zu are left out; --json has all.\n", seen - GROUPS_SHOWN, seen);
}

int ct_compare_sets_print(const struct ct_set_comparison *c, FILE *to, struct ct_err *err)
{
	for (size_t i = 1; i < c->n_sets; i++) {
		fprintf(to, "%sOver seeds, a = %s (%zu runs), b = %s (%zu runs)\n", i > 1 ? "\n" : "", c->set[0].label,
			c->set[0].n, c->set[i].label, c->set[i].n);
		print_rows(c, i, 0, to);
		if (c->by == CT_BY_NONE)
			continue;
		fprintf(to, "\nBy %s\n", ct_breakdown_name(c->by));
		print_rows(c, i, 1, to);
	}
	fprintf(to,
		"\nOne value a run; runs of the same seed are a pair. 95 %% intervals, each by itself: mean\n"
		"difference by Student's t, median difference by order statistics (6 pairs at least), ratio of\n"
		"means by Fieller's theorem. effect = mean / standard deviation of the differences. needed =\n"
		"pairs that make half the interval of the mean at most %g %% of a. The verdict is that of the\n"
		"interval of the mean: a winner is called only where it excludes 0. Where the median's calls one\n"
		"and the mean's does not, a few runs differ much more than the others.\n",
		c->width * 100);
	if (c->by == CT_BY_USER)
		fputs(CT_FAIRNESS_NOTE, to);
	for (size_t i = 0; i < c->n_warnings; i++)
		fprintf(to, "%sWarning: %s.\n", i ? "" : "\n", c->warning[i]);
	errno = 0;
	if (fflush(to) != 0 || ferror(to))
		return ct_err_at(err, CT_EIO, NULL, "cannot write the table: %s", strerror(errno ? errno : EIO));
	return 0;
}

/* ---- for programs */

static void json_row(struct ct_json *j, const struct ct_set_comparison *c, const struct ct_set_row *r)
{
	ct_json_open(j, NULL, '{', 1);
	ct_json_text(j, "metric", r->metric);
	if (r->group) {
		ct_json_text(j, "by", ct_breakdown_name(c->by));
		ct_json_text(j, "group", r->group);
	}
	ct_json_text(j, "unit", r->unit);
	ct_json_text(j, "a_set", c->set[0].label);
	ct_json_text(j, "b_set", c->set[r->b_set].label);
	ct_json_f64(j, "a", r->p.a);
	ct_json_f64(j, "b", r->p.b);
	ct_json_f64(j, "diff", r->p.mean.value);
	ct_json_f64(j, "lo", r->p.mean.lo);
	ct_json_f64(j, "hi", r->p.mean.hi);
	ct_json_f64(j, "ratio", r->ratio.value);
	ct_json_f64(j, "ratio_lo", r->ratio.lo);
	ct_json_f64(j, "ratio_hi", r->ratio.hi);
	ct_json_f64(j, "median_diff", r->p.median.value);
	ct_json_f64(j, "median_lo", r->p.median.lo);
	ct_json_f64(j, "median_hi", r->p.median.hi);
	ct_json_f64(j, "median_level", isnan(r->p.median.lo) ? NAN : r->p.median.level);
	ct_json_f64(j, "effect", r->p.effect);
	ct_json_i64(j, "n", (int64_t)r->p.n);
	if (r->runs_needed)
		ct_json_i64(j, "runs_needed", (int64_t)r->runs_needed);
	else
		ct_json_null(j, "runs_needed");
	ct_json_text(j, "verdict", ct_verdict_text(r->p.verdict));
	ct_json_text(j, "median_verdict", ct_verdict_text(r->p.median_verdict));
	ct_json_close(j);
}

static void json_set(struct ct_json *j, const struct ct_run_set *s)
{
	ct_json_open(j, NULL, '{', 0);
	ct_json_text(j, "set", s->label);
	ct_json_open(j, "runs", '[', 0);
	for (size_t i = 0; i < s->n; i++) {
		ct_json_open(j, NULL, '{', 1);
		ct_json_text(j, "policy", s->run[i].policy);
		ct_json_text(j, "seed", s->run[i].seed);
		ct_json_text(j, "digest", s->run[i].digest);
		ct_json_close(j);
	}
	ct_json_close(j);
	ct_json_close(j);
}

int ct_compare_sets_json(const struct ct_set_comparison *c, FILE *to, struct ct_err *err)
{
	struct ct_json j;

	ct_json_begin(&j, to);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_open(&j, "rows", '[', 0);
	for (size_t i = 0; i < c->n_rows; i++)
		json_row(&j, c, &c->row[i]);
	ct_json_close(&j);
	ct_json_open(&j, "sets", '[', 0);
	for (size_t i = 0; i < c->n_sets; i++)
		json_set(&j, &c->set[i]);
	ct_json_close(&j);
	ct_json_open(&j, "warnings", '[', 0);
	for (size_t i = 0; i < c->n_warnings; i++)
		ct_json_text(&j, NULL, c->warning[i]);
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, to == stdout ? "standard output" : "JSON output", err);
}
