/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/oracle/brute.h"

#include <string.h>

enum state { FUTURE, WAITING, RUNNING, DONE };

struct sim {
	const struct brute_cluster *c;
	const struct brute_rules *r;
	const struct brute_job *job;
	int n;
	int64_t now;
	int owner[BRUTE_GPUS]; /* of each GPU: a job, or -1 */
	enum state state[BRUTE_JOBS];
	int64_t start[BRUTE_JOBS], finish[BRUTE_JOBS]; /* first start, end */
	int64_t left[BRUTE_JOBS], since[BRUTE_JOBS];   /* work left and when the state began */
	int64_t served[BRUTE_JOBS];                    /* las: run time that counts, before `since` */
};

/* ---- placement on a given assignment of GPUs */

/* GPUs of one node that job j could have: idle, of its type, and with CPUs. */
static int node_offers(const struct sim *s, const int *owner, int j, int node, int *out)
{
	int first = node * s->c->per_node, k = 0, on_node[BRUTE_JOBS] = { 0 }, cpus = s->c->cpus_per_node;

	for (int g = first; g < first + s->c->per_node; g++)
		if (owner[g] >= 0)
			on_node[owner[g]]++;
	for (int i = 0; i < s->n; i++) /* a job's CPUs go with its GPUs, rounded up on each node */
		cpus -= (s->job[i].cpus * on_node[i] + s->job[i].gpus - 1) / s->job[i].gpus;
	for (int g = first; g < first + s->c->per_node; g++) {
		int more = (s->job[j].cpus * (k + 1) + s->job[j].gpus - 1) / s->job[j].gpus;

		if (owner[g] < 0 && (s->job[j].type < 0 || s->job[j].type == (g >= s->c->first_type1)) &&
		    (!s->c->cpus_per_node || more <= cpus))
			out[k++] = g;
	}
	return k;
}

/* The node with fewest idle GPUs that offers `want`, not marked in `taken`. */
static int best_node(const struct sim *s, const int *owner, int j, int want, const int *taken)
{
	int best = -1, least = BRUTE_GPUS + 1, out[BRUTE_GPUS];

	for (int node = 0; node < s->c->gpus / s->c->per_node; node++) {
		int k = node_offers(s, owner, j, node, out), idle = 0;

		for (int g = node * s->c->per_node; g < (node + 1) * s->c->per_node; g++)
			idle += owner[g] < 0;
		if (k >= want && idle < least && !taken[node]) {
			best = node;
			least = idle;
		}
	}
	return best;
}

/* The GPUs of job j under the rule; 0: it does not fit. Counted: the lowest idle
 * ones. Packed: whole nodes as long as more than a node is wanted, the rest best fit. */
static int place(const struct sim *s, const int *owner, int j, int *out)
{
	int want = s->job[j].gpus, size = s->c->per_node, got = 0, k, taken[BRUTE_GPUS] = { 0 }, offer[BRUTE_GPUS];
	int whole = s->c->pack ? want / size * size : want, node = 0;

	if (s->c->pack && want <= size)
		whole = 0;
	for (; got < whole && node < s->c->gpus / size; node++) {
		k = node_offers(s, owner, j, node, offer);
		if (s->c->pack && k < size)
			continue;
		taken[node] = 1;
		for (int i = 0; i < k && got < whole; i++)
			out[got++] = offer[i];
	}
	if (got < whole || want == whole)
		return got == want ? want : 0;
	node = best_node(s, owner, j, want - whole, taken);
	if (node < 0)
		return 0;
	node_offers(s, owner, j, node, offer);
	memcpy(out + got, offer, sizeof *out * (size_t)(want - whole));
	return want;
}

static void set_owner(int *owner, const int *gpus, int n, int job)
{
	for (int i = 0; i < n; i++)
		owner[gpus[i]] = job;
}

static void release(const struct sim *s, int *owner, int j)
{
	for (int g = 0; g < s->c->gpus; g++)
		if (owner[g] == j)
			owner[g] = -1;
}

/* ---- what happens to a job */

static int try_start(struct sim *s, int j)
{
	int gpus[BRUTE_GPUS], n = place(s, s->owner, j, gpus);

	if (!n)
		return 0;
	set_owner(s->owner, gpus, n, j);
	s->state[j] = RUNNING;
	s->since[j] = s->now;
	if (s->start[j] < 0)
		s->start[j] = s->now;
	return 1;
}

static int64_t run_time(const struct sim *s, int j) /* since it was last started */
{
	return s->state[j] == RUNNING ? s->now - s->since[j] : 0;
}

static void stop(struct sim *s, int j, enum state state)
{
	s->left[j] -= run_time(s, j);
	s->served[j] += run_time(s, j);
	s->state[j] = state;
	s->since[j] = s->now;
	release(s, s->owner, j);
}

/* ---- order: smaller first, then submission */

static int64_t rank(const struct sim *s, int j)
{
	switch (s->r->policy) {
	case BRUTE_SJF:
		return s->job[j].estimate;
	case BRUTE_SRTF:
		return s->left[j] - run_time(s, j);
	case BRUTE_LAS:
		return (s->served[j] + run_time(s, j)) * s->job[j].gpus >= s->r->threshold;
	default:
		return 0;
	}
}

/* Jobs in the given states, in order. */
static int in_order(const struct sim *s, int running_too, int *out)
{
	int n = 0;

	for (int j = 0; j < s->n; j++) {
		int i = n;

		if (s->state[j] != WAITING && !(running_too && s->state[j] == RUNNING))
			continue;
		for (; i > 0 && rank(s, out[i - 1]) > rank(s, j); i--)
			out[i] = out[i - 1];
		out[i] = j;
		n++;
	}
	return n;
}

/* ---- passes */

static void greedy_pass(struct sim *s, int skip)
{
	int queue[BRUTE_JOBS], n = in_order(s, 0, queue);

	for (int i = 0; i < n; i++)
		if (!try_start(s, queue[i]) && !skip)
			return;
}

/* A job past its estimate is taken to end in one unit. */
static int64_t expected_end(const struct sim *s, int j)
{
	int64_t end = s->since[j] + s->job[j].estimate;

	return end > s->now ? end : s->now + 1;
}

static void easy_pass(struct sim *s)
{
	int queue[BRUTE_JOBS], n = in_order(s, 0, queue), i = 0, later[BRUTE_GPUS], gpus[BRUTE_GPUS], k;
	int64_t shadow = INT64_MAX;

	while (i < n && try_start(s, queue[i]))
		i++;
	if (i == n)
		return;
	for (int e = 0; e < s->n; e++) { /* the earliest end after which the head fits */
		if (s->state[e] != RUNNING || expected_end(s, e) >= shadow)
			continue;
		memcpy(later, s->owner, sizeof later);
		for (int j = 0; j < s->n; j++)
			if (s->state[j] == RUNNING && expected_end(s, j) <= expected_end(s, e))
				release(s, later, j);
		if (place(s, later, queue[i], gpus))
			shadow = expected_end(s, e);
	}
	memcpy(later, s->owner, sizeof later);
	for (int j = 0; j < s->n; j++)
		if (s->state[j] == RUNNING && expected_end(s, j) <= shadow)
			release(s, later, j);
	for (int b = i + 1; b < n; b++) {
		int then[BRUTE_GPUS], mine[BRUTE_GPUS];

		k = place(s, s->owner, queue[b], mine);
		if (!k)
			continue;
		if (s->job[queue[b]].estimate > shadow - s->now) {
			memcpy(then, later, sizeof then);
			set_owner(then, mine, k, queue[b]);
			if (!place(s, then, queue[i], gpus))
				continue;
			memcpy(later, then, sizeof later);
		}
		try_start(s, queue[b]);
	}
}

static void preemptive_pass(struct sim *s)
{
	int queue[BRUTE_JOBS], n, quota = s->c->gpus, chosen[BRUTE_JOBS] = { 0 };

	for (int j = 0; s->r->policy == BRUTE_LAS && j < s->n; j++)
		if (s->r->promote && s->state[j] == WAITING && rank(s, j) == 1 &&
		    s->now - s->since[j] >= s->r->promote * s->served[j])
			s->served[j] = 0;
	n = in_order(s, 1, queue);
	for (int i = 0; i < n; i++)
		if (s->job[queue[i]].gpus <= quota) {
			quota -= s->job[queue[i]].gpus;
			chosen[queue[i]] = 1;
		}
	for (int i = 0; i < n; i++)
		if (s->state[queue[i]] == RUNNING && !chosen[queue[i]])
			stop(s, queue[i], WAITING);
	for (int i = 0; i < n; i++)
		if (s->state[queue[i]] == WAITING && chosen[queue[i]])
			try_start(s, queue[i]);
}

/* ---- time */

static int64_t next_event(const struct sim *s)
{
	int64_t next = INT64_MAX, t;

	for (int j = 0; j < s->n; j++) {
		int64_t gpus = s->job[j].gpus, cross = (s->r->threshold + gpus - 1) / gpus - s->served[j];

		t = INT64_MAX;
		if (s->state[j] == FUTURE)
			t = s->job[j].submit;
		if (s->state[j] == RUNNING)
			t = s->since[j] + s->left[j];
		if (t < next)
			next = t;
		if (s->r->policy != BRUTE_LAS)
			continue;
		if (s->state[j] == RUNNING && s->since[j] + cross > s->now && s->since[j] + cross < next)
			next = s->since[j] + cross;
		t = s->since[j] + s->r->promote * s->served[j];
		if (s->r->promote && s->state[j] == WAITING && rank(s, j) == 1 && t > s->now && t < next)
			next = t;
	}
	return next;
}

int brute_run(const struct brute_cluster *c, const struct brute_rules *r, const struct brute_job *jobs, int n,
	      int64_t *start, int64_t *finish)
{
	struct sim s = { .c = c, .r = r, .job = jobs, .n = n, .now = -1 };

	memset(s.owner, -1, sizeof s.owner);
	for (int j = 0; j < n; j++) {
		s.start[j] = s.finish[j] = -1;
		s.left[j] = jobs[j].duration;
	}
	while ((s.now = next_event(&s)) < INT64_MAX) {
		for (int j = 0; j < n; j++)
			if (s.state[j] == RUNNING && run_time(&s, j) == s.left[j]) {
				stop(&s, j, DONE);
				s.finish[j] = s.now;
			}
		for (int j = 0; j < n; j++)
			if (s.state[j] == FUTURE && jobs[j].submit == s.now) {
				s.state[j] = WAITING;
				s.since[j] = s.now;
			}
		if (r->policy == BRUTE_EASY)
			easy_pass(&s);
		else if (r->policy == BRUTE_SRTF || r->policy == BRUTE_LAS)
			preemptive_pass(&s);
		else
			greedy_pass(&s, r->policy == BRUTE_FIRSTFIT || r->skip);
	}
	memcpy(start, s.start, sizeof *start * (size_t)n);
	memcpy(finish, s.finish, sizeof *finish * (size_t)n);
	for (int j = 0; j < n; j++)
		if (finish[j] < 0)
			return 1;
	return 0;
}
