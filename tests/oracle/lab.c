/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/oracle/lab.h"

#include "calib/transitions.h"
#include "tests/oracle/harness.h"

#include <stdio.h>

#define DIR "calib/a100-40gb"

static const char *const names[LAB_MODELS] = { "ResNet-50",     "BERT",      "DCGAN",      "PointNet",
					       "Transformer",   "LSTM",      "NCF",        "PPO",
					       "DeepSeek-1.5b", "Qwen-1.7b", "Mistral-7b", "LLaMA-3-7b" };

/* Jobs of a run -> those of the lab. */
struct map {
	struct ct_contention inner;
	uint32_t model[LAB_JOBS];
};

struct lab_run_own { /* what the world refers to */
	struct ct_workload *work;
	struct map map;
	struct ct_contention contention;
	const struct ct_family *families[LAB_JOBS], *profiled[LAB_JOBS], *nearest[LAB_JOBS];
	struct ct_belief belief;
};

static struct ct_workload *jobs_of(const struct lab_job *jobs, uint32_t n)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct ct_job job = CT_JOB_INIT;
		char id[16];
		int k = snprintf(id, sizeof id, "j%u", (unsigned)i);

		job.id = ct_workload_text(w, id, (size_t)k);
		job.submit_us = (ct_time)(jobs[i].submit_s * 1e6 + 0.5);
		job.duration_us = (ct_time)(jobs[i].duration_s * 1e6 + 0.5);
		job.model = ct_strings_add(&w->strings, names[jobs[i].model], strlen(names[jobs[i].model]));
		ct_workload_add(w, &job);
	}
	if (ct_workload_seal(w, &err))
		fail_msg("%s", err.text);
	return w;
}

void lab_init(struct lab *lab, enum ct_belief_predictor predictor, double profile_error)
{
	const struct ct_truth_options t = { .dir = DIR };
	const struct ct_belief_options b = {
		.predictor = predictor, .seed = 1, .run_seed = 1, .profile_error = profile_error
	};
	struct lab_job all[LAB_MODELS];
	struct ct_err err = { 0 };

	for (uint32_t m = 0; m < LAB_MODELS; m++)
		all[m] = (struct lab_job){ m, 0, 3600 };
	*lab = (struct lab){ .work = jobs_of(all, LAB_MODELS) };
	if (ct_truth_new(&t, lab->work, &lab->truth, &err) || ct_believer_new(&b, lab->truth, &lab->believer, &err) ||
	    ct_transitions_load(DIR "/transitions.csv", &lab->arena, &lab->transitions, &err))
		fail_msg("%s", err.text);
	lab->transitions = ct_truth_transitions(lab->truth, &lab->transitions, &lab->arena);
	lab->n_kinds = ct_truth_kinds(lab->truth);
	lab->slowdown = ct_calloc((size_t)lab->n_kinds * lab->n_kinds, sizeof *lab->slowdown);
}

void lab_fini(struct lab *lab)
{
	free(lab->slowdown);
	ct_believer_free(lab->believer);
	ct_truth_free(lab->truth);
	ct_workload_free(lab->work);
	ct_arena_fini(&lab->arena);
}

const char *lab_model_name(enum lab_model m)
{
	return names[m];
}

const struct ct_family *lab_family(const struct lab *lab, enum lab_model m)
{
	return ct_truth_families(lab->truth)[m];
}

uint32_t lab_config(const struct lab *lab, enum lab_model m, const char *name)
{
	const struct ct_family *f = lab_family(lab, m);

	for (uint32_t c = 0; c < f->n; c++)
		if (strcmp(f->config[c].name, name) == 0)
			return c;
	fail_msg("%s has no configuration '%s'", names[m], name);
	return 0;
}

double lab_slowdown(const struct lab *lab, enum lab_model self, uint32_t config, enum lab_model other,
		    uint32_t other_config)
{
	uint32_t a = lab_family(lab, self)->config[config].kind, b = lab_family(lab, other)->config[other_config].kind;
	double *s = &lab->slowdown[(size_t)a * lab->n_kinds + b];

	if (*s == 0)
		*s = ct_truth_slowdown(lab->truth, a, b);
	return *s;
}

static double mapped_factor(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	const struct map *m = state;
	struct ct_contender a = *self, b = *other;

	a.job = m->model[a.job];
	b.job = m->model[b.job];
	return m->inner.factor(m->inner.state, &a, &b);
}

static struct lab_run_own *own_new(const struct lab *lab, const struct lab_request *q)
{
	const struct ct_belief *all = ct_believer_belief(lab->believer);
	struct lab_run_own *o = ct_calloc(1, sizeof *o);

	if (q->n > LAB_JOBS)
		fail_msg("%u jobs, want at most %d", (unsigned)q->n, LAB_JOBS);
	o->work = jobs_of(q->job, q->n);
	o->map.inner = ct_truth_contention(lab->truth);
	o->contention = (struct ct_contention){ &o->map, mapped_factor };
	o->belief = *all;
	for (uint32_t j = 0; j < q->n; j++) {
		o->map.model[j] = q->job[j].model;
		o->families[j] = lab_family(lab, q->job[j].model);
		o->profiled[j] = all->profiled ? all->profiled[q->job[j].model] : NULL;
		o->nearest[j] = all->nearest ? all->nearest[q->job[j].model] : NULL;
	}
	o->belief.profiled = o->profiled;
	o->belief.nearest = o->nearest;
	return o;
}

void lab_run(const struct lab *lab, const struct lab_request *q, struct lab_run *out)
{
	const struct ct_node_spec node = { .count = 1, .gpus = q->gpus, .gpu_speed = 1, .gpu_mem_mib = LAB_GPU_MIB };
	const struct ct_policy *policy = ct_test_policy(q->policy);
	void *state = ct_test_state(policy, q->settings);
	struct lab_run_own *o = own_new(lab, q);
	struct ct_control_spec spec = { .policy = policy, .policy_state = state, .belief = &o->belief };

	spec.world.work = o->work;
	spec.world.cluster = (struct ct_cluster_spec){ &node, 1 };
	spec.world.contention = &o->contention;
	spec.world.families = o->families;
	spec.world.transitions = q->free_transitions ? NULL : &lab->transitions;
	spec.world.seed = 1;
	spec.world.residents = 2;
	spec.world.gpu_reserve_mib = LAB_RESERVE_MIB;
	spec.world.until_us = q->until_s > 0 ? (ct_time)(q->until_s * 1e6) : CT_NEVER;
	spec.world.censor = q->until_s > 0;
	spec.world.attain_floor = 0.6;
	spec.world.record_events = true;
	*out = (struct lab_run){ ct_test_run(&spec), o };
	free(state);
}

void lab_run_fini(struct lab_run *run)
{
	ct_world_free(run->world);
	ct_workload_free(run->own->work);
	free(run->own);
}
