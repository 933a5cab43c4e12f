/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives are read by libarchive, which streams: an archive is gone through once
 * to list it, keeping the first bytes of each member, and once more for each
 * member that is opened. Plain and gzip files go to sim/csv, which is faster. */
#include "traces/source.h"

#include "sim/memory.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <zlib.h>

enum { TAR_BLOCK = 512, DEPTH = 8 /* folders in folders */ };

struct container { /* a file that holds members, or is one */
	const char *path;
	const void *bytes; /* memory; NULL: a file */
	size_t n;
	int is_archive;
};

struct entry {
	struct ct_member m;
	size_t container;
	size_t index; /* header in the archive */
};

struct ct_source {
	struct ct_arena arena;
	const char *path;
	struct container *container;
	size_t n_containers, cap_containers;
	struct entry *entry;
	size_t n, cap;
	uint64_t appledouble;
};

static const char *text_of(struct ct_source *s, const char *text)
{
	return ct_arena_text(&s->arena, text, strlen(text));
}

static const char *join(struct ct_source *s, const char *folder, const char *name)
{
	size_t a = strlen(folder), b = strlen(name);
	char *path = ct_realloc_array(NULL, a + b + 2, 1);
	const char *kept;

	memcpy(path, folder, a);
	path[a] = '/';
	memcpy(path + a + 1, name, b + 1);
	kept = ct_arena_text(&s->arena, path, a + b + 1);
	free(path);
	return kept;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- first bytes */

/* Inflates the beginning of a gzip member; damage further on is the reader's to
 * report. */
static size_t inflate_head(const void *packed, size_t n, char *to, size_t cap)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)packed,
		       .avail_in = (uInt)n,
		       .next_out = (Bytef *)to,
		       .avail_out = (uInt)cap };

	/* 15 = largest window, + 16 = gzip only */
	CT_CHECK(NULL, inflateInit2(&z, 15 + 16) == Z_OK, "zlib cannot be set up");
	inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	return cap - z.avail_out;
}

static int is_gzip(const char *head, size_t n)
{
	return n >= 2 && !memcmp(head, "\x1f\x8b", 2);
}

/* Field of a tar header that holds an octal number, as ustar and its elders do. */
static long octal(const char *s, size_t n)
{
	long v = 0;

	while (n && *s == ' ')
		s++, n--;
	for (; n && *s >= '0' && *s <= '7'; s++, n--)
		v = 8 * v + (*s - '0');
	return v;
}

/* A tar header's check sum: its own field counts as blanks. */
static int is_tar(const char *head, size_t n)
{
	long sum = 8 * ' ';

	if (n < TAR_BLOCK || !head[0])
		return 0;
	for (size_t i = 0; i < TAR_BLOCK; i++)
		if (i < 148 || i >= 156)
			sum += (unsigned char)head[i];
	return octal(head + 148, 8) == sum;
}

static int is_zip(const char *head, size_t n)
{
	return n >= 4 && (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4));
}

/* Keeps `n` raw bytes as the member's head. */
static void keep_head(struct ct_source *s, struct ct_member *m, const char *raw, size_t n, int whole)
{
	char *head;

	if (!is_gzip(raw, n)) {
		m->head = ct_arena_text(&s->arena, raw, n);
		m->head_n = n;
		m->head_is_whole = whole;
		return;
	}
	head = ct_realloc_array(NULL, CT_SOURCE_HEAD, 1);
	m->head_n = inflate_head(raw, n, head, CT_SOURCE_HEAD);
	m->head_is_whole = whole && m->head_n < CT_SOURCE_HEAD;
	m->head = ct_arena_text(&s->arena, head, m->head_n);
	free(head);
}

/* ---- the list */

static int is_appledouble(const char *path)
{
	return !strncmp(base_name(path), "._", 2) || strstr(path, "__MACOSX/");
}

/* 1 when the name is not to be looked at. */
static int left_out(struct ct_source *s, const char *path)
{
	if (is_appledouble(path)) {
		s->appledouble++;
		return 1;
	}
	return base_name(path)[0] == '.';
}

static int add_entry(struct ct_source *s, const struct entry *e, struct ct_err *err)
{
	struct ct_loc at = { .file = s->path };

	if (s->n >= CT_SOURCE_MEMBERS)
		return ct_err_at(err, CT_ETRACE, &at, "holds more than %d files", (int)CT_SOURCE_MEMBERS);
	CT_GROW(s->entry, s->cap, s->n + 1);
	s->entry[s->n++] = *e;
	return 0;
}

static size_t add_container(struct ct_source *s, const struct container *c)
{
	CT_GROW(s->container, s->cap_containers, s->n_containers + 1);
	s->container[s->n_containers] = *c;
	return s->n_containers++;
}

/* ---- archives */

static int archive_failed(struct archive *a, const char *path, struct ct_err *err)
{
	struct ct_loc at = { .file = path };
	const char *why = archive_error_string(a);

	return ct_err_at(err, CT_EIO, &at, "damaged archive: %s", why ? why : "unknown cause");
}

static int archive_open(const struct container *c, struct archive **out, struct ct_err *err)
{
	struct archive *a = archive_read_new();
	int rc;

	CT_CHECK(NULL, a, "libarchive cannot be set up");
	archive_read_support_filter_gzip(a);
	archive_read_support_format_tar(a);
	archive_read_support_format_gnutar(a);
	archive_read_support_format_zip(a);
	rc = c->bytes ? archive_read_open_memory(a, c->bytes, c->n) : archive_read_open_filename(a, c->path, 1 << 16);
	if (rc != ARCHIVE_OK) {
		archive_failed(a, c->path, err);
		archive_read_free(a);
		return CT_EIO;
	}
	*out = a;
	return 0;
}

static const char *entry_path(struct archive_entry *e, size_t index, char fallback[32])
{
	const char *path = archive_entry_pathname(e);

	if (!path)
		path = archive_entry_pathname_utf8(e);
	if (path && *path)
		return path;
	snprintf(fallback, 32, "member %zu", index + 1);
	return fallback;
}

static int read_fully(struct archive *a, char *to, size_t cap, size_t *n)
{
	*n = 0;
	while (*n < cap) {
		la_ssize_t k = archive_read_data(a, to + *n, cap - *n);

		if (k < 0)
			return -1;
		if (!k)
			return 0;
		*n += (size_t)k;
	}
	return 0;
}

static int list_member(struct ct_source *s, size_t container, size_t index, struct archive *a, struct archive_entry *e,
		       char *raw, struct ct_err *err)
{
	char fallback[32];
	const char *path = entry_path(e, index, fallback);
	struct entry entry = { .container = container, .index = index };
	size_t n;

	if (archive_entry_filetype(e) != AE_IFREG || left_out(s, path))
		return 0;
	entry.m.path = join(s, s->container[container].path, path);
	entry.m.name = base_name(entry.m.path);
	entry.m.size = archive_entry_size_is_set(e) && archive_entry_size(e) > 0 ? (uint64_t)archive_entry_size(e) : 0;
	if (read_fully(a, raw, CT_SOURCE_HEAD, &n))
		return archive_failed(a, entry.m.path, err);
	keep_head(s, &entry.m, raw, n, n < CT_SOURCE_HEAD);
	return add_entry(s, &entry, err);
}

static int list_archive(struct ct_source *s, size_t container, struct ct_err *err)
{
	const char *path = s->container[container].path;
	char *raw;
	struct archive *a;
	struct archive_entry *e;
	int rc, code = 0;

	CT_TRY(archive_open(&s->container[container], &a, err));
	raw = ct_realloc_array(NULL, CT_SOURCE_HEAD, 1);
	for (size_t i = 0; !code; i++) {
		rc = archive_read_next_header(a, &e);
		if (rc == ARCHIVE_EOF)
			break;
		if (rc < ARCHIVE_WARN)
			code = archive_failed(a, path, err);
		else
			code = list_member(s, container, i, a, e, raw, err);
	}
	free(raw);
	archive_read_free(a);
	return code;
}

struct stream { /* an open member of an archive */
	struct archive *a;
	const char *path;
};

static int stream_read(void *ctx, void *to, size_t n, size_t *got, struct ct_err *err)
{
	struct stream *t = ctx;
	la_ssize_t k = archive_read_data(t->a, to, n);

	if (k < 0)
		return archive_failed(t->a, t->path, err);
	*got = (size_t)k;
	return 0;
}

static void stream_close(void *ctx)
{
	struct stream *t = ctx;

	archive_read_free(t->a);
	free(t);
}

static int stream_open(const struct ct_source *s, const struct entry *e, struct stream **out, struct ct_err *err)
{
	struct archive_entry *header;
	struct archive *a;

	CT_TRY(archive_open(&s->container[e->container], &a, err));
	for (size_t i = 0; i <= e->index; i++) {
		if (archive_read_next_header(a, &header) < ARCHIVE_WARN) { /* the end is a positive number */
			archive_failed(a, e->m.path, err);
			archive_read_free(a);
			return CT_EIO;
		}
	}
	*out = ct_calloc(1, sizeof **out);
	(*out)->a = a;
	(*out)->path = e->m.path;
	return 0;
}

/* ---- files and directories */

static int read_raw_head(const char *path, char *raw, size_t *n, struct ct_err *err)
{
	struct ct_loc at = { .file = path };
	FILE *f = fopen(path, "rbe");

	if (!f)
		return ct_err_at(err, CT_EIO, NULL, "cannot open '%s': %s", path, strerror(errno));
	*n = fread(raw, 1, CT_SOURCE_HEAD, f);
	if (ferror(f))
		ct_err_at(err, CT_EIO, &at, "cannot be read: %s", strerror(errno));
	fclose(f);
	return (int)err->code;
}

/* One file or one piece of memory, of which `raw` is the beginning. */
static int add_container_of(struct ct_source *s, const struct container *c, uint64_t size, const char *raw, size_t n,
			    struct ct_err *err)
{
	struct entry e = { .m = { .path = c->path, .name = base_name(c->path), .size = size } };

	e.container = add_container(s, c);
	keep_head(s, &e.m, raw, n, n < CT_SOURCE_HEAD);
	if (!is_zip(raw, n) && !is_tar(e.m.head, e.m.head_n))
		return add_entry(s, &e, err);
	s->container[e.container].is_archive = 1;
	return list_archive(s, e.container, err);
}

static int add_file(struct ct_source *s, const char *path, uint64_t size, struct ct_err *err)
{
	const struct container c = { .path = path };
	char *raw = ct_realloc_array(NULL, CT_SOURCE_HEAD, 1);
	size_t n = 0;
	int rc = read_raw_head(path, raw, &n, err);

	if (!rc)
		rc = add_container_of(s, &c, size, raw, n, err);
	free(raw);
	return rc;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int read_names(struct ct_source *s, const char *path, const char ***out, size_t *n, struct ct_err *err)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	size_t cap = 0;

	*out = NULL;
	*n = 0;
	if (!d)
		return ct_err_at(err, CT_EIO, NULL, "cannot open '%s': %s", path, strerror(errno));
	while ((e = readdir(d))) {
		if (left_out(s, e->d_name))
			continue;
		CT_GROW(*out, cap, *n + 1);
		(*out)[(*n)++] = join(s, path, e->d_name);
	}
	closedir(d);
	if (*n)
		qsort(*out, *n, sizeof **out, by_bytes);
	return 0;
}

static int add_path(struct ct_source *s, const char *path, int depth, struct ct_err *err);

static int add_directory(struct ct_source *s, const char *path, int depth, struct ct_err *err)
{
	const char **names;
	size_t n;
	int rc;

	if (depth == DEPTH)
		return ct_err_at(err, CT_EIO, NULL, "'%s' lies more than %d folders deep", path, (int)DEPTH);
	rc = read_names(s, path, &names, &n, err);
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_path(s, names[i], depth + 1, err);
	free(names);
	return rc;
}

static int add_path(struct ct_source *s, const char *path, int depth, struct ct_err *err)
{
	struct stat st;

	if (stat(path, &st))
		return ct_err_at(err, CT_EIO, NULL, "cannot open '%s': %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return add_directory(s, path, depth, err);
	if (depth && !S_ISREG(st.st_mode))
		return 0;
	if (S_ISREG(st.st_mode))
		return add_file(s, path, (uint64_t)st.st_size, err);
	/* A pipe: whatever it is, it can be read only once. */
	return add_entry(s,
			 &(struct entry){ .m = { .path = path, .name = base_name(path), .head = "" },
					  .container = add_container(s, &(struct container){ .path = path }) },
			 err);
}

/* ---- interface */

static struct ct_source *new_source(const char *path)
{
	struct ct_source *s = ct_calloc(1, sizeof *s);

	s->path = text_of(s, path);
	return s;
}

static int opened(struct ct_source *s, int rc, struct ct_source **out)
{
	if (rc) {
		ct_source_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

int ct_source_open(const char *path, struct ct_source **out, struct ct_err *err)
{
	struct ct_source *s = new_source(path);

	return opened(s, add_path(s, s->path, 0, err), out);
}

int ct_source_open_memory(const char *name, const void *bytes, size_t n, struct ct_source **out, struct ct_err *err)
{
	struct ct_source *s = new_source(name);
	const struct container c = { .path = s->path, .bytes = n ? bytes : "", .n = n };

	return opened(s, add_container_of(s, &c, n, bytes, n < CT_SOURCE_HEAD ? n : CT_SOURCE_HEAD, err), out);
}

void ct_source_close(struct ct_source *s)
{
	if (!s)
		return;
	free(s->container);
	free(s->entry);
	ct_arena_fini(&s->arena);
	free(s);
}

const char *ct_source_path(const struct ct_source *s)
{
	return s->path;
}

const char *ct_source_file(const struct ct_source *s, size_t i)
{
	const struct container *c = &s->container[s->entry[i].container];

	return c->is_archive || c->bytes ? NULL : c->path;
}

size_t ct_source_members(const struct ct_source *s)
{
	return s->n;
}

const struct ct_member *ct_source_member(const struct ct_source *s, size_t i)
{
	CT_CHECK(NULL, i < s->n, "member %zu of %zu", i, s->n);
	return &s->entry[i].m;
}

size_t ct_source_find(const struct ct_source *s, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < s->n; i++) {
		const char *have = s->entry[i].m.name;

		if (!strncasecmp(have, name, n) && (!have[n] || !strcasecmp(have + n, ".gz")))
			return i;
	}
	return SIZE_MAX;
}

uint64_t ct_source_appledouble(const struct ct_source *s)
{
	return s->appledouble;
}

int ct_source_csv(const struct ct_source *s, size_t i, char delimiter, struct ct_csv **out, struct ct_err *err)
{
	const struct entry *e = &s->entry[i];
	const struct container *c = &s->container[e->container];
	struct ct_csv_input input = { .read = stream_read, .close = stream_close, .total = e->m.size };
	struct stream *t;

	CT_CHECK(NULL, i < s->n, "member %zu of %zu", i, s->n);
	if (!c->is_archive && c->bytes)
		return ct_csv_open_memory(c->path, c->bytes, c->n, delimiter, out, err);
	if (!c->is_archive)
		return ct_csv_open(c->path, delimiter, out, err);
	CT_TRY(stream_open(s, e, &t, err));
	input.ctx = t;
	return ct_csv_open_input(e->m.path, &input, delimiter, out, err);
}

/* ---- headers */

int ct_head_has_fields(const char *head, const char *fields, char delimiter)
{
	const char *p = head;

	if (!strncmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	for (;;) {
		size_t n = strcspn(fields, ",");

		p += strspn(p, " \"");
		if (strncasecmp(p, fields, n) != 0)
			return 0;
		p += n;
		p += strspn(p, " \"");
		fields += n;
		if (!*fields)
			return *p == delimiter || *p == '\n' || *p == '\r' || !*p;
		fields++;
		if (*p++ != delimiter)
			return 0;
	}
}
