/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profiles.h - the RST profiles: what each configuration of each workload needs
 * and how fast it is alone on the calibrated GPU.
 *
 * The data are base values of a workload (file `workloads.csv` of a calibration
 * folder, one number a row with its mark: paper, public, fitted, assumed); the
 * profiles of its configurations follow by the equations of ct_profile_fill()
 * (training: iteration time split into GPU and host part; inference: prefill and
 * decode against the roofline). Twelve workloads, 768 configurations for the
 * A100-40GB: 20 12 20 20 20 32 36 32 (training) 198 198 90 90 (inference).
 *
 *	struct ct_profiles *set;
 *	CT_TRY(ct_profiles_load("calib/a100-40gb", &set, &err));
 *	const struct ct_workload_model *m = ct_profiles_find(set, "BERT");
 *	const struct ct_profile *p = m->profile + m->default_profile;
 *
 * Fractions are 0..1; all throughputs are solo, on one GPU. Sequence lengths
 * belong to the job: ct_profile_fill() with the job's own ISL and OSL gives its
 * throughput and counters; the set itself holds ISL = SL - 512, OSL = 512. */
#ifndef CT_CALIB_PROFILES_H
#define CT_CALIB_PROFILES_H

#include "sim/changes.h"
#include "sim/err.h"

#include <stddef.h>
#include <stdint.h>

/* What a change of one knob costs, the heaviest of several counts. */
enum ct_switching {
	CT_SWITCH_NONE,
	CT_SWITCH_FLAG,       /* prefix caching: a side-channel call */
	CT_SWITCH_ENGINE,     /* batch, sequence length or memory share of an engine: restart */
	CT_SWITCH_CHECKPOINT, /* any knob of a training job: checkpoint and resume */
	CT_SWITCH_CLASSES
};

struct ct_profile {
	char name[32];     /* "b128+ck+amp", "b4-sl4096-mu0.90+pc" */
	uint32_t workload; /* index in the set */
	/* knobs */
	uint32_t batch;
	uint32_t seqlen; /* tokens, inference only, else 0 */
	double mu;       /* gpu_memory_utilization, inference only, else 0 */
	uint8_t train, ckpt, amp, prefix;
	/* the five counters: means over the run */
	double sm_active, sm_occupancy, dram_active, tensor_active;
	uint32_t fb_mib;
	/* beside them */
	double host;   /* host pressure: input pipeline, PCIe, launches, 0..1 of a GPU's share */
	double weight; /* MPS share weight */
	double throughput;
	double isl, osl, rho; /* tokens, and share of the prompt found in the prefix cache */
	double params;        /* of the model */
	uint32_t cpu_milli, host_mib;
};

/* Base values, as in workloads.csv. Unused ones are 0. */
struct ct_workload_base {
	double params;
	double sm, occ, dram, tensor, host;            /* levels (training) or multipliers (inference) */
	double x_ref, g, b_half, s_amp, h0, eta;       /* training */
	double kv, t_overhead, sm_decode;              /* inference */
	double w0, batch_lo, batch_hi, seq_lo, seq_hi; /* knob ranges, powers of two */
	double mu_lo, mu_hi, mu_step, mem_lo, mem_hi;  /* GB = 1024 MiB */
	double default_seq, cpu_cores, host_mem;       /* of the default configuration; cores, GB */
};

/* Numbers that all workloads share. */
struct ct_workload_knobs {
	double ck_compute, ck_dram, ck_act_mem, amp_act_mem, gamma_mem, gamma_w, pc_dram, pc_host;
	double rho0, osl, mfu_prefill, bw_eff, peak_flops, peak_bytes, gpu_mem_mib, reserve_mib;
};

enum ct_mark { CT_MARK_PAPER, CT_MARK_PUBLIC, CT_MARK_FITTED, CT_MARK_ASSUMED, CT_MARKS };

struct ct_workload_model {
	const char *name, *unit; /* unit of throughput */
	int train;
	struct ct_workload_base base;
	const struct ct_profile *profile;
	uint32_t n, default_profile;
};

struct ct_profiles {
	const char *signature; /* of the hardware, e.g. "NVIDIA A100-SXM4-40GB" */
	struct ct_workload_knobs knobs;
	const struct ct_workload_model *model;
	uint32_t n_models, n_profiles;
	const struct ct_profile *profile; /* of all workloads, in order; model->profile points into it */
	uint32_t marks[CT_MARKS];         /* how many numbers of the file bear each mark */
	char digest[65];                  /* SHA-256 of the base values */
	struct ct_profiles_own *own;
};

/* Reads DIR/workloads.csv. CT_ECONFIG with file:line:column, all errors together;
 * CT_EIO when it cannot be read. */
int ct_profiles_load(const char *dir, struct ct_profiles **out, struct ct_err *err);
void ct_profiles_free(struct ct_profiles *set);
/* NULL when there is no such workload. */
const struct ct_workload_model *ct_profiles_find(const struct ct_profiles *set, const char *name);
/* The configuration with this name, NULL when there is none. */
const struct ct_profile *ct_profiles_named(const struct ct_workload_model *m, const char *config);

/* Sets, or multiplies, rows of the base values: `change->key` a workload, "*" (the shared
 * numbers), or NULL for all. Profiles follow with ct_profiles_refill(). CT_ECONFIG: no
 * such row, out of its range, or a number that decides which configurations there are. */
int ct_profiles_change(struct ct_profiles *set, const struct ct_change *change, struct ct_err *err);
/* Profiles and digest after changes; `more` is digested too. */
void ct_profiles_refill(struct ct_profiles *set, const double *more, size_t n_more);
/* Defaults of `share` times the largest batch (the nearest that there is, of equals the
 * larger), otherwise as they are. */
void ct_profiles_default_batch(struct ct_profiles *set, double share);
/* Share of the time of configuration `p` alone in which the GPU is not busy: the host's
 * part of an iteration, launches of decode steps. */
double ct_profile_idle(const struct ct_workload_knobs *k, const struct ct_workload_model *m,
		       const struct ct_profile *p);

/* Everything that follows from p's knobs, isl and osl; name and workload stay. */
void ct_profile_fill(const struct ct_workload_knobs *k, const struct ct_workload_model *m, struct ct_profile *p);

enum ct_switching ct_profile_switching(const struct ct_profile *from, const struct ct_profile *to);
const char *ct_switching_name(enum ct_switching s);

#endif
