/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source.h - the files behind the name of a trace, as a list of members. Internal
 * to traces/ (and to what reads tables that are published beside a trace).
 *
 * A name is a plain file, a gzip file, a tar or zip archive (the tar plain or
 * gzip), or a directory of all these, read without unpacking to disk. What a
 * thing is decides its content, not its name. Members stand in a fixed order:
 * an archive's own, a directory's by bytes of the name. An archive in a directory
 * counts as the members in it; one inside an archive is not opened.
 *
 * Left out: AppleDouble files ("._x" and "__MACOSX/", which archives made on a Mac
 * carry beside each file; counted), other names that begin with a dot, whatever is
 * neither a file nor a directory. Read is only what is asked for: names and first
 * bytes when opening, the content by ct_source_csv().
 *
 *	struct ct_source *s;
 *	CT_TRY(ct_source_open("trace.tar.gz", &s, err));
 *	for (size_t i = 0; i < ct_source_members(s); i++)
 *		if (ours(ct_source_member(s, i)) && !(rc = ct_source_csv(s, i, ',', &csv, err))) {
 *			...
 *			ct_csv_close(csv);      // before ct_source_close()
 *		}
 *	ct_source_close(s); */
#ifndef CT_TRACES_SOURCE_H
#define CT_TRACES_SOURCE_H

#include "sim/csv.h"
#include "sim/err.h"

#include <stddef.h>
#include <stdint.h>

enum {
	CT_SOURCE_HEAD = 1 << 14,   /* first bytes kept of each member */
	CT_SOURCE_MEMBERS = 1 << 12 /* more are refused */
};

struct ct_member {
	const char *name;  /* without folders */
	const char *path;  /* for messages: "jobs.csv", "data/x.tar.gz/inner/jobs.csv" */
	uint64_t size;     /* as stored: packed for a .gz; 0 = unknown (a pipe) */
	const char *head;  /* its first bytes, a gzip already inflated, then NUL */
	size_t head_n;     /* 0 for a pipe, which can be read only once */
	int head_is_whole; /* the member has no more bytes than these */
};

struct ct_source;

/* CT_EIO: cannot be opened or read, damaged archive. An empty directory or archive
 * has no members, which the caller complains about. */
int ct_source_open(const char *path, struct ct_source **out, struct ct_err *err);
/* From memory (tests, fuzzing); the bytes must outlive it. */
int ct_source_open_memory(const char *name, const void *bytes, size_t n, struct ct_source **out, struct ct_err *err);
void ct_source_close(struct ct_source *s);

const char *ct_source_path(const struct ct_source *s);
size_t ct_source_members(const struct ct_source *s);
const struct ct_member *ct_source_member(const struct ct_source *s, size_t i);
/* The member of that name (letter case does not matter; a last ".gz" neither), or SIZE_MAX. */
size_t ct_source_find(const struct ct_source *s, const char *name);
/* The member's file, for libraries that read files; NULL when it is in an archive. */
const char *ct_source_file(const struct ct_source *s, size_t i);
uint64_t ct_source_appledouble(const struct ct_source *s);

/* Several members may be open at once; each open archive member inflates its
 * archive from the beginning. */
int ct_source_csv(const struct ct_source *s, size_t i, char delimiter, struct ct_csv **out, struct ct_err *err);

/* Does the text begin with this header line? Blanks, quotes and letter case aside. */
int ct_head_has_fields(const char *head, const char *fields, char delimiter);

#endif
