/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/paper.h"

#include "experiments/repro/traces.h"
#include "experiments/study.h"
#include "experiments/yaml.h"
#include "sim/csv.h"
#include "sim/nearest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const ct_role_name[CT_ROLES] = { "fit", "predict", "beside" };

static int refuse(const struct ct_loc *at, struct ct_err *err, const char *what, const char *wanted, const char *got)
{
	return ct_err_add(err, CT_ECONFIG, at, "'%.40s' wants %s, got '%.60s'", what, wanted, got);
}

/* ---- variants and studies */

static void read_change(struct ct_paper *p, const struct ct_yaml *y, struct ct_paper_change *out, struct ct_err *err)
{
	out->name = y->key;
	if (y->type != CT_YAML_MAP) {
		refuse(&y->at, err, y->key, "a mapping of settings", ct_yaml_type_name(y));
		return;
	}
	out->set = CT_NEW(&p->arena, struct ct_cell_set, y->n + 1);
	for (const struct ct_yaml *c = y->first; c; c = c->next) {
		if (c->type != CT_YAML_SCALAR)
			refuse(&c->at, err, c->key, "one value", ct_yaml_type_name(c));
		else
			out->set[out->n++] = (struct ct_cell_set){ c->key, c->text };
	}
}

/* "base: FILE", beside the file that says so, in a study. */
static void take_base(struct ct_paper *p, struct ct_paper_change *study)
{
	size_t n = 0;

	for (size_t i = 0; i < study->n; i++) {
		const char *text = study->set[i].value, *slash = strrchr(p->file, '/');
		size_t folder = slash ? (size_t)(slash + 1 - p->file) : 0, size = folder + strlen(text) + 1;
		char *path;

		if (strcmp(study->set[i].key, "base") != 0) {
			study->set[n++] = study->set[i];
			continue;
		}
		study->base = text;
		if (*text == '/' || !strncmp(text, "data:", 5))
			continue;
		path = ct_arena_alloc(&p->arena, size, 1);
		snprintf(path, size, "%.*s%s", (int)folder, p->file, text);
		study->base = path;
	}
	study->n = n;
}

static size_t find(const struct ct_paper_change *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			return i;
	return SIZE_MAX;
}

size_t ct_paper_variant(const struct ct_paper *p, const char *name)
{
	return find(p->variant, p->n_variants, name);
}

int ct_paper_play(struct ct_paper *p, const char *role, const char *actor, struct ct_err *err)
{
	size_t to = ct_paper_variant(p, role), from = ct_paper_variant(p, actor);

	if (to == SIZE_MAX || from == SIZE_MAX)
		return ct_err_at(err, CT_ECONFIG, NULL, "no variant '%.60s' of published figures",
				 to == SIZE_MAX ? role : actor);
	p->variant[to].set = p->variant[from].set;
	p->variant[to].n = p->variant[from].n;
	return 0;
}

size_t ct_paper_study(const struct ct_paper *p, const char *name)
{
	return find(p->study, p->n_studies, name);
}

/* ---- figures */

static void set_index(const struct ct_yaml *y, const struct ct_paper_change *v, size_t n, size_t *out,
		      struct ct_err *err)
{
	struct ct_nearest near;
	const char *best;

	*out = find(v, n, y->text);
	if (*out != SIZE_MAX)
		return;
	ct_nearest_init(&near, y->text);
	for (size_t i = 0; i < n; i++)
		ct_nearest_offer(&near, v[i].name);
	best = ct_nearest_word(&near);
	ct_err_add(err, CT_ECONFIG, &y->at, "no %s '%.60s'%s%s%s", y->key, y->text, best ? "; did you mean '" : "",
		   best ? best : "", best ? "'?" : "");
}

static void set_number(const struct ct_yaml *y, const char *text, double *out, struct ct_err *err)
{
	if (ct_parse_f64(text, strlen(text), out) || !isfinite(*out))
		refuse(&y->at, err, y->key, "a number", text);
}

static void set_tolerance(const struct ct_yaml *y, struct ct_paper_figure *f, struct ct_err *err)
{
	f->relative = y->text[0] == 'x';
	if (y->text[0] != 'x' && y->text[0] != 'a')
		refuse(&y->at, err, y->key, "x (relative) or a (absolute) and a number", y->text);
	else
		set_number(y, y->text + 1, &f->tolerance, err);
}

static void set_role(const struct ct_yaml *y, struct ct_paper_figure *f, struct ct_err *err)
{
	for (unsigned r = 0; r < CT_ROLES; r++)
		if (!strcmp(ct_role_name[r], y->text)) {
			f->role = (enum ct_role)r;
			return;
		}
	refuse(&y->at, err, y->key, "fit, predict or beside", y->text);
}

static void set_metric(const struct ct_yaml *y, struct ct_paper_figure *f, struct ct_err *err)
{
	f->metric = ct_study_metric(y->text);
	if (f->metric < 0)
		refuse(&y->at, err, y->key, "a metric (sim/metrics.h, experiments/study.h)", y->text);
}

static void set_from(const struct ct_yaml *y, struct ct_paper_figure *f, struct ct_err *err)
{
	static const char *const names[CT_FROMS] = { "none", "runs", "plan", "cases", "clock", "trace" };

	for (unsigned k = 0; k < CT_FROMS; k++)
		if (!strcmp(names[k], y->text)) {
			f->from = (enum ct_paper_from)k;
			f->runs = f->from == CT_FROM_RUNS;
			f->trace = f->from == CT_FROM_TRACE;
			return;
		}
	refuse(&y->at, err, y->key, "runs, plan, cases, clock, trace or none", y->text);
}

static void set_count(const struct ct_yaml *y, int64_t *out, struct ct_err *err)
{
	if (ct_parse_i64(y->text, strlen(y->text), out) || *out < 1 || *out > 1000000)
		refuse(&y->at, err, y->key, "a whole number of 1 to 1000000", y->text);
}

static void set_input(const struct ct_yaml *y, struct ct_paper_figure *f, struct ct_err *err)
{
	f->input = y->text;
	if (!ct_trace_input_is(y->text))
		refuse(&y->at, err, y->key, "pai or genai", y->text);
}

static void set_flag(const struct ct_yaml *y, int *out, struct ct_err *err)
{
	*out = !strcmp(y->text, "true");
	if (!*out && strcmp(y->text, "false") != 0)
		refuse(&y->at, err, y->key, "true or false", y->text);
}

static void set_field(const struct ct_paper *p, const struct ct_yaml *y, struct ct_paper_figure *f, struct ct_err *err)
{
	const struct {
		const char *key, **text;
	} texts[] = { { "id", &f->id },       { "table", &f->table },           { "unit", &f->unit },
		      { "place", &f->place }, { "definition", &f->definition }, { "note", &f->note },
		      { "again", &f->again }, { "config", &f->config },         { "figure", &f->figure } };

	if (y->type != CT_YAML_SCALAR) {
		refuse(&y->at, err, y->key, "one value", ct_yaml_type_name(y));
		return;
	}
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (!strcmp(texts[i].key, y->key)) {
			*texts[i].text = y->text;
			return;
		}
	if (!strcmp(y->key, "value"))
		set_number(y, y->text, &f->value, err);
	else if (!strcmp(y->key, "scale"))
		set_number(y, y->text, &f->scale, err);
	else if (!strcmp(y->key, "tolerance"))
		set_tolerance(y, f, err);
	else if (!strcmp(y->key, "role"))
		set_role(y, f, err);
	else if (!strcmp(y->key, "from"))
		set_from(y, f, err);
	else if (!strcmp(y->key, "input"))
		set_input(y, f, err);
	else if (!strcmp(y->key, "invert"))
		set_flag(y, &f->invert, err);
	else if (!strcmp(y->key, "complement"))
		set_flag(y, &f->complement, err);
	else if (!strcmp(y->key, "count"))
		set_count(y, &f->count, err);
	else if (!strcmp(y->key, "bounded"))
		set_flag(y, &f->bounded, err);
	else if (!strcmp(y->key, "metric"))
		set_metric(y, f, err);
	else if (!strcmp(y->key, "study"))
		set_index(y, p->study, p->n_studies, &f->study, err);
	else if (!strcmp(y->key, "variant"))
		set_index(y, p->variant, p->n_variants, &f->variant, err);
	else if (!strcmp(y->key, "over"))
		set_index(y, p->variant, p->n_variants, &f->over, err);
	else
		ct_err_add(err, CT_ECONFIG, &y->key_at, "unknown key '%.60s'", y->key);
}

/* The published cell of another figure, under another definition: shown, never scored. */
static void show_again(const struct ct_paper *p, const struct ct_yaml *y, struct ct_paper_figure *f, struct ct_err *err)
{
	const struct ct_paper_figure *first = NULL;

	for (size_t i = 0; i < p->n_figures; i++)
		if (!strcmp(p->figure[i].id, f->again))
			first = &p->figure[i];
	if (!first || first->again || !isnan(f->value)) {
		ct_err_add(err, CT_ECONFIG, &y->at,
			   "figure '%.60s' again wants a figure above it, got '%.60s', and no value of its own", f->id,
			   f->again);
		return;
	}
	f->value = first->value;
	f->tolerance = first->tolerance;
	f->relative = first->relative;
	f->unit = first->unit;
	f->place = first->place;
	f->role = CT_ROLE_BESIDE;
}

static void check_source(const struct ct_yaml *y, const struct ct_paper_figure *f, struct ct_err *err)
{
	if (f->runs && (f->study == SIZE_MAX || f->variant == SIZE_MAX || f->metric < 0 || !*f->definition))
		ct_err_add(err, CT_ECONFIG, &y->at, "figure '%.60s' from runs wants study, variant, metric, definition",
			   f->id);
	if (f->from == CT_FROM_CASES && (!f->config || f->variant == SIZE_MAX || f->over == SIZE_MAX || f->metric < 0 ||
					 f->metric >= CT_METRIC_COUNT || !*f->definition))
		ct_err_add(err, CT_ECONFIG, &y->at,
			   "figure '%.60s' from cases wants config, variant, over, metric (of sim/metrics.h), "
			   "definition",
			   f->id);
	if (f->from == CT_FROM_CLOCK && (!f->count || !*f->definition))
		ct_err_add(err, CT_ECONFIG, &y->at, "figure '%.60s' from clock wants count and definition", f->id);
	if (f->trace && (!f->input || !f->figure || !*f->definition))
		ct_err_add(err, CT_ECONFIG, &y->at, "figure '%.60s' from trace wants input, figure, definition", f->id);
	if (!f->trace && (f->input || f->figure))
		ct_err_add(err, CT_ECONFIG, &y->at, "figure '%.60s' has input or figure, but is not from trace", f->id);
	if (f->trace && f->role != CT_ROLE_BESIDE)
		ct_err_add(err, CT_ECONFIG, &y->at, "figure '%.60s' from trace wants the role beside: no run gives it",
			   f->id);
	if (f->from == CT_FROM_NONE && !*f->note)
		ct_err_add(err, CT_ECONFIG, &y->at, "figure '%.60s' is not produced and wants a note that says why",
			   f->id);
}

static void read_figure(struct ct_paper *p, const struct ct_yaml *y, struct ct_err *err)
{
	struct ct_paper_figure f = { .id = "",
				     .table = "",
				     .unit = "",
				     .place = "",
				     .definition = "",
				     .note = "",
				     .value = NAN,
				     .tolerance = NAN,
				     .role = CT_ROLES,
				     .study = SIZE_MAX,
				     .variant = SIZE_MAX,
				     .over = SIZE_MAX,
				     .against = SIZE_MAX,
				     .metric = -1,
				     .scale = 1 };

	if (y->type != CT_YAML_MAP) {
		refuse(&y->at, err, "figures", "mappings", ct_yaml_type_name(y));
		return;
	}
	for (const struct ct_yaml *c = y->first; c; c = c->next)
		set_field(p, c, &f, err);
	if (f.again)
		show_again(p, y, &f, err);
	if (!*f.id || !*f.table || f.role == CT_ROLES)
		ct_err_add(err, CT_ECONFIG, &y->at, "figure '%.60s' wants id, table and role", f.id);
	if (f.role != CT_ROLE_BESIDE && (isnan(f.value) || !*f.place))
		ct_err_add(err, CT_ECONFIG, &y->at, "figure '%.60s' is published and wants value and place", f.id);
	check_source(y, &f, err);
	for (size_t i = 0; i < p->n_figures; i++)
		if (!strcmp(p->figure[i].id, f.id))
			ct_err_add(err, CT_ECONFIG, &y->at, "figure '%.60s' is there twice", f.id);
	CT_GROW(p->figure, p->cap_figures, p->n_figures + 1);
	p->figure[p->n_figures++] = f;
}

/* ---- shown: a table of what is not published */

static const struct ct_yaml *list_of(const struct ct_yaml *y, const char *key, struct ct_err *err)
{
	for (const struct ct_yaml *c = y->first; c; c = c->next) {
		if (strcmp(c->key, key) != 0)
			continue;
		if (c->type != CT_YAML_LIST)
			refuse(&c->at, err, key, "a list", ct_yaml_type_name(c));
		return c;
	}
	ct_err_add(err, CT_ECONFIG, &y->at, "'%s' is missing", key);
	return NULL;
}

static const char *joined(struct ct_paper *p, const char *a, const char *b, const char *c, const char *d)
{
	size_t n = strlen(a) + strlen(b) + strlen(c) + strlen(d) + 4;
	char *text = ct_arena_alloc(&p->arena, n, 1);

	snprintf(text, n, "%s.%s.%s.%s", a, b, c, d);
	return text;
}

/* The published figure of the same thing, for its value; NULL. */
static const struct ct_paper_figure *published_like(const struct ct_paper *p, const struct ct_paper_figure *f)
{
	size_t main = ct_paper_study(p, "main");

	for (size_t i = 0; i < p->n_figures; i++) {
		const struct ct_paper_figure *g = &p->figure[i];

		if (g->runs && !isnan(g->value) && !g->n_draws && g->study == main && g->variant == f->variant &&
		    g->metric == f->metric && g->over == f->over && !g->invert)
			return g;
	}
	return NULL;
}

/* Two figures of what was made for the first draw: their spread, and the whole. */
static void show_pooled(struct ct_paper *p, const struct ct_yaml *studies, const char *name, unsigned seeds_most)
{
	struct ct_paper_figure f = p->figure[--p->n_figures];
	const struct ct_paper_figure *like = published_like(p, &f);
	size_t *draw = CT_NEW(&p->arena, size_t, studies->n), n = 0;

	for (const struct ct_yaml *s = studies->first; s; s = s->next)
		draw[n++] = ct_paper_study(p, s->text);
	f.draw = draw;
	f.n_draws = n;
	f.seeds_most = seeds_most;
	if (like) {
		f.value = like->value;
		f.scale = like->scale;
		f.unit = like->unit;
		f.place = like->place;
	}
	for (f.spread = 1; f.spread >= 0; f.spread--) {
		char what[128];
		size_t length = (size_t)snprintf(what, sizeof what, "%.60s.%s", name, f.spread ? "spread" : "whole");

		f.id = joined(p, f.table, ct_arena_text(&p->arena, what, length), p->variant[f.variant].name,
			      ct_study_metric_key(f.metric));
		f.definition = f.spread
				   ? "over draws of the truth from its posterior: the draws' means, and where 95 % of "
				     "these lie"
				   : "truth and seeds together: the mean under the truth that holds, and one run of it";
		CT_GROW(p->figure, p->cap_figures, p->n_figures + 1);
		p->figure[p->n_figures++] = f;
	}
}

/* "mean_jct_s/volcano"; `against`: what it is of its value in that study */
static void show_one(struct ct_paper *p, const char *table, size_t against, const struct ct_yaml *study,
		     const struct ct_yaml *variant, const struct ct_yaml *metric, struct ct_err *err)
{
	struct ct_paper_figure f = { .table = table,
				     .unit = "",
				     .place = "",
				     .note = "",
				     .value = NAN,
				     .tolerance = NAN,
				     .role = CT_ROLE_BESIDE,
				     .from = CT_FROM_RUNS,
				     .runs = 1,
				     .over = SIZE_MAX,
				     .against = against,
				     .scale = 1 };
	const char *slash = strchr(metric->text, '/');
	struct ct_yaml part = *metric;

	f.definition = slash ? "ratio of means" : "mean";
	if (against != SIZE_MAX) {
		f.definition = slash ? "ratio of means, by the same ratio in the other study" : "ratio of means";
		f.unit = "x";
	}
	if (slash) {
		f.unit = "x";
		part.text = slash + 1;
		part.key = "variant";
		set_index(&part, p->variant, p->n_variants, &f.over, err);
		part.text = ct_arena_text(&p->arena, metric->text, (size_t)(slash - metric->text));
	}
	part.key = "metric";
	set_metric(&part, &f, err);
	part = *study;
	part.key = "study";
	set_index(&part, p->study, p->n_studies, &f.study, err);
	part = *variant;
	part.key = "variant";
	set_index(&part, p->variant, p->n_variants, &f.variant, err);
	if (err->code)
		return;
	f.id = joined(p, table, study->text, variant->text, ct_study_metric_key(f.metric));
	CT_GROW(p->figure, p->cap_figures, p->n_figures + 1);
	p->figure[p->n_figures++] = f;
}

static void read_shown(struct ct_paper *p, const struct ct_yaml *y, struct ct_err *err)
{
	const struct ct_yaml *studies, *variants, *metrics;
	const char *table = NULL, *pooled = NULL;
	size_t against = SIZE_MAX;
	double most = 0;

	if (y->type != CT_YAML_MAP) {
		refuse(&y->at, err, "shown", "mappings", ct_yaml_type_name(y));
		return;
	}
	for (const struct ct_yaml *c = y->first; c; c = c->next) {
		if (!strcmp(c->key, "table") && c->type == CT_YAML_SCALAR)
			table = c->text;
		else if (!strcmp(c->key, "pooled") && c->type == CT_YAML_SCALAR)
			pooled = c->text;
		else if (!strcmp(c->key, "seeds_most") && c->type == CT_YAML_SCALAR)
			set_number(c, c->text, &most, err);
		else if (!strcmp(c->key, "against") && c->type == CT_YAML_SCALAR)
			set_index(c, p->study, p->n_studies, &against, err);
	}
	if (most < 0 || most > 1000)
		ct_err_add(err, CT_ECONFIG, &y->at, "'seeds_most' wants 0 to 1000, got %g", most);
	if (!table)
		ct_err_add(err, CT_ECONFIG, &y->at, "'table' is missing");
	studies = list_of(y, "studies", err);
	variants = list_of(y, "variants", err);
	metrics = list_of(y, "metrics", err);
	if (err->code)
		return;
	for (const struct ct_yaml *s = studies->first; s; s = s->next)
		for (const struct ct_yaml *v = variants->first; v; v = v->next)
			for (const struct ct_yaml *m = metrics->first; m; m = m->next) {
				if (s->type != CT_YAML_SCALAR || v->type != CT_YAML_SCALAR ||
				    m->type != CT_YAML_SCALAR) {
					refuse(&m->at, err, table, "names", ct_yaml_type_name(m));
					continue;
				}
				show_one(p, table, against, s, v, m, err);
				if (err->code)
					continue;
				if (pooled && s == studies->first)
					show_pooled(p, studies, pooled, (unsigned)most);
				else if (pooled)
					p->n_figures--; /* its study is known to be there */
				else
					p->figure[p->n_figures - 1].seeds_most = (unsigned)most;
			}
}

/* ---- the file */

static const struct ct_yaml *child(const struct ct_yaml *root, const char *key, enum ct_yaml_type type,
				   struct ct_err *err)
{
	for (const struct ct_yaml *c = root->first; c; c = c->next) {
		if (!c->key || strcmp(c->key, key) != 0)
			continue;
		if (c->type != type)
			refuse(&c->at, err, key, type == CT_YAML_LIST ? "a list" : "a mapping", ct_yaml_type_name(c));
		return c->type == type ? c : NULL;
	}
	ct_err_add(err, CT_ECONFIG, &root->at, "'%s' is missing", key);
	return NULL;
}

static void read_all(struct ct_paper *p, const struct ct_yaml *root, struct ct_err *err)
{
	const struct ct_yaml *variants, *studies, *figures;

	p->source = "";
	for (const struct ct_yaml *c = root->first; c; c = c->next)
		if (c->key && !strcmp(c->key, "paper") && c->type == CT_YAML_SCALAR)
			p->source = c->text;
	variants = child(root, "variants", CT_YAML_MAP, err);
	studies = child(root, "studies", CT_YAML_MAP, err);
	figures = child(root, "figures", CT_YAML_LIST, err);
	for (const struct ct_yaml *c = variants ? variants->first : NULL; c; c = c->next) {
		CT_GROW(p->variant, p->cap_variants, p->n_variants + 1);
		p->variant[p->n_variants] = (struct ct_paper_change){ 0 };
		read_change(p, c, &p->variant[p->n_variants++], err);
	}
	for (const struct ct_yaml *c = studies ? studies->first : NULL; c; c = c->next) {
		CT_GROW(p->study, p->cap_studies, p->n_studies + 1);
		p->study[p->n_studies] = (struct ct_paper_change){ 0 };
		read_change(p, c, &p->study[p->n_studies], err);
		take_base(p, &p->study[p->n_studies++]);
	}
	for (const struct ct_yaml *c = root->first; c; c = c->next)
		if (c->key && !strcmp(c->key, "plan"))
			ct_paper_read_plan(p, c, err);
	for (const struct ct_yaml *c = root->first; c; c = c->next)
		if (c->key && !strcmp(c->key, "inputs") && c->type == CT_YAML_MAP)
			for (const struct ct_yaml *i = c->first; i; i = i->next) {
				CT_GROW(p->input, p->cap_inputs, p->n_inputs + 1);
				p->input[p->n_inputs++] = (struct ct_paper_input){ i->key, i };
			}
	for (const struct ct_yaml *c = figures ? figures->first : NULL; c; c = c->next)
		read_figure(p, c, err);
	for (const struct ct_yaml *c = root->first; c; c = c->next)
		if (c->key && !strcmp(c->key, "shown") && c->type == CT_YAML_LIST)
			for (const struct ct_yaml *s = c->first; s; s = s->next)
				read_shown(p, s, err);
}

int ct_paper_load(const char *path, struct ct_paper **out, struct ct_err *err)
{
	struct ct_paper *p = ct_calloc(1, sizeof *p);
	struct ct_yaml *root = NULL;

	p->file = ct_arena_text(&p->arena, path, strlen(path));
	if (ct_yaml_load(path, &p->arena, &root, err) == 0 && root->type != CT_YAML_MAP)
		ct_err_add(err, CT_ECONFIG, &root->at, "wanted a mapping, got %s", ct_yaml_type_name(root));
	if (!err->code)
		read_all(p, root, err);
	if (err->code)
		ct_paper_free(p);
	else
		*out = p;
	return (int)err->code;
}

void ct_paper_free(struct ct_paper *p)
{
	if (!p)
		return;
	free(p->variant);
	free(p->study);
	free(p->input);
	free(p->figure);
	ct_arena_fini(&p->arena);
	free(p);
}
