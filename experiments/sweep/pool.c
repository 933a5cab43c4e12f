/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/pool.h"

#include "experiments/command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 100, MESSAGE = 4096, CRASHED = -1 };

/* What a worker writes into its pipe. */
struct note {
	uint32_t item; /* row of the table */
	int32_t done;  /* 0: begins */
};

struct worker {
	pid_t pid; /* 0: none */
	int pipe, errors;
	const struct ct_sweep_batch *batch;
	size_t at; /* of the batch: cells before it have ended */
	int busy;  /* cell `at` has begun */
	int late;  /* killed for taking too long */
	double since;
};

struct state {
	const struct ct_sweep_pool *p;
	struct worker *worker;
	struct pollfd *poll;
	const struct ct_sweep_batch *next, *end;
	uint64_t done, total;
	struct ct_err *err;
};

/* ---- in the worker */

/* Memory beyond what was there at the fork. */
static void limit_memory(int64_t mib)
{
	unsigned long pages = 0;
	FILE *f = mib ? fopen("/proc/self/statm", "r") : NULL;
	struct rlimit limit;

	if (!f)
		return;
	if (fscanf(f, "%lu", &pages) == 1) {
		limit.rlim_cur = limit.rlim_max =
		    (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)mib * 1024 * 1024;
		setrlimit(RLIMIT_AS, &limit);
	}
	fclose(f);
}

/* The kernel's high-water mark of memory starts again (proc(5), clear_refs). */
static void reset_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, "5", 1);
		close(fd);
	}
}

static void measure(const struct ct_cell_result *r, double wall_s, double *perf)
{
	double engine_s = r->perf.cpu_s - r->perf.policy_cpu_s;
	struct rusage use;

	perf[CT_SWEEP_PERF_cpu_s] = r->cpu_s;
	perf[CT_SWEEP_PERF_wall_s] = wall_s;
	perf[CT_SWEEP_PERF_read_s] = r->setup.read_s;
	perf[CT_SWEEP_PERF_peak_rss_mib] =
	    getrusage(RUSAGE_SELF, &use) == 0 ? (double)use.ru_maxrss / 1024 : (double)NAN;
	perf[CT_SWEEP_PERF_events] = (double)r->perf.events;
	perf[CT_SWEEP_PERF_events_per_s] = engine_s > 0 ? (double)r->perf.events / engine_s : (double)NAN;
	perf[CT_SWEEP_PERF_epoch_ms_mean] = r->perf.schedule_mean_ms;
}

static int run_cell(const struct ct_sweep_pool *p, const struct ct_sweep_row *row, struct ct_err *err)
{
	struct ct_cell_request q = { .pool = p->jobs, .want_jobs = p->plan->opt.results };
	double perf[CT_SWEEP_PERF_COUNT], start = ct_wall_s();
	struct ct_cell_result r;
	struct ct_config c;
	int rc;

	ct_config_init(&c);
	rc = ct_sweep_plan_config(p->plan, row->cell - 1, p->set, p->n_set, &c, err);
	if (!rc)
		rc = ct_cell_run(&c, &q, &r, err);
	if (!rc) {
		measure(&r, ct_wall_s() - start, perf);
		rc = ct_sweep_store_put(p->store, row->hash, &c, &r, perf, p->plan->opt.results, err);
		ct_cell_fini(&r);
	}
	ct_config_fini(&c);
	return rc;
}

static void say(int fd, size_t item, int done)
{
	const struct note n = { (uint32_t)item, done };

	if (write(fd, &n, sizeof n) != (ssize_t)sizeof n)
		_exit(CT_EIO); /* nobody listens */
}

__attribute__((noreturn)) static void work(const struct state *s, const struct worker *w, int to_parent)
{
	struct ct_err err = { 0 };

	limit_memory(s->p->plan->opt.memory_limit_mib);
	for (size_t i = w->at; i < w->batch->n; i++) {
		say(to_parent, w->batch->item[i], 0);
		reset_peak();
		if (run_cell(s->p, &s->p->table->row[w->batch->item[i]], &err)) {
			ct_err_print(&err, stderr);
			fflush(stderr);
			_exit((int)err.code);
		}
		say(to_parent, w->batch->item[i], 1);
	}
	_exit(CT_OK);
}

/* ---- starting one */

/* In the child: signals and streams are its own. Ctrl-C reaches the whole group; the
 * parent ends us. */
static void become_worker(pid_t parent, int errors, int lock)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CT_EIO);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	dup2(errors, STDERR_FILENO);
	close(lock);
}

static int cannot_start(struct state *s, const char *what)
{
	return ct_err_add(s->err, CT_EIO, NULL, "cannot start a worker: %s: %s", what, strerror(errno));
}

static int start(struct state *s, struct worker *w)
{
	pid_t parent = getpid();
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return cannot_start(s, "pipe");
	w->errors = memfd_create("worker", MFD_CLOEXEC);
	if (w->errors < 0) {
		cannot_start(s, "memfd_create");
		close(fd[0]);
		close(fd[1]);
		return (int)s->err->code;
	}
	w->busy = w->late = 0;
	w->since = ct_wall_s();
	w->pipe = fd[0];
	fflush(stdout);
	fflush(stderr);
	w->pid = fork();
	if (w->pid == 0) {
		become_worker(parent, w->errors, s->p->store->lock);
		work(s, w, fd[1]);
	}
	close(fd[1]);
	if (w->pid > 0)
		return 0;
	w->pid = 0;
	cannot_start(s, "fork");
	close(w->pipe);
	close(w->errors);
	return (int)s->err->code;
}

/* ---- what became of one */

static void count(struct state *s, struct worker *w, enum ct_sweep_state state)
{
	s->p->table->row[w->batch->item[w->at]].state = state;
	w->at++;
	w->busy = 0;
	s->done++;
	if (s->p->progress)
		s->p->progress(s->p->ctx, s->done, s->total);
}

/* Takes the notes that are there; 0: the pipe is closed. */
static int listen(struct state *s, struct worker *w)
{
	struct note n;
	ssize_t got;

	do
		got = read(w->pipe, &n, sizeof n);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof n)
		return 0;
	w->since = ct_wall_s();
	w->busy = 1;
	if (n.done)
		count(s, w, CT_SWEEP_DONE);
	return 1;
}

/* The last thing it said, without the program's prefix of each error. */
static const char *last_words(const struct worker *w, struct ct_arena *arena)
{
	static const char prefix[] = "cotenant: error: ";
	char text[MESSAGE + 1], *at = text;
	off_t size = lseek(w->errors, 0, SEEK_END), from = size > MESSAGE ? size - MESSAGE : 0;
	ssize_t n = pread(w->errors, text, MESSAGE, from);
	char *error, *next;

	if (n <= 0)
		return "";
	text[n] = '\0';
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	error = strstr(text, prefix);
	if (error)
		at = error + strlen(prefix);
	else if (strncmp(text, "cotenant: ", strlen("cotenant: ")) == 0)
		at = text + strlen("cotenant: ");
	for (error = at; (next = strstr(error, prefix)) != NULL; error = at)
		memmove(next, next + strlen(prefix), strlen(next + strlen(prefix)) + 1);
	return ct_arena_text(arena, at, strlen(at));
}

__attribute__((format(printf, 2, 3))) static const char *text(struct ct_arena *arena, const char *fmt, ...)
{
	char s[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s, sizeof s, fmt, ap);
	va_end(ap);
	return ct_arena_text(arena, s, strlen(s));
}

static void explain(const struct state *s, const struct worker *w, int status, struct ct_sweep_row *row)
{
	struct ct_arena *arena = &s->p->table->arena;

	row->message = last_words(w, arena);
	if (w->late)
		row->status = text(arena, "time limit of %g s", ct_seconds(s->p->plan->opt.time_limit));
	else if (strstr(row->message, "out of memory") && s->p->plan->opt.memory_limit_mib)
		row->status = text(arena, "memory limit of %lld MiB", (long long)s->p->plan->opt.memory_limit_mib);
	else if (WIFSIGNALED(status))
		row->status = text(arena, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		row->status = text(arena, "exit %d", WEXITSTATUS(status));
	if (!*row->message)
		row->message = w->late ? "killed" : "no message";
	row->command = text(arena, "%s --only %u", s->p->command, row->cell);
}

/* The YAML that repeats it. */
static int record(struct state *s, struct ct_sweep_row *row)
{
	struct ct_err ignored = { 0 };
	struct ct_config c;
	int rc;

	ct_config_init(&c);
	rc = ct_sweep_plan_config(s->p->plan, row->cell - 1, s->p->set, s->p->n_set, &c, &ignored);
	rc = ct_sweep_store_fail(s->p->store, row, rc ? NULL : ct_config_yaml(&c), s->err);
	ct_config_fini(&c);
	return rc;
}

/* A worker is gone: its cell failed, or it was between two, or through. One that went
 * before it had begun anything counts against its first cell, so that this ends. */
static int bury(struct state *s, struct worker *w)
{
	struct ct_sweep_row *row;
	int status = 0, began;

	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(w->pipe);
	w->pid = 0;
	began = w->busy || !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	if (w->at < w->batch->n && began) {
		row = &s->p->table->row[w->batch->item[w->at]];
		explain(s, w, status, row);
		CT_TRY(record(s, row));
		count(s, w, CT_SWEEP_FAILED);
	}
	close(w->errors);
	return w->at < w->batch->n ? start(s, w) : 0;
}

/* ---- the loop */

static unsigned fill(struct state *s)
{
	unsigned active = 0;

	for (unsigned i = 0; i < s->p->workers; i++) {
		struct worker *w = &s->worker[i];

		if (!w->pid && s->next < s->end) {
			w->batch = s->next++;
			w->at = 0;
			if (start(s, w))
				return 0;
		}
		active += w->pid != 0;
	}
	return active;
}

static void end_all(struct state *s)
{
	for (unsigned i = 0; i < s->p->workers; i++) {
		struct worker *w = &s->worker[i];

		if (!w->pid)
			continue;
		kill(w->pid, SIGKILL);
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
		close(w->pipe);
		close(w->errors);
		w->pid = 0;
	}
}

static void kill_late(struct state *s)
{
	double limit = ct_seconds(s->p->plan->opt.time_limit), now = ct_wall_s();

	for (unsigned i = 0; limit > 0 && i < s->p->workers; i++) {
		struct worker *w = &s->worker[i];

		if (w->pid && w->busy && !w->late && now - w->since > limit) {
			w->late = 1;
			kill(w->pid, SIGKILL);
		}
	}
}

static int attend(struct state *s)
{
	unsigned n = s->p->workers;

	for (unsigned i = 0; i < n; i++)
		s->poll[i] = (struct pollfd){ .fd = s->worker[i].pid ? s->worker[i].pipe : -1, .events = POLLIN };
	if (poll(s->poll, n, TICK_MS) < 0)
		return 0; /* a signal: the caller looks */
	for (unsigned i = 0; i < n; i++)
		if (s->poll[i].revents && !listen(s, &s->worker[i]))
			CT_TRY(bury(s, &s->worker[i]));
	kill_late(s);
	if (s->p->progress)
		s->p->progress(s->p->ctx, s->done, s->total);
	return 0;
}

int ct_sweep_pool_run(const struct ct_sweep_pool *p, const struct ct_sweep_batch *batch, size_t n, struct ct_err *err)
{
	struct state s = { .p = p, .next = batch, .end = batch + n, .err = err };

	if (n == 0)
		return 0;
	s.worker = ct_calloc(p->workers, sizeof *s.worker);
	s.poll = ct_calloc(p->workers, sizeof *s.poll);
	for (size_t i = 0; i < n; i++)
		s.total += batch[i].n;
	while (!*p->interrupted && fill(&s) && attend(&s) == 0)
		;
	end_all(&s);
	free(s.worker);
	free(s.poll);
	return (int)err->code;
}
