/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/generate.h"

#include "traces/assign.h"
#include "traces/generate_genai.h"
#include "traces/generate_mixed.h"
#include "traces/generate_pai.h"
#include "traces/generate_testbed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct ct_generator generators[] = {
	{ .name = "pai",
	  .summary = "training and inference like Alibaba's PAI trace of 2020",
	  .constants = "traces/data/pai.csv",
	  .generate = ct_generate_pai,
	  .check = ct_generate_pai_check },
	{ .name = "genai",
	  .summary = "requests for inference like Alibaba's GenAI serving trace",
	  .constants = "traces/data/genai.csv",
	  .generate = ct_generate_genai,
	  .check = ct_generate_genai_check },
	{ .name = "mixed",
	  .summary = "pai's training and genai's requests as offline inference, on one cluster",
	  .constants = "traces/data/pai.csv",
	  .other = "traces/data/genai.csv",
	  .assign = "traces/data/assign.csv",
	  .takes = CT_TAKES_LOAD | CT_TAKES_SHARE,
	  .mix = ct_generate_mixed,
	  .check = ct_generate_mixed_check },
	{ .name = "testbed",
	  .summary = "training and offline inference of the ElastiCo paper's twelve workloads, by declared assumptions",
	  .constants = "traces/data/testbed.csv",
	  .takes = CT_TAKES_LOAD | CT_TAKES_SHAPE,
	  .generate = ct_generate_testbed,
	  .check = ct_generate_testbed_check },
};
enum { GENERATORS = sizeof generators / sizeof *generators };

const struct ct_generator *ct_generator_at(size_t i)
{
	return i < GENERATORS ? &generators[i] : NULL;
}

const struct ct_generator *ct_generator_find(const char *name)
{
	for (size_t i = 0; i < GENERATORS; i++)
		if (strcmp(generators[i].name, name) == 0)
			return &generators[i];
	return NULL;
}

static int check_options(const struct ct_generator *g, const struct ct_generate_options *o, struct ct_err *err)
{
	if (o->load > 0 && !(g->takes & CT_TAKES_LOAD))
		ct_err_add(err, CT_ECONFIG, NULL, "the load of a '%s' trace follows from its arrival rate", g->name);
	if ((o->share > 0 || o->node_gpus) && !(g->takes & CT_TAKES_SHARE))
		ct_err_add(err, CT_ECONFIG, NULL, "'share' and 'node_gpus' are of mixed traces, not of '%s'", g->name);
	if ((o->spread > 0 || o->tilt < 0 || o->tilt > 0) && !(g->takes & CT_TAKES_SHAPE))
		ct_err_add(err, CT_ECONFIG, NULL, "'spread' and 'tilt' are of the testbed's day, not of '%s'", g->name);
	if (o->change && *o->change && g->mix)
		ct_err_add(err, CT_ECONFIG, NULL, "a '%s' trace has two files of constants and no 'change' of them",
			   g->name);
	if (err->code)
		return (int)err->code;
	if (!o->jobs && !(o->days > 0))
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "how much to generate: give a number of jobs, of days, or both");
	if (o->jobs > UINT32_MAX / 2)
		return ct_err_at(err, CT_ECONFIG, NULL, "at most %u jobs can be generated", UINT32_MAX / 2);
	if (!(o->days >= 0 && o->days <= 36525) || !(o->gpus >= 0 && o->gpus <= 1e7))
		return ct_err_at(err, CT_ECONFIG, NULL, "wanted 0 to 36525 days and 0 to 10000000 GPUs, got %g and %g",
				 o->days, o->gpus);
	return 0;
}

static int load_constants(const struct ct_generate_options *o, struct ct_constants **out, struct ct_err *err)
{
	CT_TRY(ct_constants_load(o->constants, out, err));
	if (ct_constants_change(*out, o->change, err))
		ct_constants_free(*out);
	return (int)err->code;
}

static int generate(const struct ct_generator *g, const struct ct_generate_options *o, struct ct_workload **out,
		    struct ct_err *err)
{
	struct ct_constants *c;
	struct ct_workload *w;
	int rc;

	CT_TRY(load_constants(o, &c, err));
	w = ct_workload_new();
	w->report.source = g->name;
	w->report.format = "generated";
	rc = g->generate(o, c, w, err);
	w->report.rows_read = w->report.rows_kept = w->n;
	ct_workload_history(w,
			    "generate %s seed=%llu jobs=%llu days=%.12g gpus=%.12g failed=%d load=%.12g spread=%.12g "
			    "tilt=%.12g%s%.200s: %zu jobs",
			    g->name, (unsigned long long)o->seed, (unsigned long long)o->jobs, o->days, o->gpus,
			    o->failed, o->load, o->spread, o->tilt, o->change ? " change=" : "",
			    o->change ? o->change : "", w->n);
	if (!rc)
		rc = ct_workload_seal(w, err);
	ct_constants_free(c);
	if (rc)
		ct_workload_free(w);
	else
		*out = w;
	return rc;
}

int ct_generate(const struct ct_generator *g, const struct ct_generate_options *o, struct ct_workload **out,
		struct ct_err *err)
{
	struct ct_workload *w;
	int rc;

	CT_TRY(check_options(g, o, err));
	CT_TRY(g->mix ? g->mix(o, &w, err) : generate(g, o, &w, err));
	if (!o->assign) {
		*out = w;
		return 0;
	}
	rc = ct_trace_assign(w, o->assign, o->seed, out, err);
	ct_workload_free(w);
	return rc;
}

int ct_generate_check(const struct ct_generator *g, const struct ct_generate_options *o, const struct ct_workload *w,
		      struct ct_marginals *out, struct ct_err *err)
{
	struct ct_constants *c;
	int rc;

	if (!g->check)
		return ct_err_at(err, CT_ECONFIG, NULL, "generator '%s' has no recipe to compare with", g->name);
	CT_TRY(load_constants(o, &c, err));
	rc = g->check(o, c, w, out, err);
	ct_constants_free(c);
	return rc;
}

void ct_marginals_add(struct ct_marginals *m, const struct ct_marginal *row)
{
	CT_GROW(m->row, m->cap, m->n + 1);
	m->row[m->n++] = *row;
}

void ct_marginals_fini(struct ct_marginals *m)
{
	free(m->row);
	ct_arena_fini(&m->arena);
	memset(m, 0, sizeof *m);
}
