/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/durations.h"

#include "sim/csv.h"
#include "sim/memory.h"
#include "sim/shown.h"
#include "sim/strings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 512 };

struct ct_durations {
	struct ct_strings keys; /* "GPUS model" */
	double *value;          /* by number of the key */
	size_t cap;
	int by_steps;
};

static size_t key_of(char out[KEY], uint32_t num_gpus, const char *model)
{
	int n = snprintf(out, KEY, "%u %s", num_gpus, model);

	return n < KEY ? (size_t)n : KEY - 1;
}

static int read_header(struct ct_durations *d, struct ct_csv *in, struct ct_err *err)
{
	static const char *const third[] = { "duration", "steps_per_s" };
	struct ct_loc at;

	if (ct_csv_next(in, err) == 1 && ct_csv_fields(in) >= 3 && !strcmp(ct_csv_field(in, 0).s, "model") &&
	    !strcmp(ct_csv_field(in, 1).s, "num_gpus"))
		for (int k = 0; k < 2; k++)
			if (!strcmp(ct_csv_field(in, 2).s, third[k])) {
				d->by_steps = k;
				return 0;
			}
	if (err->code)
		return (int)err->code;
	at = ct_csv_loc(in, SIZE_MAX);
	return ct_err_at(err, CT_ECONFIG, &at,
			 "wanted the header 'model,num_gpus,duration' or 'model,num_gpus,steps_per_s'");
}

static void read_row(struct ct_durations *d, struct ct_csv *in, struct ct_err *err)
{
	struct ct_loc at = ct_csv_loc(in, SIZE_MAX);
	char key[KEY];
	int64_t gpus;
	double v;
	uint32_t k;
	int is_new;

	if (ct_csv_fields(in) < 3) {
		ct_err_add(err, CT_ECONFIG, &at, "row has %zu fields, wanted 3", ct_csv_fields(in));
		return;
	}
	at = ct_csv_loc(in, 1);
	if (ct_parse_i64(ct_csv_field(in, 1).s, ct_csv_field(in, 1).n, &gpus) || gpus < 1 || gpus > UINT32_MAX) {
		ct_err_add(err, CT_ECONFIG, &at, "'num_gpus' wants a whole number above 0");
		return;
	}
	at = ct_csv_loc(in, 2);
	if (ct_parse_f64(ct_csv_field(in, 2).s, ct_csv_field(in, 2).n, &v) || !(v > 0)) {
		ct_err_add(err, CT_ECONFIG, &at, "'%s' wants a number above 0",
			   d->by_steps ? "steps_per_s" : "duration");
		return;
	}
	k = ct_strings_add_new(&d->keys, key, key_of(key, (uint32_t)gpus, ct_csv_field(in, 0).s), &is_new);
	if (!is_new)
		ct_err_add(err, CT_ECONFIG, &at, "model and num_gpus of an earlier row");
	CT_GROW(d->value, d->cap, (size_t)k + 1);
	d->value[k] = v;
}

int ct_durations_load(const char *path, const char *format, struct ct_durations **out, struct ct_err *err)
{
	struct ct_durations *d;
	struct ct_csv *in;

	if (!path || !*path)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "a '%s' trace holds no durations; give trace.options.durations=FILE, a CSV with "
				 "model,num_gpus,duration or model,num_gpus,steps_per_s",
				 format);
	CT_TRY(ct_csv_open(path, ',', &in, err));
	d = ct_calloc(1, sizeof *d);
	ct_strings_init(&d->keys);
	read_header(d, in, err);
	while (!err->code && ct_csv_next(in, err) == 1)
		read_row(d, in, err);
	ct_csv_close(in);
	if (err->code)
		ct_durations_free(d);
	else
		*out = d;
	return (int)err->code;
}

void ct_durations_free(struct ct_durations *d)
{
	if (!d)
		return;
	ct_strings_fini(&d->keys);
	free(d->value);
	free(d);
}

int ct_durations_by_steps(const struct ct_durations *d)
{
	return d->by_steps;
}

int ct_durations_find(const struct ct_durations *d, const char *model, uint32_t num_gpus, double steps, double *out)
{
	char key[KEY];
	uint32_t k = ct_strings_find(&d->keys, key, key_of(key, num_gpus, model));

	if (k == UINT32_MAX)
		return -1;
	*out = d->by_steps ? steps / d->value[k] : d->value[k];
	return 0;
}
