/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a user writes: targets and ranges of sizes. */
#include "experiments/breakdown.h"
#include "experiments/capacity.h"
#include "sim/csv.h"
#include "sim/nearest.h"
#include "sim/output.h"
#include "sim/shown.h"

#include <string.h>

static const char *const class_name[CT_CAPACITY_CLASSES] = { "all", "train", "infer" };

const char *ct_capacity_class_name(enum ct_capacity_class c)
{
	return class_name[c];
}

static int unknown_metric(const char *name, struct ct_err *err)
{
	struct ct_nearest near;
	const char *best;

	ct_nearest_init(&near, name);
	for (int m = 0; m < CT_METRIC_COUNT; m++)
		ct_nearest_offer(&near, ct_metric_info[m].key);
	best = ct_nearest_word(&near);
	return ct_err_at(err, CT_EUSAGE, NULL, "unknown metric '%.60s'%s%s%s", name, best ? "; did you mean '" : "",
			 best ? best : "", best ? "'?" : "");
}

/* [CLASS.]METRIC */
static int parse_name(const char *s, size_t n, struct ct_capacity_target *t, struct ct_err *err)
{
	char name[64], *metric = name;
	int m;

	snprintf(name, sizeof name, "%.*s", (int)n, s);
	t->class = CT_CAPACITY_ALL;
	for (int k = 0; k < CT_CAPACITY_CLASSES; k++) {
		size_t length = strlen(class_name[k]);

		if (strncmp(name, class_name[k], length) == 0 && name[length] == '.') {
			t->class = (enum ct_capacity_class)k;
			metric = name + length + 1;
		}
	}
	m = ct_metric_find(metric);
	if (m < 0)
		return unknown_metric(metric, err);
	t->metric = (enum ct_metric)m;
	if (t->class != CT_CAPACITY_ALL && !ct_breakdown_has(t->metric))
		return ct_err_at(err, CT_EUSAGE, NULL,
				 "'%s' is of the whole run: a class has JCT, wait, slow-down and attainment", metric);
	return 0;
}

static int parse_bounds(const char *s, struct ct_capacity_target *t, struct ct_err *err)
{
	char shown[CT_SHOWN];

	for (t->n_bounds = 0;; t->n_bounds++) {
		size_t n = strcspn(s, ",");

		if (t->n_bounds == CT_CAPACITY_LEVELS)
			return ct_err_at(err, CT_EUSAGE, NULL, "at most %d values a target", (int)CT_CAPACITY_LEVELS);
		if (ct_parse_f64(s, n, &t->bound[t->n_bounds]))
			return ct_err_at(err, CT_EUSAGE, NULL, "a target wants a number, got '%s'",
					 ct_shown(shown, s, n));
		if (!s[n])
			break;
		s += n + 1;
	}
	t->n_bounds++;
	return 0;
}

int ct_capacity_target_parse(const char *text, struct ct_capacity_target *t, struct ct_err *err)
{
	size_t n = strcspn(text, "<>");
	const char *op = text + n;
	char shown[CT_SHOWN];

	memset(t, 0, sizeof *t);
	if (n == 0 || n >= 64 || !*op)
		return ct_err_at(err, CT_EUSAGE, NULL, "a target wants METRIC<NUMBER or METRIC>NUMBER, got '%s'",
				 ct_shown(shown, text, strlen(text)));
	t->is_lower = *op == '<';
	t->is_strict = op[1] != '=';
	CT_TRY(parse_name(text, n, t, err));
	return parse_bounds(op + 1 + !t->is_strict, t, err);
}

void ct_capacity_target_text(const struct ct_capacity_target *t, size_t level, char *out, size_t cap)
{
	char number[CT_F64_TEXT];

	ct_f64_format(t->bound[level < t->n_bounds ? level : t->n_bounds - 1], number);
	snprintf(out, cap, "%s%s%s%s%s%s", t->class == CT_CAPACITY_ALL ? "" : class_name[t->class],
		 t->class == CT_CAPACITY_ALL ? "" : ".", ct_metric_info[t->metric].key, t->is_lower ? "<" : ">",
		 t->is_strict ? "" : "=", number);
}

int ct_capacity_vary_parse(const char *text, int64_t *lo, int64_t *hi, int *in_nodes, struct ct_err *err)
{
	const char *equals = strchr(text, '='), *dots = equals ? strstr(equals, "..") : NULL;
	char shown[CT_SHOWN];

	*in_nodes = strncmp(text, "nodes=", 6) == 0;
	if (!dots || (!*in_nodes && strncmp(text, "gpus=", 5) != 0) ||
	    ct_parse_i64(equals + 1, (size_t)(dots - equals - 1), lo) || ct_parse_i64(dots + 2, strlen(dots + 2), hi) ||
	    *lo < 1 || *hi < *lo)
		return ct_err_at(err, CT_EUSAGE, NULL, "--vary wants gpus=LO..HI or nodes=LO..HI, got '%s'",
				 ct_shown(shown, text, strlen(text)));
	return 0;
}
