/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/calibration.h"

#include "sim/digest.h"
#include "sim/memory.h"
#include "sim/output.h"
#include "sim/result_hdf5.h"

#include <hdf5.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "cotenant-calibration"
enum { VERSION = 1, BLOCK = 512, LIMIT = 100000 /* rows of any table */, MAX_BYTES = 1 << 30 };

static const char *const mode_name[CT_CALIB_MODES] = { "counters", "latent", "overrides" };

const char *ct_calib_mode_name(enum ct_calib_mode m)
{
	return mode_name[m];
}

/* ---- what the file holds: one table for reading and writing */

enum kind { F64, U32, U8, TEXT };
struct member {
	const char *name;
	size_t at, width; /* width: of a text, its array */
	enum kind kind;
};
#define C(f) offsetof(struct ct_calib_config, f)
#define P(f) offsetof(struct ct_calib_config, profile.f)
#define R(f) offsetof(struct ct_calib_pair, f)
#define G(f) offsetof(struct ct_calibration, f)

static const struct member config_members[] = {
	{ "workload", C(workload), 32, TEXT },
	{ "config", P(name), 32, TEXT },
	{ "train", P(train), 1, U8 },
	{ "batch", P(batch), 4, U32 },
	{ "ckpt", P(ckpt), 1, U8 },
	{ "amp", P(amp), 1, U8 },
	{ "prefix", P(prefix), 1, U8 },
	{ "seqlen", P(seqlen), 4, U32 },
	{ "mu", P(mu), 8, F64 },
	{ "isl", P(isl), 8, F64 },
	{ "osl", P(osl), 8, F64 },
	{ "rho", P(rho), 8, F64 },
	{ "params", P(params), 8, F64 },
	{ "sm_active", P(sm_active), 8, F64 },
	{ "sm_occupancy", P(sm_occupancy), 8, F64 },
	{ "dram_active", P(dram_active), 8, F64 },
	{ "tensor_active", P(tensor_active), 8, F64 },
	{ "fb_mib", P(fb_mib), 4, U32 },
	{ "host", P(host), 8, F64 },
	{ "throughput", P(throughput), 8, F64 },
	{ "cpu_milli", P(cpu_milli), 4, U32 },
	{ "host_mib", P(host_mib), 4, U32 },
	{ "weight", C(demand.weight), 8, F64 },
	{ "default", C(is_default), 1, U8 },
	{ "a0", C(demand.a[0]), 8, F64 },
	{ "a1", C(demand.a[1]), 8, F64 },
	{ "a2", C(demand.a[2]), 8, F64 },
	{ "a3", C(demand.a[3]), 8, F64 },
};
static const struct member pair_members[] = {
	{ "a", R(measured.a), 4, U32 },     { "b", R(measured.b), 4, U32 },   { "s_a", R(measured.s_a), 8, F64 },
	{ "s_b", R(measured.s_b), 8, F64 }, { "fit_a", R(fit[0]), 8, F64 },   { "fit_b", R(fit[1]), 8, F64 },
	{ "lopo_a", R(lopo[0]), 8, F64 },   { "lopo_b", R(lopo[1]), 8, F64 },
};
static const struct member unknown_members[] = {
	{ "name", offsetof(struct ct_calib_unknown, name), 48, TEXT },
	{ "value", offsetof(struct ct_calib_unknown, value), 8, F64 },
	{ "width", offsetof(struct ct_calib_unknown, width), 8, F64 },
};
static const struct member holdout_members[] = {
	{ "predictor", offsetof(struct ct_calib_holdout, predictor), 32, TEXT },
	{ "mape", offsetof(struct ct_calib_holdout, mape), 8, F64 },
	{ "r2", offsetof(struct ct_calib_holdout, r2), 8, F64 },
};
/* Scalars, one attribute each, of the group named before the slash. */
static const struct member scalars[] = {
	{ "meta/mem_mib", G(mem_mib), 8, F64 },
	{ "meta/reserve_mib", G(reserve_mib), 8, F64 },
	{ "meta/sigma_fit", G(sigma_fit), 8, F64 },
	{ "meta/fit_mae", G(fit.mae), 8, F64 },
	{ "meta/fit_mape", G(fit.mape), 8, F64 },
	{ "meta/fit_worst", G(fit.worst), 8, F64 },
	{ "meta/fit_r2", G(fit.r2), 8, F64 },
	{ "meta/lopo_mae", G(lopo.mae), 8, F64 },
	{ "meta/lopo_mape", G(lopo.mape), 8, F64 },
	{ "meta/lopo_worst", G(lopo.worst), 8, F64 },
	{ "meta/lopo_r2", G(lopo.r2), 8, F64 },
	{ "wstr/m", G(wstr.m), 8, F64 },
	{ "wstr/beta", G(wstr.beta), 8, F64 },
	{ "wstr/c_C", G(wstr.c[0]), 8, F64 },
	{ "wstr/c_D", G(wstr.c[1]), 8, F64 },
	{ "wstr/c_O", G(wstr.c[2]), 8, F64 },
	{ "wstr/c_H", G(wstr.c[3]), 8, F64 },
	{ "wstr/p", G(wstr.p), 8, F64 },
	{ "wstr/q", G(wstr.q), 8, F64 },
	{ "wstr/omega_clip", G(wstr.omega_clip), 8, F64 },
	{ "wstr/s_soft", G(wstr.soft), 8, F64 },
	{ "noise/sigma_TT", G(sigma[CT_COLOC_TT]), 8, F64 },
	{ "noise/sigma_TI", G(sigma[CT_COLOC_TI]), 8, F64 },
	{ "noise/sigma_II", G(sigma[CT_COLOC_II]), 8, F64 },
};

#define TABLE(group, array, count, members, type)                                                          \
	{                                                                                                  \
		group, G(array), G(count), members, sizeof members / sizeof *members, sizeof(struct type), \
	}
static const struct table {
	const char *group;
	size_t array, count;
	const struct member *member;
	size_t n_members, stride;
} tables[] = {
	TABLE("profiles", config, n_configs, config_members, ct_calib_config),
	TABLE("pairs", pair, n_pairs, pair_members, ct_calib_pair),
	TABLE("posterior", unknown, n_unknowns, unknown_members, ct_calib_unknown),
	TABLE("holdout", holdout, n_holdouts, holdout_members, ct_calib_holdout),
};
enum { TABLES = sizeof tables / sizeof *tables, SCALARS = sizeof scalars / sizeof *scalars };

static hid_t file_type(const struct member *m)
{
	switch (m->kind) {
	case U32:
		return H5Tcopy(H5T_STD_U32LE);
	case U8:
		return H5Tcopy(H5T_STD_U8LE);
	case TEXT:
		return ct_hdf5_text_type(m->width);
	case F64:
	default:
		return H5Tcopy(H5T_IEEE_F64LE);
	}
}

/* Little-endian machines only, as Debian's amd64 and arm64: file and memory types agree. */

/* ---- writing. Every call adds its outcome to `bad`. */

static void put_attribute(hid_t on, const char *name, hid_t type, const void *v, int *bad)
{
	hid_t space = H5Screate(H5S_SCALAR), a = H5Acreate2(on, name, type, space, H5P_DEFAULT, H5P_DEFAULT);

	*bad |= a < 0 || H5Awrite(a, type, v) < 0;
	*bad |= a >= 0 && H5Aclose(a) < 0;
	*bad |= H5Sclose(space) < 0;
}

static hid_t timeless(hid_t class)
{
	hid_t p = H5Pcreate(class);

	H5Pset_obj_track_times(p, 0);
	return p;
}

static hid_t make_group(hid_t f, const char *name, int *bad)
{
	hid_t p = timeless(H5P_GROUP_CREATE), g = H5Gcreate2(f, name, H5P_DEFAULT, p, H5P_DEFAULT);

	*bad |= g < 0;
	H5Pclose(p);
	return g;
}

static void put_column(hid_t g, const struct member *m, const char *rows, size_t stride, size_t n, int *bad)
{
	hsize_t dims = n;
	hid_t type = file_type(m), space = H5Screate_simple(1, &dims, NULL), p = timeless(H5P_DATASET_CREATE), d;
	char *block = ct_calloc(n ? n : 1, m->width);

	for (size_t i = 0; i < n; i++)
		memcpy(block + i * m->width, rows + i * stride + m->at, m->width);
	d = H5Dcreate2(g, m->name, type, space, H5P_DEFAULT, p, H5P_DEFAULT);
	*bad |= d < 0 || H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, block) < 0;
	*bad |= d >= 0 && H5Dclose(d) < 0;
	H5Pclose(p);
	H5Sclose(space);
	H5Tclose(type);
	free(block);
}

static void put_text(hid_t on, const char *name, const char *s, int *bad)
{
	hid_t type = ct_hdf5_text_type(*s ? strlen(s) : 1);

	put_attribute(on, name, type, s, bad);
	H5Tclose(type);
}

static void put_scalars(hid_t f, const struct ct_calibration *c, int *bad)
{
	static const char *const groups[] = { "meta", "wstr", "noise" };

	for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
		hid_t g = make_group(f, groups[k], bad);
		size_t n = strlen(groups[k]);
		uint32_t resources = (uint32_t)c->resources, overrides = c->overrides != 0;

		for (size_t i = 0; i < SCALARS; i++)
			if (!strncmp(scalars[i].name, groups[k], n) && scalars[i].name[n] == '/')
				put_attribute(g, scalars[i].name + n + 1, H5T_IEEE_F64LE,
					      (const char *)c + scalars[i].at, bad);
		if (k == 0) {
			put_text(g, "gpu", c->gpu, bad);
			put_text(g, "source", c->source, bad);
			put_text(g, "mode", mode_name[c->mode], bad);
			put_attribute(g, "resources", H5T_STD_U32LE, &resources, bad);
			put_attribute(g, "overrides", H5T_STD_U32LE, &overrides, bad);
		}
		*bad |= g >= 0 && H5Gclose(g) < 0;
	}
}

static void put_tables(hid_t f, const struct ct_calibration *c, int *bad)
{
	for (size_t k = 0; k < TABLES; k++) {
		const struct table *t = &tables[k];
		hid_t g = make_group(f, t->group, bad);
		const char *rows;
		size_t n;

		memcpy(&rows, (const char *)c + t->array, sizeof rows);
		memcpy(&n, (const char *)c + t->count, sizeof n);
		for (size_t i = 0; i < t->n_members; i++)
			put_column(g, &t->member[i], rows, t->stride, n, bad);
		*bad |= g >= 0 && H5Gclose(g) < 0;
	}
}

static void block_text(char block[BLOCK], unsigned long long bytes, const char *digest)
{
	char text[BLOCK];
	int n = snprintf(text, sizeof text, FORMAT " %d\n%llu %s\n", VERSION, bytes, digest);

	memset(block, '\n', BLOCK);
	memcpy(block, text, (size_t)n);
}

static void digest_of(const char *bytes, size_t n, char out[CT_DIGEST_TEXT])
{
	struct ct_digest d;

	ct_digest_init(&d);
	ct_digest_bytes(&d, bytes, n);
	ct_digest_final(&d, out);
}

/* The whole file in memory, malloc'ed; NULL: HDF5 failed. */
static char *image_of(const struct ct_calibration *c, size_t *n)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = timeless(H5P_FILE_CREATE), f;
	char digest[CT_DIGEST_TEXT], *image = NULL;
	ssize_t bytes = -1;
	int bad = H5Pset_userblock(create, BLOCK) < 0 || H5Pset_fapl_core(access, 1 << 20, 0) < 0;

	f = H5Fcreate(FORMAT, H5F_ACC_TRUNC, create, access);
	bad |= f < 0;
	if (!bad) {
		put_scalars(f, c, &bad);
		put_tables(f, c, &bad);
		bad |= H5Fflush(f, H5F_SCOPE_LOCAL) < 0;
		bytes = H5Fget_file_image(f, NULL, 0);
	}
	if (!bad && bytes > 0) {
		*n = (size_t)bytes + BLOCK;
		image = ct_calloc(*n, 1);
		bad |= H5Fget_file_image(f, image + BLOCK, (size_t)bytes) != bytes;
		digest_of(image + BLOCK, (size_t)bytes, digest);
		block_text(image, (unsigned long long)bytes, digest);
	}
	bad |= f >= 0 && H5Fclose(f) < 0;
	H5Pclose(create);
	H5Pclose(access);
	if (bad) {
		free(image);
		image = NULL;
	}
	return image;
}

int ct_calibration_write(const struct ct_calibration *c, const char *path, struct ct_err *err)
{
	struct ct_hdf5_quiet quiet;
	char reason[256], *image;
	struct ct_output o;
	size_t n = 0;

	ct_hdf5_quiet_begin(&quiet);
	image = image_of(c, &n);
	ct_hdf5_reason(reason, sizeof reason);
	ct_hdf5_quiet_end(&quiet);
	if (!image)
		return ct_err_at(err, CT_EIO, NULL, "cannot write '%s': HDF5 failed: %s", path, reason);
	if (ct_output_open(&o, path, err) == 0) {
		ct_output_write(&o, image, n);
		ct_output_close(&o, err);
	}
	free(image);
	return (int)err->code;
}

/* ---- reading */

static int bad_file(const char *path, const char *why, struct ct_err *err)
{
	return ct_err_at(err, CT_EIO, NULL, "'%s' %s", path, why);
}

static int load_bytes(const char *path, char **out, size_t *n, char digest[CT_DIGEST_TEXT], struct ct_err *err)
{
	FILE *f = fopen(path, "rb");
	char want[BLOCK], *bytes = NULL;
	size_t cap = 0;

	*n = 0;
	if (!f)
		return bad_file(path, "cannot be opened", err);
	do {
		CT_GROW(bytes, cap, *n + 65536);
		*n += fread(bytes + *n, 1, 65536, f);
	} while (!feof(f) && !ferror(f) && *n < MAX_BYTES);
	if (ferror(f))
		bad_file(path, "cannot be read", err);
	fclose(f);
	*out = bytes;
	if (err->code)
		return (int)err->code;
	if (*n < BLOCK || memcmp(bytes, FORMAT " ", sizeof FORMAT) != 0)
		return bad_file(path, "is not a calibration file ('cotenant calib fit' makes one)", err);
	digest_of(bytes + BLOCK, *n - BLOCK, digest);
	block_text(want, *n - BLOCK, digest);
	return memcmp(want, bytes, BLOCK) != 0 ? bad_file(path, "is damaged, cut short or of another version", err) : 0;
}

static int get_attribute(hid_t f, const char *group, const char *name, hid_t type, void *v)
{
	hid_t a = H5Aopen_by_name(f, group, name, H5P_DEFAULT, H5P_DEFAULT), have;
	int bad = a < 0;

	if (!bad) {
		have = H5Aget_type(a);
		bad = H5Tget_class(have) != H5Tget_class(type) || H5Aread(a, type, v) < 0;
		H5Tclose(have);
	}
	if (a >= 0)
		H5Aclose(a);
	return bad;
}

static int get_text(hid_t f, const char *group, const char *name, char *out, size_t cap)
{
	hid_t type = ct_hdf5_text_type(cap - 1);
	int bad = get_attribute(f, group, name, type, out);

	H5Tclose(type);
	out[cap - 1] = '\0';
	return bad;
}

static int get_column(hid_t f, const struct table *t, const struct member *m, char *rows, size_t n)
{
	char path[96];
	hid_t d, type = file_type(m), have, space;
	char *block = ct_calloc(n ? n : 1, m->width);
	int bad;

	snprintf(path, sizeof path, "%s/%s", t->group, m->name);
	d = H5Dopen2(f, path, H5P_DEFAULT);
	bad = d < 0;
	if (!bad) {
		have = H5Dget_type(d);
		space = H5Dget_space(d);
		bad = H5Tget_class(have) != H5Tget_class(type) || H5Sget_simple_extent_npoints(space) != (hssize_t)n ||
		      H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, block) < 0;
		H5Sclose(space);
		H5Tclose(have);
		H5Dclose(d);
	}
	for (size_t i = 0; i < n && !bad; i++) {
		memcpy(rows + i * t->stride + m->at, block + i * m->width, m->width);
		if (m->kind == TEXT)
			rows[i * t->stride + m->at + m->width - 1] = '\0';
	}
	H5Tclose(type);
	free(block);
	return bad;
}

static int rows_of(hid_t f, const struct table *t, size_t *n)
{
	char path[96];
	hid_t d, space;

	snprintf(path, sizeof path, "%s/%s", t->group, t->member[0].name);
	d = H5Dopen2(f, path, H5P_DEFAULT);
	if (d < 0)
		return 1;
	space = H5Dget_space(d);
	*n = (size_t)H5Sget_simple_extent_npoints(space);
	H5Sclose(space);
	H5Dclose(d);
	return *n > LIMIT;
}

static int get_all(hid_t f, struct ct_calibration *c)
{
	uint32_t resources = 0, overrides = 0;
	char mode[32], group[16];
	int bad = get_text(f, "meta", "gpu", c->gpu, sizeof c->gpu) ||
		  get_text(f, "meta", "source", c->source, sizeof c->source) ||
		  get_text(f, "meta", "mode", mode, sizeof mode) ||
		  get_attribute(f, "meta", "resources", H5T_STD_U32LE, &resources) ||
		  get_attribute(f, "meta", "overrides", H5T_STD_U32LE, &overrides);

	for (size_t i = 0; i < SCALARS && !bad; i++) {
		const char *slash = strchr(scalars[i].name, '/');

		snprintf(group, sizeof group, "%.*s", (int)(slash - scalars[i].name), scalars[i].name);
		bad = get_attribute(f, group, slash + 1, H5T_IEEE_F64LE, (char *)c + scalars[i].at);
	}
	for (size_t k = 0; k < TABLES && !bad; k++) {
		const struct table *t = &tables[k];
		size_t n = 0;
		char *rows;

		bad = rows_of(f, t, &n);
		if (bad)
			break;
		rows = ct_calloc(n ? n : 1, t->stride);
		memcpy((char *)c + t->array, &rows, sizeof rows);
		memcpy((char *)c + t->count, &n, sizeof n);
		for (size_t i = 0; i < t->n_members && !bad; i++)
			bad = get_column(f, t, &t->member[i], rows, n);
	}
	if (bad)
		return 1;
	c->resources = (int)resources;
	c->overrides = overrides != 0;
	c->mode = CT_CALIB_MODES;
	for (int k = 0; k < CT_CALIB_MODES; k++)
		if (!strcmp(mode, mode_name[k]))
			c->mode = (enum ct_calib_mode)k;
	return 0;
}

static int in(double x, double lo, double hi)
{
	return x >= lo && x <= hi; /* false for NaN */
}

static int in_or_unknown(double x, double lo, double hi)
{
	return isnan(x) || in(x, lo, hi);
}

static int good_config(const struct ct_calib_config *k)
{
	const struct ct_profile *p = &k->profile;
	const double counter[] = { p->sm_active, p->sm_occupancy, p->dram_active, p->tensor_active, p->host };

	if (!in(p->throughput, 1e-12, 1e15) || !in(k->demand.weight, 1e-9, 1e9) || !*k->workload)
		return 0;
	for (size_t i = 0; i < sizeof counter / sizeof *counter; i++)
		if (!in_or_unknown(counter[i], 0, 10))
			return 0;
	if (!in_or_unknown(p->params, 0, 1e18) || !in_or_unknown(p->isl, 0, 1e12) || !in_or_unknown(p->osl, 0, 1e12) ||
	    !in_or_unknown(p->rho, 0, 1) || !in_or_unknown(p->mu, 0, 1))
		return 0;
	for (int r = 0; r < CT_RESOURCES; r++)
		if (!in(k->demand.a[r], 0, 10))
			return 0;
	return 1;
}

static int good_params(const struct ct_slowdown_params *s)
{
	for (int r = 0; r < CT_RESOURCES; r++)
		if (!in(s->c[r], 1e-6, 1e6))
			return 0;
	return in(s->m, 0, 1) && in(s->beta, 0, 1) && in(s->p, 0.1, 64) && in(s->q, 0.1, 64) &&
	       in(s->omega_clip, 1, 1e3) && in(s->soft, 0.1, 100);
}

/* A file that another program wrote must not put nonsense into a run. */
static const char *wrong_with(const struct ct_calibration *c)
{
	if (c->mode == CT_CALIB_MODES || c->resources < 0 || c->resources > CT_RESOURCES || !c->n_configs ||
	    !in(c->mem_mib, 0, 4e9) || !in(c->reserve_mib, 0, 4e9))
		return "meta";
	if (!good_params(&c->wstr))
		return "wstr";
	for (int k = 0; k < CT_COLOCS; k++)
		if (!in(c->sigma[k], 0, 1))
			return "noise";
	for (size_t i = 0; i < c->n_configs; i++)
		if (!good_config(&c->config[i]))
			return "profiles";
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct ct_fit_pair *p = &c->pair[i].measured;

		if (p->a >= c->n_configs || p->b >= c->n_configs || !in(p->s_a, 1e-3, CT_CALIB_FAILED) ||
		    !in(p->s_b, 1e-3, CT_CALIB_FAILED))
			return "pairs";
	}
	return NULL;
}

static hid_t open_image(char *bytes, size_t n)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS), f;

	H5Pset_fapl_core(access, 1 << 20, 0);
	H5Pset_file_image(access, bytes, n);
	f = H5Fopen(FORMAT, H5F_ACC_RDONLY, access);
	H5Pclose(access);
	return f;
}

int ct_calibration_read(const char *path, struct ct_calibration **out, struct ct_err *err)
{
	struct ct_calibration *c = ct_calloc(1, sizeof *c);
	struct ct_hdf5_quiet quiet;
	const char *wrong;
	char *bytes = NULL;
	size_t n;
	hid_t f;

	if (load_bytes(path, &bytes, &n, c->digest, err))
		goto done;
	ct_hdf5_quiet_begin(&quiet);
	f = open_image(bytes, n);
	if (f < 0 || get_all(f, c))
		bad_file(path, "lacks a part of a calibration file", err);
	if (f >= 0)
		H5Fclose(f);
	ct_hdf5_quiet_end(&quiet);
	wrong = err->code ? NULL : wrong_with(c);
	if (wrong)
		ct_err_at(err, CT_ECONFIG, NULL, "'%s': a value of /%s is out of range", path, wrong);
done:
	free(bytes);
	if (err->code)
		ct_calibration_free(c);
	else
		*out = c;
	return (int)err->code;
}

void ct_calibration_free(struct ct_calibration *c)
{
	if (!c)
		return;
	free(c->config);
	free(c->pair);
	free(c->unknown);
	free(c->holdout);
	free(c);
}
