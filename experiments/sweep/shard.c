/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/shard.h"

#include "sim/csv.h"

#include <string.h>

enum { MOST = 1000000 };

static int number(const char *s, size_t n, int64_t least, int64_t *out)
{
	return !s || ct_parse_i64(s, n, out) || *out < least || *out > MOST ? -1 : 0;
}

static int variable(char *(*get)(const char *), const char *name, int64_t least, int64_t *out)
{
	const char *s = get(name);

	return s ? number(s, strlen(s), least, out) : -1;
}

static int set(struct ct_shard *out, int64_t index, int64_t of, const char *text, struct ct_err *err)
{
	if (index < 1 || index > of)
		return ct_err_add(err, CT_EUSAGE, NULL, "--shard %s: there is no part %lld of %lld", text,
				  (long long)index, (long long)of);
	*out = (struct ct_shard){ (uint32_t)index, (uint32_t)of };
	return 0;
}

/* `of` 0: not given. */
static int from_environment(const char *text, int64_t of, char *(*get)(const char *), struct ct_shard *out,
			    struct ct_err *err)
{
	int64_t id, first, step = 1;

	if (variable(get, "SLURM_ARRAY_TASK_ID", 0, &id) == 0) {
		if (of)
			return set(out, id, of, text, err);
		if (variable(get, "SLURM_ARRAY_TASK_MIN", 0, &first) || variable(get, "SLURM_ARRAY_TASK_COUNT", 1, &of))
			return ct_err_add(err, CT_EUSAGE, NULL,
					  "--shard %s: SLURM_ARRAY_TASK_MIN and SLURM_ARRAY_TASK_COUNT are not set",
					  text);
		if (get("SLURM_ARRAY_TASK_STEP") && variable(get, "SLURM_ARRAY_TASK_STEP", 1, &step))
			step = 1;
		return set(out, (id - first) / step + 1, of, text, err);
	}
	if (variable(get, "JOB_COMPLETION_INDEX", 0, &id) == 0) {
		if (of)
			return set(out, id + 1, of, text, err);
		return ct_err_add(err, CT_EUSAGE, NULL,
				  "--shard auto: Kubernetes does not say of how many, write --shard auto/COMPLETIONS");
	}
	return ct_err_add(err, CT_EUSAGE, NULL,
			  "--shard %s: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set", text);
}

int ct_shard_parse(const char *text, char *(*get)(const char *), struct ct_shard *out, struct ct_err *err)
{
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	int64_t index, of = 0;
	int is_auto = n == 4 && strncmp(text, "auto", 4) == 0;

	if ((slash && number(slash + 1, strlen(slash + 1), 1, &of)) || (!slash && !is_auto) ||
	    (!is_auto && number(text, n, 1, &index)))
		return ct_err_add(err, CT_EUSAGE, NULL, "--shard wants I/N such as 3/8, auto, or auto/N, got '%.60s'",
				  text);
	return is_auto ? from_environment(text, of, get, out, err) : set(out, index, of, text, err);
}
