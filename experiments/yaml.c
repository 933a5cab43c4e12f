/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events rather than libyaml's document API: only events show anchors and aliases,
 * and the depth is known before anything is built. libyaml counts columns in
 * characters; messages count bytes, so the place is looked up in the text. */
#include "experiments/yaml.h"

#include "experiments/option.h"
#include "sim/shown.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
	const char *name;
	const unsigned char *text;
	size_t n;
	size_t *line_start, n_lines, cap_lines;
	struct ct_arena *arena;
	struct ct_err *err;
	yaml_parser_t parser;
	/* open lists and mappings, outermost first */
	struct {
		struct ct_yaml *node, *last;
		const char *key; /* read, its value not yet */
		struct ct_loc key_at;
	} open[CT_YAML_DEPTH];
	size_t depth, n_nodes;
	struct ct_yaml *root;
};

const char *ct_yaml_type_name(const struct ct_yaml *y)
{
	static const char *const name[] = { "text", "a list", "a mapping" };

	return name[y->type];
}

/* Bytes of the line break at i, 0 if there is none: those libyaml knows. */
static size_t break_at(const unsigned char *s, size_t n, size_t i)
{
	if (s[i] == '\r')
		return i + 1 < n && s[i + 1] == '\n' ? 2 : 1;
	if (s[i] == '\n')
		return 1;
	if (s[i] == 0xc2 && i + 1 < n && s[i + 1] == 0x85)
		return 2;
	if (s[i] == 0xe2 && i + 2 < n && s[i + 1] == 0x80 && (s[i + 2] | 1) == 0xa9)
		return 3;
	return 0;
}

static void index_lines(struct reader *r)
{
	CT_GROW(r->line_start, r->cap_lines, 1);
	r->line_start[r->n_lines++] = 0;
	for (size_t i = 0; i < r->n;) {
		size_t k = break_at(r->text, r->n, i);

		i += k ? k : 1;
		if (k) {
			CT_GROW(r->line_start, r->cap_lines, r->n_lines + 1);
			r->line_start[r->n_lines++] = i;
		}
	}
}

static struct ct_loc place_of(const struct reader *r, size_t line, size_t column)
{
	size_t i, start;

	/* At the end libyaml adds a line of its own when the last has no break. */
	if (line >= r->n_lines)
		return (struct ct_loc){ r->name, r->n_lines, r->n - r->line_start[r->n_lines - 1] + 1 };
	i = start = r->line_start[line];
	for (; column > 0 && i < r->n; column--)
		do
			i++;
		while (i < r->n && (r->text[i] & 0xc0) == 0x80);
	return (struct ct_loc){ r->name, line + 1, i - start + 1 };
}

static struct ct_loc mark_place(const struct reader *r, yaml_mark_t m)
{
	return place_of(r, m.line, m.column);
}

static struct ct_loc byte_place(const struct reader *r, size_t offset)
{
	size_t line = 0;

	while (line + 1 < r->n_lines && r->line_start[line + 1] <= offset)
		line++;
	return (struct ct_loc){ r->name, line + 1, offset - r->line_start[line] + 1 };
}

/* What libyaml complains about, in our words where they help. */
static int parser_error(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	struct ct_loc at = mark_place(r, p->problem_mark);
	size_t i = at.line <= r->n_lines ? r->line_start[at.line - 1] + at.col - 1 : r->n;

	if (i < r->n && r->text[i] == '\t')
		return ct_err_add(r->err, CT_ECONFIG, &at, "tab found where YAML wants blanks");
	return ct_err_add(r->err, CT_ECONFIG, &at, "not valid YAML: %s%s%s", p->problem ? p->problem : "syntax error",
			  p->context ? " " : "", p->context ? p->context : "");
}

static int refuse(struct reader *r, yaml_mark_t m, const char *what)
{
	struct ct_loc at = mark_place(r, m);

	return ct_err_add(r->err, CT_ECONFIG, &at, "%s", what);
}

/* Hang a new node into the open mapping or list, or make it the root. */
static struct ct_yaml *add_node(struct reader *r, enum ct_yaml_type type, yaml_mark_t m)
{
	struct ct_yaml *y = CT_NEW(r->arena, struct ct_yaml, 1);

	y->type = type;
	y->at = mark_place(r, m);
	if (r->depth == 0) {
		r->root = y;
		return y;
	}
	y->key = r->open[r->depth - 1].key;
	y->key_at = r->open[r->depth - 1].key_at;
	r->open[r->depth - 1].key = NULL;
	if (r->open[r->depth - 1].last)
		r->open[r->depth - 1].last->next = y;
	else
		r->open[r->depth - 1].node->first = y;
	r->open[r->depth - 1].last = y;
	r->open[r->depth - 1].node->n++;
	return y;
}

static bool wants_key(const struct reader *r)
{
	return r->depth > 0 && r->open[r->depth - 1].node->type == CT_YAML_MAP && !r->open[r->depth - 1].key;
}

/* A key seen before is reported and its value read all the same. */
static int take_key(struct reader *r, const char *text, struct ct_loc at)
{
	struct ct_yaml *map = r->open[r->depth - 1].node;
	char shown[CT_SHOWN];

	if (map->n >= CT_YAML_ENTRIES)
		return ct_err_add(r->err, CT_ECONFIG, &at, "more than %d keys in one mapping", CT_YAML_ENTRIES);
	for (const struct ct_yaml *c = map->first; c; c = c->next)
		if (strcmp(c->key, text) == 0) {
			ct_err_add(r->err, CT_ECONFIG, &at, "key '%s' is there twice, first on line %zu",
				   ct_shown(shown, text, strlen(text)), c->key_at.line);
			break;
		}
	r->open[r->depth - 1].key = text;
	r->open[r->depth - 1].key_at = at;
	return 0;
}

static int take_scalar(struct reader *r, const yaml_event_t *e)
{
	size_t n = e->data.scalar.length;
	struct ct_loc at = mark_place(r, e->start_mark);
	const char *text = ct_arena_text(r->arena, (const char *)e->data.scalar.value, n);
	struct ct_yaml *y;

	if (e->data.scalar.tag)
		return refuse(r, e->start_mark, "tags (!name) are not supported");
	if (strlen(text) != n)
		return refuse(r, e->start_mark, "text with a NUL byte");
	if (wants_key(r))
		return take_key(r, text, at);
	y = add_node(r, CT_YAML_SCALAR, e->start_mark);
	y->text = text;
	y->quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return 0;
}

static int open_node(struct reader *r, const yaml_event_t *e, enum ct_yaml_type type, const yaml_char_t *tag)
{
	struct ct_yaml *y;

	if (tag)
		return refuse(r, e->start_mark, "tags (!name) are not supported");
	if (wants_key(r))
		return refuse(r, e->start_mark, "a key must be text");
	if (r->depth == CT_YAML_DEPTH)
		return refuse(r, e->start_mark, "nested too deeply");
	y = add_node(r, type, e->start_mark);
	r->open[r->depth].node = y;
	r->open[r->depth].last = NULL;
	r->open[r->depth].key = NULL;
	r->depth++;
	return 0;
}

static const yaml_char_t *anchor_of(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return e->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT:
		return e->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT:
		return e->data.mapping_start.anchor;
	default:
		return NULL;
	}
}

static int take_event(struct reader *r, const yaml_event_t *e)
{
	if (anchor_of(e) || e->type == YAML_ALIAS_EVENT)
		return refuse(r, e->start_mark, "anchors and aliases (&name, *name) are not supported");
	switch (e->type) {
	case YAML_DOCUMENT_START_EVENT:
		return r->root ? refuse(r, e->start_mark, "a second document begins, wanted one") : 0;
	case YAML_SCALAR_EVENT:
		r->n_nodes++;
		return take_scalar(r, e);
	case YAML_SEQUENCE_START_EVENT:
		r->n_nodes++;
		return open_node(r, e, CT_YAML_LIST, e->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		r->n_nodes++;
		return open_node(r, e, CT_YAML_MAP, e->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		r->depth--;
		return 0;
	default:
		return 0;
	}
}

static int take_events(struct reader *r)
{
	for (;;) {
		yaml_event_t e;
		bool end;
		int rc;

		if (!yaml_parser_parse(&r->parser, &e))
			return parser_error(r);
		end = e.type == YAML_STREAM_END_EVENT;
		rc = take_event(r, &e);
		if (rc == 0 && r->n_nodes > CT_YAML_NODES)
			rc = refuse(r, e.start_mark, "too many keys and values");
		yaml_event_delete(&e);
		if (rc || end)
			return rc;
	}
}

/* Before libyaml sees it, because it would accept UTF-16 and report other bytes
 * without line and column. */
static int check_bytes(const struct reader *r)
{
	size_t bad = SIZE_MAX;
	struct ct_loc at;

	for (size_t i = 0; i < r->n && bad == SIZE_MAX; i++)
		if ((r->text[i] < 0x20 && !memchr("\t\n\r", r->text[i], 3)) || r->text[i] == 0x7f)
			bad = i;
	if (bad != SIZE_MAX) {
		at = byte_place(r, bad);
		return ct_err_add(r->err, CT_ECONFIG, &at, "control character 0x%02x", r->text[bad]);
	}
	for (size_t i = 0; i < r->n;) { /* line by line, for lone '\r' is no error here */
		size_t k = 0, off;

		while (i + k < r->n && r->text[i + k] != '\r')
			k++;
		off = ct_utf8_check((const char *)r->text + i, k);
		if (off != SIZE_MAX) {
			at = byte_place(r, i + off);
			return ct_err_add(r->err, CT_ECONFIG, &at, "byte 0x%02x is not UTF-8 text", r->text[i + off]);
		}
		i += k + 1;
	}
	return 0;
}

static int read_tree(struct reader *r)
{
	int rc;

	CT_TRY(check_bytes(r));
	CT_CHECK(NULL, yaml_parser_initialize(&r->parser), "out of memory in libyaml");
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, r->text, r->n);
	rc = take_events(r);
	yaml_parser_delete(&r->parser);
	if (rc == 0 && (!r->root || (r->root->type == CT_YAML_SCALAR && r->root->text[0] == '\0')))
		rc = ct_err_add(r->err, CT_ECONFIG, &(struct ct_loc){ .file = r->name }, "the file is empty");
	return rc;
}

int ct_yaml_parse(const char *name, const void *bytes, size_t n, struct ct_arena *arena, struct ct_yaml **out,
		  struct ct_err *err)
{
	struct reader r = { .name = name, .text = bytes, .n = n, .arena = arena, .err = err };
	unsigned before = err->count;
	int rc;

	*out = NULL;
	if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
		r.text += 3;
		r.n -= 3;
	}
	index_lines(&r);
	rc = read_tree(&r);
	free(r.line_start);
	if (rc == 0)
		*out = r.root;
	return err->count > before ? (int)err->code : 0;
}

int ct_yaml_load(const char *path, struct ct_arena *arena, struct ct_yaml **out, struct ct_err *err)
{
	const struct ct_loc at = { .file = ct_arena_text(arena, path, strlen(path)) };
	FILE *f = fopen(path, "rbe");
	char *bytes;
	size_t n;
	int failed, rc;

	*out = NULL;
	if (!f)
		return ct_err_add(err, CT_EIO, &at, "cannot open: %s", strerror(errno));
	bytes = ct_calloc(1, CT_YAML_BYTES + 1);
	errno = 0;
	n = fread(bytes, 1, CT_YAML_BYTES + 1, f);
	failed = ferror(f) ? errno : 0;
	fclose(f);
	if (failed)
		rc = ct_err_add(err, CT_EIO, &at, "cannot read: %s", strerror(failed));
	else if (n > CT_YAML_BYTES)
		rc = ct_err_add(err, CT_ECONFIG, &at, "larger than %d bytes", CT_YAML_BYTES);
	else
		rc = ct_yaml_parse(at.file, bytes, n, arena, out, err);
	free(bytes);
	return rc;
}
