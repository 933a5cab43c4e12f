/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/inputs.h"

#include "calib/calibration.h"
#include "calib/measured.h"
#include "experiments/data_path.h"
#include "sim/csv.h"
#include "sim/output.h"
#include "traces/trace.h"
#include "traces/transform.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTIONS = 16, PARTS = 16, DAYS = 10000 };
#define DAY (86400 * CT_SECOND)

struct part {
	const char *file, *kind, *group;
	struct ct_trace_option option[OPTIONS];
	size_t n_options;
	int64_t day[2]; /* first and last; -1: no days */
	int weekdays;
	double demand;  /* 0: as it comes */
	double longest; /* s; 0: any */
	struct ct_loc at;
	/* once it is read */
	struct ct_workload *work;
	int64_t *days;           /* that seeds take, in order */
	size_t n_days, together; /* days of one seed */
	double share;            /* of their jobs */
};

struct input {
	const char *name;
	const struct ct_yaml *recipe;
	struct part *part; /* of `jobs` */
	size_t n_parts;
	int read;
};

struct made {
	const char *key, *path;
};

struct ct_inputs {
	const struct ct_paper *paper;
	const char *data;
	struct ct_arena arena;
	struct input *input;
	char *folder; /* NULL: nothing was made yet */
	struct made *made;
	size_t n_made, cap_made;
};

struct ct_inputs *ct_inputs_new(const struct ct_paper *p, const char *data)
{
	struct ct_inputs *in = ct_calloc(1, sizeof *in);

	in->paper = p;
	in->data = data ? data : getenv("COTENANT_SHARED_DATA");
	if (!in->data || !*in->data)
		in->data = "../shared/data";
	in->input = ct_calloc(p->n_inputs + 1, sizeof *in->input);
	for (size_t i = 0; i < p->n_inputs; i++)
		in->input[i] = (struct input){ .name = p->input[i].name, .recipe = p->input[i].recipe };
	return in;
}

void ct_inputs_free(struct ct_inputs *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->n_made; i++)
		unlink(in->made[i].path);
	if (in->folder)
		rmdir(in->folder);
	for (size_t i = 0; i < in->paper->n_inputs; i++) {
		for (size_t k = 0; k < in->input[i].n_parts; k++) {
			ct_workload_free(in->input[i].part[k].work);
			free(in->input[i].part[k].days);
		}
		free(in->input[i].part);
	}
	free(in->input);
	free(in->folder);
	free(in->made);
	ct_arena_fini(&in->arena);
	free(in);
}

/* ---- recipes */

static int refuse(const struct ct_yaml *y, struct ct_err *err, const char *wanted)
{
	return ct_err_add(err, CT_ECONFIG, &y->at, "'%.40s' wants %s, got '%.60s'", y->key ? y->key : "jobs", wanted,
			  y->type == CT_YAML_SCALAR ? y->text : ct_yaml_type_name(y));
}

static void read_days(const struct ct_yaml *y, struct part *p, struct ct_err *err)
{
	const char *dots = strstr(y->text, "..");

	if (!dots || ct_parse_i64(y->text, (size_t)(dots - y->text), &p->day[0]) ||
	    ct_parse_i64(dots + 2, strlen(dots + 2), &p->day[1]) || p->day[0] < 0 || p->day[1] < p->day[0] ||
	    p->day[1] > DAYS)
		refuse(y, err, "FIRST..LAST, whole numbers from 0");
}

static void read_positive(const struct ct_yaml *y, double *out, struct ct_err *err)
{
	if (ct_parse_f64(y->text, strlen(y->text), out) || !(*out > 0 && *out < 1e9))
		refuse(y, err, "a number above 0");
}

static void read_part_key(const struct ct_yaml *y, struct part *p, struct ct_err *err)
{
	static const char options[] = "trace.options.";

	if (y->type != CT_YAML_SCALAR)
		refuse(y, err, "one value");
	else if (!strcmp(y->key, "file"))
		p->file = y->text;
	else if (!strcmp(y->key, "kind"))
		p->kind = y->text;
	else if (!strcmp(y->key, "group"))
		p->group = y->text;
	else if (!strcmp(y->key, "days"))
		read_days(y, p, err);
	else if (!strcmp(y->key, "weekdays") && (!strcmp(y->text, "true") || !strcmp(y->text, "false")))
		p->weekdays = y->text[0] == 't';
	else if (!strcmp(y->key, "weekdays"))
		refuse(y, err, "true or false");
	else if (!strcmp(y->key, "demand"))
		read_positive(y, &p->demand, err);
	else if (!strcmp(y->key, "longest"))
		read_positive(y, &p->longest, err);
	else if (!strncmp(y->key, options, strlen(options)) && p->n_options < OPTIONS)
		p->option[p->n_options++] = (struct ct_trace_option){ y->key + strlen(options), y->text };
	else
		ct_err_add(err, CT_ECONFIG, &y->key_at, "unknown key '%.60s'", y->key);
}

static int read_parts(struct input *x, const struct ct_yaml *list, struct ct_err *err)
{
	if (list->type != CT_YAML_LIST || !list->n || list->n > PARTS)
		return refuse(list, err, "a list of up to 16 parts");
	x->part = ct_calloc(list->n, sizeof *x->part);
	for (const struct ct_yaml *y = list->first; y; y = y->next) {
		struct part *p = &x->part[x->n_parts++];

		*p = (struct part){ .day = { -1, -1 }, .at = y->at };
		if (y->type != CT_YAML_MAP) {
			refuse(y, err, "mappings");
			continue;
		}
		for (const struct ct_yaml *c = y->first; c; c = c->next)
			read_part_key(c, p, err);
		if (!p->file)
			ct_err_add(err, CT_ECONFIG, &y->at, "a part of '%.60s' wants a file", x->name);
		if (p->day[0] < 0 && (p->demand > 0 || p->weekdays))
			ct_err_add(err, CT_ECONFIG, &y->at, "'demand' and 'weekdays' want 'days'");
	}
	return (int)err->code;
}

/* ---- places */

static int data_file(const struct ct_inputs *in, const char *input, const char *file, char path[PATH_MAX],
		     struct ct_err *err)
{
	if (access(in->data, R_OK))
		return ct_err_at(err, CT_EIO, NULL,
				 "input '%.60s' is made of published data, and there is no folder '%s': --data DIR or "
				 "COTENANT_SHARED_DATA; README, \"Get the real traces\"",
				 input, in->data);
	if (snprintf(path, PATH_MAX, "%s/%s", in->data, file) >= PATH_MAX || access(path, R_OK))
		return ct_err_at(err, CT_EIO, NULL, "input '%.60s' wants '%s/%s', which is not there", input, in->data,
				 file);
	return 0;
}

/* A new name in the folder, which is made for the first. */
static int new_file(struct ct_inputs *in, const char *key, const char *ending, const char **path, struct ct_err *err)
{
	const char *tmp = getenv("TMPDIR");
	char text[PATH_MAX];
	int n;

	if (!in->folder) {
		n = snprintf(text, sizeof text, "%s/cotenant-XXXXXX", tmp && *tmp ? tmp : "/tmp");
		if (n >= (int)sizeof text || !mkdtemp(text))
			return ct_err_at(err, CT_EIO, NULL, "cannot make a folder '%s': %s", text, strerror(errno));
		in->folder = ct_calloc((size_t)n + 1, 1);
		memcpy(in->folder, text, (size_t)n);
	}
	n = snprintf(text, sizeof text, "%s/%s%s", in->folder, key, ending);
	if (n >= (int)sizeof text)
		return ct_err_at(err, CT_EIO, NULL, "the name '%s' is too long", key);
	*path = ct_arena_text(&in->arena, text, (size_t)n);
	return 0;
}

/* ---- jobs */

static int is_wanted(const struct part *p, size_t job)
{
	const struct ct_workload *w = p->work;

	if (p->longest > 0 && ct_seconds(w->jobs[job].duration_us) > p->longest)
		return 0;
	return !p->group || !strcmp(ct_strings_text(&w->strings, w->jobs[job].group), p->group);
}

/* Place among the days that seeds take, or SIZE_MAX. */
static size_t place_of(const struct part *p, int64_t day)
{
	int64_t k = day - p->day[0];

	if (k < 0 || day > p->day[1] || (p->weekdays && k % 7 >= 5))
		return SIZE_MAX;
	return (size_t)(p->weekdays ? k / 7 * 5 + k % 7 : k);
}

static int measure(struct part *p, const char *input, struct ct_err *err)
{
	double work = 0;
	size_t jobs = 0;

	p->together = 1;
	p->share = 1;
	for (int64_t d = p->day[0]; p->day[0] >= 0 && d <= p->day[1]; d++)
		p->n_days += place_of(p, d) != SIZE_MAX;
	for (size_t i = 0; i < p->work->n; i++) {
		const struct ct_job *j = &p->work->jobs[i];

		if (!is_wanted(p, i) || (p->day[0] >= 0 && place_of(p, j->submit_us / DAY) == SIZE_MAX))
			continue;
		work += ct_seconds(j->duration_us) * j->num_gpus * j->gpu_milli / 1000;
		jobs++;
	}
	if (!jobs)
		return ct_err_at(err, CT_ECONFIG, &p->at, "no job of '%.100s' is taken for input '%.60s'", p->file,
				 input);
	if (p->demand > 0) {
		double days = p->demand / (work / ((double)p->n_days * ct_seconds(DAY)));

		p->together = (size_t)ceil(days * (1 - 1e-12));
		p->share = fmin(1, days / (double)p->together);
	}
	return 0;
}

static int read_input(const struct ct_inputs *in, struct input *x, const struct ct_yaml *list, struct ct_err *err)
{
	char path[PATH_MAX];

	if (x->read)
		return 0;
	CT_TRY(x->part ? 0 : read_parts(x, list, err));
	for (size_t i = 0; i < x->n_parts; i++) {
		struct part *p = &x->part[i];
		const struct ct_trace_options o = { .options = p->option, .n_options = p->n_options };

		if (p->work)
			continue;
		CT_TRY(data_file(in, x->name, p->file, path, err));
		CT_TRY(ct_trace_read(path, &o, &p->work, err));
		CT_TRY(measure(p, x->name, err));
	}
	x->read = 1;
	return 0;
}

/* When each job of a part is submitted; -1: not on a day of this seed, or thinned away. */
static ct_time *times_of(const struct part *p, int64_t seed)
{
	const struct ct_workload *w = p->work;
	size_t first = (size_t)(seed - 1) * p->together;
	ct_time *at = ct_calloc(w->n + 1, sizeof *at);

	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];
		size_t place = p->day[0] < 0 ? SIZE_MAX : place_of(p, j->submit_us / DAY);

		at[i] = p->day[0] < 0 ? j->submit_us : j->submit_us % DAY;
		if (!is_wanted(p, i) || (p->day[0] >= 0 && (place < first || place >= first + p->together)) ||
		    (p->share < 1 && !ct_transform_keeps(j->id, p->share, (uint64_t)seed)))
			at[i] = -1;
	}
	return at;
}

static int check_days(const struct input *x, int64_t seed, struct ct_err *err)
{
	for (size_t i = 0; i < x->n_parts; i++) {
		const struct part *p = &x->part[i];

		if (seed < 1 || (p->day[0] >= 0 && (size_t)seed * p->together > p->n_days))
			return ct_err_at(err, CT_ECONFIG, &p->at,
					 "input '%.60s' has %zu days, %zu for a seed: enough for seeds 1 to %zu, got "
					 "%" PRId64,
					 x->name, p->n_days, p->together, p->n_days / p->together, seed);
	}
	return 0;
}

static int make_jobs(struct ct_inputs *in, struct input *x, const struct ct_yaml *list, int64_t seed, const char *key,
		     const char **path, struct ct_err *err)
{
	struct ct_superposed part[PARTS] = { 0 };
	struct ct_workload *w = NULL;
	ct_time *at[PARTS] = { 0 };
	int rc;

	CT_TRY(read_input(in, x, list, err));
	CT_TRY(check_days(x, seed, err));
	CT_TRY(new_file(in, key, ".h5", path, err));
	for (size_t i = 0; i < x->n_parts; i++) {
		at[i] = times_of(&x->part[i], seed);
		part[i] = (struct ct_superposed){ .w = x->part[i].work,
						  .label = x->part[i].kind ? x->part[i].kind : x->part[i].file,
						  .kind = x->part[i].kind,
						  .at = at[i] };
	}
	rc = ct_transform_superpose(part, x->n_parts, &w, err);
	for (size_t i = 0; i < x->n_parts; i++) {
		if (!rc && x->part[i].day[0] >= 0)
			ct_workload_history(w,
					    "part %s: days %" PRId64 "..%" PRId64 "%s: %zu from place %zu, share %.12g",
					    part[i].label, x->part[i].day[0], x->part[i].day[1],
					    x->part[i].weekdays ? " less weekends" : "", x->part[i].together,
					    (size_t)(seed - 1) * x->part[i].together, x->part[i].share);
		free(at[i]);
	}
	if (!rc)
		rc = ct_trace_write_h5(w, *path, err);
	ct_workload_free(w);
	return rc;
}

/* ---- measured worlds */

static const char *text_of(const struct ct_yaml *map, const char *key)
{
	for (const struct ct_yaml *c = map->first; c; c = c->next)
		if (!strcmp(c->key, key) && c->type == CT_YAML_SCALAR)
			return c->text;
	return NULL;
}

static int make_world(struct ct_inputs *in, const struct input *x, const char *form, const char *key, const char **path,
		      struct ct_err *err)
{
	const char *file = text_of(x->recipe, "file"), *solo = text_of(x->recipe, "solo"),
		   *gpu = text_of(x->recipe, "gpu"), *gpus;
	char from[PATH_MAX], alone[PATH_MAX];
	struct ct_measured_report report;
	struct ct_calibration *c = NULL;
	int lucid = !strcmp(form, "lucid"), rc;

	if (!file || (!lucid && (strcmp(form, "gavel") != 0 || !gpu)))
		return ct_err_at(err, CT_ECONFIG, &x->recipe->at,
				 "input '%.60s' wants measured: lucid, or gavel with a gpu, and a file", x->name);
	CT_TRY(ct_data_path("data:calib/published/gpus.csv", &in->arena, &gpus, err));
	CT_TRY(data_file(in, x->name, file, from, err));
	if (solo)
		CT_TRY(data_file(in, x->name, solo, alone, err));
	CT_TRY(new_file(in, key, ".h5", path, err));
	if (lucid)
		CT_TRY(ct_measured_lucid(from, gpus, &report, &c, err));
	else
		CT_TRY(ct_measured_gavel(from, solo ? alone : NULL, gpu, gpus, &report, &c, err));
	rc = ct_calibration_write(c, *path, err);
	ct_calibration_free(c);
	return rc;
}

/* ---- a generator's constants with other models */

static int is_model_row(const char *name)
{
	return !strcmp(name, "train_model") || !strcmp(name, "infer_model") || !strcmp(name, "isl");
}

static int copy_constants(const char *from, struct ct_output *o, struct ct_err *err)
{
	struct ct_csv *in;
	int rc;

	CT_TRY(ct_csv_open(from, ',', &in, err));
	while ((rc = ct_csv_next(in, err)) == 1) {
		if (is_model_row(ct_csv_field(in, 0).s))
			continue;
		for (size_t i = 0; i < ct_csv_fields(in); i++) {
			ct_output_text(o, i ? "," : "");
			ct_output_field(o, ct_csv_field(in, i).s);
		}
		ct_output_text(o, "\n");
	}
	ct_csv_close(in);
	return rc;
}

/* Rows of one workload stand together. No prompt lengths: nothing here has tokens. */
static void add_models(const struct ct_calibration *c, struct ct_output *o)
{
	static const char *const tables[] = { "train_model", "infer_model" };

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < c->n_configs; i++) {
			if (i && !strcmp(c->config[i].workload, c->config[i - 1].workload))
				continue;
			ct_output_text(o, tables[k]);
			ct_output_text(o, ",");
			ct_output_field(o, c->config[i].workload);
			ct_output_text(o, ",1,assumed,workload of the measured world; all alike\n");
		}
	ct_output_text(o, "isl,none,0,assumed,no workload of the measured world has a prompt\n");
}

static int make_constants(struct ct_inputs *in, const struct input *x, const char *from, const char *key,
			  const char **path, struct ct_err *err)
{
	const char *models = text_of(x->recipe, "models"), *world;
	struct ct_calibration *c = NULL;
	struct ct_output o;
	int rc;

	if (!models || !strcmp(models, x->name))
		return ct_err_at(err, CT_ECONFIG, &x->recipe->at, "input '%.60s' wants models: another input", x->name);
	CT_TRY(ct_data_path(from, &in->arena, &from, err));
	CT_TRY(ct_inputs_get(in, models, 1, &world, err));
	CT_TRY(ct_calibration_read(world, &c, err));
	rc = new_file(in, key, ".csv", path, err);
	if (!rc)
		rc = ct_output_open(&o, *path, err);
	if (!rc) {
		rc = copy_constants(from, &o, err);
		add_models(c, &o);
		if (rc)
			ct_output_abandon(&o);
		else
			rc = ct_output_close(&o, err);
	}
	ct_calibration_free(c);
	return rc;
}

/* ---- the whole */

static int make(struct ct_inputs *in, struct input *x, int64_t seed, const char *key, const char **path,
		struct ct_err *err)
{
	const char *form;

	if (x->recipe->type == CT_YAML_MAP) {
		for (const struct ct_yaml *c = x->recipe->first; c; c = c->next)
			if (!strcmp(c->key, "jobs"))
				return make_jobs(in, x, c, seed, key, path, err);
		if ((form = text_of(x->recipe, "measured")))
			return make_world(in, x, form, key, path, err);
		if ((form = text_of(x->recipe, "constants")))
			return make_constants(in, x, form, key, path, err);
	}
	return ct_err_at(err, CT_ECONFIG, &x->recipe->at, "input '%.60s' wants jobs, measured or constants", x->name);
}

static int is_jobs(const struct input *x)
{
	for (const struct ct_yaml *c = x->recipe->type == CT_YAML_MAP ? x->recipe->first : NULL; c; c = c->next)
		if (!strcmp(c->key, "jobs"))
			return 1;
	return 0;
}

int ct_inputs_get(struct ct_inputs *in, const char *name, int64_t seed, const char **path, struct ct_err *err)
{
	const char *at = strchr(name, '@'), *file = NULL;
	size_t n = at ? (size_t)(at - name) : strlen(name);
	struct input *x = NULL;
	char key[128];

	for (size_t i = 0; i < in->paper->n_inputs; i++)
		if (strlen(in->input[i].name) == n && !strncmp(in->input[i].name, name, n))
			x = &in->input[i];
	if (!x || (at && (ct_parse_i64(at + 1, strlen(at + 1), &seed) || seed < 1)))
		return ct_err_at(err, CT_ECONFIG, NULL, "no input '%.60s' (NAME, or NAME@SEED)", name);
	if (is_jobs(x))
		snprintf(key, sizeof key, "%.60s-%" PRId64, x->name, seed);
	else
		snprintf(key, sizeof key, "%.60s", x->name);
	for (size_t i = 0; i < in->n_made && !file; i++)
		if (!strcmp(in->made[i].key, key))
			file = in->made[i].path;
	if (!file) {
		CT_TRY(make(in, x, seed, key, &file, err));
		CT_GROW(in->made, in->cap_made, in->n_made + 1);
		in->made[in->n_made++] = (struct made){ ct_arena_text(&in->arena, key, strlen(key)), file };
	}
	*path = file;
	return 0;
}
