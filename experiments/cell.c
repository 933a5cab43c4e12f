/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/cell.h"

#include "experiments/command.h"
#include "experiments/data_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int assign(struct ct_config *c, const struct ct_cell_set *set, struct ct_err *err)
{
	size_t n = strlen(set->key) + strlen(set->value) + 2;
	char *text = ct_calloc(n, 1);
	int rc;

	snprintf(text, n, "%s=%s", set->key, set->value);
	rc = ct_config_assign(c, text, err);
	free(text);
	return rc;
}

int ct_cell_config(struct ct_config *c, const char *file, const struct ct_cell_set *set, size_t n, struct ct_err *err)
{
	unsigned before = err->count;

	if (file && ct_data_path(file, &c->arena, &file, err) == 0)
		ct_config_load(c, file, err);
	for (size_t i = 0; i < n; i++)
		assign(c, &set[i], err);
	if (err->count > before)
		return (int)err->code;
	return ct_config_finish(c, CT_CONFIG_RUN, err);
}

static int prepare(struct ct_config *c, const struct ct_cell_request *q, struct ct_setup *s, struct ct_err *err)
{
	s->pool = q->pool;
	s->trained = q->trained;
	CT_TRY(ct_setup_trace(s, c, q->reading, q->ctx, err));
	if (q->have_read)
		q->have_read(q->ctx, s->work);
	return ct_setup_world(s, c, err);
}

static void summarise(struct ct_config *c, const struct ct_cell_request *q, struct ct_cell_result *out)
{
	struct ct_result *r = &out->result;

	if (q->want_jobs)
		ct_result_from_world(r, out->world);
	else
		ct_result_summarise(r, out->world);
	out->stopped = r->partial = ct_world_stopped(out->world);
	ct_setup_describe(&out->setup, c, r);
	memcpy(out->summary, r->summary, sizeof out->summary);
	ct_world_account(out->world, &out->account);
}

int ct_cell_run(struct ct_config *c, const struct ct_cell_request *q, struct ct_cell_result *out, struct ct_err *err)
{
	double start = ct_process_cpu_s();
	struct ct_control_spec spec = {
		.policy = c->policy.policy,
		.policy_state = c->policy.state,
		.period_us = c->sim.period,
		.interrupt = q->interrupt,
		.progress = q->running,
		.progress_ctx = q->ctx,
	};
	int rc;

	memset(out, 0, sizeof *out);
	rc = prepare(c, q, &out->setup, err);
	spec.world = out->setup.spec;
	spec.world.record_decisions &= q->want_jobs; /* else nobody would read them */
	spec.belief = out->setup.belief;
	if (!rc)
		rc = ct_control_run(&spec, &out->world, &out->perf, err);
	if (rc) {
		ct_setup_fini(&out->setup);
		return rc;
	}
	summarise(c, q, out);
	out->cpu_s = ct_process_cpu_s() - start;
	return 0;
}

void ct_cell_fini(struct ct_cell_result *r)
{
	ct_result_fini(&r->result);
	ct_world_free(r->world); /* refers to the setup */
	ct_setup_fini(&r->setup);
	memset(r, 0, sizeof *r);
}
