/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The accountants. What they integrate is constant between two instants, so one
 * flush an instant adds (value x elapsed) to exact 128-bit sums: the cost does not
 * depend on how often a value changed within the instant. */
#include "sim/world_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AUTO_ROWS = 1000, AUTO_ROWS_MAX = 1 << 14, ROWS_MAX = 1 << 22 };

/* Default bin: a thousandth of the span of submissions, whole minutes. */
static ct_time automatic_bin(const struct ct_workload *work)
{
	ct_time minute = 60 * CT_SECOND,
		span = work->n ? work->jobs[work->n - 1].submit_us - work->jobs[0].submit_us : 0;
	ct_time bin = (span / AUTO_ROWS + minute - 1) / minute * minute;

	return bin ? bin : minute;
}

void ct_account_open(struct ct_world *w)
{
	const struct ct_world_spec *s = &w->spec;
	ct_time first = w->n_jobs ? w->work->jobs[0].submit_us : 0;

	w->flushed = first;
	w->where.now_us = first;
	w->series_start = first;
	w->bin_auto = s->series_us == 0;
	w->bin_us = w->bin_auto ? automatic_bin(w->work) : s->series_us;
	w->window_start = first + s->warmup_us;
	w->window_end = s->until_us < CT_NEVER - first ? first + s->until_us : CT_NEVER;
	w->window_open = s->warmup_us == 0;
	if (!w->window_open)
		ct_event_push(&w->events, w->window_start, CT_EVENT_TIMER, CT_TIMER_WARMUP);
	if (w->window_end != CT_NEVER)
		ct_event_push(&w->events, w->window_end, CT_EVENT_TIMER, CT_TIMER_UNTIL);
}

/* Halves the number of bins by joining neighbours. */
static void coarsen(struct ct_world *w)
{
	size_t n = w->n_bins / 2;

	for (size_t i = 0; i < n; i++) {
		struct ct_bin a = w->bins[2 * i], b = w->bins[2 * i + 1];

		w->bins[i] = (struct ct_bin){
			a.held_milli + b.held_milli, a.sm_micro + b.sm_micro,         a.queued + b.queued,
			a.running + b.running,       a.queued_milli + b.queued_milli, a.mem_mib + b.mem_mib
		};
	}
	if (w->n_bins % 2)
		w->bins[n++] = w->bins[w->n_bins - 1];
	w->n_bins = n;
	w->bin_us *= 2;
}

static void add_to_bin(struct ct_world *w, size_t i, ct_time dt)
{
	struct ct_bin *b;

	CT_GROW(w->bins, w->cap_bins, i + 1);
	for (; w->n_bins <= i; w->n_bins++)
		memset(&w->bins[w->n_bins], 0, sizeof *w->bins);
	b = &w->bins[i];
	b->held_milli += (ct_wide)w->cluster->used_milli * dt;
	b->sm_micro += (ct_wide)w->sm_micro * dt;
	b->queued += (ct_wide)w->n_queued * dt;
	b->running += (ct_wide)w->n_running * dt;
	b->queued_milli += (ct_wide)w->queued_milli * dt;
	b->mem_mib += (ct_wide)w->cluster->used_mem_mib * dt;
}

static void fill_bins(struct ct_world *w, ct_time from, ct_time to)
{
	size_t limit = w->bin_auto ? AUTO_ROWS_MAX : ROWS_MAX;

	while ((to - 1 - w->series_start) / w->bin_us >= (ct_time)limit)
		coarsen(w);
	while (from < to) {
		ct_time i = (from - w->series_start) / w->bin_us, end = w->series_start + (i + 1) * w->bin_us;
		ct_time until = end < to ? end : to;

		add_to_bin(w, (size_t)i, until - from);
		from = until;
	}
}

void ct_account_flush(struct ct_world *w, ct_time to)
{
	ct_time dt = to - w->flushed;
	struct ct_integrals *in = &w->window;

	if (dt <= 0)
		return;
	w->shares_total += (ct_wide)w->shares_milli * dt;
	w->sm_total += (ct_wide)w->sm_micro * dt;
	if (w->window_open) {
		in->held_milli += (ct_wide)w->cluster->used_milli * dt;
		in->sm_micro += (ct_wide)w->sm_micro * dt;
		in->union_micro += (ct_wide)w->union_micro * dt;
		in->mem_mib += (ct_wide)w->cluster->used_mem_mib * dt;
		in->queued += (ct_wide)w->n_queued * dt;
		in->running += (ct_wide)w->n_running * dt;
		if (w->n_queued > 0)
			in->idle_while_queued += (ct_wide)(w->capacity_up_milli - (int64_t)w->cluster->used_milli) * dt;
	}
	if (w->window_open && w->capacity_up_milli != (int64_t)w->cluster->capacity_milli)
		in->down_milli += (ct_wide)((int64_t)w->cluster->capacity_milli - w->capacity_up_milli) * dt;
	fill_bins(w, w->flushed, to);
	w->flushed = to;
}

double ct_world_sm_gpu_us(const struct ct_world *w)
{
	if (!w->gpu_sm_micro || w->pooled)
		return (double)NAN;
	return (double)(w->sm_total + (ct_wide)w->sm_micro * (w->where.now_us - w->flushed)) / 1e6;
}

void ct_account_window(struct ct_world *w, bool open)
{
	/* Work done so far belongs to the side of the boundary it was done on. */
	for (uint32_t job = w->holders; job != CT_NONE; job = ct_live(w, job)->next)
		ct_progress_settle(w, job);
	w->window_open = open;
}

void ct_world_account(const struct ct_world *w, struct ct_account *out)
{
	const struct ct_integrals *in = &w->window;
	ct_time now = w->where.now_us, end = now < w->window_end ? now : w->window_end;
	double window_s = end > w->window_start ? ct_seconds(end - w->window_start) : 0;
	bool sm = w->gpu_sm_micro && !w->pooled;

	memset(out, 0, sizeof *out);
	out->submitted = w->n_submitted;
	out->finished = w->n_finished;
	out->failed = w->n_failed;
	out->rejected = w->n_rejected;
	out->left = w->n_submitted - w->n_finished - w->n_failed - w->n_rejected;
	out->first_submit = w->n_jobs ? w->work->jobs[0].submit_us : CT_NEVER;
	out->last_submit = w->n_submitted ? w->work->jobs[w->n_submitted - 1].submit_us : -1;
	out->last_finish = w->last_finish;
	out->window_start = w->window_start;
	out->window_end = end > w->window_start ? end : w->window_start;
	out->capacity_gpu_s = (double)w->cluster->n_gpus * window_s;
	out->held_gpu_s = (double)in->held_milli / 1e9;
	out->sm_gpu_s = sm ? (double)in->sm_micro / 1e12 : NAN;
	out->sm_union_gpu_s = sm ? (double)in->union_micro / 1e12 : NAN;
	out->mem_mib_s = (double)in->mem_mib / 1e6;
	out->capacity_mem_mib_s = (double)w->cluster->capacity_mem_mib * window_s;
	out->work_gpu_s = w->work_gpu_s;
	out->lost_gpu_s = w->lost_gpu_s;
	out->failure_lost_gpu_s = w->failure_lost_gpu_s;
	out->down_gpu_s = (double)in->down_milli / 1e9;
	out->node_failures = w->n_node_failures;
	out->gpu_failures = w->n_gpu_failures;
	out->n_hits = w->n_hits;
	out->queue_s = (double)in->queued / 1e6;
	out->active_s = (double)in->running / 1e6;
	out->idle_while_queued_gpu_s = (double)in->idle_while_queued / 1e9;
	for (int k = 0; k < CT_TRANSITION_KINDS; k++) {
		out->n_transitions[k] = w->n_transitions[k];
		out->transition_s[k] = ct_seconds(w->transition_us[k]);
	}
}

/* ---- the end */

static void make_series(struct ct_world *w)
{
	size_t n = w->n_bins;

	free(w->series);
	w->series = ct_calloc(6 * n, sizeof *w->series);
	for (size_t i = 0; i < n; i++) {
		ct_time start = w->series_start + (ct_time)i * w->bin_us, left = w->flushed - start;
		double us = (double)(left < w->bin_us ? left : w->bin_us);
		const struct ct_bin *b = &w->bins[i];

		w->series[0 * n + i] = (double)b->held_milli / us / 1e3;
		w->series[1 * n + i] = w->gpu_sm_micro && !w->pooled ? (double)b->sm_micro / us / 1e6 : NAN;
		w->series[2 * n + i] = (double)b->queued / us;
		w->series[3 * n + i] = (double)b->running / us;
		w->series[4 * n + i] = (double)b->queued_milli / us / 1e3;
		w->series[5 * n + i] = (double)b->mem_mib / us;
	}
}

void ct_world_series(const struct ct_world *w, struct ct_series *out)
{
	size_t n = w->n_bins;
	const double *s = w->series;

	CT_CHECK(&w->where, s || !n, "the series is made by ct_world_finish()");
	*out =
	    (struct ct_series){ w->bin_us, w->series_start, n, s, s + n, s + 2 * n, s + 3 * n, s + 4 * n, s + 5 * n };
}

/* Books everything up to now for jobs that are still there. */
static void close_jobs(struct ct_world *w)
{
	ct_time now = w->where.now_us;

	for (uint32_t job = w->holders; job != CT_NONE; job = ct_live(w, job)->next) {
		struct ct_live *l = ct_live(w, job);
		int64_t milli =
		    l->n_slots ? (int64_t)l->n_slots * w->work->jobs[job].gpu_milli : (int64_t)l->pool_milli;

		ct_progress_settle(w, job);
		l->held += (ct_wide)milli * (now - l->held_since);
		l->held_since = now;
		w->outcome[job].gpu_s = (double)l->held / 1e9;
	}
	for (uint32_t job = 0; job < w->n_submitted; job++) {
		struct ct_outcome *o = &w->outcome[job];
		struct ct_live *l = ct_live(w, job);
		enum ct_phase p = o->state == CT_JOB_STARTING  ? CT_PHASE_START
				  : o->state == CT_JOB_RUNNING ? l->profiling ? CT_PHASE_PROFILE : CT_PHASE_RUN
				  : o->state == CT_JOB_PAUSED  ? l->paused_as
							       : CT_PHASE_QUEUE;

		if (o->finish_us < 0) {
			o->phase_us[p] += now - l->phase_since;
			l->phase_since = now;
		}
	}
}

static int check_job(const struct ct_world *w, uint32_t job, struct ct_err *err)
{
	const struct ct_job *j = &w->work->jobs[job];
	const struct ct_outcome *o = &w->outcome[job];
	ct_time end = o->finish_us < 0 ? w->where.now_us : o->finish_us, sum = 0, on_gpus;
	double duration_s = ct_seconds(j->duration_us), held_s;

	for (int p = 0; p < CT_PHASES; p++)
		sum += o->phase_us[p];
	if (sum != end - j->submit_us)
		return ct_err_at(err, CT_EMISMATCH, NULL,
				 "job '%s': its phases add up to %.6f s, its life lasted %.6f s", j->id,
				 ct_seconds(sum), ct_seconds(end - j->submit_us));
	on_gpus = sum - o->phase_us[CT_PHASE_QUEUE];
	held_s = (double)((ct_wide)ct_job_milli(j) * on_gpus) / 1e9;
	if (j->min_gpus == j->max_gpus && (o->gpu_s < held_s || o->gpu_s > held_s))
		return ct_err_at(err, CT_EMISMATCH, NULL, "job '%s': held %.6f GPU s, its time on GPUs makes %.6f",
				 j->id, o->gpu_s, held_s);
	if (o->state == CT_JOB_FINISHED && fabs(o->work_s - duration_s) > 1e-6 + 1e-9 * duration_s)
		return ct_err_at(err, CT_EMISMATCH, NULL, "job '%s': finished after %.6f s of work, wanted %.6f", j->id,
				 o->work_s, duration_s);
	return 0;
}

static int check_conservation(const struct ct_world *w, struct ct_err *err)
{
	uint64_t count[CT_JOB_STATES] = { 0 };
	ct_wide held = w->held_ended;

	for (uint32_t job = 0; job < w->n_jobs; job++) {
		count[w->outcome[job].state]++;
		if ((job < w->n_submitted) != (w->outcome[job].state != CT_JOB_FUTURE))
			return ct_err_at(err, CT_EMISMATCH, NULL, "job '%s': is lost between submission and queue",
					 w->work->jobs[job].id);
		if (job < w->n_submitted)
			CT_TRY(check_job(w, job, err));
		held += ct_live(w, job)->held; /* 0 for jobs that have ended */
	}
	if (count[CT_JOB_FINISHED] != w->n_finished || count[CT_JOB_FAILED] != w->n_failed ||
	    count[CT_JOB_REJECTED] != w->n_rejected || count[CT_JOB_QUEUED] != (uint64_t)w->n_queued ||
	    count[CT_JOB_STARTING] + count[CT_JOB_RUNNING] + count[CT_JOB_PAUSED] != (uint64_t)w->n_running)
		return ct_err_at(
		    err, CT_EMISMATCH, NULL,
		    "jobs are not conserved: %llu submitted, counted %llu finished, %llu failed, %llu rejected, "
		    "%llu queued",
		    (unsigned long long)w->n_submitted, (unsigned long long)count[CT_JOB_FINISHED],
		    (unsigned long long)count[CT_JOB_FAILED], (unsigned long long)count[CT_JOB_REJECTED],
		    (unsigned long long)count[CT_JOB_QUEUED]);
	if (held != w->shares_total)
		return ct_err_at(err, CT_EMISMATCH, NULL,
				 "GPU time is not conserved: jobs held %.9g GPU s, the cluster gave %.9g",
				 (double)held / 1e9, (double)w->shares_total / 1e9);
	return 0;
}

int ct_world_finish(struct ct_world *w, struct ct_err *err)
{
	close_jobs(w);
	make_series(w);
	return check_conservation(w, err);
}
