/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/transform.h"

#include "sim/digest.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 1000 };

/* Copies job i; the strings of `out` must be those of `w`. */
static void copy_job(struct ct_workload *out, const struct ct_workload *w, size_t i, ct_time shift)
{
	struct ct_job j = w->jobs[i];
	uint32_t job;

	j.id = ct_workload_text(out, j.id, strlen(j.id));
	j.submit_us -= shift;
	if (j.deadline_us >= 0)
		j.deadline_us = j.deadline_us > shift ? j.deadline_us - shift : 0;
	job = ct_workload_add(out, &j);
	for (size_t c = 0; c < w->n_columns; c++) {
		const char *text = ct_strings_text(&w->strings, w->columns[c].value[i]);

		ct_workload_set_extra(out, c, job, text, strlen(text));
	}
}

static int seal(struct ct_workload *w, struct ct_workload **out, struct ct_err *err)
{
	int rc;

	w->report.rows_kept = w->n;
	rc = w->n ? ct_workload_seal(w, err) : ct_err_at(err, CT_ECONFIG, NULL, "no job is left");
	if (rc)
		ct_workload_free(w);
	else
		*out = w;
	return rc;
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

/* What a trace was: its file, and the digest of its jobs. */
static void describe_input(struct ct_workload *out, const struct ct_workload *w)
{
	if (!w->report.history || !strstr(w->report.history, "from '"))
		ct_workload_history(out, "from '%.200s' (%s), digest %s", base_name(w->report.source), w->report.format,
				    w->digest);
}

static const char *seconds(ct_time t, char text[CT_TIME_TEXT])
{
	ct_time_format(t, text);
	return text;
}

/* ---- slice */

int ct_transform_slice(const struct ct_workload *w, ct_time from, ct_time to, int rebase, struct ct_workload **out,
		       struct ct_err *err)
{
	char a[CT_TIME_TEXT], b[CT_TIME_TEXT];
	struct ct_workload *copy;

	if (from < 0 || to <= from)
		return ct_err_at(err, CT_ECONFIG, NULL, "a slice wants 0 <= from < to, got %s and %s", seconds(from, a),
				 seconds(to, b));
	copy = ct_workload_like(w);
	for (size_t i = 0; i < w->n; i++)
		if (w->jobs[i].submit_us >= from && w->jobs[i].submit_us < to)
			copy_job(copy, w, i, rebase ? from : 0);
	describe_input(copy, w);
	ct_workload_history(copy, "slice from=%s to=%s%s: %zu of %zu jobs", seconds(from, a),
			    to < CT_TIME_LIMIT ? seconds(to, b) : "end", rebase ? " rebased" : "", copy->n, w->n);
	return seal(copy, out, err);
}

/* ---- sample */

/* A number for a text, the same on every machine: FNV-1a. */
static uint64_t hash_text(const char *s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	return h;
}

static double draw(uint64_t seed, uint64_t entity)
{
	struct ct_stream s;

	ct_stream_init(&s, seed, CT_RANDOM_SAMPLE, entity);
	return gsl_rng_uniform(&s.rng);
}

int ct_transform_keeps(const char *id, double share, uint64_t seed)
{
	return draw(seed, hash_text(id)) < share;
}

int ct_transform_sample(const struct ct_workload *w, double share, enum ct_sample_by by, uint64_t seed,
			struct ct_workload **out, struct ct_err *err)
{
	struct ct_workload *copy;

	if (!(share > 0 && share <= 1))
		return ct_err_at(err, CT_ECONFIG, NULL, "a share wants a number above 0 and up to 1, got %g", share);
	copy = ct_workload_like(w);
	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];
		int user = by == CT_SAMPLE_USER && j->user;
		const char *key = user ? ct_strings_text(&w->strings, j->user) : j->id;

		/* Users and ids are drawn apart: a user may be called like a job. */
		if (draw(seed, hash_text(key) + (user ? 1 : 0)) < share)
			copy_job(copy, w, i, 0);
	}
	describe_input(copy, w);
	ct_workload_history(copy, "sample share=%.12g by=%s seed=%llu: %zu of %zu jobs", share,
			    by == CT_SAMPLE_USER ? "user" : "job", (unsigned long long)seed, copy->n, w->n);
	return seal(copy, out, err);
}

/* ---- only */

int ct_transform_only(const struct ct_workload *w, const char *column, const char *value, struct ct_workload **out,
		      struct ct_err *err)
{
	struct ct_workload *copy;
	size_t c = 0;

	while (c < w->n_columns && strcmp(w->columns[c].name, column) != 0)
		c++;
	if (c == w->n_columns)
		return ct_err_at(err, CT_ECONFIG, NULL, "the trace has no own column '%.60s'", column);
	copy = ct_workload_like(w);
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(ct_strings_text(&w->strings, w->columns[c].value[i]), value) == 0)
			copy_job(copy, w, i, 0);
	describe_input(copy, w);
	ct_workload_history(copy, "only %.60s=%.60s: %zu of %zu jobs", column, value, copy->n, w->n);
	return seal(copy, out, err);
}

/* ---- scale */

int ct_transform_rate(const struct ct_workload *w, double rate, struct ct_workload **out, struct ct_err *err)
{
	struct ct_workload *made;

	if (!(rate > 0) || isinf(rate))
		return ct_err_at(err, CT_ECONFIG, NULL, "a rate wants a number above 0, got %g", rate);
	CT_TRY(ct_workload_stretch(w, 1 / rate, &made, err));
	describe_input(made, w);
	ct_workload_history(made, "scale rate=%.12g", rate);
	*out = made;
	return 0;
}

int ct_transform_load(const struct ct_workload *w, double gpus, double load, struct ct_workload **out,
		      struct ct_err *err)
{
	struct ct_workload *made;
	double now = gpus > 0 ? ct_workload_offered_load(w, gpus) : (double)NAN;

	if (!(load > 0) || isinf(load))
		return ct_err_at(err, CT_ECONFIG, NULL, "a load wants a number above 0, got %g", load);
	if (!(now > 0) || isinf(now))
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "a load wants a cluster with GPUs, and GPU jobs submitted at different times");
	CT_TRY(ct_workload_stretch(w, now / load, &made, err));
	describe_input(made, w);
	ct_workload_history(made, "scale load=%.12g gpus=%.12g: rate %.12g", load, gpus, load / now);
	*out = made;
	return 0;
}

/* ---- mix */

static double work_of(const struct ct_job *j)
{
	return ct_seconds(j->duration_us) * j->num_gpus * j->gpu_milli / 1000;
}

struct pick {
	double key;
	uint32_t job;
};

static int by_key(const void *a, const void *b)
{
	const struct pick *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

struct part {
	const struct ct_mix_part *p;
	ct_time first;  /* its time 0 */
	size_t n;       /* jobs in the window */
	double work;    /* of them */
	double target;  /* work wanted of them */
	uint32_t *copy; /* how often each job is taken */
	size_t taken;
	unsigned whole; /* times that the whole part is taken */
};

static void measure(struct part *x, ct_time span)
{
	const struct ct_workload *w = x->p->w;

	x->first = w->n ? w->jobs[0].submit_us : 0;
	for (size_t i = 0; i < w->n && w->jobs[i].submit_us - x->first < span; i++) {
		x->work += work_of(&w->jobs[i]);
		x->n++;
	}
}

/* Whole repeats first; then jobs in random order, each that still fits. */
static void choose(struct part *x, uint64_t seed, uint64_t entity)
{
	struct pick *order = ct_calloc(x->n + 1, sizeof *order);
	double left = x->target;

	x->copy = ct_calloc(x->n + 1, sizeof *x->copy);
	x->whole = (unsigned)(x->target * (1 + 1e-12) / x->work);
	left -= x->whole * x->work;
	for (size_t i = 0; i < x->n; i++) {
		x->copy[i] = x->whole;
		order[i] = (struct pick){ draw(seed, hash_text(x->p->w->jobs[i].id) + entity), (uint32_t)i };
	}
	qsort(order, x->n, sizeof *order, by_key);
	for (size_t k = 0; k < x->n; k++) {
		double work = work_of(&x->p->w->jobs[order[k].job]);

		if (work > left * (1 + 1e-12))
			continue;
		left -= work;
		x->copy[order[k].job]++;
	}
	for (size_t i = 0; i < x->n; i++)
		x->taken += x->copy[i];
	free(order);
}

static uint32_t prefixed(struct ct_workload *out, const char *label, const char *text)
{
	char name[1024];
	int n = *text ? snprintf(name, sizeof name, "%s/%s", label, text) : 0;

	return ct_strings_add(&out->strings, name, n < (int)sizeof name ? (size_t)n : sizeof name - 1);
}

static uint32_t moved(struct ct_workload *out, const struct ct_workload *w, uint32_t string)
{
	const char *text = ct_strings_text(&w->strings, string);

	return ct_strings_add(&out->strings, text, strlen(text));
}

static void add_copy(struct ct_workload *out, const struct part *x, size_t i, unsigned copy, int untyped)
{
	const struct ct_workload *w = x->p->w;
	const char *label = x->p->label;
	struct ct_job j = w->jobs[i];
	char id[1024];
	uint32_t job;
	int n = copy ? snprintf(id, sizeof id, "%s/%s#%u", label, j.id, copy + 1)
		     : snprintf(id, sizeof id, "%s/%s", label, j.id);

	j.id = ct_workload_text(out, id, n < (int)sizeof id ? (size_t)n : sizeof id - 1);
	j.submit_us -= x->first;
	if (j.deadline_us >= 0)
		j.deadline_us = j.deadline_us > x->first ? j.deadline_us - x->first : 0;
	j.user = prefixed(out, label, ct_strings_text(&w->strings, j.user));
	j.group = prefixed(out, label, ct_strings_text(&w->strings, j.group));
	j.model = moved(out, w, j.model);
	j.partition = moved(out, w, j.partition);
	j.gpu_type = untyped ? 0 : moved(out, w, j.gpu_type);
	j.state = moved(out, w, j.state);
	j.line = 0;
	job = ct_workload_add(out, &j);
	ct_workload_set_extra(out, ct_workload_column(out, "trace"), job, label, strlen(label));
	for (size_t c = 0; c < w->n_columns; c++) {
		const char *text = ct_strings_text(&w->strings, w->columns[c].value[i]);

		if (strcmp(w->columns[c].name, "trace") != 0)
			ct_workload_set_extra(out, ct_workload_column(out, w->columns[c].name), job, text,
					      strlen(text));
	}
}

static void describe_part(struct ct_workload *out, const struct part *x)
{
	const struct ct_workload *w = x->p->w;

	if (!w->report.history || !strstr(w->report.history, "from '"))
		ct_workload_history(out, "part %s: from '%.200s' (%s), digest %s", x->p->label,
				    base_name(w->report.source), w->report.origin ? w->report.origin : w->report.format,
				    w->digest);
	for (const char *line = w->report.history; line && *line;) {
		size_t n = strcspn(line, "\n");

		ct_workload_history(out, "part %s: %.*s", x->p->label, (int)(n < 900 ? n : 900), line);
		line += n + (line[n] == '\n');
	}
	for (unsigned k = 0; k < w->report.n_rules; k++)
		if (w->report.rules[k].dropped)
			ct_workload_history(out, "part %s: %s: %llu rows", x->p->label, w->report.rules[k].rule,
					    (unsigned long long)w->report.rules[k].rows);
	ct_workload_history(out, "part %s: share=%.12g: %zu jobs of %zu in the window%s", x->p->label, x->p->share,
			    x->taken, x->n, x->whole > 1 || (x->whole && x->taken > x->n) ? ", repeated" : "");
}

static int check_parts(const struct ct_mix_part *part, size_t n, const struct ct_mix_options *o, struct ct_err *err)
{
	if (!n)
		return ct_err_at(err, CT_ECONFIG, NULL, "a mix wants at least one trace");
	if (o->load != 0 && (!(o->load > 0) || !(o->gpus > 0)))
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "the load of a mix wants a number above 0 and a cluster with GPUs");
	for (size_t i = 0; i < n; i++) {
		if (!(part[i].share > 0) || isinf(part[i].share))
			return ct_err_at(err, CT_ECONFIG, NULL, "the share of '%.100s' wants a number above 0, got %g",
					 part[i].label, part[i].share);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(part[i].label, part[k].label))
				return ct_err_at(err, CT_ECONFIG, NULL, "two parts of a mix are called '%.100s'",
						 part[i].label);
	}
	return 0;
}

static ct_time longest(const struct ct_mix_part *part, size_t n)
{
	ct_time span = 1;

	for (size_t i = 0; i < n; i++) {
		const struct ct_workload *w = part[i].w;
		ct_time s = w->n ? w->jobs[w->n - 1].submit_us - w->jobs[0].submit_us + 1 : 0;

		span = s > span ? s : span;
	}
	return span;
}

/* Targets of all parts; CT_ECONFIG when one has nothing to offer, or far too little. */
static int set_targets(struct part *x, size_t n, const struct ct_mix_options *o, ct_time span, struct ct_err *err)
{
	double shares = 0, total = INFINITY;

	for (size_t i = 0; i < n; i++) {
		shares += x[i].p->share;
		if (!(x[i].work > 0))
			return ct_err_at(err, CT_ECONFIG, NULL, "part '%.100s' has no GPU jobs in the window",
					 x[i].p->label);
	}
	for (size_t i = 0; i < n; i++)
		total = fmin(total, x[i].work * shares / x[i].p->share);
	if (o->load > 0)
		total = o->load * o->gpus * ct_seconds(span);
	for (size_t i = 0; i < n; i++) {
		x[i].target = total * x[i].p->share / shares;
		if (x[i].target > COPIES * x[i].work)
			return ct_err_at(err, CT_ECONFIG, NULL,
					 "part '%.100s' would have to be repeated more than %d times for its share: it "
					 "offers %.6g GPU hours in the window, wanted %.6g",
					 x[i].p->label, (int)COPIES, x[i].work / 3600, x[i].target / 3600);
	}
	return 0;
}

static struct ct_workload *put_together(const struct part *x, size_t n, const struct ct_mix_options *o, ct_time span)
{
	struct ct_workload *out = ct_workload_new();
	char text[CT_TIME_TEXT];

	out->report.source = "mix";
	out->report.format = "mix";
	ct_workload_column(out, "trace");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < x[i].n; k++)
			for (unsigned c = 0; c < x[i].copy[k]; c++)
				add_copy(out, &x[i], k, c, o->untyped);
		describe_part(out, &x[i]);
		out->report.rows_read += x[i].p->w->report.rows_read;
	}
	ct_workload_history(out, "mix span=%s load=%.12g gpus=%.12g seed=%llu%s: %zu jobs", seconds(span, text),
			    o->load, o->gpus, (unsigned long long)o->seed, o->untyped ? " no-types" : "", out->n);
	return out;
}

int ct_transform_mix(const struct ct_mix_part *part, size_t n, const struct ct_mix_options *o, struct ct_workload **out,
		     struct ct_err *err)
{
	ct_time span = o->span ? o->span : longest(part, n);
	struct ct_workload *mixed = NULL;
	struct part *x;
	int rc;

	CT_TRY(check_parts(part, n, o, err));
	x = ct_calloc(n, sizeof *x);
	for (size_t i = 0; i < n; i++) {
		x[i].p = &part[i];
		measure(&x[i], span);
	}
	rc = set_targets(x, n, o, span, err);
	for (size_t i = 0; !rc && i < n; i++)
		choose(&x[i], o->seed, i);
	if (!rc)
		rc = seal(put_together(x, n, o, span), &mixed, err);
	if (!rc)
		mixed->report.n_rules = 0; /* only that parts were put behind each other and then sorted */
	for (size_t i = 0; i < n; i++)
		free(x[i].copy);
	free(x);
	if (!rc && o->load > 0) {
		rc = ct_transform_load(mixed, o->gpus, o->load, out, err);
		ct_workload_free(mixed);
	} else if (!rc) {
		*out = mixed;
	}
	return rc;
}

/* ---- superposition */

int ct_transform_superpose(const struct ct_superposed *part, size_t n, struct ct_workload **out, struct ct_err *err)
{
	struct ct_workload *w = ct_workload_new(), *made = NULL;

	w->report.source = "superposition";
	w->report.format = "superposition";
	ct_workload_column(w, "trace");
	for (size_t k = 0; k < n; k++) {
		const struct ct_superposed *p = &part[k];
		const struct ct_mix_part of = { .w = p->w, .label = p->label, .share = 1 };
		struct part x = { .p = &of, .n = p->w->n };

		for (size_t i = 0; i < p->w->n; i++) {
			ct_time at = p->at ? p->at[i] : p->w->jobs[i].submit_us;

			if (at < 0)
				continue;
			x.first = p->w->jobs[i].submit_us - at;
			add_copy(w, &x, i, 0, 0);
			if (p->kind)
				ct_workload_set_extra(w, ct_workload_column(w, "kind"), (uint32_t)(w->n - 1), p->kind,
						      strlen(p->kind));
			x.taken++;
		}
		describe_part(w, &x);
		w->report.rows_read += p->w->report.rows_read;
	}
	CT_TRY(seal(w, &made, err));
	made->report.n_rules = 0; /* as in a mix */
	*out = made;
	return 0;
}
