/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/config.h"

#include "experiments/compat.h"
#include "experiments/config_table.h"
#include "experiments/option.h"
#include "experiments/yaml.h"
#include "scheduler/registry.h"
#include "sim/csv.h"
#include "sim/nearest.h"
#include "sim/shown.h"
#include "traces/generate.h"
#include "traces/machines.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* One value on its way into the configuration. */
struct value {
	const struct ct_config_section *section;
	const char *name, *text; /* below the section */
	const char *folder;
	struct ct_loc at; /* its place; texts live in the arena */
	struct ct_loc key_at;
};

static char *keep(struct ct_config *c, const char *s)
{
	return ct_arena_text(&c->arena, s, strlen(s));
}

__attribute__((format(printf, 2, 3))) static const char *format(struct ct_arena *arena, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return ct_arena_text(arena, text, strlen(text));
}

void ct_config_init(struct ct_config *c)
{
	memset(c, 0, sizeof *c);
	for (size_t i = 0; i < CT_CONFIG_SECTIONS; i++)
		ct_opt_defaults(ct_config_sections[i].opts, c, &c->arena);
}

void ct_config_fini(struct ct_config *c)
{
	free(c->trace.columns);
	free(c->trace.options);
	free(c->cluster.types);
	free(c->policy.settings);
	ct_arena_fini(&c->arena);
}

/* ---- unknown names */

/* "; did you mean 'x'?" or "" */
static const char *hint(struct ct_config *c, const char *word)
{
	return word ? format(&c->arena, "; did you mean '%s'?", word) : "";
}

/* A section of another name, else a key that exists in some section. */
static const char *nearest_section(struct ct_config *c, const char *name)
{
	struct ct_nearest near;

	ct_nearest_init(&near, name);
	for (size_t i = 0; i < CT_CONFIG_SECTIONS; i++)
		ct_nearest_offer(&near, ct_config_sections[i].name);
	if (ct_nearest_word(&near))
		return ct_nearest_word(&near);
	for (size_t i = 0; i < CT_CONFIG_SECTIONS; i++)
		if (ct_opt_find(ct_config_sections[i].opts, name))
			return format(&c->arena, "%s.%s", ct_config_sections[i].name, name);
	return NULL;
}

static int unknown_section(struct ct_config *c, const char *name, const struct ct_loc *at, struct ct_err *err)
{
	char shown[CT_SHOWN];
	const char *dot = strchr(name, '.');

	if (dot && ct_config_section(ct_arena_text(&c->arena, name, (size_t)(dot - name))))
		return ct_err_add(err, CT_ECONFIG, at, "unknown section '%s': in a file, '%s' is a key below '%.*s:'",
				  ct_shown(shown, name, strlen(name)), dot + 1, (int)(dot - name), name);
	return ct_err_add(err, CT_ECONFIG, at, "unknown section '%s'%s", ct_shown(shown, name, strlen(name)),
			  hint(c, nearest_section(c, name)));
}

static int unknown_key(struct ct_config *c, const char *section, const struct ct_opt *opts, const char *more,
		       const char *name, const struct ct_loc *at, struct ct_err *err)
{
	char shown[CT_SHOWN];
	struct ct_nearest near;

	ct_nearest_init(&near, name);
	for (const struct ct_opt *o = opts; o && o->name; o++)
		ct_nearest_offer(&near, o->name);
	if (more)
		ct_nearest_offer(&near, more);
	return ct_err_add(err, CT_ECONFIG, at, "unknown key '%s.%s'%s", section, ct_shown(shown, name, strlen(name)),
			  hint(c, ct_nearest_word(&near)));
}

/* ---- setting one value */

static bool is_path_of_policy(const char *s)
{
	size_t n = strlen(s);

	return strchr(s, '/') || (n > 3 && strcmp(s + n - 3, ".so") == 0);
}

/* trace.columns.NAME = name in the file */
static int set_column(struct ct_config *c, const char *canonical, const struct value *v, struct ct_err *err)
{
	const struct ct_trace_column *k = NULL;
	struct ct_nearest near;
	char shown[CT_SHOWN];
	size_t i;

	ct_nearest_init(&near, canonical);
	for (i = 0; (k = ct_trace_column_at(i)) && strcmp(k->name, canonical) != 0; i++)
		ct_nearest_offer(&near, k->name);
	if (!k)
		return ct_err_add(err, CT_ECONFIG, &v->key_at, "unknown column 'trace.columns.%s'%s",
				  ct_shown(shown, canonical, strlen(canonical)), hint(c, ct_nearest_word(&near)));
	if (v->text[0] == '\0' || ct_utf8_check(v->text, strlen(v->text)) != SIZE_MAX)
		return ct_err_add(err, CT_ECONFIG, &v->at, "'trace.columns.%s' wants the name of a column, got '%s'",
				  k->name, ct_shown(shown, v->text, strlen(v->text)));
	for (i = 0; i < c->trace.n_columns && c->trace.columns[i].canonical != k->name; i++)
		;
	if (i == c->trace.n_columns) {
		CT_GROW(c->trace.columns, c->trace.cap_columns, i + 1);
		c->trace.columns[i].canonical = k->name;
		c->trace.n_columns++;
	}
	c->trace.columns[i].name = keep(c, v->text);
	return 0;
}

/* trace.options.NAME = value for the reader, whose table is known when the format is. */
static int set_option(struct ct_config *c, const char *name, const struct value *v, struct ct_err *err)
{
	char shown[CT_SHOWN];
	size_t i;

	if (name[0] == '\0' || ct_utf8_check(v->text, strlen(v->text)) != SIZE_MAX)
		return ct_err_add(err, CT_ECONFIG, &v->at, "'trace.options.%s' wants a name and a text, got '%s'", name,
				  ct_shown(shown, v->text, strlen(v->text)));
	for (i = 0; i < c->trace.n_options && strcmp(c->trace.options[i].name, name) != 0; i++)
		;
	if (i == c->trace.n_options) {
		CT_GROW(c->trace.options, c->trace.cap_options, i + 1);
		c->trace.options[c->trace.n_options++].name = keep(c, name);
	}
	c->trace.options[i].value = keep(c, v->text);
	return 0;
}

/* Options of a policy that is not known yet. */
static int keep_setting(struct ct_config *c, const struct value *v)
{
	struct ct_config_setting *s;

	CT_GROW(c->policy.settings, c->policy.cap_settings, c->policy.n_settings + 1);
	s = &c->policy.settings[c->policy.n_settings++];
	*s = (struct ct_config_setting){ keep(c, v->name), keep(c, v->text), v->folder ? keep(c, v->folder) : NULL,
					 v->key_at };
	return 0;
}

static int include_cluster(struct ct_config *c, struct ct_err *err);

static bool in_section(const struct value *v, const char *name)
{
	return strcmp(v->section->name, name) == 0;
}

/* What else a value that was just set means. */
static int after_set(struct ct_config *c, const struct value *v, struct ct_err *err)
{
	if (in_section(v, "cluster") && strcmp(v->name, "file") == 0)
		return include_cluster(c, err);
	if (in_section(v, "cluster")) {
		c->cluster.simple_at = v->key_at;
		c->cluster.simple_key = keep(c, v->name);
	}
	if (in_section(v, "policy"))
		c->policy.at = v->at;
	return 0;
}

static int set_value(struct ct_config *c, const struct value *v, struct ct_err *err)
{
	const struct ct_opt *o = ct_opt_find(v->section->opts, v->name);
	struct ct_opt_place p = { NULL, &v->at, v->folder, CT_ECONFIG, &c->arena, err };
	struct ct_opt path;

	p.key = format(&c->arena, "%s.%s", v->section->name, v->name);
	if (!o && in_section(v, "policy"))
		return keep_setting(c, v);
	if (!o && in_section(v, "trace") && strncmp(v->name, "columns.", 8) == 0)
		return set_column(c, v->name + 8, v, err);
	if (!o && in_section(v, "trace") && strncmp(v->name, "options.", 8) == 0)
		return set_option(c, v->name + 8, v, err);
	if ((in_section(v, "trace") && (strcmp(v->name, "columns") == 0 || strcmp(v->name, "options") == 0)) ||
	    (in_section(v, "cluster") && strncmp(v->name, "node_types", 10) == 0))
		return ct_err_add(err, CT_ECONFIG, &v->at, "'%s' cannot be given as one value%s", p.key,
				  in_section(v, "trace") ? ", write trace.columns.NAME=name" : ", write it in a file");
	if (!o)
		return unknown_key(c, v->section->name, v->section->opts, NULL, v->name, &v->key_at, err);
	if (in_section(v, "policy") && is_path_of_policy(v->text)) {
		path = *o;
		path.flags |= CT_OPT_PATH;
		o = &path;
		if (!p.folder && !strchr(v->text, '/'))
			p.folder = "."; /* "mine.so" is a file, not a name for the loader to search */
	}
	CT_TRY(ct_opt_set(&p, o, c, v->text));
	return after_set(c, v, err);
}

/* ---- from YAML */

struct source {
	struct ct_config *c;
	const char *folder;
	struct ct_err *err;
};

static int wrong_type(const struct source *s, const struct ct_yaml *y, const char *key, const char *wanted)
{
	return ct_err_add(s->err, CT_ECONFIG, &y->at, "'%s' wants %s, got %s", key, wanted, ct_yaml_type_name(y));
}

/* YAML's own words for "nothing" would otherwise become file names. */
static int check_null(const struct source *s, const struct ct_yaml *y, const char *key)
{
	if (!y->quoted && (strcmp(y->text, "~") == 0 || strcmp(y->text, "null") == 0))
		return ct_err_add(s->err, CT_ECONFIG, &y->at,
				  "'%s' has no value: leave the key out, or write \"%s\" for that text", key, y->text);
	return 0;
}

static int yaml_value(const struct source *s, const struct ct_config_section *section, const char *name,
		      const struct ct_yaml *y)
{
	const char *key = format(&s->c->arena, "%s.%s", section->name, name);
	const struct value v = { section, name, y->text, s->folder, y->at, y->key_at };

	if (y->type != CT_YAML_SCALAR)
		return wrong_type(s, y, key, "one value");
	CT_TRY(check_null(s, y, key));
	return set_value(s->c, &v, s->err);
}

/* trace.columns and trace.options: names that no table of the configuration knows. */
static void yaml_names(const struct source *s, const struct ct_config_section *section, const struct ct_yaml *y)
{
	if (y->type != CT_YAML_MAP) {
		wrong_type(s, y, y->key[0] == 'c' ? "trace.columns" : "trace.options",
			   y->key[0] == 'c' ? "a mapping of column names" : "a mapping of options");
		return;
	}
	for (const struct ct_yaml *k = y->first; k; k = k->next)
		yaml_value(s, section, format(&s->c->arena, "%s.%s", y->key, k->key), k);
}

static void yaml_node_type(const struct source *s, const struct ct_yaml *y, struct ct_config_nodes *t)
{
	struct ct_opt_place p = { NULL, NULL, s->folder, CT_ECONFIG, &s->c->arena, s->err };

	ct_opt_defaults(ct_config_node_opts, t, &s->c->arena);
	t->at = y->at;
	if (y->type != CT_YAML_MAP) {
		wrong_type(s, y, "cluster.node_types", "mappings in its list");
		return;
	}
	for (const struct ct_yaml *k = y->first; k; k = k->next) {
		const struct ct_opt *o = ct_opt_find(ct_config_node_opts, k->key);

		p.key = format(&s->c->arena, "node_types.%s", k->key);
		p.at = &k->at;
		if (!o)
			unknown_key(s->c, "node_types", ct_config_node_opts, NULL, k->key, &k->key_at, s->err);
		else if (k->type != CT_YAML_SCALAR)
			wrong_type(s, k, p.key, "one value");
		else if (check_null(s, k, p.key) == 0)
			ct_opt_set(&p, o, t, k->text);
	}
}

static void yaml_node_types(const struct source *s, const struct ct_yaml *y)
{
	size_t i = 0;

	if (y->type != CT_YAML_LIST || y->n == 0) {
		if (y->type == CT_YAML_LIST)
			ct_err_add(s->err, CT_ECONFIG, &y->at, "'cluster.node_types' is empty");
		else
			wrong_type(s, y, "cluster.node_types", "a list of mappings");
		return;
	}
	free(s->c->cluster.types);
	s->c->cluster.types = ct_calloc(y->n, sizeof *s->c->cluster.types);
	s->c->cluster.n_types = y->n;
	s->c->cluster.list_at = y->key_at;
	for (const struct ct_yaml *k = y->first; k; k = k->next)
		yaml_node_type(s, k, &s->c->cluster.types[i++]);
}

static void yaml_section(const struct source *s, const struct ct_config_section *section, const struct ct_yaml *y)
{
	const char *more = strcmp(section->name, "trace") == 0     ? "columns"
			   : strcmp(section->name, "cluster") == 0 ? "node_types"
								   : NULL;

	if (y->type == CT_YAML_SCALAR && y->text[0] == '\0' && !y->quoted)
		return; /* "sim:" with everything below it left out */
	if (y->type != CT_YAML_MAP) {
		wrong_type(s, y, section->name, "a mapping");
		return;
	}
	/* An included file comes first: the keys beside it are exceptions to it. */
	for (const struct ct_yaml *k = y->first; k && strcmp(section->name, "cluster") == 0; k = k->next)
		if (strcmp(k->key, "file") == 0)
			yaml_value(s, section, "file", k);
	for (const struct ct_yaml *k = y->first; k; k = k->next) {
		if (strcmp(section->name, "cluster") == 0 && strcmp(k->key, "file") == 0)
			continue;
		if (strcmp(section->name, "trace") == 0 &&
		    (strcmp(k->key, "columns") == 0 || strcmp(k->key, "options") == 0))
			yaml_names(s, section, k);
		else if (more && strcmp(k->key, more) == 0)
			yaml_node_types(s, k);
		else if (!ct_opt_find(section->opts, k->key) && strcmp(section->name, "policy") != 0)
			unknown_key(s->c, section->name, section->opts, more, k->key, &k->key_at, s->err);
		else
			yaml_value(s, section, k->key, k);
	}
}

static void yaml_root(const struct source *s, const struct ct_yaml *root)
{
	if (root->type != CT_YAML_MAP) {
		ct_err_add(s->err, CT_ECONFIG, &root->at,
			   "wanted a mapping of sections (trace, cluster, policy, ...), got %s",
			   ct_yaml_type_name(root));
		return;
	}
	for (const struct ct_yaml *k = root->first; k; k = k->next) {
		const struct ct_config_section *section = ct_config_section(k->key);

		if (section)
			yaml_section(s, section, k);
		else
			unknown_section(s->c, k->key, &k->key_at, s->err);
	}
}

static int since(const struct ct_err *err, unsigned before)
{
	return err->count > before ? (int)err->code : 0;
}

/* The folder part of a path, NULL when there is none. */
static const char *folder_of(struct ct_config *c, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return NULL;
	return slash == path ? "/" : ct_arena_text(&c->arena, path, (size_t)(slash - path));
}

int ct_config_parse(struct ct_config *c, const char *name, const void *bytes, size_t n, const char *folder,
		    struct ct_err *err)
{
	const struct source s = { c, folder, err };
	unsigned before = err->count;
	struct ct_yaml *root;

	ct_yaml_parse(keep(c, name), bytes, n, &c->arena, &root, err);
	if (root)
		yaml_root(&s, root);
	return since(err, before);
}

int ct_config_load(struct ct_config *c, const char *path, struct ct_err *err)
{
	const struct source s = { c, folder_of(c, path), err };
	unsigned before = err->count;
	struct ct_yaml *root;

	ct_yaml_load(path, &c->arena, &root, err);
	if (root)
		yaml_root(&s, root);
	return since(err, before);
}

int ct_config_take(struct ct_config *c, const struct ct_yaml *root, const char *folder, struct ct_err *err)
{
	const struct source s = { c, folder, err };
	unsigned before = err->count;

	yaml_root(&s, root);
	return since(err, before);
}

static void forget_cluster(struct ct_config *c)
{
	free(c->cluster.types);
	memset(&c->cluster, 0, sizeof c->cluster);
	ct_opt_defaults(ct_config_section("cluster")->opts, c, &c->arena);
}

static int is_csv(const char *path)
{
	size_t n = strlen(path);

	return (n > 4 && strcmp(path + n - 4, ".csv") == 0) || (n > 7 && strcmp(path + n - 7, ".csv.gz") == 0);
}

/* A table of machines, one row each, as PAI and openb publish it. */
static int include_machines(struct ct_config *c, const char *path, struct ct_err *err)
{
	struct ct_cluster_spec spec;

	CT_TRY(ct_machines_load(path, &c->arena, &spec, err));
	c->cluster.types = ct_calloc(spec.n, sizeof *c->cluster.types);
	c->cluster.n_types = spec.n;
	c->cluster.list_at = (struct ct_loc){ .file = path };
	for (size_t i = 0; i < spec.n; i++) {
		const struct ct_node_spec *n = &spec.nodes[i];

		c->cluster.types[i] = (struct ct_config_nodes){ .name = n->name,
								.gpu_type = n->gpu_type,
								.count = n->count,
								.gpus = n->gpus,
								.mem_mib = n->mem_mib,
								.gpu_speed = n->gpu_speed,
								.cpus = n->cpu_milli / 1000.0,
								.at = c->cluster.list_at };
	}
	return 0;
}

/* cluster.file: what was said about the cluster before is replaced by the file. */
static int include_cluster(struct ct_config *c, struct ct_err *err)
{
	const char *path = c->cluster.file;
	const struct source s = { c, path ? folder_of(c, path) : NULL, err };
	const struct ct_config_section *section = ct_config_section("cluster");
	unsigned before = err->count;
	struct ct_yaml *root;

	if (!path)
		return 0;
	forget_cluster(c);
	c->cluster.file = path;
	if (is_csv(path))
		return include_machines(c, path, err);
	ct_yaml_load(path, &c->arena, &root, err);
	if (!root)
		return (int)err->code;
	if (root->type == CT_YAML_MAP)
		for (const struct ct_yaml *k = root->first; k; k = k->next)
			if (strcmp(k->key, "file") == 0)
				return ct_err_add(err, CT_ECONFIG, &k->key_at, "'cluster.file' inside a cluster file");
	yaml_section(&s, section, root);
	return since(err, before);
}

/* ---- from the command line */

/* `key` is cut at its dot. */
static int set_key(struct ct_config *c, char *key, struct value *v, struct ct_err *err)
{
	char *dot = strchr(key, '.');
	char shown[CT_SHOWN];

	if (!strcmp(key, "calib")) { /* calib=FILE */
		v->section = ct_config_section(key);
		v->name = "file";
		return set_value(c, v, err);
	}
	if (!dot || !dot[1])
		return ct_err_add(err, CT_ECONFIG, &v->key_at, "unknown key '%s'%s", ct_shown(shown, key, strlen(key)),
				  dot ? "" : hint(c, nearest_section(c, key)));
	*dot = '\0';
	v->section = ct_config_section(key);
	v->name = dot + 1;
	if (!v->section)
		return unknown_section(c, key, &v->key_at, err);
	return set_value(c, v, err);
}

int ct_config_assign(struct ct_config *c, const char *assignment, struct ct_err *err)
{
	const char *equals = strchr(assignment, '=');
	struct value v = { .at.file = format(&c->arena, "--set %s", assignment) };
	char *key = keep(c, assignment);
	char shown[CT_SHOWN];

	v.key_at = v.at;
	if (!equals || equals == assignment)
		return ct_err_add(err, CT_EUSAGE, NULL, "--set wants key=value, got '%s'",
				  ct_shown(shown, assignment, strlen(assignment)));
	key[equals - assignment] = '\0';
	v.text = equals + 1;
	return set_key(c, key, &v, err);
}

int ct_config_set(struct ct_config *c, const char *key, const struct ct_yaml *y, const char *folder, struct ct_err *err)
{
	const struct source s = { c, folder, err };
	struct value v = { .text = y->text, .folder = folder, .at = y->at, .key_at = y->at };

	if (y->type != CT_YAML_SCALAR)
		return wrong_type(&s, y, key, "one value");
	CT_TRY(check_null(&s, y, key));
	return set_key(c, keep(c, key), &v, err);
}

int ct_config_option(struct ct_config *c, const char *option, const char *key, const char *text, struct ct_err *err)
{
	const char *dot = strchr(key, '.');
	struct value v = { .name = dot + 1, .text = text };

	v.section = ct_config_section(ct_arena_text(&c->arena, key, (size_t)(dot - key)));
	v.at.file = v.key_at.file = format(&c->arena, "%s %s", option, text);
	return set_value(c, &v, err);
}

int ct_config_cluster_option(struct ct_config *c, const char *text, struct ct_err *err)
{
	const char *x = strchr(text, 'x');
	const struct ct_loc at = { .file = format(&c->arena, "--cluster %s", text) };
	int64_t nodes, gpus;
	char shown[CT_SHOWN];

	if (!x || ct_parse_i64(text, (size_t)(x - text), &nodes) || ct_parse_i64(x + 1, strlen(x + 1), &gpus) ||
	    nodes < 0 || gpus < 0)
		return ct_err_add(err, CT_EUSAGE, NULL, "--cluster wants NODESxGPUS such as 32x8, got '%s'",
				  ct_shown(shown, text, strlen(text)));
	if (nodes > CT_MAX_GPUS || gpus > CT_MAX_GPUS_PER_NODE)
		return ct_err_add(err, CT_ECONFIG, &at, "at most %d nodes of %d GPUs", (int)CT_MAX_GPUS,
				  (int)CT_MAX_GPUS_PER_NODE);
	free(c->cluster.types);
	c->cluster.types = NULL;
	c->cluster.n_types = 0;
	c->cluster.list_at = (struct ct_loc){ 0 };
	c->cluster.nodes = nodes;
	c->cluster.gpus_per_node = gpus;
	c->cluster.simple_at = at;
	c->cluster.simple_key = "nodes";
	return 0;
}

/* ---- finishing */

static const char *place_text(struct ct_config *c, const struct ct_loc *at)
{
	if (at->line)
		return format(&c->arena, "%s:%zu:%zu", at->file, at->line, at->col);
	return at->file;
}

static uint32_t milli(double cores)
{
	return (uint32_t)llround(cores * 1000);
}

static struct ct_node_spec node_spec(const struct ct_config_nodes *t)
{
	return (struct ct_node_spec){
		.name = t->name,
		.count = (uint32_t)t->count,
		.gpus = (uint32_t)t->gpus,
		.gpu_type = t->gpu_type,
		.gpu_speed = t->gpu_speed,
		.gpu_mem_mib = (uint32_t)t->gpu_mem_mib,
		.cpu_milli = milli(t->cpus),
		.mem_mib = (uint32_t)t->mem_mib,
		.partition = t->partition,
	};
}

static struct ct_config_nodes simple_nodes(const struct ct_config *c)
{
	return (struct ct_config_nodes){ .count = c->cluster.nodes,
					 .gpus = c->cluster.gpus_per_node,
					 .gpu_type = c->cluster.gpu_type,
					 .gpu_speed = c->cluster.gpu_speed,
					 .gpu_mem_mib = c->cluster.gpu_mem_mib,
					 .cpus = c->cluster.cpus_per_node,
					 .mem_mib = c->cluster.mem_mib,
					 .partition = c->cluster.partition };
}

static int finish_cluster(struct ct_config *c, bool needed, struct ct_err *err)
{
	struct ct_node_spec *spec;
	size_t n = c->cluster.n_types;
	uint64_t gpus = 0;

	if (n && c->cluster.simple_at.file)
		return ct_err_add(err, CT_ECONFIG, &c->cluster.list_at,
				  "'cluster.node_types' and 'cluster.%s' (%s) exclude each other",
				  c->cluster.simple_key, place_text(c, &c->cluster.simple_at));
	if (!n && c->cluster.nodes == 0 && !needed)
		return 0;
	if (!n && c->cluster.nodes == 0)
		return ct_err_add(err, CT_ECONFIG, c->cluster.simple_at.file ? &c->cluster.simple_at : NULL,
				  "the cluster has no node: give cluster.nodes, cluster.node_types or --cluster "
				  "NODESxGPUS");
	spec = CT_NEW(&c->arena, struct ct_node_spec, n ? n : 1);
	for (size_t i = 0; i < n; i++)
		spec[i] = node_spec(&c->cluster.types[i]);
	if (!n) {
		struct ct_config_nodes all = simple_nodes(c);

		spec[0] = node_spec(&all);
		n = 1;
	}
	for (size_t i = 0; i < n; i++)
		gpus += (uint64_t)spec[i].count * spec[i].gpus;
	if (gpus == 0 || gpus > CT_MAX_GPUS)
		return ct_err_add(err, CT_ECONFIG, c->cluster.n_types ? &c->cluster.list_at : &c->cluster.simple_at,
				  "the cluster has %llu GPUs, possible are 1..%d", (unsigned long long)gpus,
				  (int)CT_MAX_GPUS);
	c->cluster.spec = (struct ct_cluster_spec){ spec, n };
	return 0;
}

/* Errors of functions that know no place get one. */
static int with_place(struct ct_err *err, const struct ct_err *inner, const struct ct_loc *at)
{
	return ct_err_add(err, inner->code, at->file ? at : NULL, "%s", inner->text);
}

/* The defaults of sim.compat: of the policy's options, which settings then override,
 * and of other sections where the key holds its own default. */
static int apply_compat(struct ct_config *c, const struct ct_policy *p, struct ct_err *err)
{
	enum ct_compat set = (enum ct_compat)c->sim.compat;
	const struct ct_compat_default *d;

	if (!ct_compat_has(set, p->name))
		return ct_err_add(err, CT_ECONFIG, NULL, "'sim.compat' knows nothing about policy '%s'", p->name);
	for (size_t i = 0; (d = ct_compat_at(i)); i++) {
		const struct ct_config_section *section = ct_config_section(d->section);
		int own = strcmp(d->section, "policy") == 0;
		const struct ct_opt *o = ct_opt_find(own ? p->opts : section->opts, d->key);
		void *base = own ? c->policy.state : (void *)c;
		const struct ct_opt_place place = { d->key, NULL, NULL, CT_ECONFIG, &c->arena, err };

		if (!ct_compat_applies(d, set) || strcmp(d->policy, p->name) != 0)
			continue;
		if (!o)
			return ct_err_add(err, CT_ECONFIG, NULL, "'sim.compat' wants '%s.%s', which policy '%s' lacks",
					  d->section, d->key, p->name);
		if (own || strcmp(ct_opt_text(o, base, &c->arena), o->def) == 0)
			CT_TRY(ct_opt_set(&place, o, base, d->text));
	}
	return 0;
}

static int finish_policy(struct ct_config *c, struct ct_err *err)
{
	const struct ct_policy *p;
	struct ct_err inner = { 0 };
	unsigned before = err->count;

	if (ct_policy_get(c->policy.name, &p, &inner))
		return with_place(err, &inner, &c->policy.at);
	CT_TRY(ct_opt_check_table(p->opts, p->state_size, p->name, err));
	c->policy.policy = p;
	c->policy.state = ct_arena_alloc(&c->arena, p->state_size ? p->state_size : 1, _Alignof(max_align_t));
	ct_opt_defaults(p->opts, c->policy.state, &c->arena);
	CT_TRY(apply_compat(c, p, err));
	for (size_t i = 0; i < c->policy.n_settings; i++) {
		const struct ct_config_setting *s = &c->policy.settings[i];
		const struct ct_opt *o = ct_opt_find(p->opts, s->key);
		const struct ct_opt_place place = {
			format(&c->arena, "policy.%s", s->key), &s->at, s->folder, CT_ECONFIG, &c->arena, err
		};
		char shown[CT_SHOWN];

		if (o)
			ct_opt_set(&place, o, c->policy.state, s->text);
		else
			ct_err_add(err, CT_ECONFIG, &s->at, "policy '%s' has no option '%s'%s", p->name,
				   ct_shown(shown, s->key, strlen(s->key)), hint(c, ct_opt_nearest(p->opts, s->key)));
	}
	return since(err, before);
}

static void check_format(struct ct_config *c, struct ct_err *err)
{
	struct ct_nearest near;
	const struct ct_trace_format *f;
	char shown[CT_SHOWN];

	if (!c->trace.format || strcmp(c->trace.format, "auto") == 0)
		return;
	ct_nearest_init(&near, c->trace.format);
	for (size_t i = 0; (f = ct_trace_format_at(i)); i++) {
		if (strcmp(f->name, c->trace.format) == 0)
			return;
		ct_nearest_offer(&near, f->name);
	}
	ct_err_add(err, CT_ECONFIG, NULL, "unknown trace.format '%s'%s",
		   ct_shown(shown, c->trace.format, strlen(c->trace.format)), hint(c, ct_nearest_word(&near)));
}

static void check_generator(struct ct_config *c, struct ct_err *err)
{
	const struct ct_generator *g = ct_generator_find(c->generate.kind);
	struct ct_nearest near;
	char shown[CT_SHOWN];

	if (g)
		return;
	ct_nearest_init(&near, c->generate.kind);
	for (size_t i = 0; (g = ct_generator_at(i)); i++)
		ct_nearest_offer(&near, g->name);
	ct_err_add(err, CT_ECONFIG, NULL, "unknown generate.kind '%s'%s",
		   ct_shown(shown, c->generate.kind, strlen(c->generate.kind)), hint(c, ct_nearest_word(&near)));
}

static void check_jobs(struct ct_config *c, bool needed, struct ct_err *err)
{
	if (needed && !c->trace.file && !c->generate.kind)
		ct_err_add(err, CT_ECONFIG, NULL, "no jobs: give trace.file, --trace FILE, or generate.kind");
	if (c->trace.file && c->generate.kind)
		ct_err_add(err, CT_ECONFIG, NULL,
			   "'trace.file' and 'generate.kind' exclude each other; an empty value takes one back, "
			   "as in --set generate.kind=");
	if (c->generate.kind)
		check_generator(c, err);
}

int ct_config_finish(struct ct_config *c, unsigned need, struct ct_err *err)
{
	unsigned before = err->count;

	check_jobs(c, need & CT_CONFIG_TRACE, err);
	check_format(c, err);
	finish_cluster(c, need & CT_CONFIG_CLUSTER, err);
	if (c->policy.name)
		finish_policy(c, err);
	else if (need & CT_CONFIG_POLICY)
		ct_err_add(err, CT_ECONFIG, NULL, "no policy: give policy.name or --policy NAME");
	if (c->sim.until && c->sim.until <= c->sim.warmup)
		ct_err_add(err, CT_ECONFIG, NULL,
			   "the measurement window is empty: 'sim.until' must be later than "
			   "'sim.warmup'");
	if (c->sim.censor && !c->sim.until)
		ct_err_add(err, CT_ECONFIG, NULL, "'sim.censor' needs 'sim.until'");
	return since(err, before);
}
