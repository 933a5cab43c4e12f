/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/identity.h"

#include "experiments/config_table.h"
#include "experiments/data_path.h"
#include "experiments/jobs.h"
#include "experiments/option.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files */

static int add_file(struct ct_digest *d, const char *path, struct ct_err *err)
{
	FILE *f = fopen(path, "rb");
	size_t n, size = (size_t)1 << 16;
	char *block;
	int failed;

	if (!f)
		return ct_err_add(err, CT_EIO, NULL, "cannot read '%s': %s", path, strerror(errno));
	block = ct_calloc(size, 1);
	while ((n = fread(block, 1, size, f)) > 0)
		ct_digest_bytes(d, block, n);
	failed = ferror(f);
	fclose(f);
	free(block);
	return failed ? ct_err_add(err, CT_EIO, NULL, "cannot read '%s'", path) : 0;
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct ct_digest *d, const char *path, struct ct_err *err)
{
	struct dirent **entry = NULL;
	int n = scandir(path, &entry, visible, by_bytes), rc = 0;

	if (n < 0)
		return ct_err_add(err, CT_EIO, NULL, "cannot read folder '%s': %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		size_t size = strlen(path) + strlen(entry[i]->d_name) + 2;
		char *name = ct_calloc(size, 1);
		struct stat st;

		snprintf(name, size, "%s/%s", path, entry[i]->d_name);
		if (!rc && stat(name, &st) == 0 && S_ISREG(st.st_mode)) {
			ct_digest_text(d, entry[i]->d_name);
			ct_digest_i64(d, st.st_size);
			rc = add_file(d, name, err);
		}
		free(name);
		free(entry[i]);
	}
	free(entry);
	return rc;
}

void ct_file_digests_fini(struct ct_file_digests *d)
{
	free(d->v);
	ct_arena_fini(&d->arena);
	memset(d, 0, sizeof *d);
}

int ct_file_digest(struct ct_file_digests *d, const char *path, const char **out, struct ct_err *err)
{
	struct ct_digest sum;
	struct stat st;
	int rc;

	CT_TRY(ct_data_path(path, &d->arena, &path, err));
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->v[i].path, path) == 0) {
			*out = ct_arena_text(&d->arena, d->v[i].digest, CT_DIGEST_TEXT - 1);
			return 0;
		}
	if (stat(path, &st))
		return ct_err_add(err, CT_EIO, NULL, "cannot read '%s': %s", path, strerror(errno));
	CT_GROW(d->v, d->cap, d->n + 1);
	d->v[d->n].path = ct_arena_text(&d->arena, path, strlen(path));
	ct_digest_init(&sum);
	rc = S_ISDIR(st.st_mode) ? add_folder(&sum, path, err) : add_file(&sum, path, err);
	ct_digest_final(&sum, d->v[d->n].digest);
	if (rc)
		return rc;
	*out = ct_arena_text(&d->arena, d->v[d->n].digest, CT_DIGEST_TEXT - 1);
	d->n++;
	return 0;
}

/* ---- the configuration */

struct hasher {
	struct ct_config *c;
	struct ct_file_digests *files;
	struct ct_digest sum;
	struct ct_err *err;
};

static void put(struct hasher *h, const char *section, const char *name, const char *value)
{
	ct_digest_text(&h->sum, section);
	ct_digest_text(&h->sum, name);
	ct_digest_text(&h->sum, value);
}

static int put_file(struct hasher *h, const char *section, const char *name, const char *path)
{
	const char *digest = "";

	if (path && *path && h->files)
		CT_TRY(ct_file_digest(h->files, path, &digest, h->err));
	put(h, section, name, digest);
	return 0;
}

/* Those that ct_config_digest_text() leaves out. */
static int put_rest(struct hasher *h, const char *section, const struct ct_opt *opts, const void *base)
{
	for (const struct ct_opt *o = opts; o && o->name; o++) {
		const char *text = ct_opt_text(o, base, &h->c->arena);

		if (!(o->flags & CT_OPT_NO_DIGEST))
			continue;
		if (o->flags & CT_OPT_PATH)
			CT_TRY(put_file(h, section, o->name, text));
		else
			put(h, section, o->name, text);
	}
	return 0;
}

/* The trace by its jobs: where the file is, how it is read and by which names does not matter. */
static int put_trace(struct hasher *h, const char *jobs)
{
	const struct ct_opt *opts = ct_config_section("trace")->opts;

	put(h, "trace", "jobs", jobs ? jobs : "");
	put(h, "trace", "load", ct_opt_text(ct_opt_find(opts, "load"), h->c, &h->c->arena));
	return put_file(h, "trace", "assign", h->c->trace.assign);
}

static int put_generator(struct hasher *h)
{
	const struct ct_generator *g = h->c->generate.kind ? ct_generator_find(h->c->generate.kind) : NULL;
	struct ct_generate_options o = { .constants = h->c->generate.constants };
	const struct ct_config_section *s = ct_config_section("generate");

	if (!g)
		return 0;
	if (h->files)
		CT_TRY(ct_jobs_generator_files(g, &o, &h->c->arena, h->err));
	for (const struct ct_opt *k = s->opts; k->name; k++)
		if (!(k->flags & CT_OPT_PATH))
			put(h, s->name, k->name, ct_opt_text(k, h->c, &h->c->arena));
	CT_TRY(put_file(h, s->name, "constants", o.constants));
	CT_TRY(put_file(h, s->name, "other", o.other));
	return put_file(h, s->name, "assign", o.assign);
}

static int is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(name, *list) == 0)
			return 1;
	return 0;
}

static int put_all(struct hasher *h, const char *jobs)
{
	static const char *const own[] = { "trace", "generate", "cluster", "policy", "output", NULL };
	const char *name = h->c->policy.name;

	ct_digest_text(&h->sum, ct_config_digest_text(h->c));
	CT_TRY(put_trace(h, jobs));
	CT_TRY(put_generator(h));
	if (strchr(name, '/'))
		CT_TRY(put_file(h, "policy", "object", name));
	CT_TRY(put_rest(h, "policy", h->c->policy.policy->opts, h->c->policy.state));
	for (size_t i = 0; i < CT_CONFIG_SECTIONS; i++)
		if (!is_one_of(ct_config_sections[i].name, own))
			CT_TRY(put_rest(h, ct_config_sections[i].name, ct_config_sections[i].opts, h->c));
	return 0;
}

int ct_sweep_hash(struct ct_config *c, const char *jobs, struct ct_file_digests *files, char out[CT_SWEEP_HASH],
		  struct ct_err *err)
{
	struct hasher h = { .c = c, .files = files, .err = err };
	char digest[CT_DIGEST_TEXT];
	int rc;

	ct_digest_init(&h.sum);
	rc = put_all(&h, jobs);
	ct_digest_final(&h.sum, digest);
	memcpy(out, digest, CT_SWEEP_HASH - 1);
	out[CT_SWEEP_HASH - 1] = '\0';
	return rc;
}
