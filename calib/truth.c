/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/truth.h"

#include "calib/table6.h"
#include "sim/csv.h"
#include "sim/digest.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Out of memory aborts in sim/memory.c, so uthash never sees NULL. */
#define uthash_malloc(size) ct_calloc(1, (size))
#define uthash_fatal(msg)   ct_check_failed(NULL, "uthash", __FILE__, __LINE__, "%s", (msg))
#include <uthash.h>

#define NONE UINT32_MAX

/* A workload as the calibration knows it, whatever form that came in. */
struct known {
	const char *name;
	const struct ct_workload_model *model; /* with base values; NULL from a file */
	uint32_t first, n, default_profile;    /* of the known profiles */
	uint32_t text;                         /* in the workload's strings, 0 = no job names it */
};

/* No padding, so that bytes compare. */
struct kind_key {
	double isl, osl; /* of the job, 0 where they are the profile's own */
	uint32_t id, spare;
};

struct kind {
	struct kind_key key;
	struct ct_profile profile;
	struct ct_demand demand;
	uint32_t number, known;
	UT_hash_handle hh;
};

/* What decides a family: equal keys share one. No padding, so that bytes compare. */
struct key {
	double isl, osl, floor;
	uint32_t known, config, gpus, cpu_milli, mem_mib, spare;
};

struct family {
	struct key key;
	struct ct_family family;
	struct ct_configuration *config;
	struct ct_profile *profile;
	uint32_t *kind; /* of each */
};

struct ct_truth {
	struct ct_truth_options o;
	const struct ct_workload *work; /* while it is made */
	struct ct_profiles *set;        /* from a folder, or */
	struct ct_calibration *file;    /* from a file */
	struct ct_slowdown_params params;
	double sigma[CT_COLOCS];
	int resources;
	struct known *known;
	size_t n_known, cap_known;
	struct kind *by_key, **kind; /* uthash; by number */
	size_t n_kinds, cap_kinds;
	uint32_t n_profiles;
	struct family **family;
	size_t n_families, cap_families;
	uint32_t *job_family; /* NONE: no family */
	const struct ct_family **families;
	float *measured; /* S by (self, other) id; NULL without, 0 = not measured */
	size_t column[4];
	struct ct_truth_info info;
	char digest[CT_DIGEST_TEXT];
};

/* ---- the calibration */

static struct known *add_known(struct ct_truth *t, const char *name, uint32_t first)
{
	CT_GROW(t->known, t->cap_known, t->n_known + 1);
	t->known[t->n_known] = (struct known){ .name = name, .first = first };
	return &t->known[t->n_known++];
}

static void set_measured(struct ct_truth *t, uint32_t a, uint32_t b, double s_a, double s_b)
{
	t->measured[(size_t)a * t->n_profiles + b] = (float)s_a;
	t->measured[(size_t)b * t->n_profiles + a] = (float)s_b;
}

static int load_measured_dir(struct ct_truth *t, struct ct_err *err)
{
	struct ct_table6 *table = ct_calloc(1, sizeof *table);

	if (!ct_table6_load(t->o.dir, t->set, table, err)) {
		t->measured = ct_calloc((size_t)t->n_profiles * t->n_profiles, sizeof *t->measured);
		for (uint32_t i = 0; i < table->n_pairs; i++) {
			const struct ct_fit_pair *p = &table->pair[i];

			set_measured(t, (uint32_t)(table->config[p->a] - t->set->profile),
				     (uint32_t)(table->config[p->b] - t->set->profile), p->s_a, p->s_b);
		}
		t->info.measured_pairs = table->n_pairs;
	}
	free(table);
	return (int)err->code;
}

static int load_dir(struct ct_truth *t, struct ct_err *err)
{
	/* Levels of the log-normal residual: those that the paper's Table 7 asks for. */
	static const double sigma[CT_COLOCS] = { 0.01, 0.075, 0.06 };

	CT_TRY(ct_profiles_load(t->o.dir, &t->set, err));
	t->params = ct_slowdown_published();
	CT_TRY(ct_alter(&t->o.world, t->o.dir, t->set, &t->params, err));
	t->resources = CT_RESOURCES;
	memcpy(t->sigma, sigma, sizeof sigma);
	t->n_profiles = t->set->n_profiles;
	for (uint32_t i = 0, first = 0; i < t->set->n_models; first += t->set->model[i++].n) {
		struct known *k = add_known(t, t->set->model[i].name, first);

		k->model = &t->set->model[i];
		k->n = k->model->n;
		k->default_profile = k->model->default_profile;
	}
	t->info.gpu = t->set->signature;
	t->info.digest = t->set->digest;
	t->info.reserve_mib = (uint32_t)t->set->knobs.reserve_mib;
	if (!t->o.gpu_mem_mib)
		t->o.gpu_mem_mib = (uint32_t)t->set->knobs.gpu_mem_mib;
	return t->o.measured ? load_measured_dir(t, err) : 0;
}

static void load_measured(struct ct_truth *t)
{
	const struct ct_calibration *c = t->file;

	if (!c->overrides || !c->n_pairs || c->n_configs > 8192)
		return;
	t->measured = ct_calloc(c->n_configs * c->n_configs, sizeof *t->measured);
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct ct_fit_pair *p = &c->pair[i].measured;

		set_measured(t, p->a, p->b, p->s_a, p->s_b);
	}
	t->info.measured_pairs = c->n_pairs;
}

/* Rows of one workload stand together; its first is its default unless a job says otherwise. */
static int load_file(struct ct_truth *t, struct ct_err *err)
{
	struct known *k = NULL;

	if (ct_alteration_any(&t->o.world) || t->o.measured)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "draw, host, change, default_batch and measured are of a calibration folder; "
				 "'%.200s' is a file",
				 t->o.file);
	CT_TRY(ct_calibration_read(t->o.file, &t->file, err));
	t->params = t->file->wstr;
	t->resources = t->file->resources;
	memcpy(t->sigma, t->file->sigma, sizeof t->sigma);
	t->n_profiles = (uint32_t)t->file->n_configs;
	for (uint32_t i = 0; i < t->n_profiles; i++) {
		const struct ct_calib_config *c = &t->file->config[i];

		if (!k || strcmp(k->name, c->workload) != 0)
			k = add_known(t, c->workload, i);
		if (c->is_default)
			k->default_profile = k->n;
		k->n++;
	}
	for (size_t i = 0; i < t->n_known; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(t->known[i].name, t->known[j].name))
				return ct_err_at(err, CT_ECONFIG, NULL, "'%s': rows of '%s' do not stand together",
						 t->o.file, t->known[i].name);
	load_measured(t);
	t->info.gpu = t->file->gpu;
	t->info.digest = t->file->digest;
	t->info.reserve_mib = (uint32_t)fmax(0, t->file->reserve_mib);
	if (!t->o.gpu_mem_mib)
		t->o.gpu_mem_mib = (uint32_t)fmax(0, t->file->mem_mib);
	return 0;
}

static const struct ct_profile *profile_at(const struct ct_truth *t, uint32_t id)
{
	return t->set ? &t->set->profile[id] : &t->file->config[id].profile;
}

/* ---- families */

enum { ISL, OSL, FLOOR, CONFIG };

static void find_columns(struct ct_truth *t)
{
	static const char *const names[4] = { "isl", "osl", "min_throughput", "config" };

	for (int k = 0; k < 4; k++) {
		t->column[k] = SIZE_MAX;
		for (size_t i = 0; i < t->work->n_columns; i++)
			if (!strcmp(t->work->columns[i].name, names[k]))
				t->column[k] = i;
	}
}

static const char *cell(const struct ct_truth *t, int column, uint32_t job)
{
	if (t->column[column] == SIZE_MAX)
		return "";
	return ct_strings_text(&t->work->strings, t->work->columns[t->column[column]].value[job]);
}

static int number(const struct ct_truth *t, int column, uint32_t job, double *out, struct ct_err *err)
{
	const char *s = cell(t, column, job);

	*out = 0;
	if (*s && (ct_parse_f64(s, strlen(s), out) || *out < 0))
		return ct_err_add(err, CT_ETRACE, NULL,
				  "job '%.60s': column '%s' wants a number of at least 0, got '%.40s'",
				  t->work->jobs[job].id, t->work->columns[t->column[column]].name, s);
	return 0;
}

/* Where the default comes from when the job names one. */
static uint32_t named_default(struct ct_truth *t, const struct known *k, const char *name, uint32_t job,
			      struct ct_err *err)
{
	const struct ct_profile *found;
	struct ct_profile want, *have;
	uint32_t index;

	for (uint32_t i = 0; i < k->n; i++)
		if (!strcmp(profile_at(t, k->first + i)->name, name)) {
			t->info.store.hits++;
			return i;
		}
	if (ct_profile_parse(name, &want)) {
		ct_err_add(err, CT_ETRACE, NULL, "job '%.60s': '%.60s' has no configuration '%.60s'",
			   t->work->jobs[job].id, k->name, name);
		return 0;
	}
	have = ct_calloc(k->n, sizeof *have);
	for (uint32_t i = 0; i < k->n; i++)
		have[i] = *profile_at(t, k->first + i);
	found = ct_profile_store_find(&t->info.store, t->info.gpu, have, k->n, &want, NULL);
	index = (uint32_t)(found - have);
	free(have);
	return index;
}

/* A known profile at a job's lengths. Their own stay as they are, and so do those of
 * training and of a calibration file, whose profiles are measurements. */
static struct ct_profile at_lengths(const struct ct_truth *t, const struct known *k, uint32_t id, double isl,
				    double osl)
{
	struct ct_profile p = *profile_at(t, id);

	if (k->model && !k->model->train && isl + osl > 0) {
		p.isl = isl;
		p.osl = fmax(osl, 1);
		ct_profile_fill(&t->set->knobs, k->model, &p);
	}
	return p;
}

static uint32_t kind_of(struct ct_truth *t, uint32_t known, uint32_t id, const struct ct_profile *p)
{
	const struct ct_profile *own = profile_at(t, id);
	struct kind_key key;
	struct kind *k;

	memset(&key, 0, sizeof key);
	key.id = id;
	if (p->isl < own->isl || p->isl > own->isl || p->osl < own->osl || p->osl > own->osl) {
		key.isl = p->isl;
		key.osl = p->osl;
	}
	HASH_FIND(hh, t->by_key, &key, sizeof key, k);
	if (k)
		return k->number;
	k = ct_calloc(1, sizeof *k);
	k->key = key;
	k->profile = *p;
	k->demand = t->set ? ct_slowdown_demand(&t->params, p) : t->file->config[id].demand;
	k->number = (uint32_t)t->n_kinds;
	k->known = known;
	HASH_ADD(hh, t->by_key, key, sizeof k->key, k);
	CT_GROW(t->kind, t->cap_kinds, t->n_kinds + 1);
	t->kind[t->n_kinds++] = k;
	return k->number;
}

static void add_member(struct ct_truth *t, struct family *f, const struct known *k, uint32_t index)
{
	struct ct_profile p = at_lengths(t, k, k->first + index, f->key.isl, f->key.osl);
	uint32_t at = f->family.n;

	if (k->model && !k->model->train && f->key.isl + f->key.osl > 0 && p.seqlen < f->key.isl + f->key.osl)
		return;
	if ((t->o.gpu_mem_mib && p.fb_mib > t->o.gpu_mem_mib) || p.throughput < f->key.floor || (t->o.no_amp && p.amp))
		return;
	f->profile[at] = p;
	f->kind[at] = kind_of(t, f->key.known, k->first + index, &p);
	f->family.n++;
}

/* The wished default, or the fastest that is left. */
static uint32_t default_of(const struct ct_truth *t, const struct family *f, uint32_t wished)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < f->family.n; i++) {
		if (t->kind[f->kind[i]]->key.id == wished)
			return i;
		if (f->profile[i].throughput > f->profile[best].throughput)
			best = i;
	}
	return best;
}

static void fill_configurations(const struct ct_truth *t, struct family *f, uint32_t measure)
{
	double reference = f->profile[measure].throughput;

	for (uint32_t i = 0; i < f->family.n; i++) {
		const struct ct_profile *p = &f->profile[i];

		f->config[i] = (struct ct_configuration){
			.name = p->name,
			.throughput = p->throughput / reference,
			.sm_frac = (float)p->sm_active,
			.gpu_mem_mib = p->fb_mib,
			.cpu_milli = f->key.cpu_milli ? f->key.cpu_milli : p->cpu_milli * f->key.gpus,
			.mem_mib = f->key.mem_mib ? f->key.mem_mib : p->host_mib * f->key.gpus,
			.kind = f->kind[i],
		};
	}
	f->family.config = f->config;
	f->family.train = f->profile[0].train;
	f->family.scaling = f->family.train && t->o.scaling > 0 ? t->o.scaling : 1;
}

static struct family *make_family(struct ct_truth *t, const struct key *key)
{
	const struct known *k = &t->known[key->known];
	struct family *f = ct_calloc(1, sizeof *f);

	f->key = *key;
	f->config = ct_calloc(k->n, sizeof *f->config);
	f->profile = ct_calloc(k->n, sizeof *f->profile);
	f->kind = ct_calloc(k->n, sizeof *f->kind);
	for (uint32_t i = 0; i < k->n; i++)
		add_member(t, f, k, i);
	if (f->family.n) {
		uint32_t measure = default_of(t, f, k->first + key->config);

		f->family.default_config = t->o.fastest ? default_of(t, f, NONE) : measure;
		fill_configurations(t, f, measure);
	}
	CT_GROW(t->family, t->cap_families, t->n_families + 1);
	t->family[t->n_families++] = f;
	return f;
}

/* Traces have a few models and needs, so a walk over the families made is short; the
 * newest is the likeliest. */
static uint32_t family_of(struct ct_truth *t, const struct key *key)
{
	for (size_t i = t->n_families; i-- > 0;)
		if (!memcmp(&t->family[i]->key, key, sizeof *key))
			return (uint32_t)i;
	make_family(t, key);
	return (uint32_t)(t->n_families - 1);
}

static uint32_t known_of(const struct ct_truth *t, const char *name)
{
	for (size_t i = 0; i < t->n_known && *name; i++)
		if (!strcmp(t->known[i].name, name))
			return (uint32_t)i;
	return NONE;
}

static void give_family(struct ct_truth *t, uint32_t job, uint32_t known, struct ct_err *err)
{
	const struct ct_job *j = &t->work->jobs[job];
	const char *config = cell(t, CONFIG, job);
	struct key key;
	uint32_t f;

	memset(&key, 0, sizeof key);
	key.known = known;
	key.gpus = j->num_gpus;
	key.cpu_milli = j->cpu_milli;
	key.mem_mib = j->mem_mib;
	if (number(t, ISL, job, &key.isl, err) || number(t, OSL, job, &key.osl, err) ||
	    number(t, FLOOR, job, &key.floor, err))
		return;
	if (*config) {
		key.config = named_default(t, &t->known[known], config, job, err);
	} else {
		key.config = t->known[known].default_profile;
		t->info.store.hits++;
	}
	f = family_of(t, &key);
	if (!t->family[f]->family.n) {
		t->info.jobs_unmet++;
		return;
	}
	t->job_family[job] = f;
	t->families[job] = &t->family[f]->family;
	t->info.jobs_known++;
}

static void give_families(struct ct_truth *t, struct ct_err *err)
{
	uint32_t *known = ct_calloc(t->work->strings.n + 1, sizeof *known);

	for (size_t i = 0; i < t->work->strings.n; i++) {
		known[i] = known_of(t, ct_strings_text(&t->work->strings, (uint32_t)i));
		if (known[i] != NONE)
			t->known[known[i]].text = (uint32_t)i;
	}
	t->job_family = ct_calloc(t->work->n + 1, sizeof *t->job_family);
	t->families = ct_calloc(t->work->n + 1, sizeof *t->families);
	for (uint32_t i = 0; i < t->work->n; i++) {
		uint32_t k = known[t->work->jobs[i].model];

		t->job_family[i] = NONE;
		if (k != NONE && t->work->jobs[i].num_gpus) {
			give_family(t, i, k, err);
			continue;
		}
		t->info.jobs_unknown++;
		t->info.store.misses += t->work->jobs[i].num_gpus > 0;
	}
	free(known);
}

/* ---- contention */

static double residual(const struct ct_truth *t, uint32_t self, uint32_t other, enum ct_coloc type)
{
	struct ct_stream s;

	if (!t->o.residual || !(t->sigma[type] > 0))
		return 1;
	ct_stream_init(&s, t->o.seed, CT_RANDOM_TRUTH, (uint64_t)self << 32 | other);
	return exp(t->sigma[type] * gsl_ran_gaussian_ziggurat(&s.rng, 1));
}

/* NaN: neither model nor measurement knows the pair. */
static double slowdown(const struct ct_truth *t, const struct kind *self, const struct kind *other)
{
	uint32_t a = self->key.id, b = other->key.id;
	double s;

	if (t->measured && t->measured[(size_t)a * t->n_profiles + b] > 0)
		return (double)t->measured[(size_t)a * t->n_profiles + b];
	if (t->file && t->file->mode == CT_CALIB_OVERRIDES)
		return (double)NAN;
	s = ct_slowdown_of(&t->params, &self->demand, &other->demand, t->resources);
	return fmax(s * residual(t, a, b, ct_coloc_type(&self->profile, &other->profile)), 1);
}

static double beside(const struct ct_truth *t, const struct ct_contender *self, const struct ct_contender *other)
{
	return t->o.beside.factor ? t->o.beside.factor(t->o.beside.state, self, other) : 1;
}

static double factor(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	const struct ct_truth *t = state;
	uint32_t i = t->job_family[self->job], j = t->job_family[other->job];
	double s;

	if (i == NONE || j == NONE)
		return beside(t, self, other);
	s = slowdown(t, t->kind[t->family[i]->kind[self->config]], t->kind[t->family[j]->kind[other->config]]);
	return isnan(s) ? beside(t, self, other) : 1 / s;
}

double ct_truth_slowdown(const struct ct_truth *t, uint32_t self, uint32_t other)
{
	const struct kind *a = t->kind[self], *b = t->kind[other];
	double s = slowdown(t, a, b);

	if (isnan(s)) {
		/* The table of pairs asks for models alone; the one that is asked about came later. */
		struct ct_contender x = { .model = t->known[a->known].text, .milli = 1000, .start = 1 };
		struct ct_contender y = { .model = t->known[b->known].text, .milli = 1000 };

		s = 1 / beside(t, &x, &y);
	}
	return s;
}

/* ---- transitions */

static int is_flag(const struct ct_transition *r)
{
	return r->kind == CT_TRANSITION_SWITCH && r->from && r->to && !strcmp(r->from, "flag") &&
	       !strcmp(r->to, "flag");
}

/* Rows for one workload; only counted when `out` is NULL. */
static size_t toggles(const struct ct_truth *t, const struct known *k, const struct ct_transition *r,
		      struct ct_transition *out)
{
	size_t n = 0;

	for (uint32_t a = k->first; a < k->first + k->n; a++)
		for (uint32_t b = k->first; b < k->first + k->n; b++) {
			const struct ct_profile *x = profile_at(t, a), *y = profile_at(t, b);

			if (ct_profile_switching(x, y) != CT_SWITCH_FLAG)
				continue;
			if (out) {
				out[n] = *r;
				out[n].model = k->name;
				out[n].from = x->name;
				out[n].to = y->name;
			}
			n++;
		}
	return n;
}

struct ct_transition_table ct_truth_transitions(const struct ct_truth *t, const struct ct_transition_table *in,
						struct ct_arena *arena)
{
	struct ct_transition *row = NULL;
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		n = 0;
		for (size_t i = 0; i < in->n; i++) {
			const struct ct_transition *r = &in->row[i];

			for (size_t k = 0; is_flag(r) && k < t->n_known; k++)
				if (!r->model || !strcmp(r->model, t->known[k].name))
					n += toggles(t, &t->known[k], r, row ? row + n : NULL);
			if (!is_flag(r) && row)
				row[n] = *r;
			n += !is_flag(r);
		}
		if (!pass)
			row = CT_NEW(arena, struct ct_transition, n ? n : 1);
	}
	return (struct ct_transition_table){ row, n };
}

/* ---- the whole */

static void digest(struct ct_truth *t)
{
	struct ct_digest d;

	ct_digest_init(&d);
	ct_digest_text(&d, t->info.digest);
	ct_digest_i64(&d, t->o.residual != 0);
	if (t->o.no_amp || t->o.fastest)
		ct_digest_i64(&d, (t->o.no_amp != 0) + 2 * (t->o.fastest != 0));
	if (t->o.measured)
		ct_digest_text(&d, "measured");
	if (t->o.world.default_batch > 0 && t->o.world.default_batch < 1)
		ct_digest_f64(&d, t->o.world.default_batch);
	ct_digest_i64(&d, t->o.gpu_mem_mib);
	ct_digest_f64(&d, t->o.scaling > 0 ? t->o.scaling : 1);
	ct_digest_final(&d, t->digest);
	t->info.digest = t->digest;
}

int ct_truth_new(const struct ct_truth_options *o, const struct ct_workload *work, struct ct_truth **out,
		 struct ct_err *err)
{
	struct ct_truth *t = ct_calloc(1, sizeof *t);

	t->o = *o;
	t->work = work;
	if (o->dir ? load_dir(t, err) : load_file(t, err)) {
		ct_truth_free(t);
		return (int)err->code;
	}
	t->info.store.signature = t->info.gpu;
	find_columns(t);
	give_families(t, err);
	t->info.families = t->n_families;
	t->info.jobs = work->n;
	t->work = NULL;
	digest(t);
	if (err->code)
		ct_truth_free(t);
	else
		*out = t;
	return (int)err->code;
}

void ct_truth_free(struct ct_truth *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_families; i++) {
		free(t->family[i]->config);
		free(t->family[i]->profile);
		free(t->family[i]->kind);
		free(t->family[i]);
	}
	free(t->family);
	HASH_CLEAR(hh, t->by_key);
	for (size_t i = 0; i < t->n_kinds; i++)
		free(t->kind[i]);
	free(t->kind);
	free(t->known);
	free(t->job_family);
	free(t->families);
	free(t->measured);
	ct_profiles_free(t->set);
	ct_calibration_free(t->file);
	free(t);
}

const struct ct_family *const *ct_truth_families(const struct ct_truth *t)
{
	return t->families;
}

struct ct_contention ct_truth_contention(const struct ct_truth *t)
{
	return (struct ct_contention){ .state = (void *)(uintptr_t)t, .factor = factor };
}

const struct ct_profile *ct_truth_profiles(const struct ct_truth *t, uint32_t job)
{
	return t->job_family[job] == NONE ? NULL : t->family[t->job_family[job]]->profile;
}

struct ct_truth_info ct_truth_info(const struct ct_truth *t)
{
	return t->info;
}

uint32_t ct_truth_family_of(const struct ct_truth *t, uint32_t job)
{
	return t->job_family[job];
}

const struct ct_family *ct_truth_family(const struct ct_truth *t, uint32_t family)
{
	return &t->family[family]->family;
}

uint32_t ct_truth_kinds(const struct ct_truth *t)
{
	return (uint32_t)t->n_kinds;
}

struct ct_kind ct_truth_kind(const struct ct_truth *t, uint32_t kind)
{
	const struct kind *k = t->kind[kind];

	return (struct ct_kind){ .profile = &k->profile,
				 .id = k->key.id,
				 .workload = k->known,
				 .first = t->known[k->known].first,
				 .n = t->known[k->known].n,
				 .isl = k->key.isl,
				 .osl = k->key.osl };
}

uint32_t ct_truth_n_profiles(const struct ct_truth *t)
{
	return t->n_profiles;
}

struct ct_profile ct_truth_profile(const struct ct_truth *t, uint32_t id, double isl, double osl)
{
	size_t k = 0;

	while (id >= t->known[k].first + t->known[k].n)
		k++;
	return at_lengths(t, &t->known[k], id, isl, osl);
}

const struct ct_profiles *ct_truth_set(const struct ct_truth *t)
{
	return t->set;
}

const struct ct_calibration *ct_truth_file(const struct ct_truth *t)
{
	return t->file;
}

const struct ct_slowdown_params *ct_truth_params(const struct ct_truth *t)
{
	return &t->params;
}
