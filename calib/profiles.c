/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/profiles.h"

#include "calib/csv_table.h"
#include "calib/profiles_own.h"
#include "sim/digest.h"
#include "sim/memory.h"
#include "sim/nearest.h"
#include "sim/shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKLOAD, NAME, VALUE, UNIT, MARK, SOURCE, COLUMNS };
static const char *const columns[COLUMNS] = { "workload", "name", "value", "unit", "mark", "source" };
static const char *const marks[CT_MARKS] = { "paper", "public", "fitted", "assumed" };

enum { MODELS = 256, PROFILES = 100000 };

/* One number a row can give. `sides`: needed by training, inference, both. */
enum { TRAIN = 1, INFER = 2, BOTH = 3 };
struct field {
	const char *name;
	size_t at;
	int sides;
	double lo, hi;
};
#define B(f) offsetof(struct ct_workload_base, f)
#define K(f) offsetof(struct ct_workload_knobs, f)
static const struct field base_fields[] = {
	{ "params", B(params), BOTH, 1, 1e15 },
	{ "sm", B(sm), BOTH, 0, 10 },
	{ "occ", B(occ), BOTH, 0, 10 },
	{ "dram", B(dram), BOTH, 0, 10 },
	{ "tensor", B(tensor), BOTH, 0, 10 },
	{ "host", B(host), BOTH, 0, 10 },
	{ "w0", B(w0), BOTH, 1e-3, 1e3 },
	{ "batch_lo", B(batch_lo), BOTH, 1, 1 << 20 },
	{ "batch_hi", B(batch_hi), BOTH, 1, 1 << 20 },
	{ "mem_lo", B(mem_lo), BOTH, 0.001, 4096 },
	{ "mem_hi", B(mem_hi), BOTH, 0.001, 4096 },
	{ "cpu_cores", B(cpu_cores), BOTH, 0, 4096 },
	{ "host_mem", B(host_mem), BOTH, 0, 65536 },
	{ "x_ref", B(x_ref), TRAIN, 1e-9, 1e15 },
	{ "g", B(g), TRAIN, 0.001, 1 },
	{ "b_half", B(b_half), TRAIN, 0, 1e9 },
	{ "s_amp", B(s_amp), TRAIN, 0.01, 100 },
	{ "h0", B(h0), TRAIN, 0, 1 },
	{ "eta", B(eta), TRAIN, 0, 1 },
	{ "kv", B(kv), INFER, 1, 1e12 },
	{ "t_overhead", B(t_overhead), INFER, 0, 10 },
	{ "sm_decode", B(sm_decode), INFER, 0, 10 },
	{ "seq_lo", B(seq_lo), INFER, 1, 1 << 24 },
	{ "seq_hi", B(seq_hi), INFER, 1, 1 << 24 },
	{ "default_seq", B(default_seq), INFER, 1, 1 << 24 },
	{ "mu_lo", B(mu_lo), INFER, 0.01, 1 },
	{ "mu_hi", B(mu_hi), INFER, 0.01, 1 },
	{ "mu_step", B(mu_step), INFER, 0.001, 1 },
};
static const struct field knob_fields[] = {
	{ "ck_compute", K(ck_compute), 0, 0, 10 },
	{ "ck_dram", K(ck_dram), 0, 0, 10 },
	{ "ck_act_mem", K(ck_act_mem), 0, 0, 10 },
	{ "amp_act_mem", K(amp_act_mem), 0, 0, 10 },
	{ "gamma_mem", K(gamma_mem), 0, 0, 4 },
	{ "gamma_w", K(gamma_w), 0, 0, 4 },
	{ "pc_dram", K(pc_dram), 0, 0, 100 },
	{ "pc_host", K(pc_host), 0, 0, 100 },
	{ "rho0", K(rho0), 0, 0, 1 },
	{ "osl", K(osl), 0, 1, 1e6 },
	{ "mfu_prefill", K(mfu_prefill), 0, 1e-3, 1 },
	{ "bw_eff", K(bw_eff), 0, 1e-3, 1 },
	{ "peak_flops", K(peak_flops), 0, 1e9, 1e18 },
	{ "peak_bytes", K(peak_bytes), 0, 1e6, 1e15 },
	{ "gpu_mem_mib", K(gpu_mem_mib), 0, 1, 1e9 },
	{ "reserve_mib", K(reserve_mib), 0, 0, 1e9 },
};
enum { N_BASE = sizeof base_fields / sizeof *base_fields, N_KNOBS = sizeof knob_fields / sizeof *knob_fields };

struct loader {
	struct ct_table t;
	struct ct_profiles *set;
	uint64_t (*seen)[2]; /* bit of each base field of each workload; [1]: 1 = has a type */
	size_t cap_seen, n;
	uint32_t knobs;
	struct ct_digest sha;
};

#define FAIL(l, name, ...)                                             \
	do {                                                           \
		struct ct_loc at_ = ct_table_loc(&(l)->t, (name));     \
		ct_err_add((l)->t.err, CT_ECONFIG, &at_, __VA_ARGS__); \
	} while (0)

/* ---- equations */

/* The soft ceiling of a fraction. Host demand is counted to twice the capacity. */
static double soft(double x)
{
	x = fmin(x, 2);
	return x / pow(1 + pow(x, 8), 1.0 / 8);
}

static void fill_training(const struct ct_workload_knobs *k, const struct ct_workload_base *b, struct ct_profile *p)
{
	double r = p->batch / b->batch_hi, t_ref = b->batch_hi / b->x_ref;
	double amp = p->amp ? b->s_amp : 1, ck = p->ckpt ? 1 : 0;
	double f0 = b->b_half / (b->b_half + b->batch_hi);
	double t_gpu = b->g * t_ref * (f0 * (p->amp ? 1.15 : 1) + (1 - f0) * r * (1 + k->ck_compute * ck) / amp);
	double t_host = (1 - b->g) * t_ref * (b->h0 + (1 - b->h0) * r), t = t_gpu + t_host;
	double fill = p->batch / (p->batch + b->b_half) / (b->batch_hi / (b->batch_hi + b->b_half));
	double fixed = fmax(1, b->mem_hi - (b->mem_hi - b->mem_lo) / 0.6), act = b->mem_hi - fixed;
	double gb = fixed + act * pow(r, k->gamma_mem) * (p->ckpt ? k->ck_act_mem : 1) * (p->amp ? k->amp_act_mem : 1);

	p->throughput = p->batch / t;
	p->sm_active = soft(b->sm * (t_gpu / t / b->g) * fill);
	p->sm_occupancy = soft(b->occ * (t_gpu / t / b->g) * fill);
	p->tensor_active = soft(b->tensor * r * (1 + k->ck_compute * ck) * (p->amp ? 0.5 : 1) * t_ref / t);
	p->dram_active = soft(b->dram * (0.1 + 0.9 * r) * (1 + k->ck_dram * ck) * (p->amp ? 0.6 : 1) * t_ref / t);
	p->host = soft(b->host * (b->eta * p->throughput / b->x_ref + (1 - b->eta) * t_ref / t));
	p->fb_mib = (uint32_t)lrint(fmax(b->mem_lo, gb) * 1024);
	p->weight = b->w0 * pow(r / amp, k->gamma_w);
	p->isl = p->osl = p->rho = 0;
}

struct decode {
	double free_bytes, batch, rho, t_pre, bytes, t_dec, t;
};

static struct decode decode_of(const struct ct_workload_knobs *k, const struct ct_workload_base *b,
			       const struct ct_profile *p)
{
	double gpu_bytes = 40e9 * k->gpu_mem_mib / 40960, weights = 2 * b->params, seq_bytes = p->seqlen * b->kv;
	struct decode d = { .free_bytes = fmax(0, p->mu * gpu_bytes - weights - 2e9) };
	double spare = (d.free_bytes - p->batch * seq_bytes) / (2 * p->batch * seq_bytes);

	d.batch = fmax(fmin(p->batch, d.free_bytes / seq_bytes), 1e-3);
	d.rho = p->prefix ? k->rho0 * (0.4 + 0.6 * fmin(fmax(spare, 0), 1)) : 0;
	d.t_pre = 2 * b->params * p->isl * (1 - d.rho) / (k->peak_flops * k->mfu_prefill);
	d.bytes = weights + d.batch * (p->isl + p->osl / 2) * b->kv;
	d.t_dec = b->t_overhead + d.bytes / (k->peak_bytes * k->bw_eff);
	d.t = d.batch * d.t_pre + p->osl * d.t_dec;
	return d;
}

static void fill_inference(const struct ct_workload_knobs *k, const struct ct_workload_base *b, struct ct_profile *p)
{
	struct decode d = decode_of(k, b, p);
	double batch = d.batch, rho = d.rho, t_pre = d.t_pre, bytes = d.bytes, t_dec = d.t_dec, t = d.t;
	double span = b->mu_hi - b->mu_lo, depth = 0.9 + 0.1 * (span > 0 ? (p->mu - b->mu_lo) / span : 1);
	double f_pre = batch * t_pre / t, f_dec = 1 - f_pre, rel = batch / b->batch_hi, l = log2(rel);

	p->rho = rho;
	p->throughput = depth * batch * p->osl / t;
	p->dram_active = soft(depth * b->dram * (0.25 * f_pre + f_dec * bytes / (k->peak_bytes * t_dec)) *
			      (p->prefix ? k->pc_dram : 1));
	p->sm_active = soft(depth * b->sm * (0.8 * f_pre + f_dec * b->sm_decode * (1 + 0.1 * log2(batch))));
	p->tensor_active = soft(0.45 * f_pre + f_dec * b->tensor * pow(rel, 0.7));
	p->sm_occupancy = soft(b->occ * (1.6 * f_pre + f_dec * (1 + 0.1 * l)));
	p->host = soft(depth * b->host * (f_dec + 0.5 * f_pre) * (1 + 0.15 * l) * (p->prefix ? k->pc_host : 1));
	p->fb_mib = (uint32_t)lrint(p->mu * k->gpu_mem_mib);
	p->weight = b->w0 * pow(rel, k->gamma_w);
}

void ct_profile_fill(const struct ct_workload_knobs *k, const struct ct_workload_model *m, struct ct_profile *p)
{
	p->train = (uint8_t)m->train;
	p->params = m->base.params;
	p->cpu_milli = (uint32_t)lrint(m->base.cpu_cores * 1000);
	p->host_mib = (uint32_t)lrint(m->base.host_mem * 1024);
	if (m->train)
		fill_training(k, &m->base, p);
	else
		fill_inference(k, &m->base, p);
}

double ct_profile_idle(const struct ct_workload_knobs *k, const struct ct_workload_model *m, const struct ct_profile *p)
{
	const struct ct_workload_base *b = &m->base;
	double t_ref = b->batch_hi / b->x_ref, r = p->batch / b->batch_hi;
	struct decode d;

	if (m->train)
		return (1 - b->g) * t_ref * (b->h0 + (1 - b->h0) * r) * p->throughput / p->batch;
	d = decode_of(k, b, p);
	return p->osl * b->t_overhead / d.t;
}

/* ---- the family of a workload */

static void add(struct ct_profiles *set, struct ct_workload_model *m, struct ct_profile *p)
{
	struct ct_profiles_own *own = set->own;
	int n;

	if (m->train)
		n = snprintf(p->name, sizeof p->name, "b%u%s%s", p->batch, p->ckpt ? "+ck" : "", p->amp ? "+amp" : "");
	else
		n = snprintf(p->name, sizeof p->name, "b%u-sl%u-mu%.2f%s", p->batch, p->seqlen, p->mu,
			     p->prefix ? "+pc" : "");
	CT_CHECK(NULL, n > 0 && (size_t)n < sizeof p->name, "configuration's name");
	p->workload = (uint32_t)(m - own->model);
	ct_profile_fill(&set->knobs, m, p);
	CT_GROW(own->profile, own->cap_profile, set->n_profiles + 1);
	own->profile[set->n_profiles++] = *p;
	m->n++;
}

static void expand_training(struct ct_profiles *set, struct ct_workload_model *m)
{
	for (double b = m->base.batch_lo; b <= m->base.batch_hi; b *= 2)
		for (int ck = 0; ck < 2; ck++)
			for (int amp = 0; amp < 2; amp++) {
				struct ct_profile p = { .batch = (uint32_t)b,
							.ckpt = (uint8_t)ck,
							.amp = (uint8_t)amp };

				if (b * 2 > m->base.batch_hi && !ck && !amp)
					m->default_profile = m->n;
				add(set, m, &p);
			}
}

static void expand_memory(struct ct_profiles *set, struct ct_workload_model *m, double batch, double seq, int pc)
{
	const struct ct_workload_base *b = &m->base;
	int steps = (int)floor((b->mu_hi - b->mu_lo) / b->mu_step + 1e-6);
	double osl = fmin(set->knobs.osl, seq / 2);

	for (int i = 0; i <= steps; i++) {
		struct ct_profile p = { .batch = (uint32_t)batch,
					.seqlen = (uint32_t)seq,
					.prefix = (uint8_t)pc,
					.mu = rint((b->mu_lo + i * b->mu_step) * 1e6) / 1e6,
					.isl = seq - osl,
					.osl = osl };

		if (i == steps && !pc && seq == b->default_seq && batch * 2 > b->batch_hi)
			m->default_profile = m->n;
		add(set, m, &p);
	}
}

static void expand(struct ct_profiles *set, struct ct_workload_model *m)
{
	m->n = 0;
	if (m->train) {
		expand_training(set, m);
		return;
	}
	for (double b = m->base.batch_lo; b <= m->base.batch_hi; b *= 2)
		for (double s = m->base.seq_lo; s <= m->base.seq_hi; s *= 2)
			for (int pc = 0; pc < 2; pc++)
				expand_memory(set, m, b, s, pc);
}

/* ---- the file */

static void cell_text(const struct loader *l, int name, char *out)
{
	struct ct_csv_field f = ct_table_cell(&l->t, (size_t)name);

	ct_shown(out, f.s, f.n);
}

static size_t workload_of(struct loader *l)
{
	struct ct_csv_field f = ct_table_cell(&l->t, WORKLOAD);
	struct ct_profiles_own *own = l->set->own;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(own->model[i].name, f.s))
			return i;
	if (l->n == MODELS)
		return MODELS;
	CT_GROW(own->model, own->cap_model, l->n + 1);
	CT_GROW(l->seen, l->cap_seen, l->n + 1);
	memset(&own->model[l->n], 0, sizeof own->model[l->n]);
	memset(l->seen[l->n], 0, sizeof l->seen[l->n]);
	own->model[l->n].name = ct_arena_text(&own->arena, f.s, f.n);
	return l->n++;
}

static int field_of(struct loader *l, const struct field *table, int n)
{
	struct ct_csv_field f = ct_table_cell(&l->t, NAME);
	struct ct_nearest near;
	char b[CT_SHOWN];
	int i = 0;

	ct_nearest_init(&near, ct_shown(b, f.s, f.n));
	for (; i < n && strcmp(table[i].name, f.s) != 0; i++)
		ct_nearest_offer(&near, table[i].name);
	if (i < n)
		return i;
	if (ct_nearest_word(&near))
		FAIL(l, NAME, "unknown name '%s'; did you mean '%s'?", b, ct_nearest_word(&near));
	else
		FAIL(l, NAME, "unknown name '%s'", b);
	return -1;
}

static void read_number(struct loader *l, const struct field *f, void *into)
{
	struct ct_csv_field c = ct_table_cell(&l->t, VALUE);
	char b[CT_SHOWN];
	double x;

	ct_shown(b, c.s, c.n);
	if (ct_parse_f64(c.s, c.n, &x))
		FAIL(l, VALUE, "'%s' wants a number, got '%s'", f->name, b);
	else if (x < f->lo || x > f->hi)
		FAIL(l, VALUE, "'%s' wants %g to %g, got '%s'", f->name, f->lo, f->hi, b);
	else
		memcpy((char *)into + f->at, &x, sizeof x);
}

static void read_mark(struct loader *l)
{
	struct ct_csv_field f = ct_table_cell(&l->t, MARK), source = ct_table_cell(&l->t, SOURCE);
	char b[CT_SHOWN];
	int k = 0;

	while (k < CT_MARKS && strcmp(marks[k], f.s) != 0)
		k++;
	cell_text(l, MARK, b);
	if (k == CT_MARKS)
		FAIL(l, MARK, "'mark' wants paper, public, fitted or assumed, got '%s'", b);
	else
		l->set->marks[k]++;
	if (!source.n)
		FAIL(l, SOURCE, "'source' is empty; say where the number comes from");
}

static void read_type(struct loader *l, size_t w)
{
	struct ct_csv_field f = ct_table_cell(&l->t, VALUE), unit = ct_table_cell(&l->t, UNIT);
	struct ct_workload_model *m = &l->set->own->model[w];
	char b[CT_SHOWN];

	cell_text(l, VALUE, b);
	if (strcmp(f.s, "train") != 0 && strcmp(f.s, "infer") != 0)
		FAIL(l, VALUE, "'type' wants train or infer, got '%s'", b);
	else if (l->seen[w][1])
		FAIL(l, NAME, "'type' of '%s' stands twice", m->name);
	m->train = !strcmp(f.s, "train");
	m->unit = ct_arena_text(&l->set->own->arena, unit.s, unit.n);
	l->seen[w][1] = 1;
}

static void read_base(struct loader *l)
{
	size_t w = workload_of(l);
	struct ct_csv_field name = ct_table_cell(&l->t, NAME);
	int i;

	if (w == MODELS) {
		FAIL(l, WORKLOAD, "more than %d workloads", MODELS);
		return;
	}
	if (!strcmp(name.s, "type")) {
		read_type(l, w);
		return;
	}
	i = field_of(l, base_fields, N_BASE);
	if (i < 0)
		return;
	if (l->seen[w][0] >> i & 1)
		FAIL(l, NAME, "'%s' of '%s' stands twice", base_fields[i].name, l->set->own->model[w].name);
	l->seen[w][0] |= (uint64_t)1 << i;
	read_number(l, &base_fields[i], &l->set->own->model[w].base);
}

static void read_shared(struct loader *l)
{
	struct ct_csv_field name = ct_table_cell(&l->t, NAME), value = ct_table_cell(&l->t, VALUE);
	int i;

	if (!strcmp(name.s, "signature")) {
		l->set->signature = ct_arena_text(&l->set->own->arena, value.s, value.n);
		return;
	}
	i = field_of(l, knob_fields, N_KNOBS);
	if (i < 0)
		return;
	if (l->knobs >> i & 1)
		FAIL(l, NAME, "'%s' stands twice", knob_fields[i].name);
	l->knobs |= 1u << i;
	read_number(l, &knob_fields[i], &l->set->knobs);
}

static void read_row(struct loader *l)
{
	struct ct_csv_field w = ct_table_cell(&l->t, WORKLOAD);

	for (int c = WORKLOAD; c <= VALUE; c++) {
		struct ct_csv_field f = ct_table_cell(&l->t, (size_t)c);

		ct_digest_text(&l->sha, f.s);
	}
	if (!w.n)
		FAIL(l, WORKLOAD, "'workload' is empty; '*' stands for all");
	else if (!strcmp(w.s, "*"))
		read_shared(l);
	else
		read_base(l);
	read_mark(l);
}

static int power_of_two_times(double lo, double hi)
{
	double x = lo;

	while (x < hi)
		x *= 2;
	return x == hi;
}

static void check_model(struct loader *l, size_t w, const struct ct_loc *whole)
{
	const struct ct_workload_model *m = &l->set->own->model[w];
	const struct ct_workload_base *b = &m->base;

	if (!l->seen[w][1])
		ct_err_add(l->t.err, CT_ECONFIG, whole, "'%s' has no row 'type'", m->name);
	for (int i = 0; i < N_BASE; i++)
		if (base_fields[i].sides & (m->train ? TRAIN : INFER) && !(l->seen[w][0] >> i & 1))
			ct_err_add(l->t.err, CT_ECONFIG, whole, "'%s' has no row '%s'", m->name, base_fields[i].name);
	if (l->t.err->code)
		return;
	if (!power_of_two_times(b->batch_lo, b->batch_hi))
		ct_err_add(l->t.err, CT_ECONFIG, whole,
			   "'%s': 'batch_hi' wants 'batch_lo' times a power of two, got %g", m->name, b->batch_hi);
	if (!m->train && !power_of_two_times(b->seq_lo, b->seq_hi))
		ct_err_add(l->t.err, CT_ECONFIG, whole, "'%s': 'seq_hi' wants 'seq_lo' times a power of two, got %g",
			   m->name, b->seq_hi);
	if (b->mem_lo > b->mem_hi || (!m->train && b->mu_lo > b->mu_hi))
		ct_err_add(l->t.err, CT_ECONFIG, whole, "'%s': a range ends before it begins", m->name);
}

static void build(struct loader *l, const char *path)
{
	struct ct_profiles *set = l->set;
	struct ct_loc whole = { .file = path };
	struct ct_err *err = l->t.err;
	uint32_t first = 0;

	for (size_t w = 0; w < l->n; w++)
		check_model(l, w, &whole);
	for (int i = 0; i < N_KNOBS; i++)
		if (!(l->knobs >> i & 1))
			ct_err_add(err, CT_ECONFIG, &whole, "no row '*,%s'", knob_fields[i].name);
	if (!set->signature)
		ct_err_add(err, CT_ECONFIG, &whole, "no row '*,signature'");
	if (!l->n)
		ct_err_add(err, CT_ECONFIG, &whole, "holds no workloads");
	if (err->code)
		return;
	for (size_t w = 0; w < l->n; w++)
		expand(set, &set->own->model[w]);
	for (size_t w = 0; w < l->n; first += set->own->model[w++].n)
		set->own->model[w].profile = set->own->profile + first;
	set->model = set->own->model;
	set->n_models = (uint32_t)l->n;
	set->profile = set->own->profile;
}

int ct_profiles_load(const char *dir, struct ct_profiles **out, struct ct_err *err)
{
	struct loader l = { .set = ct_calloc(1, sizeof *l.set) };
	char *path;

	l.set->own = ct_calloc(1, sizeof *l.set->own);
	path = ct_arena_alloc(&l.set->own->arena, strlen(dir) + sizeof "/workloads.csv", 1);
	strcat(strcpy(path, dir), "/workloads.csv");
	if (ct_table_open(&l.t, path, columns, COLUMNS, CT_TABLE_REFUSE_UNKNOWN, err))
		goto fail;
	ct_digest_init(&l.sha);
	while (ct_table_next(&l.t) == 1)
		read_row(&l);
	if (!ct_table_close(&l.t))
		build(&l, path);
	ct_digest_final(&l.sha, l.set->digest);
	free(l.seen);
	if (err->code)
		goto fail;
	*out = l.set;
	return 0;
fail:
	ct_profiles_free(l.set);
	return (int)err->code;
}

void ct_profiles_free(struct ct_profiles *set)
{
	if (!set)
		return;
	free(set->own->model);
	free(set->own->profile);
	ct_arena_fini(&set->own->arena);
	free(set->own);
	free(set);
}

/* ---- changes */

/* Numbers that names and knobs of the configurations were made of. */
static int makes_family(const char *name)
{
	static const char *const names[] = { "batch_lo", "batch_hi", "seq_lo",  "seq_hi", "default_seq",
					     "mu_lo",    "mu_hi",    "mu_step", "osl" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			return 1;
	return 0;
}

static void digest_field(struct ct_digest *d, const struct field *f, const void *from)
{
	double x;

	memcpy(&x, (const char *)from + f->at, sizeof x);
	ct_digest_f64(d, x);
}

static const struct field *find_field(const struct field *table, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

static void change_one(const struct field *f, const struct ct_change *change, const char *whose, void *into,
		       struct ct_err *err)
{
	double x;

	memcpy(&x, (char *)into + f->at, sizeof x);
	x = ct_change_of(change, x);
	if (x < f->lo || x > f->hi)
		ct_err_add(err, CT_ECONFIG, NULL, "'%s' of '%s' wants %g to %g, changed it is %g", f->name, whose,
			   f->lo, f->hi, x);
	else
		memcpy((char *)into + f->at, &x, sizeof x);
}

int ct_profiles_change(struct ct_profiles *set, const struct ct_change *change, struct ct_err *err)
{
	const struct field *knob = find_field(knob_fields, N_KNOBS, change->name),
			   *base = find_field(base_fields, N_BASE, change->name);
	unsigned before = err->count;
	int shared = change->key && !strcmp(change->key, "*"), n = 0;

	if (makes_family(change->name))
		return ct_err_add(err, CT_ECONFIG, NULL,
				  "'%s' decides which configurations there are: not to be changed", change->name);
	if (knob && (!change->key || shared)) {
		change_one(knob, change, "*", &set->knobs, err);
		n++;
	}
	for (uint32_t i = 0; base && !shared && i < set->n_models; i++) {
		struct ct_workload_model *m = &set->own->model[i];

		if (!(base->sides & (m->train ? TRAIN : INFER)) || (change->key && strcmp(change->key, m->name) != 0))
			continue;
		change_one(base, change, m->name, &m->base, err);
		n++;
		if (m->base.mem_lo > m->base.mem_hi)
			ct_err_add(err, CT_ECONFIG, NULL, "'%s': mem_lo is changed to more than mem_hi", m->name);
	}
	if (!n)
		ct_err_add(err, CT_ECONFIG, NULL, "no number '%.60s'%s%.60s%s to change", change->name,
			   change->key ? " of '" : "", change->key ? change->key : "", change->key ? "'" : "");
	return err->count > before ? (int)err->code : 0;
}

void ct_profiles_refill(struct ct_profiles *set, const double *more, size_t n_more)
{
	struct ct_digest d;

	ct_digest_init(&d);
	ct_digest_text(&d, set->digest);
	for (uint32_t i = 0; i < set->n_profiles; i++) {
		struct ct_profile *p = &set->own->profile[i];

		ct_profile_fill(&set->knobs, &set->model[p->workload], p);
	}
	for (int i = 0; i < N_KNOBS; i++)
		digest_field(&d, &knob_fields[i], &set->knobs);
	for (uint32_t m = 0; m < set->n_models; m++)
		for (int i = 0; i < N_BASE; i++)
			digest_field(&d, &base_fields[i], &set->model[m].base);
	for (size_t i = 0; i < n_more; i++)
		ct_digest_f64(&d, more[i]);
	ct_digest_final(&d, set->digest);
}

void ct_profiles_default_batch(struct ct_profiles *set, double share)
{
	for (uint32_t i = 0; i < set->n_models; i++) {
		struct ct_workload_model *m = &set->own->model[i];
		const struct ct_profile *was = &m->profile[m->default_profile];
		double least = INFINITY, want = log(was->batch * share);

		for (uint32_t k = 0; k < m->n; k++) {
			const struct ct_profile *p = &m->profile[k];
			double d = fabs(log(p->batch) - want);

			if (p->seqlen != was->seqlen || p->mu < was->mu || p->mu > was->mu || p->ckpt || p->amp ||
			    p->prefix)
				continue;
			if (d <= least) { /* batches ascend */
				least = d;
				m->default_profile = k;
			}
		}
	}
}

const struct ct_workload_model *ct_profiles_find(const struct ct_profiles *set, const char *name)
{
	for (uint32_t i = 0; i < set->n_models; i++)
		if (!strcmp(set->model[i].name, name))
			return &set->model[i];
	return NULL;
}

const struct ct_profile *ct_profiles_named(const struct ct_workload_model *m, const char *config)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (!strcmp(m->profile[i].name, config))
			return &m->profile[i];
	return NULL;
}

enum ct_switching ct_profile_switching(const struct ct_profile *a, const struct ct_profile *b)
{
	if (a->train || b->train)
		return a->batch != b->batch || a->ckpt != b->ckpt || a->amp != b->amp ? CT_SWITCH_CHECKPOINT
										      : CT_SWITCH_NONE;
	if (a->batch != b->batch || a->seqlen != b->seqlen || a->fb_mib != b->fb_mib)
		return CT_SWITCH_ENGINE;
	return a->prefix != b->prefix ? CT_SWITCH_FLAG : CT_SWITCH_NONE;
}

const char *ct_switching_name(enum ct_switching s)
{
	static const char *const names[CT_SWITCH_CLASSES] = { "none", "flag", "engine", "checkpoint" };

	return names[s];
}
