/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The printed forms of a configuration. YAML through libyaml's emitter, so that
 * every text is quoted as the same library will read it; the text for the digest by
 * hand, because it must not change with a library. */
#include "experiments/config.h"

#include "experiments/config_table.h"
#include "experiments/option.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

struct buffer {
	char *s;
	size_t n, cap;
};

static int append(void *ctx, unsigned char *s, size_t n)
{
	struct buffer *b = ctx;

	CT_GROW(b->s, b->cap, b->n + n + 1);
	memcpy(b->s + b->n, s, n);
	b->n += n;
	return 1;
}

static void append_text(struct buffer *b, const char *s)
{
	append(b, (unsigned char *)(uintptr_t)s, strlen(s));
}

static const char *take(struct buffer *b, struct ct_arena *arena)
{
	const char *s = ct_arena_text(arena, b->s, b->n);

	free(b->s);
	return s;
}

/* Absolute form of a path that may not exist yet. */
static const char *absolute(const char *path, struct ct_arena *arena)
{
	char here[PATH_MAX], *s;
	size_t n;

	if (path[0] == '/' || path[0] == '\0' || strncmp(path, "data:", 5) == 0)
		return path;
	s = realpath(path, NULL);
	if (s) {
		const char *kept = ct_arena_text(arena, s, strlen(s));

		free(s);
		return kept;
	}
	if (!getcwd(here, sizeof here))
		return path;
	n = strlen(here);
	s = CT_NEW(arena, char, n + strlen(path) + 2);
	memcpy(s, here, n);
	s[n] = '/';
	strcpy(s + n + 1, path);
	return s;
}

/* ---- YAML */

struct writer {
	yaml_emitter_t emitter;
	struct ct_arena *arena;
};

static void emit(struct writer *w, yaml_event_t *e, int made)
{
	CT_CHECK(NULL, made && yaml_emitter_emit(&w->emitter, e), "libyaml cannot write the configuration: %s",
		 w->emitter.problem ? w->emitter.problem : "out of memory");
}

static void scalar(struct writer *w, const char *s, bool quoted)
{
	yaml_event_t e;

	emit(w, &e,
	     yaml_scalar_event_initialize(&e, NULL, NULL, (yaml_char_t *)(uintptr_t)s, (int)strlen(s), !quoted, quoted,
					  quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE));
}

static void map_start(struct writer *w)
{
	yaml_event_t e;

	emit(w, &e, yaml_mapping_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
}

static void map_end(struct writer *w)
{
	yaml_event_t e;

	emit(w, &e, yaml_mapping_end_event_initialize(&e));
}

static void options(struct writer *w, const struct ct_opt *opts, const void *base, const char *but)
{
	for (const struct ct_opt *o = opts; o && o->name; o++) {
		const char *text = ct_opt_text(o, base, w->arena);

		if (but && strcmp(o->name, but) == 0)
			continue;
		scalar(w, o->name, false);
		scalar(w, o->flags & CT_OPT_PATH ? absolute(text, w->arena) : text, o->type == CT_OPT_TEXT);
	}
}

static void columns(struct writer *w, const struct ct_config *c)
{
	scalar(w, "columns", false);
	map_start(w);
	for (size_t i = 0; i < c->trace.n_columns; i++) {
		scalar(w, c->trace.columns[i].canonical, false);
		scalar(w, c->trace.columns[i].name, true);
	}
	map_end(w);
}

static void reader_options(struct writer *w, const struct ct_config *c)
{
	if (!c->trace.n_options)
		return;
	scalar(w, "options", false);
	map_start(w);
	for (size_t i = 0; i < c->trace.n_options; i++) {
		scalar(w, c->trace.options[i].name, false);
		scalar(w, c->trace.options[i].value, true);
	}
	map_end(w);
}

static void node_types(struct writer *w, const struct ct_config *c)
{
	yaml_event_t e;

	scalar(w, "node_types", false);
	emit(w, &e, yaml_sequence_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
	for (size_t i = 0; i < c->cluster.n_types; i++) {
		map_start(w);
		options(w, ct_config_node_opts, &c->cluster.types[i], NULL);
		map_end(w);
	}
	emit(w, &e, yaml_sequence_end_event_initialize(&e));
}

static void section(struct writer *w, const struct ct_config *c, const struct ct_config_section *s)
{
	scalar(w, s->name, false);
	map_start(w);
	if (strcmp(s->name, "cluster") == 0 && c->cluster.n_types) {
		node_types(w, c);
	} else if (strcmp(s->name, "policy") == 0) {
		const char *name = c->policy.name ? c->policy.name : "";

		scalar(w, "name", false);
		scalar(w, strchr(name, '/') ? absolute(name, w->arena) : name, true);
		if (c->policy.policy)
			options(w, c->policy.policy->opts, c->policy.state, NULL);
	} else {
		options(w, s->opts, c, strcmp(s->name, "cluster") == 0 ? "file" : NULL);
		if (strcmp(s->name, "trace") == 0) {
			columns(w, c);
			reader_options(w, c);
		}
	}
	map_end(w);
}

static void document(struct writer *w, const struct ct_config *c)
{
	yaml_event_t e;

	emit(w, &e, yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING));
	emit(w, &e, yaml_document_start_event_initialize(&e, NULL, NULL, NULL, 1));
	map_start(w);
	for (size_t i = 0; i < CT_CONFIG_SECTIONS; i++)
		if (strcmp(ct_config_sections[i].name, "output") != 0)
			section(w, c, &ct_config_sections[i]);
	map_end(w);
	emit(w, &e, yaml_document_end_event_initialize(&e, 1));
	emit(w, &e, yaml_stream_end_event_initialize(&e));
}

const char *ct_config_yaml(struct ct_config *c)
{
	struct buffer b = { 0 };
	struct writer w = { .arena = &c->arena };

	CT_CHECK(NULL, yaml_emitter_initialize(&w.emitter), "out of memory in libyaml");
	yaml_emitter_set_output(&w.emitter, append, &b);
	yaml_emitter_set_width(&w.emitter, -1);
	yaml_emitter_set_unicode(&w.emitter, 1);
	document(&w, c);
	yaml_emitter_delete(&w.emitter);
	return take(&b, &c->arena);
}

/* ---- for the digest: "key=length:value", which no two configurations share */

static void digest_line(struct buffer *b, const char *section_name, const char *name, const char *value)
{
	char head[192];

	snprintf(head, sizeof head, "%s.%s=%zu:", section_name, name, strlen(value));
	append_text(b, head);
	append_text(b, value);
	append_text(b, "\n");
}

static void digest_options(struct buffer *b, struct ct_arena *arena, const char *section_name,
			   const struct ct_opt *opts, const void *base)
{
	for (const struct ct_opt *o = opts; o && o->name; o++)
		if (!(o->flags & CT_OPT_NO_DIGEST))
			digest_line(b, section_name, o->name, ct_opt_text(o, base, arena));
}

static void digest_section(struct buffer *b, struct ct_config *c, const struct ct_config_section *s)
{
	if (strcmp(s->name, "failures") == 0 && !ct_config_fails(c))
		return; /* nothing in it bears on the result */
	if (strcmp(s->name, "cluster") == 0 && c->cluster.n_types) {
		for (size_t i = 0; i < c->cluster.n_types; i++)
			digest_options(b, &c->arena, "cluster.node_types", ct_config_node_opts, &c->cluster.types[i]);
	} else if (strcmp(s->name, "policy") == 0 && c->policy.policy) {
		digest_line(b, "policy", "name", c->policy.policy->name);
		digest_options(b, &c->arena, "policy", c->policy.policy->opts, c->policy.state);
	} else {
		digest_options(b, &c->arena, s->name, s->opts, c);
	}
}

const char *ct_config_digest_text(struct ct_config *c)
{
	struct buffer b = { 0 };

	for (size_t i = 0; i < CT_CONFIG_SECTIONS; i++)
		digest_section(&b, c, &ct_config_sections[i]);
	return take(&b, &c->arena);
}

/* ---- the manual */

void ct_config_print_manual(FILE *to)
{
	for (size_t i = 0; i < CT_CONFIG_SECTIONS; i++) {
		const struct ct_config_section *s = &ct_config_sections[i];

		fprintf(to, "%s: %s\n", s->name, s->help);
		ct_opt_print_manual(to, s->name, s->opts);
		if (strcmp(s->name, "trace") == 0)
			fputs("  trace.columns.COLUMN     name of that column in the file (`cotenant trace columns`)\n"
			      "  trace.options.OPTION     an option of the trace's reader (`cotenant trace formats`)\n",
			      to);
		if (strcmp(s->name, "cluster") == 0) {
			fputs("  cluster.node_types       instead of the keys above: a list of mappings, each with\n",
			      to);
			ct_opt_print_manual(to, "node_types", ct_config_node_opts);
		}
		if (strcmp(s->name, "policy") == 0)
			fputs("  policy.OPTION            an option of that policy (`cotenant policies NAME`)\n", to);
	}
}
