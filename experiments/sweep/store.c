/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/store.h"

#include "experiments/sweep/plan.h"
#include "experiments/version.h"
#include "sim/csv.h"
#include "sim/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_TRIES = 100, LOCK_WAIT_MS = 50 };

const char *const ct_sweep_perf_key[CT_SWEEP_PERF_COUNT] = {
#define CT_SWEEP_PERF_KEY(key) #key,
	CT_SWEEP_PERF(CT_SWEEP_PERF_KEY)
#undef CT_SWEEP_PERF_KEY
};

char *ct_sweep_path2(const char *path, const char *name, const char *name2)
{
	size_t n = strlen(path) + strlen(name) + strlen(name2) + 3;
	char *s = ct_calloc(n, 1);

	snprintf(s, n, "%s/%s%s%s", path, name, *name2 ? "/" : "", name2);
	return s;
}

char *ct_sweep_path(const char *path, const char *name)
{
	return ct_sweep_path2(path, name, "");
}

void ct_sweep_table_fini(struct ct_sweep_table *t)
{
	free(t->row);
	ct_arena_fini(&t->arena);
	memset(t, 0, sizeof *t);
}

/* ---- folders */

static int make_folder(const char *path, struct ct_err *err)
{
	struct stat st;

	if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	return ct_err_add(err, CT_EIO, NULL, "cannot make folder '%s': %s", path,
			  errno == EEXIST ? strerror(ENOTDIR) : strerror(errno));
}

static int make_below(const char *path, const char *name, struct ct_err *err)
{
	char *full = ct_sweep_path(path, name);
	int rc = make_folder(full, err);

	free(full);
	return rc;
}

/* Plain files in a folder of ours, and the folder. */
static void remove_folder(const char *path)
{
	DIR *d = opendir(path);

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

static bool is_work_in_hand(const char *name)
{
	return (name[0] == '.' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) || strstr(name, ".tmp-");
}

/* Folders of cells and temporary files that someone did not come to rename. */
static void remove_work_in_hand(const char *path)
{
	DIR *d = opendir(path);

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
		char *work = ct_sweep_path(path, e->d_name);

		if (is_work_in_hand(e->d_name) && unlink(work))
			remove_folder(work);
		free(work);
	}
	if (d)
		closedir(d);
}

/* Who holds the lock is gone: killed, and a worker that it had just forked has yet to see
 * that and follow. */
static bool owner_is_gone(int lock)
{
	char text[32] = "";
	ssize_t n = pread(lock, text, sizeof text - 1, 0);
	int64_t pid;

	return n > 0 && text[n - 1] == '\n' && ct_parse_i64(text, (size_t)n - 1, &pid) == 0 && pid > 0 &&
	       kill((pid_t)pid, 0) && errno == ESRCH;
}

static int own(int lock)
{
	char text[32];
	int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());

	return ftruncate(lock, 0) || pwrite(lock, text, (size_t)n, 0) != n;
}

static int try_lock(int lock)
{
	for (int k = 0; flock(lock, LOCK_EX | LOCK_NB); k++) {
		int why = errno;

		if (why != EWOULDBLOCK || k == LOCK_TRIES || !owner_is_gone(lock)) {
			errno = why;
			return -1;
		}
		poll(NULL, 0, LOCK_WAIT_MS);
	}
	return 0;
}

static int take_lock(struct ct_sweep_store *s, struct ct_err *err)
{
	char *name = ct_sweep_path(s->path, "lock");

	s->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (s->lock < 0) {
		ct_err_add(err, CT_EIO, NULL, "cannot write '%s': %s", name, strerror(errno));
	} else if (try_lock(s->lock)) {
		ct_err_add(err, CT_EIO, NULL, "%s '%s': %s",
			   errno == EWOULDBLOCK ? "another sweep is at work in" : "cannot lock", s->path,
			   strerror(errno));
		close(s->lock);
		s->lock = -1;
	} else if (own(s->lock)) {
		ct_err_add(err, CT_EIO, NULL, "cannot write '%s': %s", name, strerror(errno));
	}
	free(name);
	return (int)err->code;
}

/* What a worker did not come to rename before it was killed. */
static void remove_all_work_in_hand(const struct ct_sweep_store *s)
{
	static const char *const below[] = { ".", "cells", "failed" };

	for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
		char *folder = ct_sweep_path(s->path, below[i]);

		remove_work_in_hand(folder);
		free(folder);
	}
}

int ct_sweep_store_open(struct ct_sweep_store *s, const char *path, struct ct_err *err)
{
	*s = (struct ct_sweep_store){ .lock = -1 };
	CT_TRY(make_folder(path, err));
	s->path = ct_calloc(strlen(path) + 1, 1);
	strcpy(s->path, path);
	if (take_lock(s, err) || make_below(path, "cells", err) || make_below(path, "failed", err)) {
		ct_sweep_store_close(s);
		return (int)err->code;
	}
	remove_all_work_in_hand(s);
	return 0;
}

void ct_sweep_store_close(struct ct_sweep_store *s)
{
	if (s->lock >= 0) { /* ours; after an interruption workers were killed at their work */
		remove_all_work_in_hand(s);
		close(s->lock);
	}
	free(s->path);
	*s = (struct ct_sweep_store){ .lock = -1 };
}

size_t ct_sweep_store_count(const struct ct_sweep_store *s)
{
	char *cells = ct_sweep_path(s->path, "cells");
	DIR *d = opendir(cells);
	size_t n = 0;

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	free(cells);
	return n;
}

/* ---- a finished cell */

static void pair(struct ct_output *o, const char *key, const char *value)
{
	ct_output_text(o, key);
	ct_output_text(o, ",");
	ct_output_field(o, value);
	ct_output_text(o, "\n");
}

static void pair_f64(struct ct_output *o, const char *key, double v)
{
	ct_output_text(o, key);
	ct_output_text(o, ",");
	ct_output_f64(o, v);
	ct_output_text(o, "\n");
}

static int open_pairs(struct ct_output *o, const char *folder, const char *name, struct ct_err *err)
{
	char *path = ct_sweep_path(folder, name);
	int rc = ct_output_open(o, path, err);

	free(path);
	if (!rc)
		ct_output_text(o, "key,value\n");
	return rc;
}

/* The digest last: a file that was cut has none. */
static int put_summary(const char *folder, const char *hash, const struct ct_cell_result *cell, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(open_pairs(&o, folder, "summary.csv", err));
	pair(&o, "hash", hash);
	for (int m = 0; m < CT_METRIC_COUNT; m++)
		pair_f64(&o, ct_metric_info[m].key, cell->summary[m]);
	pair(&o, "revision", ct_version().revision);
	pair(&o, "digest", cell->result.digest);
	return ct_output_close(&o, err);
}

static int put_perf(const char *folder, const double *perf, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(open_pairs(&o, folder, "perf.csv", err));
	for (int i = 0; i < CT_SWEEP_PERF_COUNT; i++)
		pair_f64(&o, ct_sweep_perf_key[i], perf[i]);
	return ct_output_close(&o, err);
}

static int put_text(const char *folder, const char *name, const char *text, struct ct_err *err)
{
	char *path = ct_sweep_path(folder, name);
	struct ct_output o;
	int rc = ct_output_open(&o, path, err);

	free(path);
	if (rc)
		return rc;
	ct_output_text(&o, text);
	return ct_output_close(&o, err);
}

static int put_result(const char *folder, const struct ct_result *r, struct ct_err *err)
{
	char *path = ct_sweep_path(folder, "run.h5");
	int rc = ct_result_write_h5(r, path, err);

	free(path);
	return rc;
}

static int put_files(const char *folder, const char *hash, struct ct_config *c, const struct ct_cell_result *cell,
		     const double *perf, int result, struct ct_err *err)
{
	CT_TRY(put_text(folder, "config.yaml", ct_config_yaml(c), err));
	CT_TRY(put_perf(folder, perf, err));
	if (result)
		CT_TRY(put_result(folder, &cell->result, err));
	return put_summary(folder, hash, cell, err);
}

/* What failed/ says about a cell. */
static void forget_failure(const struct ct_sweep_store *s, const char *hash)
{
	static const char *const end[] = { ".csv", ".yaml" };

	for (int i = 0; i < 2; i++) {
		char name[CT_SWEEP_HASH + 8], *path;

		snprintf(name, sizeof name, "%s%s", hash, end[i]);
		path = ct_sweep_path2(s->path, "failed", name);
		unlink(path);
		free(path);
	}
}

/* What stands there is damaged: nobody runs a cell that is finished. */
static int move_in(const char *from, const char *to, struct ct_err *err)
{
	remove_folder(to);
	if (rename(from, to) == 0)
		return 0;
	return ct_err_add(err, CT_EIO, NULL, "cannot rename '%s' to '%s': %s", from, to, strerror(errno));
}

int ct_sweep_store_put(const struct ct_sweep_store *s, const char *hash, struct ct_config *c,
		       const struct ct_cell_result *cell, const double *perf, int result, struct ct_err *err)
{
	char work[CT_SWEEP_HASH + 32], *from, *to = ct_sweep_path2(s->path, "cells", hash);
	int rc;

	snprintf(work, sizeof work, ".%s-%ld", hash, (long)getpid());
	from = ct_sweep_path2(s->path, "cells", work);
	rc = make_folder(from, err);
	if (!rc)
		rc = put_files(from, hash, c, cell, perf, result, err);
	if (!rc)
		rc = move_in(from, to, err);
	if (!rc)
		forget_failure(s, hash);
	remove_folder(from);
	free(from);
	free(to);
	return rc;
}

int ct_sweep_store_fail(const struct ct_sweep_store *s, const struct ct_sweep_row *row, const char *config,
			struct ct_err *err)
{
	char *folder = ct_sweep_path(s->path, "failed"), name[CT_SWEEP_HASH + 8];
	struct ct_output o;
	int rc = 0;

	snprintf(name, sizeof name, "%s.yaml", row->hash);
	if (config)
		rc = put_text(folder, name, config, err);
	snprintf(name, sizeof name, "%s.csv", row->hash);
	if (!rc)
		rc = open_pairs(&o, folder, name, err);
	free(folder);
	if (rc)
		return rc;
	pair(&o, "status", row->status);
	pair(&o, "message", row->message);
	pair(&o, "command", row->command);
	return ct_output_close(&o, err);
}

/* ---- reading it */

/* Calls `take` for every row of a key,value file; false: there is none, or it is damaged. */
static bool read_pairs(const char *path, bool (*take)(void *ctx, const char *key, const char *value), void *ctx)
{
	struct ct_err err = { 0 };
	struct ct_csv *c;
	bool ok;
	int rc;

	if (access(path, R_OK) || ct_csv_open(path, ',', &c, &err))
		return false;
	rc = ct_csv_next(c, &err);
	ok = rc == 1 && ct_csv_fields(c) == 2 && strcmp(ct_csv_field(c, 0).s, "key") == 0;
	while (ok && (rc = ct_csv_next(c, &err)) == 1)
		ok = ct_csv_fields(c) == 2 && take(ctx, ct_csv_field(c, 0).s, ct_csv_field(c, 1).s);
	ct_csv_close(c);
	return ok && rc == 0;
}

struct reading {
	struct ct_sweep_row *row;
	struct ct_arena *arena;
	unsigned char seen[CT_METRIC_COUNT];
};

static const char *keep(struct ct_arena *a, const char *s)
{
	return ct_arena_text(a, s, strlen(s));
}

static bool number_of(const char *text, double *out)
{
	if (strcmp(text, "nan") == 0) {
		*out = NAN;
		return true;
	}
	if (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0) {
		*out = text[0] == '-' ? -INFINITY : INFINITY;
		return true;
	}
	return ct_parse_f64(text, strlen(text), out) == 0;
}

static bool take_summary(void *ctx, const char *key, const char *value)
{
	struct reading *r = ctx;
	int m = ct_metric_find(key);

	if (strcmp(key, "hash") == 0)
		return strcmp(value, r->row->hash) == 0;
	if (strcmp(key, "digest") == 0)
		r->row->digest = strlen(value) == CT_DIGEST_TEXT - 1 ? keep(r->arena, value) : NULL;
	else if (strcmp(key, "revision") == 0)
		r->row->revision = keep(r->arena, value);
	else if (m >= 0)
		r->seen[m] = number_of(value, &r->row->summary[m]);
	return true;
}

static bool take_perf(void *ctx, const char *key, const char *value)
{
	struct reading *r = ctx;

	for (int i = 0; i < CT_SWEEP_PERF_COUNT; i++)
		if (strcmp(key, ct_sweep_perf_key[i]) == 0)
			return number_of(value, &r->row->perf[i]);
	return true;
}

static bool take_failure(void *ctx, const char *key, const char *value)
{
	struct reading *r = ctx;

	if (strcmp(key, "status") == 0)
		r->row->status = keep(r->arena, value);
	else if (strcmp(key, "message") == 0)
		r->row->message = keep(r->arena, value);
	else if (strcmp(key, "command") == 0)
		r->row->command = keep(r->arena, value);
	return true;
}

static bool get_done(const char *path, struct reading *r)
{
	char *cells = ct_sweep_path(path, "cells"), *summary, *perf, *folder;
	bool ok;

	folder = ct_sweep_path(cells, r->row->hash);
	summary = ct_sweep_path(folder, "summary.csv");
	perf = ct_sweep_path(folder, "perf.csv");
	for (int i = 0; i < CT_SWEEP_PERF_COUNT; i++)
		r->row->perf[i] = NAN;
	ok = read_pairs(summary, take_summary, r) && r->row->digest && r->row->revision;
	for (int m = 0; m < CT_METRIC_COUNT; m++)
		ok = ok && r->seen[m];
	if (ok)
		read_pairs(perf, take_perf, r);
	free(perf);
	free(summary);
	free(folder);
	free(cells);
	return ok;
}

void ct_sweep_store_get(const char *path, struct ct_sweep_row *row, struct ct_arena *arena)
{
	struct reading r = { .row = row, .arena = arena };
	char name[CT_SWEEP_HASH + 8], *failure;

	row->digest = row->revision = row->status = row->message = row->command = NULL;
	row->state = CT_SWEEP_MISSING;
	if (get_done(path, &r)) {
		row->state = CT_SWEEP_DONE;
		return;
	}
	snprintf(name, sizeof name, "%s.csv", row->hash);
	failure = ct_sweep_path2(path, "failed", name);
	if (read_pairs(failure, take_failure, &r) && row->status && row->message && row->command)
		row->state = CT_SWEEP_FAILED;
	free(failure);
}

/* ---- plan.csv */

static const char *const plan_head[] = { "cell", "cells", "sweep", "hash" };
enum { PLAN_HEAD = 4 };

int ct_sweep_store_put_plan(const struct ct_sweep_store *s, const struct ct_sweep_table *t, struct ct_err *err)
{
	char *path = ct_sweep_path(s->path, "plan.csv");
	struct ct_output o;
	int rc = ct_output_open(&o, path, err);

	free(path);
	if (rc)
		return rc;
	for (int i = 0; i < PLAN_HEAD; i++) {
		ct_output_text(&o, i ? "," : "");
		ct_output_text(&o, plan_head[i]);
	}
	for (size_t k = 0; k < t->n_keys; k++) {
		ct_output_text(&o, ",");
		ct_output_field(&o, t->key[k]);
	}
	ct_output_text(&o, "\n");
	for (size_t i = 0; i < t->n_rows; i++) {
		ct_output_i64(&o, t->row[i].cell);
		ct_output_text(&o, ",");
		ct_output_i64(&o, t->n_cells);
		ct_output_text(&o, ",");
		ct_output_text(&o, t->sweep);
		ct_output_text(&o, ",");
		ct_output_text(&o, t->row[i].hash);
		for (size_t k = 0; k < t->n_keys; k++) {
			ct_output_text(&o, ",");
			ct_output_field(&o, t->row[i].axis[k] ? t->row[i].axis[k] : "");
		}
		ct_output_text(&o, "\n");
	}
	return ct_output_close(&o, err);
}

static int bad_plan(const struct ct_csv *c, struct ct_err *err)
{
	struct ct_loc at = ct_csv_loc(c, SIZE_MAX);

	return ct_err_add(err, CT_EIO, &at, "not a row of a sweep's plan");
}

static int other_sweep(const struct ct_csv *c, struct ct_err *err)
{
	struct ct_loc at = ct_csv_loc(c, SIZE_MAX);

	return ct_err_add(err, CT_ECONFIG, &at, "belongs to another sweep than the folders before");
}

static int get_keys(const struct ct_csv *c, struct ct_sweep_table *t, struct ct_err *err)
{
	size_t n = ct_csv_fields(c);

	for (size_t i = 0; i < PLAN_HEAD; i++)
		if (n < PLAN_HEAD || strcmp(ct_csv_field(c, i).s, plan_head[i]) != 0)
			return bad_plan(c, err);
	if (t->key && t->n_keys != n - PLAN_HEAD)
		return other_sweep(c, err);
	if (t->key)
		return 0;
	t->n_keys = n - PLAN_HEAD;
	t->seed_key = SIZE_MAX;
	t->key = CT_NEW(&t->arena, const char *, t->n_keys + 1);
	for (size_t i = 0; i < t->n_keys; i++) {
		t->key[i] = keep(&t->arena, ct_csv_field(c, i + PLAN_HEAD).s);
		if (strcmp(t->key[i], "sim.seed") == 0)
			t->seed_key = i;
	}
	return 0;
}

static struct ct_sweep_row *row_of(struct ct_sweep_table *t, uint32_t cell)
{
	if (!t->place)
		t->place = CT_NEW(&t->arena, uint32_t, (size_t)t->n_cells + 1);
	if (!t->place[cell]) {
		CT_GROW(t->row, t->cap_rows, t->n_rows + 1);
		t->row[t->n_rows++] = (struct ct_sweep_row){ .cell = cell };
		t->place[cell] = (uint32_t)t->n_rows;
	}
	return &t->row[t->place[cell] - 1];
}

static int get_row(const char *folder, const struct ct_csv *c, struct ct_sweep_table *t, struct ct_err *err)
{
	const char *hash = ct_csv_fields(c) == t->n_keys + PLAN_HEAD ? ct_csv_field(c, 3).s : "";
	struct ct_sweep_row *row, fresh = { 0 };
	int64_t cell, cells;

	if (strlen(hash) != CT_SWEEP_HASH - 1 || strspn(hash, "0123456789abcdef") != CT_SWEEP_HASH - 1 ||
	    strlen(ct_csv_field(c, 2).s) != CT_SWEEP_HASH - 1 ||
	    ct_parse_i64(ct_csv_field(c, 0).s, ct_csv_field(c, 0).n, &cell) ||
	    ct_parse_i64(ct_csv_field(c, 1).s, ct_csv_field(c, 1).n, &cells) || cell < 1 || cell > cells ||
	    cells > CT_SWEEP_CELLS)
		return bad_plan(c, err);
	if (!t->n_rows) {
		t->n_cells = (uint32_t)cells;
		memcpy(t->sweep, ct_csv_field(c, 2).s, CT_SWEEP_HASH);
	}
	if (t->n_cells != cells || strcmp(t->sweep, ct_csv_field(c, 2).s) != 0)
		return other_sweep(c, err);
	row = row_of(t, (uint32_t)cell);
	if (row->hash[0] && strcmp(row->hash, hash) != 0)
		return other_sweep(c, err);
	if (row->state == CT_SWEEP_DONE)
		return 0;
	fresh.cell = (uint32_t)cell;
	memcpy(fresh.hash, hash, CT_SWEEP_HASH);
	fresh.axis = CT_NEW(&t->arena, const char *, t->n_keys + 1);
	for (size_t k = 0; k < t->n_keys; k++)
		fresh.axis[k] = keep(&t->arena, ct_csv_field(c, k + PLAN_HEAD).s);
	ct_sweep_store_get(folder, &fresh, &t->arena);
	if (!row->hash[0] || fresh.state != CT_SWEEP_MISSING)
		*row = fresh;
	return 0;
}

int ct_sweep_store_get_plan(const char *path, struct ct_sweep_table *t, struct ct_err *err)
{
	char *plan = ct_sweep_path(path, "plan.csv");
	struct ct_csv *c;
	int rc = ct_csv_open(plan, ',', &c, err);

	free(plan);
	if (rc)
		return rc;
	rc = ct_csv_next(c, err);
	rc = rc == 1 ? get_keys(c, t, err) : rc == 0 ? bad_plan(c, err) : rc;
	while (!rc && (rc = ct_csv_next(c, err)) == 1)
		rc = get_row(path, c, t, err);
	ct_csv_close(c);
	return rc;
}
