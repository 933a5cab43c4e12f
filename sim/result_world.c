/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a finished world to a result.
 *
 * One pass over the jobs in blocks that fit the cache: a job and its outcome are
 * read once, forty cells come out, which are stored or only hashed. With a million
 * jobs a pass a column would read 200 MB forty times. */
#include "sim/result_digest.h"
#include "sim/result_frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the columns of /jobs, in order; what they mean stands in result.h */
#define JOB_COLUMNS(X)                            \
	X(job_id, "", TEXT)                       \
	X(workload_name, "", CODE)                \
	X(submission_time, "s", TIME)             \
	X(requested_number_of_resources, "", I64) \
	X(requested_time, "s", TIME)              \
	X(success, "", I64)                       \
	X(starting_time, "s", TIME)               \
	X(execution_time, "s", TIME)              \
	X(finish_time, "s", TIME)                 \
	X(waiting_time, "s", TIME)                \
	X(turnaround_time, "s", TIME)             \
	X(stretch, "", F64)                       \
	X(allocated_resources, "", TEXT)          \
	X(state, "", CODE)                        \
	X(reason, "", CODE)                       \
	X(measured, "", I64)                      \
	X(attained, "", I64)                      \
	X(queue_s, "s", TIME)                     \
	X(profile_s, "s", TIME)                   \
	X(start_s, "s", TIME)                     \
	X(run_s, "s", TIME)                       \
	X(pause_s, "s", TIME)                     \
	X(switch_s, "s", TIME)                    \
	X(gpu_s, "GPU s", F64)                    \
	X(work_s, "s", F64)                       \
	X(lost_s, "s", F64)                       \
	X(slowdown, "", F64)                      \
	X(starts, "", I64)                        \
	X(preemptions, "", I64)                   \
	X(migrations, "", I64)                    \
	X(switches, "", I64)                      \
	X(num_gpus, "", I64)                      \
	X(min_gpus, "", I64)                      \
	X(max_gpus, "", I64)                      \
	X(gpu_milli, "GPU/1000", I64)             \
	X(gpu_mem_mib, "MiB", I64)                \
	X(cpu_milli, "CPU/1000", I64)             \
	X(mem_mib, "MiB", I64)                    \
	X(priority, "", I64)                      \
	X(duration_s, "s", TIME)                  \
	X(deadline_s, "s", TIME)                  \
	X(partition, "", CODE)                    \
	X(gpu_type, "", CODE)                     \
	X(user, "", CODE)                         \
	X(group, "", CODE)                        \
	X(model, "", CODE)                        \
	X(trace_state, "", CODE)                  \
	X(class, "", CODE)                        \
	X(window_frac, "", F64)                   \
	X(short_slowdown_s, "s", F64)             \
	X(short_mistaken_s, "s", F64)             \
	X(short_config_s, "s", F64)               \
	X(short_fewer_s, "s", F64)

enum job_column {
#define ID(name, unit, type) C_##name,
	JOB_COLUMNS(ID)
#undef ID
	    N_COLUMNS
};
static const struct {
	const char *name, *unit;
	enum ct_column_type type;
} job_column[N_COLUMNS] = {
#define INFO(name, unit, type) { #name, unit, CT_COLUMN_##type },
	JOB_COLUMNS(INFO)
#undef INFO
};

/* Columns that in most runs equal another one, cell by cell: they share its memory
 * until they differ. Of a million jobs each is 8 MB. */
static const struct {
	int column, like;
} twin[] = {
	{ C_num_gpus, C_requested_number_of_resources },
	{ C_min_gpus, C_requested_number_of_resources },
	{ C_max_gpus, C_requested_number_of_resources },
	{ C_run_s, C_execution_time },
	{ C_duration_s, C_execution_time },
	{ C_queue_s, C_waiting_time },
	{ C_slowdown, C_stretch },
};
enum { TWINS = sizeof twin / sizeof *twin };

union cell {
	double f64;
	int64_t i64;
};
/* Cells of one column in a block. Not a power of two: the columns of a row would
 * fall into the same few sets of the cache. */
enum { BLOCK = 248 };

/* Values of the column class. */
enum job_class { JOB_UNKNOWN, JOB_TRAIN, JOB_INFER, JOB_CLASSES };
static const char *const class_name[JOB_CLASSES] = { "unknown", "train", "infer" };

/* The jobs of the measurement window and what is summed over them. */
struct tally {
	ct_time first, from, until; /* first submission; window, absolute */
	double floor;
	uint64_t measured, censored, attained;
	uint64_t of_class[JOB_CLASSES], attained_of_class[JOB_CLASSES];
	ct_wide jct, wait; /* sums in microseconds: exact */
	double slowdown, window_frac;
	struct by_size { /* one GPU, gangs: sums */
		uint64_t n;
		double run, colo;
	} size[2];
	struct shortfall { /* GPU-seconds; see metrics.h */
		double all, transition, slowdown, mistaken, config, fewer;
	} s;
	double *jct_us; /* of each measured job */
	uint64_t ended; /* within the window, whenever submitted */
	ct_wide ended_jct;
	double arrived, finished; /* GPU-seconds: of jobs of the window that can run, and of all that finished */
};

struct maker {
	struct ct_arena *arena;
	const struct ct_workload *work;
	const struct ct_outcome *outcomes;
	const struct ct_attained *attained;
	const uint32_t *places;
	const struct ct_family *const *families; /* may be NULL */
	const uint32_t *kind;                    /* the trace's own column of that name; may be NULL */
	uint32_t kind_number[JOB_CLASSES];       /* "train" and "infer" in it */
	int believed;                            /* there was a belief */
	size_t rows;
	struct tally t;
	union cell (*block)[BLOCK]; /* [N_COLUMNS] */
	int keep;                   /* the columns; otherwise their digests only */
	struct ct_fill fill[N_COLUMNS];
	struct ct_column_digest *digest; /* [N_COLUMNS] */
	int twin_of[N_COLUMNS];          /* column whose memory it shares; -1 = none */
	struct ct_coder coder[N_COLUMNS];
	struct ct_texts ids, allocated;
};

static int is_ended(const struct ct_outcome *o)
{
	return o->state >= CT_JOB_FINISHED;
}

static ct_time or_absent(ct_time t)
{
	return t < 0 ? CT_NO_TIME : t;
}

static int attains(const struct ct_job *j, const struct ct_outcome *o, double floor)
{
	return (double)j->duration_us >= floor * (double)(o->finish_us - o->start_us);
}

/* What evalys expects. A difference exists where both ends do; a rejected job has
 * neither start nor finish. */
static void put_times(union cell (*b)[BLOCK], size_t i, const struct ct_job *j, const struct ct_outcome *o)
{
	int started = o->start_us >= 0, ended = o->finish_us >= 0 && o->state != CT_JOB_REJECTED;
	ct_time turnaround = ended ? o->finish_us - j->submit_us : CT_NO_TIME;
	ct_time execution = started && ended ? o->finish_us - o->start_us : CT_NO_TIME;

	b[C_submission_time][i].i64 = j->submit_us;
	b[C_requested_time][i].i64 = or_absent(j->requested_us);
	b[C_starting_time][i].i64 = or_absent(o->start_us);
	b[C_execution_time][i].i64 = execution;
	b[C_finish_time][i].i64 = ended ? o->finish_us : CT_NO_TIME;
	b[C_waiting_time][i].i64 = started ? o->start_us - j->submit_us : CT_NO_TIME;
	b[C_turnaround_time][i].i64 = turnaround;
	b[C_stretch][i].f64 = execution > 0 ? (double)turnaround / (double)execution : NAN;
	b[C_slowdown][i].f64 = o->state == CT_JOB_FINISHED ? (double)turnaround / (double)j->duration_us : NAN;
	b[C_duration_s][i].i64 = j->duration_us;
	b[C_deadline_s][i].i64 = or_absent(j->deadline_us);
}

static void put_request(union cell (*b)[BLOCK], size_t i, const struct ct_job *j)
{
	b[C_requested_number_of_resources][i].i64 = j->num_gpus;
	b[C_num_gpus][i].i64 = j->num_gpus;
	b[C_min_gpus][i].i64 = j->min_gpus;
	b[C_max_gpus][i].i64 = j->max_gpus;
	b[C_gpu_milli][i].i64 = j->gpu_milli;
	b[C_gpu_mem_mib][i].i64 = j->gpu_mem_mib;
	b[C_cpu_milli][i].i64 = j->cpu_milli;
	b[C_mem_mib][i].i64 = j->mem_mib;
	b[C_priority][i].i64 = j->priority;
}

static void put_outcome(union cell (*b)[BLOCK], size_t i, const struct ct_outcome *o)
{
	static const uint8_t phase_column[CT_PHASES] = {
		[CT_PHASE_QUEUE] = C_queue_s, [CT_PHASE_PROFILE] = C_profile_s, [CT_PHASE_START] = C_start_s,
		[CT_PHASE_RUN] = C_run_s,     [CT_PHASE_PAUSE] = C_pause_s,     [CT_PHASE_SWITCH] = C_switch_s,
	};

	for (int p = 0; p < CT_PHASES; p++)
		b[phase_column[p]][i].i64 = o->phase_us[p];
	b[C_success][i].i64 = o->state == CT_JOB_FINISHED;
	b[C_gpu_s][i].f64 = o->gpu_s;
	b[C_work_s][i].f64 = o->work_s;
	b[C_lost_s][i].f64 = o->lost_s;
	b[C_starts][i].i64 = o->n_starts;
	b[C_preemptions][i].i64 = o->n_preemptions;
	b[C_migrations][i].i64 = o->n_migrations;
	b[C_switches][i].i64 = o->n_switches;
}

static void put_attained(const struct maker *m, size_t i, const struct ct_outcome *o)
{
	const struct ct_attained *a = &m->attained[o->attain];
	int finished = o->state == CT_JOB_FINISHED;

	m->block[C_window_frac][i].f64 = finished ? a->window_frac : NAN;
	m->block[C_short_slowdown_s][i].f64 = finished ? a->slowdown_s : NAN;
	m->block[C_short_mistaken_s][i].f64 = finished && m->believed ? a->mispredicted_s : NAN;
	m->block[C_short_config_s][i].f64 = finished ? a->config_s : NAN;
	m->block[C_short_fewer_s][i].f64 = finished ? a->gpus_s : NAN;
}

/* Whoever made the trace may know better than a calibration that does not know the job. */
static enum job_class class_of(const struct maker *m, size_t job)
{
	const struct ct_family *f = m->families ? m->families[job] : NULL;

	if (f && f->train >= 0)
		return f->train ? JOB_TRAIN : JOB_INFER;
	for (int k = JOB_TRAIN; m->kind && k < JOB_CLASSES; k++)
		if (m->kind[job] == m->kind_number[k])
			return (enum job_class)k;
	return JOB_UNKNOWN;
}

static void find_classes(struct maker *m)
{
	for (size_t e = 0; e < m->work->n_columns; e++)
		if (strcmp(m->work->columns[e].name, "kind") == 0)
			m->kind = m->work->columns[e].value;
	for (int k = JOB_TRAIN; k < JOB_CLASSES; k++)
		m->kind_number[k] = ct_strings_find(&m->work->strings, class_name[k], strlen(class_name[k]));
}

static void put_codes(struct maker *m, size_t i, const struct ct_job *j, const struct ct_outcome *o)
{
	enum job_class class = class_of(m, (size_t)(j - m->work->jobs));
	const struct ct_strings *s = &m->work->strings;
	const struct {
		enum job_column column;
		uint32_t number;
	} named[] = {
		{ C_partition, j->partition }, { C_gpu_type, j->gpu_type }, { C_user, j->user },
		{ C_group, j->group },         { C_model, j->model },       { C_trace_state, j->state },
	};

	for (size_t k = 0; k < sizeof named / sizeof *named; k++)
		m->block[named[k].column][i].i64 = ct_coder_put(&m->coder[named[k].column], m->arena, named[k].number,
								ct_strings_text(s, named[k].number), 1);
	m->block[C_workload_name][i].i64 =
	    ct_coder_put(&m->coder[C_workload_name], m->arena, 0, "w0", 1); /* Batsim's first workload */
	m->block[C_class][i].i64 = ct_coder_put(&m->coder[C_class], m->arena, class, class_name[class], 1);
	m->block[C_state][i].i64 = ct_coder_put(&m->coder[C_state], m->arena, o->state, ct_job_state_name(o->state), 1);
	m->block[C_reason][i].i64 =
	    ct_coder_put(&m->coder[C_reason], m->arena, o->reason, ct_reason_name(o->reason), 1);
}

static char *put_number(char *to, uint32_t v)
{
	char digits[10];
	int n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*to++ = digits[--n];
	return to;
}

/* "0-3 8 10-12" */
static void put_ranges(struct ct_texts *t, const uint32_t *range, uint32_t n)
{
	char *start = ct_texts_room(t, (size_t)n * 22), *to = start; /* 2 numbers of 10 digits, '-', ' ' */

	for (uint32_t i = 0; i < n; i++) {
		if (i)
			*to++ = ' ';
		to = put_number(to, range[2 * i]);
		if (range[2 * i + 1] != range[2 * i]) {
			*to++ = '-';
			to = put_number(to, range[2 * i + 1]);
		}
	}
	ct_texts_put(t, (size_t)(to - start));
}

static void put_texts(struct maker *m, const struct ct_job *j, const struct ct_outcome *o)
{
	size_t n = strlen(j->id);

	memcpy(ct_texts_room(&m->ids, n), j->id, n);
	ct_texts_put(&m->ids, n);
	put_ranges(&m->allocated, o->n_place ? m->places + 2 * (size_t)o->place : NULL, o->n_place);
}

static int in_window(const struct tally *t, const struct ct_job *j)
{
	return j->submit_us >= t->from && j->submit_us < t->until;
}

/* What a finished job fell short of its default rate, by cause. */
static void tally_shortfall(struct tally *t, const struct ct_job *j, const struct ct_outcome *o,
			    const struct ct_attained *a)
{
	double gpus = (double)j->num_gpus * j->gpu_milli / 1000;
	ct_time still = o->phase_us[CT_PHASE_START] + o->phase_us[CT_PHASE_PAUSE] + o->phase_us[CT_PHASE_SWITCH];

	t->window_frac += a->window_frac;
	t->s.all += gpus * ct_seconds(o->finish_us - o->start_us - j->duration_us);
	t->s.transition += gpus * ct_seconds(still);
	t->s.slowdown += gpus * a->slowdown_s;
	t->s.mistaken += gpus * (o->attain ? a->mispredicted_s : 0);
	t->s.config += gpus * a->config_s;
	t->s.fewer += gpus * a->gpus_s;
}

/* What is said of jobs by when they ended, and of work that came and was done. */
static void tally_work(struct tally *t, const struct ct_job *j, const struct ct_outcome *o)
{
	double work = ct_seconds(j->duration_us) * j->num_gpus * j->gpu_milli / 1000;

	if (in_window(t, j) && o->state != CT_JOB_REJECTED)
		t->arrived += work;
	if (o->state != CT_JOB_FINISHED)
		return;
	t->finished += work;
	if (o->finish_us < t->from || o->finish_us >= t->until)
		return;
	t->ended++;
	t->ended_jct += o->finish_us - j->submit_us;
}

static double run_slowdown(const struct ct_job *j, const struct ct_outcome *o)
{
	return (double)(o->finish_us - o->start_us) / (double)j->duration_us;
}

static void tally_size(struct by_size *s, const struct ct_job *j, const struct ct_outcome *o,
		       const struct ct_attained *a)
{
	s->n++;
	s->run += run_slowdown(j, o);
	s->colo += 1 + a->slowdown_s / ct_seconds(j->duration_us);
}

/* Counts a job of the measurement window; says whether JCT and wait cover it. */
static int tally_job(struct maker *m, const struct ct_job *j, const struct ct_outcome *o)
{
	enum job_class class = class_of(m, (size_t)(j - m->work->jobs));
	struct tally *t = &m->t;
	ct_time jct;
	int met;

	tally_work(t, j, o);
	if (!in_window(t, j))
		return 0;
	t->censored += !is_ended(o);
	if (o->state != CT_JOB_FINISHED)
		return 0;
	jct = o->finish_us - j->submit_us;
	t->jct_us[t->measured++] = (double)jct;
	t->jct += jct;
	t->wait += o->phase_us[CT_PHASE_QUEUE];
	t->slowdown += (double)jct / (double)j->duration_us;
	met = attains(j, o, t->floor);
	t->attained += (uint64_t)met;
	t->of_class[class]++;
	t->attained_of_class[class] += (uint64_t)met;
	tally_shortfall(t, j, o, &m->attained[o->attain]);
	if (j->num_gpus)
		tally_size(&t->size[j->num_gpus > 1], j, o, &m->attained[o->attain]);
	return 1;
}

static void make_rows(struct maker *m, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ct_job *j = &m->work->jobs[at + i];
		const struct ct_outcome *o = &m->outcomes[at + i];

		put_times(m->block, i, j, o);
		put_request(m->block, i, j);
		put_outcome(m->block, i, o);
		put_attained(m, i, o);
		put_codes(m, i, j, o);
		put_texts(m, j, o);
		m->block[C_measured][i].i64 = tally_job(m, j, o);
		m->block[C_attained][i].i64 = o->state == CT_JOB_FINISHED && attains(j, o, m->t.floor);
	}
}

/* Before the block is stored: twins that differ in it get the rows so far. */
static void part_twins(struct maker *m, size_t n)
{
	for (size_t k = 0; k < TWINS; k++) {
		int column = twin[k].column, like = twin[k].like;

		if (m->twin_of[column] < 0 || memcmp(m->block[column], m->block[like], n * sizeof(union cell)) == 0)
			continue;
		m->twin_of[column] = -1;
		ct_fill_copy(&m->fill[column], &m->fill[like], m->arena, m->rows);
	}
}

static int is_number(int column)
{
	return job_column[column].type != CT_COLUMN_CODE && job_column[column].type != CT_COLUMN_TEXT;
}

static void digest_block(struct maker *m, size_t n)
{
	for (int c = 0; c < N_COLUMNS; c++)
		if (job_column[c].type != CT_COLUMN_TEXT)
			ct_column_digest_cells(&m->digest[c], m->block[c], n);
	ct_column_digest_texts(&m->digest[C_job_id], m->ids.heap, m->ids.used);
	ct_column_digest_texts(&m->digest[C_allocated_resources], m->allocated.heap, m->allocated.used);
	m->ids.used = m->ids.done = m->allocated.used = m->allocated.done = 0;
}

static void make_block(struct maker *m, size_t at, size_t n)
{
	make_rows(m, at, n);
	if (!m->keep) {
		digest_block(m, n);
		return;
	}
	part_twins(m, n);
	for (int c = 0; c < N_COLUMNS; c++)
		if (is_number(c) && m->twin_of[c] < 0)
			ct_fill_put(&m->fill[c], m->arena, m->rows, m->block[c], n);
}

static size_t numbers_of(const struct maker *m, int column)
{
	switch (column) {
	case C_workload_name:
		return 1;
	case C_state:
		return CT_JOB_STATES;
	case C_reason:
		return CT_REASONS;
	case C_class:
		return JOB_CLASSES;
	default:
		return m->work->strings.n;
	}
}

/* Is the name one of ours, or of another of the trace's own columns? */
static int is_taken(const struct ct_workload *work, size_t self, const char *const *names, const char *name)
{
	for (int c = 0; c < N_COLUMNS; c++)
		if (strcmp(job_column[c].name, name) == 0)
			return 1;
	for (size_t e = 0; e < work->n_columns; e++)
		if (e != self && strcmp(e < self ? names[e] : work->columns[e].name, name) == 0)
			return 1;
	return 0;
}

/* Names of the trace's own columns: "trace_" before one that is in use, as often as it
 * takes. */
static const char **extra_names(struct ct_result *r, const struct ct_workload *work)
{
	const char **name = CT_NEW(&r->arena, const char *, work->n_columns);

	for (size_t e = 0; e < work->n_columns; e++) {
		name[e] = work->columns[e].name;
		while (is_taken(work, e, name, name[e]))
			name[e] = ct_result_text(r, "trace_%s", name[e]);
	}
	return name;
}

static void keep_extra_column(struct ct_result *r, const struct maker *m, const char *name, const uint32_t *value)
{
	struct ct_column *c = ct_frame_new(&r->jobs, &r->arena, name, "", CT_COLUMN_CODE);
	struct ct_coder k;

	ct_coder_init(&k, m->work->strings.n, m->rows);
	for (size_t i = 0; i < m->rows; i++)
		ct_coder_put(&k, &r->arena, value[i], ct_strings_text(&m->work->strings, value[i]), 1);
	ct_coder_end(&k, &r->arena, c);
}

static void digest_extra_column(struct ct_digest *d, const struct maker *m, const char *name, const uint32_t *value)
{
	struct ct_column_digest digest;
	struct ct_coder k;
	int64_t block[BLOCK];

	ct_column_digest_init(&digest, name, "", CT_COLUMN_CODE);
	ct_coder_init(&k, m->work->strings.n, 0);
	for (size_t at = 0, n; at < m->rows; at += n) {
		n = m->rows - at < BLOCK ? m->rows - at : BLOCK;
		for (size_t i = 0; i < n; i++) /* the names stay in the workload, which outlives this */
			block[i] =
			    ct_coder_put(&k, NULL, value[at + i], ct_strings_text(&m->work->strings, value[at + i]), 0);
		ct_column_digest_cells(&digest, block, n);
	}
	ct_column_digest_end(&digest, k.names, k.n_names, d);
	ct_coder_fini(&k);
}

static void keep_column(struct ct_result *r, struct maker *m, int c)
{
	struct ct_column *col =
	    ct_frame_new(&r->jobs, &r->arena, job_column[c].name, job_column[c].unit, job_column[c].type);

	if (col->type == CT_COLUMN_CODE) {
		ct_coder_end(&m->coder[c], &r->arena, col);
	} else if (col->type == CT_COLUMN_TEXT) {
		ct_texts_end(c == C_job_id ? &m->ids : &m->allocated, &r->arena, col);
	} else if (m->twin_of[c] >= 0) { /* which comes earlier in the frame */
		col->constant = r->jobs.column[m->twin_of[c]].constant;
		col->v = r->jobs.column[m->twin_of[c]].v;
	} else {
		ct_fill_end(&m->fill[c], &r->arena, col);
	}
}

static void keep_columns(struct ct_result *r, struct maker *m)
{
	const char **name = extra_names(r, m->work);

	ct_frame_reserve(&r->jobs, &r->arena, N_COLUMNS + m->work->n_columns);
	for (int c = 0; c < N_COLUMNS; c++)
		keep_column(r, m, c);
	for (size_t e = 0; e < m->work->n_columns; e++)
		keep_extra_column(r, m, name[e], m->work->columns[e].value);
}

static void digest_columns(struct ct_result *r, struct maker *m)
{
	const char **name = extra_names(r, m->work);
	struct ct_digest d;

	ct_frame_digest_begin(&d, N_COLUMNS + m->work->n_columns, m->rows);
	for (int c = 0; c < N_COLUMNS; c++) {
		ct_column_digest_end(&m->digest[c], m->coder[c].names, m->coder[c].n_names, &d);
		ct_coder_fini(&m->coder[c]);
	}
	for (size_t e = 0; e < m->work->n_columns; e++)
		digest_extra_column(&d, m, name[e], m->work->columns[e].value);
	ct_digest_final(&d, r->jobs_digest);
	free(m->ids.heap);
	free(m->allocated.heap);
}

static void begin_columns(struct maker *m)
{
	size_t kept = m->keep ? m->rows : 0, texts = m->keep ? m->rows : BLOCK;

	for (int c = 0; c < N_COLUMNS; c++) {
		m->twin_of[c] = -1;
		if (job_column[c].type == CT_COLUMN_CODE)
			ct_coder_init(&m->coder[c], numbers_of(m, c), kept);
		if (!m->keep)
			ct_column_digest_init(&m->digest[c], job_column[c].name, job_column[c].unit,
					      job_column[c].type);
	}
	for (size_t k = 0; k < TWINS; k++)
		m->twin_of[twin[k].column] = twin[k].like;
	ct_texts_init(&m->ids, m->arena, texts);
	ct_texts_init(&m->allocated, m->arena, texts);
}

static void make_jobs(struct ct_result *r, struct maker *m)
{
	r->jobs.n_rows = m->rows;
	begin_columns(m);
	for (size_t at = 0; at < m->rows; at += BLOCK)
		make_block(m, at, m->rows - at < BLOCK ? m->rows - at : BLOCK);
	if (m->keep)
		keep_columns(r, m);
	else
		digest_columns(r, m);
}

/* ---- summary */

static double ratio(double a, double b)
{
	return b > 0.0 ? a / b : NAN;
}

/* Median, 95 % and 99 % quantile and maximum, in seconds. Reorders v. */
static void quantiles_of(double *v_us, size_t n, double out[4])
{
	static const double q[4] = { 0.50, 0.95, 0.99, 1.0 };

	ct_quantiles(v_us, n, q, 4, out); /* whole microseconds: exact */
	for (int k = 0; k < 4; k++)
		out[k] /= 1e6;
}

/* v: room for all measured jobs. */
static void sum_sizes(double *s, const struct maker *m, double *v)
{
	static const int mean[2] = { CT_METRIC_mean_run_slowdown_single, CT_METRIC_mean_run_slowdown_gang },
			 p90[2] = { CT_METRIC_p90_run_slowdown_single, CT_METRIC_p90_run_slowdown_gang },
			 colo[2] = { CT_METRIC_mean_colo_slowdown_single, CT_METRIC_mean_colo_slowdown_gang };
	static const double q = 0.9;

	for (int gang = 0; gang < 2; gang++) {
		const struct by_size *size = &m->t.size[gang];
		size_t k = 0;

		for (size_t i = 0; i < m->rows; i++) {
			const struct ct_job *j = &m->work->jobs[i];

			if (in_window(&m->t, j) && m->outcomes[i].state == CT_JOB_FINISHED && j->num_gpus &&
			    (j->num_gpus > 1) == gang)
				v[k++] = run_slowdown(j, &m->outcomes[i]);
		}
		ct_quantiles(v, k, &q, 1, &s[p90[gang]]);
		s[mean[gang]] = ratio(size->run, (double)size->n);
		s[colo[gang]] = ratio(size->colo, (double)size->n);
	}
}

static void sum_jobs(double *s, const struct maker *m)
{
	const struct tally *t = &m->t;
	double n = (double)t->measured, *v = t->jct_us, jct[4], wait[4];
	size_t k = 0;

	quantiles_of(v, t->measured, jct);
	for (size_t i = 0; i < m->rows; i++) /* the same memory again: fresh pages cost more than a pass */
		if (in_window(t, &m->work->jobs[i]) && m->outcomes[i].state == CT_JOB_FINISHED)
			v[k++] = (double)m->outcomes[i].phase_us[CT_PHASE_QUEUE];
	quantiles_of(v, t->measured, wait);
	sum_sizes(s, m, v);
	s[CT_METRIC_jobs_measured] = n;
	s[CT_METRIC_jobs_censored] = (double)t->censored;
	s[CT_METRIC_mean_jct_s] = ratio((double)t->jct, n) / 1e6;
	s[CT_METRIC_median_jct_s] = jct[0];
	s[CT_METRIC_p95_jct_s] = jct[1];
	s[CT_METRIC_p99_jct_s] = jct[2];
	s[CT_METRIC_max_jct_s] = jct[3];
	s[CT_METRIC_mean_wait_s] = ratio((double)t->wait, n) / 1e6;
	s[CT_METRIC_median_wait_s] = wait[0];
	s[CT_METRIC_p95_wait_s] = wait[1];
	s[CT_METRIC_p99_wait_s] = wait[2];
	s[CT_METRIC_max_wait_s] = wait[3];
	s[CT_METRIC_mean_slowdown] = ratio(t->slowdown, n);
	s[CT_METRIC_attainment_frac] = ratio((double)t->attained, n);
	s[CT_METRIC_attainment_train_frac] =
	    ratio((double)t->attained_of_class[JOB_TRAIN], (double)t->of_class[JOB_TRAIN]);
	s[CT_METRIC_attainment_infer_frac] =
	    ratio((double)t->attained_of_class[JOB_INFER], (double)t->of_class[JOB_INFER]);
	s[CT_METRIC_window_attainment_frac] = ratio(t->window_frac, n);
}

static void sum_shortfall(double *s, const struct shortfall *f, int believed)
{
	s[CT_METRIC_short_gpu_s] = f->all;
	s[CT_METRIC_short_transition_gpu_s] = f->transition;
	s[CT_METRIC_short_slowdown_gpu_s] = f->slowdown;
	s[CT_METRIC_short_tolerated_gpu_s] = believed ? f->slowdown - f->mistaken : NAN;
	s[CT_METRIC_short_mistaken_gpu_s] = believed ? f->mistaken : NAN;
	s[CT_METRIC_short_config_gpu_s] = f->config;
	s[CT_METRIC_short_fewer_gpu_s] = f->fewer;
	s[CT_METRIC_short_other_gpu_s] = f->all - f->transition - f->slowdown - f->config - f->fewer;
}

static void sum_failures(double *s, const struct ct_account *a, bool simulated)
{
	s[CT_METRIC_availability_frac] = simulated ? 1 - ratio(a->down_gpu_s, a->capacity_gpu_s) : NAN;
	s[CT_METRIC_node_failures] = simulated ? (double)a->node_failures : NAN;
	s[CT_METRIC_gpu_failures] = simulated ? (double)a->gpu_failures : NAN;
	s[CT_METRIC_failure_stops] = simulated ? (double)a->n_hits : NAN;
	s[CT_METRIC_failure_lost_gpu_s] = simulated ? a->failure_lost_gpu_s : NAN;
}

static void sum_account(double *s, const struct ct_account *a, const struct ct_cluster *c,
			const struct ct_workload *work, bool failures)
{
	double window = ct_seconds(a->window_end - a->window_start), transitions = 0.0;

	s[CT_METRIC_jobs_submitted] = (double)a->submitted;
	s[CT_METRIC_jobs_finished] = (double)a->finished;
	s[CT_METRIC_jobs_failed] = (double)a->failed;
	s[CT_METRIC_jobs_rejected] = (double)a->rejected;
	s[CT_METRIC_jobs_left] = (double)a->left;
	s[CT_METRIC_makespan_s] = a->finished ? ct_seconds(a->last_finish - a->first_submit) : NAN;
	s[CT_METRIC_throughput] = ratio(a->work_gpu_s, window);
	s[CT_METRIC_goodput_frac] = ratio(a->work_gpu_s, a->capacity_gpu_s);
	s[CT_METRIC_gpu_alloc_frac] = ratio(a->held_gpu_s, a->capacity_gpu_s);
	s[CT_METRIC_sm_active_frac] = ratio(a->sm_gpu_s, a->capacity_gpu_s);
	s[CT_METRIC_gpu_mem_frac] = ratio(a->mem_mib_s, a->capacity_mem_mib_s);
	s[CT_METRIC_offered_load] = work->n ? ct_workload_offered_load(work, (double)c->n_gpus) : NAN;
	s[CT_METRIC_mean_queue_length] = ratio(a->queue_s, window);
	s[CT_METRIC_blocked_idle_frac] = ratio(a->idle_while_queued_gpu_s, a->capacity_gpu_s);
	s[CT_METRIC_lost_work_gpu_s] = a->lost_gpu_s;
	s[CT_METRIC_starts] = (double)a->n_transitions[CT_TRANSITION_START];
	s[CT_METRIC_resumes] = (double)a->n_transitions[CT_TRANSITION_RESUME];
	s[CT_METRIC_switches] = (double)a->n_transitions[CT_TRANSITION_SWITCH];
	s[CT_METRIC_migrations] = (double)a->n_transitions[CT_TRANSITION_MIGRATE];
	for (int k = 0; k < CT_TRANSITION_KINDS; k++)
		transitions += a->transition_s[k];
	s[CT_METRIC_transition_s] = transitions;
	sum_failures(s, a, failures);
}

/* The same things by other definitions. */
static void sum_terms(double *s, const struct ct_account *a, const struct tally *t)
{
	double window = ct_seconds(a->window_end - a->window_start), n = (double)t->ended;
	double growth = t->arrived - a->work_gpu_s;

	if (fabs(growth) <= 1e-9 * t->arrived) /* both sums were rounded on their way */
		growth = 0;
	s[CT_METRIC_active_jobs] = ratio(a->active_s, window);
	s[CT_METRIC_window_finished] = n;
	s[CT_METRIC_window_finished_per_h] = ratio(n * 3600, window);
	s[CT_METRIC_window_finished_jct_s] = ratio((double)t->ended_jct, n) / 1e6;
	s[CT_METRIC_drained_throughput] =
	    a->finished ? ratio(t->finished, ct_seconds(a->last_finish - a->first_submit)) : NAN;
	s[CT_METRIC_backlog_growth] = ratio(growth, window);
	s[CT_METRIC_sm_union_frac] = ratio(a->sm_union_gpu_s, a->capacity_gpu_s);
}

/* ---- series and events */

static void make_series(struct ct_result *r, const struct ct_world *w)
{
	struct ct_frame *f = &r->series;
	struct ct_arena *a = &r->arena;
	struct ct_series s;
	int64_t *time;
	double *total;

	ct_world_series(w, &s);
	f->n_rows = s.n;
	time = ct_calloc(s.n, sizeof *time);
	total = ct_calloc(s.n, sizeof *total);
	for (size_t i = 0; i < s.n; i++) {
		time[i] = s.start_us + (ct_time)i * s.bin_us;
		total[i] = ct_world_cluster(w)->n_gpus;
	}
	ct_frame_add_i64(f, a, "time", "s", CT_COLUMN_TIME, time);
	ct_frame_add_f64(f, a, "held_gpus", "GPUs", s.held_gpus);
	ct_frame_add_f64(f, a, "sm_gpus", "GPUs", s.sm_gpus);
	ct_frame_add_f64(f, a, "queued_jobs", "jobs", s.queued_jobs);
	ct_frame_add_f64(f, a, "running_jobs", "jobs", s.running_jobs);
	ct_frame_add_f64(f, a, "queued_gpus", "GPUs", s.queued_gpus);
	ct_frame_add_f64(f, a, "gpu_mem_mib", "MiB", s.gpu_mem_mib);
	ct_frame_add_f64(f, a, "total_gpus", "GPUs", total);
	free(time);
	free(total);
}

static int is_node_event(unsigned kind)
{
	return kind == CT_DID_NODE_DOWN || kind == CT_DID_NODE_UP || kind == CT_DID_RESERVE;
}

static int is_gpu_event(unsigned kind)
{
	return kind == CT_DID_GPU_DOWN || kind == CT_DID_GPU_UP;
}

static int is_job_event(unsigned kind)
{
	return !is_node_event(kind) && !is_gpu_event(kind) && kind != CT_DID_WAKE;
}

/* time, kind, job_id ("" for a node's), node (-1 for a job's), configuration; where GPUs
 * failed also gpu, cluster-wide (-1 for all others'). */
static void make_events(struct ct_result *r, const struct ct_world *w)
{
	const struct ct_job *jobs = ct_world_spec_of(w)->work->jobs;
	struct ct_frame *f = &r->events;
	struct ct_arena *a = &r->arena;
	struct ct_coder kind, job;
	size_t n;
	const struct ct_happening *h = ct_world_happenings(w, &n);
	int64_t *time = ct_calloc(n, sizeof *time), *node = ct_calloc(n, sizeof *node),
		*config = ct_calloc(n, sizeof *config), *gpu = ct_calloc(n, sizeof *gpu);
	bool gpus_failed = false;

	f->n_rows = n;
	ct_coder_init(&kind, CT_EVENT_KINDS, n);
	ct_coder_init(&job, r->jobs.n_rows + 1, n);
	for (size_t i = 0; i < n; i++) {
		int of_job = is_job_event(h[i].kind);

		time[i] = h[i].time;
		node[i] = is_node_event(h[i].kind) ? (int64_t)h[i].subject : -1;
		config[i] = of_job ? h[i].config : -1;
		gpu[i] = is_gpu_event(h[i].kind) ? (int64_t)h[i].subject : -1;
		gpus_failed |= gpu[i] >= 0;
		if (gpu[i] >= 0)
			node[i] = ct_world_cluster(w)->gpus[gpu[i]].node;
		ct_coder_put(&kind, a, h[i].kind, ct_event_kind_name(h[i].kind), 1);
		ct_coder_put(&job, a, of_job ? h[i].subject + 1 : 0, of_job ? jobs[h[i].subject].id : "", 1);
	}
	ct_frame_add_i64(f, a, "time", "s", CT_COLUMN_TIME, time);
	ct_coder_end(&kind, a, ct_frame_new(f, a, "kind", "", CT_COLUMN_CODE));
	ct_coder_end(&job, a, ct_frame_new(f, a, "job_id", "", CT_COLUMN_CODE));
	ct_frame_add_i64(f, a, "node", "", CT_COLUMN_I64, node);
	ct_frame_add_i64(f, a, "config", "", CT_COLUMN_I64, config);
	if (gpus_failed)
		ct_frame_add_i64(f, a, "gpu", "", CT_COLUMN_I64, gpu);
	free(gpu);
	free(time);
	free(node);
	free(config);
}

/* ---- */

static void maker_init(struct maker *m, struct ct_result *r, const struct ct_world *w, const struct ct_account *a,
		       int keep)
{
	const struct ct_world_spec *spec = ct_world_spec_of(w);
	ct_time first = a->submitted ? a->first_submit : 0;

	*m = (struct maker){
		.arena = &r->arena,
		.work = spec->work,
		.outcomes = ct_world_outcomes(w),
		.attained = ct_world_attained(w),
		.places = ct_world_places(w),
		.families = spec->families,
		.rows = (size_t)a->submitted,
		.believed = spec->belief != NULL,
		.keep = keep,
	};
	m->t = (struct tally){
		.first = first,
		.from = first + spec->warmup_us,
		.until = spec->until_us == CT_NEVER ? CT_NEVER : first + spec->until_us,
		.floor = spec->attain_floor,
	};
	find_classes(m);
	m->t.jct_us = ct_calloc(m->rows, sizeof *m->t.jct_us);
	m->block = ct_calloc(N_COLUMNS, sizeof *m->block);
	m->digest = ct_calloc(N_COLUMNS, sizeof *m->digest);
}

static void make_result(struct ct_result *r, const struct ct_world *w, int keep)
{
	struct ct_account a;
	struct maker m;

	ct_world_account(w, &a);
	maker_init(&m, r, w, &a, keep);
	for (size_t i = 0; i < m.work->n; i++) /* the submitted are the first: jobs stand in order of submission */
		CT_CHECK(ct_world_where(w), (i < m.rows) == (m.outcomes[i].state != CT_JOB_FUTURE),
			 "job '%s' is not counted as %ssubmitted", m.work->jobs[i].id, i < m.rows ? "" : "not ");
	make_jobs(r, &m);
	sum_jobs(r->summary, &m);
	sum_shortfall(r->summary, &m.t.s, m.believed);
	sum_account(r->summary, &a, ct_world_cluster(w), m.work, ct_failures_on(&ct_world_spec_of(w)->failures));
	sum_terms(r->summary, &a, &m.t);
	make_series(r, w);
	if (ct_world_spec_of(w)->record_events)
		make_events(r, w);
	if (keep && ct_world_spec_of(w)->record_decisions)
		ct_result_add_log(r, w);
	r->partial = ct_world_stopped(w);
	free(m.t.jct_us);
	free(m.block);
	free(m.digest);
}

void ct_result_from_world(struct ct_result *r, const struct ct_world *w)
{
	make_result(r, w, 1);
}

void ct_result_summarise(struct ct_result *r, const struct ct_world *w)
{
	make_result(r, w, 0);
}
