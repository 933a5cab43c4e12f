/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml.h - a YAML file as a tree whose every node knows its place in the file.
 *
 *	struct ct_arena arena = { 0 };
 *	struct ct_yaml *root;
 *	CT_TRY(ct_yaml_load("run.yaml", &arena, &root, &err));
 *	for (const struct ct_yaml *c = root->first; c; c = c->next)
 *		use(c->key, c->text);
 *
 * Read with libyaml. What a configuration does not need is refused with its place:
 * a second document, anchors and aliases, tags, keys that are not plain text, a key
 * twice in one mapping, and anything beyond the limits below, so that a hostile
 * file costs little. An empty file is an error. */
#ifndef CT_EXPERIMENTS_YAML_H
#define CT_EXPERIMENTS_YAML_H

#include "sim/err.h"
#include "sim/memory.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	CT_YAML_BYTES = 1 << 20,
	CT_YAML_DEPTH = 16,
	CT_YAML_NODES = 20000,
	CT_YAML_ENTRIES = 1000, /* of one mapping */
};

enum ct_yaml_type { CT_YAML_SCALAR, CT_YAML_LIST, CT_YAML_MAP };

struct ct_yaml {
	enum ct_yaml_type type;
	struct ct_loc at;
	const char *text; /* SCALAR: without NUL bytes inside */
	bool quoted;      /* SCALAR: "12" rather than 12 */
	const char *key;  /* in a mapping */
	struct ct_loc key_at;
	struct ct_yaml *first, *next; /* children; sibling */
	size_t n;                     /* children */
};

/* CT_EIO: cannot be read. CT_ECONFIG: not YAML of this kind, file:line:column; *out
 * is NULL then, but not when all that is wrong are keys that are there twice, so that
 * the caller can look for further errors. */
int ct_yaml_load(const char *path, struct ct_arena *arena, struct ct_yaml **out, struct ct_err *err);
/* From memory; `name` stands in messages and must live as long as the arena. */
int ct_yaml_parse(const char *name, const void *bytes, size_t n, struct ct_arena *arena, struct ct_yaml **out,
		  struct ct_err *err);

/* "text", "a list", "a mapping": for messages. */
const char *ct_yaml_type_name(const struct ct_yaml *y);

#endif
