/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Item i is run by worker i modulo their number. A message is its head and the result. */
#include "experiments/workers.h"

#include "sim/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROCESSES = 64, MESSAGE = 1024 };

struct head {
	uint64_t item;
	int code;
	char text[MESSAGE];
};

struct child {
	pid_t pid;
	int fd;
	size_t got; /* bytes of the message that is arriving */
	char *message;
};

struct crew {
	const struct ct_workers *w;
	size_t n;
	struct child child[MOST_PROCESSES];
	unsigned processes, started;
	uint64_t done;
};

static int is_interrupted(const struct ct_workers *w)
{
	return w->interrupted && *w->interrupted;
}

/* ---- in a worker */

static int send_all(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n > 0) {
		ssize_t k = write(fd, at, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		at += k;
		n -= (size_t)k;
	}
	return 0;
}

/* Ctrl-C reaches the whole group; the parent ends us. */
__attribute__((noreturn)) static void work(const struct crew *c, unsigned me, int fd, pid_t parent)
{
	size_t bytes = sizeof(struct head) + c->w->bytes;
	char *message = ct_calloc(bytes, 1);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1); /* it went before we asked to go with it */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	for (size_t i = me; i < c->n; i += c->processes) {
		struct head *h = (struct head *)(void *)message;
		struct ct_err err = { 0 };

		memset(message, 0, bytes);
		h->item = i;
		h->code = c->w->run(c->w->ctx, i, message + sizeof *h, &err);
		snprintf(h->text, sizeof h->text, "%.*s", MESSAGE - 1, err.text);
		if (send_all(fd, message, bytes) || h->code)
			_exit(1);
	}
	_exit(0);
}

/* ---- in this process */

static int listen(struct crew *c, struct child *k, struct ct_err *err)
{
	size_t bytes = sizeof(struct head) + c->w->bytes;
	ssize_t got = read(k->fd, k->message + k->got, bytes - k->got);
	const struct head *h = (const struct head *)(const void *)k->message;

	if (got < 0)
		return errno == EINTR ? 0 : ct_err_at(err, CT_EIO, NULL, "pipe of a worker: %s", strerror(errno));
	if (got == 0) {
		close(k->fd);
		k->fd = -1;
		return 0;
	}
	k->got += (size_t)got;
	if (k->got < bytes)
		return 0;
	k->got = 0;
	if (h->code)
		return ct_err_at(err, (enum ct_code)h->code, NULL, "%s", h->text);
	c->w->take(c->w->ctx, (size_t)h->item, k->message + sizeof *h);
	c->done++;
	return 0;
}

static int collect(struct crew *c, struct ct_err *err)
{
	while (!is_interrupted(c->w)) {
		struct pollfd p[MOST_PROCESSES];
		unsigned open = 0;

		for (unsigned i = 0; i < c->started; i++) {
			p[i] = (struct pollfd){ .fd = c->child[i].fd, .events = POLLIN };
			open += c->child[i].fd >= 0;
		}
		if (!open)
			return 0;
		if (poll(p, c->started, 100) < 0) {
			if (errno != EINTR)
				return ct_err_at(err, CT_EIO, NULL, "waiting for workers: %s", strerror(errno));
			continue;
		}
		for (unsigned i = 0; i < c->started; i++)
			if (c->child[i].fd >= 0 && p[i].revents)
				CT_TRY(listen(c, &c->child[i], err));
		if (c->w->progress)
			c->w->progress(c->w->progress_ctx, c->done, c->n);
	}
	return 0;
}

static int begin(struct crew *c, struct ct_err *err)
{
	pid_t parent = getpid();

	while (c->started < c->processes) {
		struct child *k = &c->child[c->started];
		int fd[2];

		if (pipe2(fd, O_CLOEXEC))
			return ct_err_at(err, CT_EIO, NULL, "pipe: %s", strerror(errno));
		fflush(NULL);
		*k = (struct child){ .pid = fork(), .fd = fd[0] };
		if (k->pid < 0) {
			close(fd[0]);
			close(fd[1]);
			return ct_err_at(err, CT_EIO, NULL, "fork: %s", strerror(errno));
		}
		if (k->pid == 0)
			work(c, c->started, fd[1], parent);
		close(fd[1]);
		k->message = ct_calloc(sizeof(struct head) + c->w->bytes, 1);
		c->started++;
	}
	return 0;
}

static int end(struct crew *c, int rc, struct ct_err *err)
{
	int kill_them = rc || is_interrupted(c->w);

	for (unsigned i = 0; i < c->started; i++) {
		struct child *k = &c->child[i];
		int status;

		if (kill_them)
			kill(k->pid, SIGKILL);
		if (k->fd >= 0)
			close(k->fd);
		while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR)
			;
		free(k->message);
		if (!kill_them && !rc && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
			rc = ct_err_at(err, CT_EIO, NULL, "a worker ended early (%s %d)",
				       WIFSIGNALED(status) ? "signal" : "status",
				       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
	return rc;
}

static int run_many(const struct ct_workers *w, size_t n, unsigned processes, struct ct_err *err)
{
	struct crew *c = ct_calloc(1, sizeof *c);
	int rc;

	*c = (struct crew){ .w = w, .n = n, .processes = processes };
	rc = begin(c, err);
	if (!rc)
		rc = collect(c, err);
	rc = end(c, rc, err);
	free(c);
	return rc;
}

static int run_here(const struct ct_workers *w, size_t n, struct ct_err *err)
{
	char *result = ct_calloc(w->bytes, 1);
	int rc = 0;

	for (size_t i = 0; i < n && !rc && !is_interrupted(w); i++) {
		memset(result, 0, w->bytes);
		rc = w->run(w->ctx, i, result, err);
		if (!rc)
			w->take(w->ctx, i, result);
		if (w->progress)
			w->progress(w->progress_ctx, i + 1, n);
	}
	free(result);
	return rc;
}

int ct_workers_run(const struct ct_workers *w, size_t n, struct ct_err *err)
{
	unsigned processes = w->processes < MOST_PROCESSES ? w->processes : MOST_PROCESSES;

	if (processes > n)
		processes = (unsigned)n;
	return processes > 1 ? run_many(w, n, processes, err) : run_here(w, n, err);
}
