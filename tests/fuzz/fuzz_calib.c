/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration and predictor files, and Gavel's tables. A calibration file begins with a
 * checksum, which random bytes never get past, and behind it stands HDF5's own parser,
 * which is not ours to fuzz; so the input is a list of edits of a good file (values,
 * types, lengths, things taken away), after which the checksum is made right again.
 * Relations: what is read is in range and is a world; written and read again it is the
 * same file.
 *
 * First byte: 0 a calibration's bytes as they are, 1 edits of a calibration, 2 of a linear
 * predictor, 3 of a network, 4 Gavel's JSON or CSV. An edit is ten bytes: what, group,
 * which (by name), element, value (6). */
#include "calib/measured.h"
#include "calib/predictor.h"
#include "calib/truth.h"
#include "sim/digest.h"
#include "sim/memory.h"
#include "sim/result_hdf5.h"

#include <gsl/gsl_errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(cond)                                                                    \
	do {                                                                             \
		if (!(cond)) {                                                           \
			fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #cond); \
			abort();                                                         \
		}                                                                        \
	} while (0)

enum { BLOCK = 512, EDIT = 10, MOST = 1 << 20, CONFIGS = 4, SAMPLES = 24 };
enum mode { RAW, CALIBRATION, LINEAR, NETWORK, GAVEL, MODES };

/* Made once a process: bytes of good files, and the profile set of the predictors. */
static struct {
	uint8_t *bytes[MODES];
	size_t n[MODES];
	struct ct_profiles *set;
	struct ct_workload *jobs;
	char file[64], again[64];
} base;

static void remove_files(void)
{
	unlink(base.file);
	unlink(base.again);
	for (int m = 0; m < MODES; m++)
		free(base.bytes[m]);
	ct_profiles_free(base.set);
	ct_workload_free(base.jobs);
}

static size_t load(const char *path, uint8_t **out)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	REQUIRE(f);
	*out = ct_calloc(MOST, 1);
	n = fread(*out, 1, MOST, f);
	REQUIRE(!fclose(f) && n < MOST);
	return n;
}

static void store(const char *path, const uint8_t *v, size_t n)
{
	FILE *f = fopen(path, "wb");

	REQUIRE(f && fwrite(v, 1, n, f) == n && !fclose(f));
}

static void make_calibration(void)
{
	struct ct_calibration c = {
		.gpu = "G", .source = "s", .mode = CT_CALIB_LATENT, .resources = 2, .overrides = 1
	};
	struct ct_calib_config config[CONFIGS] = { 0 };
	struct ct_calib_pair pair[2] = { { .measured = { 0, 1, 1.5, 2 } }, { .measured = { 2, 2, 1.2, 1.2 } } };
	struct ct_calib_unknown unknown = { "m", .02, .9 };
	struct ct_calib_holdout holdout = { "mean", 9, .1 };
	struct ct_err err = { 0 };

	for (int i = 0; i < CONFIGS; i++) {
		struct ct_calib_config *k = &config[i];

		snprintf(k->workload, sizeof k->workload, "w%d", i / 2);
		snprintf(k->profile.name, sizeof k->profile.name, "b%d", 8 << i);
		k->profile.train = 1;
		k->profile.batch = 8u << i;
		k->profile.throughput = 10 + i;
		k->profile.params = 1e6;
		k->profile.sm_active = .2 * i;
		k->profile.fb_mib = 1024;
		k->demand = (struct ct_demand){ { .5, .3 }, 1 };
		k->is_default = (uint8_t)(i % 2);
	}
	c.wstr = ct_slowdown_published();
	c.config = config;
	c.n_configs = CONFIGS;
	c.pair = pair;
	c.n_pairs = 2;
	c.unknown = &unknown;
	c.holdout = &holdout;
	c.n_unknowns = c.n_holdouts = 1;
	REQUIRE(!ct_calibration_write(&c, base.file, &err));
	base.n[CALIBRATION] = load(base.file, &base.bytes[CALIBRATION]);
	REQUIRE(!ct_calibration_profiles(&c, &base.set, &err));
	snprintf(base.set->digest, sizeof base.set->digest, "of a set");
}

static void make_predictor(const char *name, enum mode mode)
{
	struct ct_predictor *p = NULL;
	struct ct_samples s;
	struct ct_err err = { 0 };

	ct_samples_init(&s, CT_FEATURES);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct ct_sample row = { .slowdown = 1 + .1 * i, .pair = i };
		double *x = ct_samples_add(&s, &row);

		for (int k = 0; k < CT_FEATURES; k++)
			x[k] = (i * 7 + (unsigned)k * 5) % 11;
	}
	REQUIRE(!ct_predictor_train(name, &s, 1, base.set, NULL, &p, &err));
	REQUIRE(!ct_predictor_save(p, base.file, &err));
	base.n[mode] = load(base.file, &base.bytes[mode]);
	p->free(p);
	ct_samples_fini(&s);
}

static void make_jobs(void)
{
	struct ct_err err = { 0 };

	base.jobs = ct_workload_new();
	for (uint32_t i = 0; i < 2; i++) {
		struct ct_job j = CT_JOB_INIT;

		j.id = i ? "b" : "a";
		j.duration_us = CT_SECOND;
		j.model = ct_strings_add(&base.jobs->strings, i ? "w1" : "w0", 2);
		ct_workload_add(base.jobs, &j);
	}
	REQUIRE(!ct_workload_seal(base.jobs, &err));
}

static void make_base(void)
{
	const char *dir = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	gsl_set_error_handler_off();
	snprintf(base.file, sizeof base.file, "%s/cotenant-fuzz-calib-%ld", dir, (long)getpid());
	snprintf(base.again, sizeof base.again, "%s/cotenant-fuzz-calib-%ld-again", dir, (long)getpid());
	atexit(remove_files);
	make_calibration();
	make_predictor("linear", LINEAR);
	make_predictor("dnn", NETWORK);
	make_jobs();
}

/* ---- edits */

enum what { VALUE, TAKE_AWAY, OTHER_TYPE, OTHER_LENGTH, ATTRIBUTE, NO_ATTRIBUTE, WHATS };

/* The k-th name in a group, modulo how many there are. 0: none. */
static int name_in(hid_t g, unsigned k, char *name, size_t cap)
{
	H5G_info_t info;

	if (H5Gget_info(g, &info) < 0 || !info.nlinks)
		return 0;
	return H5Lget_name_by_idx(g, ".", H5_INDEX_NAME, H5_ITER_INC, k % info.nlinks, name, cap, H5P_DEFAULT) > 0;
}

/* One element's bytes become the value's, repeated. */
static void edit_value(hid_t g, const char *name, const uint8_t *e)
{
	hid_t d = H5Dopen2(g, name, H5P_DEFAULT), space = H5Dget_space(d), type = H5Dget_type(d);
	size_t n = (size_t)H5Sget_simple_extent_npoints(space), width = H5Tget_size(type);
	uint8_t *v = ct_calloc(n + 1, width);

	if (n && H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0) {
		for (size_t i = 0; i < width; i++) /* of a double: the high bytes */
			v[e[3] % n * width + width - 1 - i] = (uint8_t)(i < 6 ? e[4 + i] : 0);
		REQUIRE(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
	}
	free(v);
	H5Tclose(type);
	H5Sclose(space);
	H5Dclose(d);
}

static void replace(hid_t g, const char *name, const uint8_t *e, int other_type)
{
	hid_t d = H5Dopen2(g, name, H5P_DEFAULT), type = H5Dget_type(d), space;
	hsize_t n = e[3] % 9;

	H5Dclose(d);
	if (other_type) {
		H5Tclose(type);
		type = H5Tcopy(e[4] % 3 == 0 ? H5T_STD_I16LE : e[4] % 3 == 1 ? H5T_IEEE_F32LE : H5T_C_S1);
	}
	space = e[5] % 4 ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
	H5Ldelete(g, name, H5P_DEFAULT);
	d = H5Dcreate2(g, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	if (d >= 0)
		H5Dclose(d);
	H5Sclose(space);
	H5Tclose(type);
}

static void edit_attribute(hid_t g, const uint8_t *e, int take_away)
{
	int n = H5Aget_num_attrs(g);
	uint8_t v[512] = { 0 };
	hid_t a, type;

	if (n <= 0)
		return;
	a = H5Aopen_by_idx(g, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)(e[2] % n), H5P_DEFAULT, H5P_DEFAULT);
	type = H5Aget_type(a);
	if (H5Tget_size(type) <= sizeof v) {
		for (size_t i = 0; i < 6 && i < H5Tget_size(type); i++)
			v[H5Tget_size(type) - 1 - i] = e[4 + i];
		REQUIRE(H5Awrite(a, type, v) >= 0);
	}
	H5Tclose(type);
	H5Aclose(a);
	if (take_away)
		H5Adelete_by_idx(g, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)(e[2] % n), H5P_DEFAULT);
}

static void edit(hid_t f, const uint8_t *e)
{
	char group[64], name[64];
	hid_t g;

	if (!name_in(f, e[1], group, sizeof group))
		return;
	g = H5Gopen2(f, group, H5P_DEFAULT);
	if (g < 0)
		return;
	switch (e[0] % WHATS) {
	case ATTRIBUTE:
	case NO_ATTRIBUTE:
		edit_attribute(g, e, e[0] % WHATS == NO_ATTRIBUTE);
		break;
	case TAKE_AWAY:
		if (e[3] == 255)
			H5Ldelete(f, group, H5P_DEFAULT);
		else if (name_in(g, e[2], name, sizeof name))
			H5Ldelete(g, name, H5P_DEFAULT);
		break;
	case VALUE:
		if (name_in(g, e[2], name, sizeof name))
			edit_value(g, name, e);
		break;
	default:
		if (name_in(g, e[2], name, sizeof name))
			replace(g, name, e, e[0] % WHATS == OTHER_TYPE);
	}
	H5Gclose(g);
}

/* As calib/calibration.h has it: text, then the number of bytes and their SHA-256. */
static void checksum(const char *path)
{
	struct ct_digest d;
	char hex[CT_DIGEST_TEXT];
	uint8_t *v;
	size_t n = load(path, &v);
	int k;

	REQUIRE(n > BLOCK);
	ct_digest_init(&d);
	ct_digest_bytes(&d, v + BLOCK, n - BLOCK);
	ct_digest_final(&d, hex);
	memset(v, '\n', BLOCK);
	k = snprintf((char *)v, BLOCK, "cotenant-calibration 1\n%zu %s\n", n - BLOCK, hex);
	v[k] = '\n';
	store(path, v, n);
	free(v);
}

static void edited(enum mode mode, const uint8_t *data, size_t size)
{
	struct ct_hdf5_quiet q;
	hid_t f;

	store(base.file, base.bytes[mode], base.n[mode]);
	ct_hdf5_quiet_begin(&q);
	f = H5Fopen(base.file, H5F_ACC_RDWR, H5P_DEFAULT);
	REQUIRE(f >= 0);
	for (size_t i = 0; i + EDIT <= size && i < 8 * EDIT; i += EDIT)
		edit(f, data + i);
	REQUIRE(H5Fclose(f) >= 0);
	ct_hdf5_quiet_end(&q);
	if (mode == CALIBRATION)
		checksum(base.file);
}

/* ---- what must hold */

static void check_truth(void)
{
	const struct ct_truth_options o = { .file = base.again, .residual = 1, .seed = 1 };
	const struct ct_family *const *f;
	struct ct_truth *t = NULL;
	struct ct_contention c;
	struct ct_err err = { 0 };

	if (ct_truth_new(&o, base.jobs, &t, &err)) {
		REQUIRE(*err.text);
		return;
	}
	f = ct_truth_families(t);
	c = ct_truth_contention(t);
	for (uint32_t i = 0; i < 2 && f[0] && f[1]; i++)
		for (uint32_t a = 0; a < f[i]->n; a++)
			for (uint32_t b = 0; b < f[!i]->n; b++) {
				struct ct_contender x = { .job = i, .config = a }, y = { .job = !i, .config = b };
				double keeps = c.factor(c.state, &x, &y);

				REQUIRE(keeps > 0 && keeps <= 1e3);
				REQUIRE(f[i]->config[a].throughput > 0);
			}
	ct_truth_free(t);
}

static void check_calibration(void)
{
	struct ct_calibration *c = NULL, *d = NULL;
	struct ct_profiles *set = NULL;
	struct ct_samples s;
	struct ct_err err = { 0 };
	char digest[CT_DIGEST_TEXT_CALIB];
	int rc = ct_calibration_read(base.file, &c, &err);

	REQUIRE(!rc == (c != NULL) && (!rc || (*err.text && (rc == CT_EIO || rc == CT_ECONFIG))));
	if (rc)
		return;
	REQUIRE(!ct_calibration_write(c, base.again, &err) && !ct_calibration_read(base.again, &d, &err));
	memcpy(digest, d->digest, sizeof digest);
	ct_calibration_free(d);
	d = NULL;
	REQUIRE(!ct_calibration_write(c, base.again, &err) && !ct_calibration_read(base.again, &d, &err));
	REQUIRE(!strcmp(d->digest, digest) && d->n_configs == c->n_configs && d->n_pairs == c->n_pairs);
	ct_samples_calibration(d, &s);
	for (size_t i = 0; i < s.n; i++)
		REQUIRE(s.row[i].slowdown > 0 && s.row[i].self < d->n_configs);
	for (size_t i = 0; i < s.n * s.width; i++)
		REQUIRE(isfinite(s.x[i]));
	ct_samples_fini(&s);
	if (!ct_calibration_profiles(d, &set, &err))
		REQUIRE(set->n_profiles == d->n_configs);
	ct_profiles_free(set);
	ct_calibration_free(c);
	ct_calibration_free(d);
	check_truth();
}

static void check_predictor(void)
{
	static const struct ct_config_pair pair[] = { { 0, 1 }, { 3, 3 }, { 2, 0 } };
	struct ct_predictor *p = NULL;
	struct ct_err err = { 0 };
	double together[3], alone;
	int rc = ct_predictor_load(base.file, base.set, &p, &err);

	REQUIRE(!rc == (p != NULL) && (!rc || *err.text));
	if (rc)
		return;
	p->slowdown(p, pair, 3, together);
	for (int i = 0; i < 3; i++) {
		p->slowdown(p, pair + i, 1, &alone);
		REQUIRE(!memcmp(&alone, &together[i], sizeof alone));
	}
	p->free(p);
}

static void check_gavel(void)
{
	struct ct_measured_report r;
	struct ct_calibration *c = NULL;
	struct ct_err err = { 0 };
	int rc = ct_measured_gavel(base.file, NULL, "v100", NULL, &r, &c, &err);

	REQUIRE(!rc == (c != NULL) && (!rc || (*err.text && (rc == CT_ECONFIG || rc == CT_EIO))));
	if (rc)
		return;
	REQUIRE(r.configs == c->n_configs && r.pairs == c->n_pairs && r.pairs <= r.possible);
	REQUIRE(r.rows == r.pairs + r.repeated);
	REQUIRE(!ct_calibration_write(c, base.file, &err));
	ct_calibration_free(c);
	check_calibration();
	err.code = CT_OK;
	c = NULL;
	REQUIRE(!ct_calibration_read(base.file, &c, &err)); /* what is imported can be used */
	ct_calibration_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum mode mode;

	if (!size)
		return 0;
	if (!base.set)
		make_base();
	mode = (enum mode)(data[0] % MODES);
	if (mode == RAW || mode == GAVEL)
		store(base.file, data + 1, size - 1);
	else
		edited(mode, data + 1, size - 1);
	if (mode == GAVEL)
		check_gavel();
	else if (mode == RAW || mode == CALIBRATION)
		check_calibration();
	else
		check_predictor();
	return 0;
}
