/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/timeline.h"

#include "sim/json.h"
#include "sim/output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct writer {
	const struct ct_timeline *t;
	const struct ct_result *r;
	struct ct_json j;
};

static int64_t lane_of(const struct ct_timeline *t, const struct ct_slice *s)
{
	if (s->gpu == CT_NO_GPU)
		return (int64_t)t->lanes * t->n_gpus + s->lane;
	return (int64_t)s->lane * t->n_gpus + s->gpu;
}

static void open_event(struct writer *w, const char *ph, const char *name, int64_t pid, int64_t tid, ct_time ts)
{
	ct_json_open(&w->j, NULL, '{', 1);
	ct_json_text(&w->j, "ph", ph);
	ct_json_text(&w->j, "name", name);
	ct_json_i64(&w->j, "pid", pid);
	ct_json_i64(&w->j, "tid", tid);
	ct_json_i64(&w->j, "ts", ts);
}

/* ---- names */

static void name_event(struct writer *w, const char *what, int64_t pid, int64_t tid, const char *name, int64_t sort)
{
	open_event(w, "M", what, pid, tid, 0);
	ct_json_open(&w->j, "args", '{', 1);
	if (name)
		ct_json_text(&w->j, "name", name);
	else
		ct_json_i64(&w->j, "sort_index", sort);
	ct_json_close(&w->j);
	ct_json_close(&w->j);
}

static void node_name(struct writer *w, uint32_t node)
{
	char name[32];

	snprintf(name, sizeof name, node == w->t->n_nodes ? "cluster" : "node %u", node);
	name_event(w, "process_name", node, 0, name, 0);
	/* the counters on top */
	name_event(w, "process_sort_index", node, 0, NULL, node == w->t->n_nodes ? -1 : (int64_t)node);
}

static void lane_name(struct writer *w, const struct ct_slice *s)
{
	char name[64];
	int64_t tid = lane_of(w->t, s);

	if (s->gpu == CT_NO_GPU)
		snprintf(name, sizeof name, "share %u of its GPUs", s->lane + 1);
	else if (s->lane)
		snprintf(name, sizeof name, "GPU %u, beside (%u)", s->gpu, s->lane + 1);
	else
		snprintf(name, sizeof name, "GPU %u", s->gpu);
	name_event(w, "thread_name", s->node, tid, name, 0);
	name_event(w, "thread_sort_index", s->node, tid, NULL,
		   s->gpu == CT_NO_GPU ? tid : (int64_t)s->gpu * w->t->lanes + s->lane);
}

static int by_lane(const void *a, const void *b)
{
	const struct ct_slice *x = *(const struct ct_slice *const *)a, *y = *(const struct ct_slice *const *)b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* One slice of every lane that is used; *n of them. On the heap. */
static const struct ct_slice **used_lanes(const struct ct_timeline *t, size_t *n)
{
	const struct ct_slice **lane = ct_calloc(t->n + 1, sizeof *lane);

	for (size_t i = 0; i < t->n; i++)
		lane[i] = &t->slice[i];
	qsort(lane, t->n, sizeof *lane, by_lane);
	*n = 0;
	for (size_t i = 0; i < t->n; i++)
		if (!*n || by_lane(&lane[i], &lane[*n - 1]))
			lane[(*n)++] = lane[i];
	return lane;
}

/* ---- slices and counters */

static const char *words(const struct ct_result *r, const char *column, size_t row)
{
	const struct ct_column *c = ct_frame_column(&r->jobs, column);

	return c && (c->type == CT_COLUMN_CODE || c->type == CT_COLUMN_TEXT) ? ct_cell_text(c, row) : "";
}

static void put_slice(struct writer *w, const struct ct_slice *s)
{
	const struct ct_column *milli = ct_frame_column(&w->r->jobs, "gpu_milli");
	int is_milli = milli && milli->type == CT_COLUMN_I64;

	open_event(w, "X", words(w->r, "job_id", s->job), s->node, lane_of(w->t, s), s->from);
	ct_json_i64(&w->j, "dur", s->to - s->from);
	ct_json_open(&w->j, "args", '{', 1);
	ct_json_text(&w->j, "job", words(w->r, "job_id", s->job));
	ct_json_i64(&w->j, "gpus", s->gpus);
	ct_json_f64(&w->j, "share", is_milli ? (double)ct_cell_i64(milli, s->job) / 1000 : 1);
	ct_json_text(&w->j, "model", words(w->r, "model", s->job));
	ct_json_text(&w->j, "user", words(w->r, "user", s->job));
	ct_json_text(&w->j, "state", words(w->r, "state", s->job));
	ct_json_close(&w->j);
	ct_json_close(&w->j);
}

static void put_counter(struct writer *w, const char *name, const char *unit, ct_time t, double v)
{
	open_event(w, "C", name, w->t->n_nodes, 0, t);
	ct_json_open(&w->j, "args", '{', 1);
	ct_json_f64(&w->j, unit, isfinite(v) ? v : 0);
	ct_json_close(&w->j);
	ct_json_close(&w->j);
}

struct counters {
	const struct ct_column *time, *queued, *held, *total;
	size_t n; /* bins; 0 where a column is not there */
};

static struct counters find_counters(const struct ct_result *r)
{
	const struct ct_frame *f = &r->series;
	struct counters c = { ct_frame_column(f, "time"), ct_frame_column(f, "queued_jobs"),
			      ct_frame_column(f, "held_gpus"), ct_frame_column(f, "total_gpus"), f->n_rows };

	if (!c.time || c.time->type != CT_COLUMN_TIME || !c.queued || c.queued->type != CT_COLUMN_F64 || !c.held ||
	    c.held->type != CT_COLUMN_F64 || !c.total || c.total->type != CT_COLUMN_F64)
		c.n = 0;
	return c;
}

static void put_timed(struct writer *w, const struct counters *c)
{
	size_t i = 0, k = 0;

	while (i < w->t->n || k < c->n) {
		ct_time bin = k < c->n ? ct_cell_i64(c->time, k) : INT64_MAX;

		if (i < w->t->n && w->t->slice[i].from < bin) {
			put_slice(w, &w->t->slice[i++]);
			continue;
		}
		put_counter(w, "queue length", "jobs", bin, ct_cell_f64(c->queued, k));
		put_counter(w, "free GPUs", "GPUs", bin, ct_cell_f64(c->total, k) - ct_cell_f64(c->held, k));
		k++;
	}
}

static void put_other(struct writer *w)
{
	const char *policy = ct_result_get(w->r, CT_RESULT_MANIFEST, "policy");

	ct_json_text(&w->j, "displayTimeUnit", "ms");
	ct_json_open(&w->j, "otherData", '{', 1);
	ct_json_text(&w->j, "policy", policy ? policy : "");
	ct_json_text(&w->j, "digest", w->r->digest);
	ct_json_bool(&w->j, "moves_known", w->r->stretches.n_columns > 0);
	ct_json_i64(&w->j, "placements_unknown", (int64_t)w->t->unknown);
	ct_json_close(&w->j);
}

static int put_all(struct writer *w, const struct counters *c, const struct ct_slice *const *lane, size_t lanes,
		   FILE *to, const char *path, struct ct_err *err)
{
	ct_json_begin(&w->j, to);
	ct_json_open(&w->j, NULL, '{', 0);
	ct_json_open(&w->j, "traceEvents", '[', 0);
	for (uint32_t i = 0; i <= w->t->n_nodes; i++)
		node_name(w, i);
	for (size_t i = 0; i < lanes; i++)
		lane_name(w, lane[i]);
	put_timed(w, c);
	ct_json_close(&w->j);
	put_other(w);
	ct_json_close(&w->j);
	return ct_json_end(&w->j, path, err);
}

static int write_file(struct writer *w, const struct counters *c, const struct ct_slice *const *lane, size_t lanes,
		      const char *path, struct ct_err *err)
{
	char *tmp = ct_output_temporary(path);
	FILE *to = fopen(tmp, "w");
	int rc;

	if (to) {
		rc = put_all(w, c, lane, lanes, to, path, err);
		if (fclose(to) && !rc)
			rc = ct_err_at(err, CT_EIO, NULL, "cannot write '%s': %s", path, strerror(errno));
		if (rc)
			unlink(tmp);
		else
			rc = ct_output_commit(tmp, path, err);
	} else {
		rc = ct_err_at(err, CT_EIO, NULL, "cannot write '%s': %s", path, strerror(errno));
	}
	free(tmp);
	return rc;
}

int ct_timeline_write(const struct ct_timeline *t, const struct ct_result *r, const char *path, size_t most,
		      struct ct_err *err)
{
	struct writer w = { .t = t, .r = r };
	struct counters c = find_counters(r);
	const struct ct_slice **lane;
	size_t lanes, events;
	int rc;

	lane = used_lanes(t, &lanes);
	events = t->n + 2 * c.n + 2 * lanes + 2 * ((size_t)t->n_nodes + 1);
	if (events > most)
		rc = ct_err_at(err, CT_ECONFIG, NULL,
			       "the timeline has %zu events, more than %zu, which a viewer may not bear; --limit %zu "
			       "writes it all the same",
			       events, most, events);
	else
		rc = write_file(&w, &c, lane, lanes, path, err);
	free(lane);
	return rc;
}
