/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/explain.h"

#include "sim/nearest.h"
#include "sim/shown.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *ct_episode_kind_name(enum ct_episode_kind k)
{
	static const char *const name[CT_EPISODE_KINDS] = { "wait",   "start", "profile", "run",
							    "switch", "move",  "note",    "lost" };

	return name[k];
}

__attribute__((format(printf, 2, 3))) static const char *text(struct ct_story *s, const char *fmt, ...)
{
	va_list ap;
	char *out;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	out = ct_arena_alloc(&s->arena, (size_t)n + 1, 1);
	va_start(ap, fmt);
	vsnprintf(out, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return out;
}

/* ---- cells */

static const char *cell_text(const struct ct_frame *f, const char *column, size_t row)
{
	const struct ct_column *c = ct_frame_column(f, column);

	return c && (c->type == CT_COLUMN_CODE || c->type == CT_COLUMN_TEXT) ? ct_cell_text(c, row) : "";
}

static ct_time cell_time(const struct ct_frame *f, const char *column, size_t row)
{
	const struct ct_column *c = ct_frame_column(f, column);

	return c && c->type == CT_COLUMN_TIME ? ct_cell_i64(c, row) : CT_NO_TIME;
}

static int64_t cell_i64(const struct ct_frame *f, const char *column, size_t row)
{
	const struct ct_column *c = ct_frame_column(f, column);

	return c && c->type == CT_COLUMN_I64 ? ct_cell_i64(c, row) : -1;
}

static double cell_f64(const struct ct_frame *f, const char *column, size_t row)
{
	const struct ct_column *c = ct_frame_column(f, column);

	return c && c->type == CT_COLUMN_F64 ? ct_cell_f64(c, row) : (double)NAN;
}

const char *ct_story_text(const struct ct_story *s, const char *column)
{
	return cell_text(&s->r->jobs, column, s->row);
}

double ct_story_seconds(const struct ct_story *s, const char *column)
{
	const struct ct_column *c = ct_frame_column(&s->r->jobs, column);
	ct_time t;

	if (!c || c->type != CT_COLUMN_TIME)
		return cell_f64(&s->r->jobs, column, s->row);
	t = ct_cell_i64(c, s->row);
	return t == CT_NO_TIME ? (double)NAN : ct_seconds(t);
}

static const char *job_name(const struct ct_story *s, int64_t row)
{
	return row < 0 || (size_t)row >= s->r->jobs.n_rows ? "" : cell_text(&s->r->jobs, "job_id", (size_t)row);
}

/* ---- reasons in words */

static const char *number(struct ct_story *s, double v)
{
	return fabs(v - round(v)) < 1e-9 ? text(s, "%.0f", v) : text(s, "%.3f", v);
}

/* %j, %a and %b of a reason's text. */
static const char *reason_text(struct ct_story *s, size_t why, const char *other, double a, double b)
{
	const char *from = why < s->r->reasons.n_rows ? cell_text(&s->r->reasons, "text", why) : "", *out = "";

	for (; *from; from++) {
		size_t n = strcspn(from, "%");

		out = text(s, "%s%.*s", out, (int)n, from);
		from += n;
		if (!*from)
			break;
		if (from[1] == 'j')
			out = text(s, "%s'%s'", out, other);
		else if (from[1] == 'a' || from[1] == 'b')
			out = text(s, "%s%s", out, number(s, from[1] == 'a' ? a : b));
		else
			out = text(s, "%s%%", out);
		from += from[1] == 'j' || from[1] == 'a' || from[1] == 'b';
	}
	return out;
}

static size_t why_of(const struct ct_story *s, size_t decision)
{
	return (size_t)cell_i64(&s->r->decisions, "why", decision);
}

static int waits(const struct ct_story *s, size_t decision)
{
	size_t why = why_of(s, decision);

	return why < s->r->reasons.n_rows && cell_i64(&s->r->reasons, "waits", why) > 0;
}

static const char *words_of(struct ct_story *s, size_t decision)
{
	const struct ct_frame *f = &s->r->decisions;

	return reason_text(s, why_of(s, decision), job_name(s, cell_i64(f, "other", decision)),
			   cell_f64(f, "a", decision), cell_f64(f, "b", decision));
}

/* ---- places in words */

struct nodes { /* "8x8 4x4" */
	const char *text;
};

/* Node of a GPU; -1 where the result does not say. */
static long node_of(struct nodes n, unsigned long gpu)
{
	unsigned long first = 0, node = 0, count, gpus;
	const char *p = n.text;
	int used;

	while (p && sscanf(p, "%lux%lu%n", &count, &gpus, &used) == 2) {
		if (gpus && gpu < first + count * gpus)
			return (long)(node + (gpu - first) / gpus);
		first += count * gpus;
		node += count;
		p += used;
	}
	return -1;
}

/* "0-3 8" to "GPUs 0-3, 8 of nodes 0-1". */
static const char *place_words(struct ct_story *s, const char *gpus)
{
	struct nodes n = { ct_result_get(s->r, CT_RESULT_MANIFEST, "node_gpus") };
	unsigned long first, last = 0, lowest = 0;
	const char *p = gpus, *list = "";
	long a, b;
	int used, many = 0, k = 0;

	if (!*gpus)
		return "its GPUs";
	if (strncmp(gpus, "node ", 5) == 0)
		return text(s, "a share of %s", gpus);
	while (sscanf(p, "%lu%n", &first, &used) == 1) {
		p += used;
		last = first;
		if (*p == '-' && sscanf(p, "-%lu%n", &last, &used) == 1)
			p += used;
		lowest = k ? lowest : first;
		many |= k > 0 || last > first;
		list = last > first ? text(s, "%s%s%lu-%lu", list, k ? ", " : "", first, last)
				    : text(s, "%s%s%lu", list, k ? ", " : "", first);
		k++;
	}
	a = node_of(n, lowest);
	b = node_of(n, last);
	if (a < 0)
		return text(s, "GPU%s %s", many ? "s" : "", list);
	return a == b ? text(s, "GPU%s %s of node %ld", many ? "s" : "", list, a)
		      : text(s, "GPU%s %s of nodes %ld to %ld", many ? "s" : "", list, a, b);
}

/* ---- the timeline */

/* What is under way while the records are read. */
struct reader {
	struct ct_story *s;
	struct ct_episode now;
	size_t placed; /* first episode on the present GPUs */
};

static void add(struct reader *d, const struct ct_episode *e)
{
	CT_GROW(d->s->episode, d->s->cap_episodes, d->s->n_episodes + 1);
	d->s->episode[d->s->n_episodes++] = *e;
}

static struct ct_episode blank(enum ct_episode_kind kind, ct_time from)
{
	return (struct ct_episode){ .kind = kind,
				    .from = from,
				    .to = from,
				    .text = "",
				    .reason = "",
				    .other = "",
				    .a = (double)NAN,
				    .b = (double)NAN,
				    .gpus = "",
				    .configuration = "",
				    .beside = "",
				    .beside_configuration = "",
				    .slowdown = (double)NAN,
				    .predicted = (double)NAN };
}

static void enter(struct reader *d, enum ct_episode_kind kind, ct_time t)
{
	if (t > d->now.from) {
		d->now.to = t;
		add(d, &d->now);
	}
	d->now = blank(kind, t);
}

/* All since it got them were on these GPUs. */
static void on_gpus(struct reader *d, const char *gpus)
{
	for (size_t i = d->placed; i < d->s->n_episodes; i++)
		d->s->episode[i].gpus = gpus;
	d->placed = d->s->n_episodes;
}

static void take_gpus(struct reader *d, enum ct_episode_kind kind, ct_time t)
{
	enter(d, kind, t);
	d->placed = d->s->n_episodes;
}

static void lose_gpus(struct reader *d, ct_time t, const char *gpus, const char *how)
{
	struct ct_episode e = blank(CT_EPISODE_LOST, t);

	enter(d, CT_EPISODE_WAIT, t);
	on_gpus(d, gpus);
	e.text = how;
	e.gpus = gpus;
	add(d, &e);
	d->placed = d->s->n_episodes;
}

static void read_run(struct reader *d, size_t i, ct_time t)
{
	const struct ct_frame *f = &d->s->r->stretches;

	enter(d, CT_EPISODE_RUN, t);
	d->now.configuration = cell_text(f, "configuration", i);
	d->now.beside = job_name(d->s, cell_i64(f, "partner", i));
	d->now.beside_configuration = cell_text(f, "partner_configuration", i);
	d->now.others = cell_i64(f, "others", i);
	d->now.slowdown = cell_f64(f, "slowdown", i);
	d->now.predicted = cell_f64(f, "predicted", i);
}

/* A profile run ended at `t`, the only one of the job: how long it was says /jobs. */
static void read_profile(struct reader *d, ct_time t, const char *gpus)
{
	ct_time from = t - cell_time(&d->s->r->jobs, "profile_s", d->s->row);

	from = from > d->now.from ? from : d->now.from;
	take_gpus(d, CT_EPISODE_PROFILE, from);
	enter(d, CT_EPISODE_WAIT, t);
	on_gpus(d, gpus);
}

static void read_stretch(struct reader *d, size_t i)
{
	const struct ct_frame *f = &d->s->r->stretches;
	const char *kind = cell_text(f, "kind", i), *gpus = cell_text(f, "gpus", i);
	ct_time t = cell_time(f, "time", i);

	if (!strcmp(kind, "start") || !strcmp(kind, "cold")) {
		take_gpus(d, *kind == 's' ? CT_EPISODE_RUN : CT_EPISODE_START, t);
		d->now.configuration = cell_text(f, "configuration", i);
	} else if (!strcmp(kind, "run")) {
		read_run(d, i, t);
	} else if (!strcmp(kind, "switch")) {
		enter(d, CT_EPISODE_SWITCH, t);
		d->now.configuration = cell_text(f, "configuration", i);
	} else if (!strcmp(kind, "migrate")) {
		enter(d, CT_EPISODE_MOVE, t);
		on_gpus(d, gpus);
	} else if (!strcmp(kind, "profile")) {
		read_profile(d, t, gpus);
	} else if (!strcmp(kind, "failure")) {
		lose_gpus(d, t, gpus, "lost its GPUs: they failed");
	} else {
		lose_gpus(d, t, gpus, "gave its GPUs back, to the queue");
	}
}

static void read_decision(struct reader *d, size_t i)
{
	const struct ct_frame *f = &d->s->r->decisions;
	struct ct_episode e = blank(CT_EPISODE_NOTE, cell_time(f, "time", i));
	int waiting = waits(d->s, i) && d->now.kind == CT_EPISODE_WAIT;

	if (!waiting && waits(d->s, i))
		return; /* it was started at the same instant */
	if (waiting) {
		enter(d, CT_EPISODE_WAIT, e.from);
		e = d->now;
	}
	e.reason = cell_text(&d->s->r->reasons, "name", why_of(d->s, i));
	e.text = words_of(d->s, i);
	e.other = job_name(d->s, cell_i64(f, "other", i));
	e.a = cell_f64(f, "a", i);
	e.b = cell_f64(f, "b", i);
	if (waiting)
		d->now = e;
	else
		add(d, &e);
}

/* The next record of the story's job from row `i` on. */
static size_t next_of(const struct ct_story *s, const struct ct_frame *f, size_t i)
{
	while (i < f->n_rows && cell_i64(f, "job", i) != (int64_t)s->row)
		i++;
	return i;
}

static ct_time time_or_end(const struct ct_frame *f, size_t i)
{
	return i < f->n_rows ? cell_time(f, "time", i) : INT64_MAX;
}

/* The last instant that the result knows. */
static ct_time run_end(const struct ct_result *r)
{
	const char *const column[] = { "submission_time", "finish_time" };
	ct_time last = 0;

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < r->jobs.n_rows; i++) {
			ct_time t = cell_time(&r->jobs, column[k], i);

			last = t != CT_NO_TIME && t > last ? t : last;
		}
	return last;
}

/* A first start that left no record: /jobs has it. */
static int start_is_plain(const struct ct_story *s, ct_time start)
{
	const struct ct_frame *f = &s->r->stretches;

	if (start == CT_NO_TIME)
		return 0;
	for (size_t i = next_of(s, f, 0); i < f->n_rows; i = next_of(s, f, i + 1)) {
		const char *kind = cell_text(f, "kind", i);

		if (cell_time(f, "time", i) == start && (!strcmp(kind, "start") || !strcmp(kind, "cold")))
			return 0;
	}
	return 1;
}

/* By their beginning, instants before what begins then; as they were among equals. */
static void sort_episodes(struct ct_story *s)
{
	struct ct_episode *e = s->episode;

	for (size_t i = 1; i < s->n_episodes; i++) {
		struct ct_episode x = e[i];
		size_t k = i;

		for (; k > 0 && (x.from < e[k - 1].from ||
				 (x.from == e[k - 1].from && x.to == x.from && e[k - 1].to > e[k - 1].from));
		     k--)
			e[k] = e[k - 1];
		e[k] = x;
	}
}

/* A profile run is told at its end, which may be the instant of the first start. */
static int ends_profile(const struct ct_frame *stretches, size_t i)
{
	return i < stretches->n_rows && !strcmp(cell_text(stretches, "kind", i), "profile");
}

static void read_all(struct ct_story *s)
{
	const struct ct_frame *jobs = &s->r->jobs, *st = &s->r->stretches, *de = &s->r->decisions;
	ct_time start = cell_time(jobs, "starting_time", s->row), end = cell_time(jobs, "finish_time", s->row);
	ct_time profile = cell_time(jobs, "profile_s", s->row), run = cell_time(jobs, "run_s", s->row);
	struct reader d = { .s = s, .now = blank(CT_EPISODE_WAIT, cell_time(jobs, "submission_time", s->row)) };
	size_t i = next_of(s, st, 0), k = next_of(s, de, 0);
	ct_time plain = start_is_plain(s, start) ? start : INT64_MAX;

	if (end == CT_NO_TIME)
		end = run_end(s->r);
	for (;;) {
		ct_time a = time_or_end(st, i), b = time_or_end(de, k);

		if (b < INT64_MAX && b < a && b < plain) { /* at one instant what happened comes first ... */
			read_decision(&d, k);
			k = next_of(s, de, k + 1);
		} else if (plain < INT64_MAX && (plain < a || (plain == a && !ends_profile(st, i)))) {
			/* ... but what the policy said while the job waited */
			for (; time_or_end(de, k) == plain; k = next_of(s, de, k + 1))
				read_decision(&d, k);
			take_gpus(&d, profile > 0 && run == 0 ? CT_EPISODE_PROFILE : CT_EPISODE_RUN, plain);
			plain = INT64_MAX;
		} else if (a < INT64_MAX) {
			read_stretch(&d, i);
			i = next_of(s, st, i + 1);
		} else {
			break;
		}
	}
	enter(&d, CT_EPISODE_WAIT, end);
	on_gpus(&d, cell_text(jobs, "allocated_resources", s->row));
	sort_episodes(s);
}

/* ---- waits that the policy did not speak of */

/* Until when the reason of each decision was in force: the job's next one, or its start. */
static ct_time *ends_of_reasons(const struct ct_story *s)
{
	const struct ct_frame *jobs = &s->r->jobs, *de = &s->r->decisions, *st = &s->r->stretches;
	ct_time *next = ct_calloc(jobs->n_rows, sizeof *next), *end = ct_calloc(de->n_rows, sizeof *end);
	size_t k = st->n_rows;

	for (size_t i = 0; i < jobs->n_rows; i++)
		next[i] = INT64_MAX;
	for (size_t i = de->n_rows; i-- > 0;) {
		ct_time t = cell_time(de, "time", i), start;
		size_t job = (size_t)cell_i64(de, "job", i);

		for (; k > 0 && cell_time(st, "time", k - 1) >= t; k--) {
			const char *kind = cell_text(st, "kind", k - 1);

			size_t starts = (size_t)cell_i64(st, "job", k - 1);

			if (starts < jobs->n_rows && (!strcmp(kind, "start") || !strcmp(kind, "cold")))
				next[starts] = cell_time(st, "time", k - 1);
		}
		if (job >= jobs->n_rows)
			continue;
		start = cell_time(jobs, "starting_time", job);
		end[i] = start != CT_NO_TIME && start >= t && start < next[job] ? start : next[job];
		next[job] = t;
	}
	free(next);
	return end;
}

/* The wait at `t` of a job of the same partition that was spoken of; the first in order
 * of submission. n_rows: none. */
static size_t blocker_at(const struct ct_story *s, const ct_time *end, ct_time t)
{
	const struct ct_frame *de = &s->r->decisions;
	const char *partition = ct_story_text(s, "partition");
	size_t best = de->n_rows;

	for (size_t i = 0; i < de->n_rows && cell_time(de, "time", i) <= t; i++) {
		int64_t job = cell_i64(de, "job", i);

		if (end[i] <= t || job == (int64_t)s->row || !waits(s, i) ||
		    strcmp(cell_text(&s->r->jobs, "partition", (size_t)job), partition) != 0)
			continue;
		if (best == de->n_rows || job < cell_i64(de, "job", best))
			best = i;
	}
	return best;
}

/* The first reason spoken after `t`, at most `until`. */
static ct_time next_reason(const struct ct_story *s, ct_time t, ct_time until)
{
	const struct ct_frame *de = &s->r->decisions;

	for (size_t i = 0; i < de->n_rows; i++)
		if (cell_time(de, "time", i) > t)
			return cell_time(de, "time", i) < until ? cell_time(de, "time", i) : until;
	return until;
}

static void tell_behind(struct ct_story *s, const ct_time *end, struct ct_episode wait, struct reader *to)
{
	const struct ct_frame *de = &s->r->decisions;

	while (wait.from < wait.to) {
		size_t i = blocker_at(s, end, wait.from);
		struct ct_episode e = wait, *before = s->n_episodes ? &s->episode[s->n_episodes - 1] : NULL;

		if (i < de->n_rows) {
			e.other = job_name(s, cell_i64(de, "job", i));
			e.reason = "behind";
			e.text = text(s, "behind '%s' in the order (%s)", e.other, words_of(s, i));
			e.to = end[i] < wait.to ? end[i] : wait.to;
		} else {
			e.text = "no reason is on record, it was not looked at";
			e.to = next_reason(s, wait.from, wait.to);
		}
		wait.from = e.to;
		if (before && before->kind == CT_EPISODE_WAIT && before->to == e.from && !strcmp(before->text, e.text))
			before->to = e.to;
		else
			add(to, &e);
	}
}

static void tell_waits(struct ct_story *s)
{
	struct ct_episode *all = s->episode;
	size_t n = s->n_episodes;
	struct reader to = { .s = s };
	ct_time *end = ends_of_reasons(s);

	s->episode = NULL;
	s->n_episodes = s->cap_episodes = 0;
	for (size_t i = 0; i < n; i++) {
		if (all[i].kind == CT_EPISODE_WAIT && !*all[i].reason)
			tell_behind(s, end, all[i], &to);
		else
			add(&to, &all[i]);
	}
	free(all);
	free(end);
}

/* ---- the rest in words */

static const char *called(struct ct_story *s, const char *model, const char *configuration)
{
	if (!*model && !*configuration)
		return "";
	return text(s, "%s%s%s", model, *model && *configuration ? " " : "", configuration);
}

static const char *company(struct ct_story *s, const struct ct_episode *e, int64_t row)
{
	const char *model = row < 0 ? "" : cell_text(&s->r->jobs, "model", (size_t)row);
	const char *what = called(s, model, e->beside_configuration), *out;

	out = text(s, "beside '%s'%s%s%s", e->beside, *what ? " (" : "", what, *what ? ")" : "");
	if (e->others > 1)
		out = text(s, "%s and %lld more", out, (long long)e->others - 1);
	if (isnan(e->predicted))
		return text(s, "%s: slow-down %.3f", out, e->slowdown);
	return text(s, "%s: slow-down %.3f, predicted %.3f", out, e->slowdown, e->predicted);
}

static int64_t row_named(const struct ct_story *s, const char *id)
{
	const struct ct_column *c = ct_frame_column(&s->r->jobs, "job_id");

	for (size_t i = 0; i < s->r->jobs.n_rows; i++)
		if (strcmp(ct_cell_text(c, i), id) == 0)
			return (int64_t)i;
	return -1;
}

static const char *episode_words(struct ct_story *s, const struct ct_episode *e)
{
	const char *where = place_words(s, e->gpus);
	const char *as = *e->configuration ? text(s, " as %s", e->configuration) : "";

	switch (e->kind) {
	case CT_EPISODE_START:
		return text(s, "starts on %s%s", where, as);
	case CT_EPISODE_PROFILE:
		return text(s, "profile run on %s", where);
	case CT_EPISODE_RUN:
		return text(s, "runs on %s%s, %s", where, as,
			    *e->beside ? company(s, e, row_named(s, e->beside)) : "alone");
	case CT_EPISODE_SWITCH:
		return text(s, "switches to %s on %s", *e->configuration ? e->configuration : "another configuration",
			    where);
	case CT_EPISODE_MOVE:
		return text(s, "moves to %s", where);
	case CT_EPISODE_LOST:
		return e->text;
	case CT_EPISODE_NOTE:
		return e->text;
	case CT_EPISODE_WAIT:
	case CT_EPISODE_KINDS:
		break;
	}
	return text(s, "waits: %s", e->text);
}

/* ---- where the time went */

static void spend(struct ct_story *s, const char *part, double t)
{
	if (isnan(t) || fabs(t) < 5e-7)
		return;
	CT_GROW(s->spent, s->cap_spent, s->n_spent + 1);
	s->spent[s->n_spent++] = (struct ct_spent){ part, t };
}

static void count_time(struct ct_story *s)
{
	double run = ct_story_seconds(s, "run_s"), profile = ct_story_seconds(s, "profile_s"), mistaken, slow, rest;
	double lost = ct_story_seconds(s, "lost_s");

	s->alone_s = ct_story_seconds(s, "duration_s");
	s->jct_s = ct_story_seconds(s, "turnaround_time");
	spend(s, "waiting in the queue", ct_story_seconds(s, "queue_s"));
	if (strcmp(ct_story_text(s, "state"), "finished") != 0) {
		spend(s, "in a profile run", profile);
		spend(s, "starting", ct_story_seconds(s, "start_s"));
		spend(s, "running", run);
	} else {
		if (!(run > 0)) { /* the profile run was its run */
			run = profile;
			profile = 0;
		}
		mistaken = ct_story_seconds(s, "short_mistaken_s");
		slow = ct_story_seconds(s, "short_slowdown_s");
		lost = lost > profile ? lost - profile : 0;
		rest = run - s->alone_s - slow - ct_story_seconds(s, "short_config_s") -
		       ct_story_seconds(s, "short_fewer_s") - lost;
		spend(s, "in a profile run, done again", profile);
		spend(s, "starting", ct_story_seconds(s, "start_s"));
		spend(s, "running, as if alone", s->alone_s);
		spend(s, isnan(mistaken) ? "slowed by others on its GPUs" : "slowed by others, as predicted",
		      isnan(mistaken) ? slow : slow - mistaken);
		spend(s, "slowed by others, beyond the prediction", mistaken);
		spend(s, "in a slower configuration", ct_story_seconds(s, "short_config_s"));
		spend(s, "on fewer GPUs than it asked for", ct_story_seconds(s, "short_fewer_s"));
		spend(s, "work lost and done again", lost);
		spend(s, "slower or faster GPUs, faster configurations", fabs(rest) < 1e-5 ? 0 : rest);
	}
	spend(s, "moving", ct_story_seconds(s, "pause_s"));
	spend(s, "switching configuration", ct_story_seconds(s, "switch_s"));
}

/* ---- */

static int find_job(struct ct_story *s, const char *job, struct ct_err *err)
{
	const struct ct_column *c = ct_frame_column(&s->r->jobs, "job_id");
	int64_t row = row_named(s, job);
	struct ct_nearest near;
	char shown[CT_SHOWN];

	if (row >= 0) {
		s->row = (size_t)row;
		return 0;
	}
	ct_nearest_init(&near, job);
	for (size_t i = 0; i < s->r->jobs.n_rows; i++)
		ct_nearest_offer(&near, ct_cell_text(c, i));
	ct_shown(shown, job, strlen(job));
	if (ct_nearest_word(&near))
		return ct_err_at(err, CT_EUSAGE, NULL, "the result has no job '%s'; did you mean '%s'?", shown,
				 ct_nearest_word(&near));
	return ct_err_at(err, CT_EUSAGE, NULL, "the result has no job '%s' among its %zu", shown, s->r->jobs.n_rows);
}

int ct_story_make(struct ct_story *s, const struct ct_result *r, const char *job, struct ct_err *err)
{
	*s = (struct ct_story){ .r = r };
	CT_TRY(find_job(s, job, err));
	if (!r->decisions.n_columns)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "the result keeps no decisions: run it again with sim.decisions=true");
	if (strcmp(ct_story_text(s, "state"), "rejected") != 0)
		read_all(s);
	tell_waits(s);
	for (size_t i = 0; i < s->n_episodes; i++)
		s->episode[i].text = episode_words(s, &s->episode[i]);
	count_time(s);
	return 0;
}

void ct_story_fini(struct ct_story *s)
{
	free(s->episode);
	free(s->spent);
	ct_arena_fini(&s->arena);
	*s = (struct ct_story){ 0 };
}
