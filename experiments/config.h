/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config.h - the configuration of one run: defaults < YAML file < command line.
 *
 *	trace:        file format on_bad_row assign load shift_to_zero columns options
 *	generate:     instead of trace.file: kind jobs days gpus load share ...
 *	cluster:      file, then nodes gpus_per_node gpu_type ... or a list node_types
 *	policy:       name and the options of that policy
 *	sim:          seed until warmup censor attain_floor residents ...
 *	contention:   pairs fallback
 *	calib:        dir file residual scaling gpu_span amp static draw host measured ...
 *	iac:          predictor file seed profile_error pairs
 *	transitions:  file start switch migrate resume
 *	failures:     file mtbf shape repair gpu_mtbf ... checkpoint restart
 *	output:       file csv perf
 *
 * Each section is one table of options (experiments/option.h), from which come
 * parsing, range checks, the manual (`cotenant help config`), --set and both
 * printed forms. Paths in a YAML file are relative to its folder, on the command
 * line to the working directory; "data:NAME" is found by experiments/data_path.h.
 *
 *	struct ct_config c;
 *	ct_config_init(&c);
 *	ct_config_load(&c, "run.yaml", &err);
 *	ct_config_assign(&c, "cluster.nodes=32", &err);   // --set
 *	if (ct_config_finish(&c, CT_CONFIG_RUN, &err)) ...
 *	ct_config_fini(&c);
 *
 * Errors are added to `err`, all that were found, each with its place; a value
 * with an error is left as it was. */
#ifndef CT_EXPERIMENTS_CONFIG_H
#define CT_EXPERIMENTS_CONFIG_H

#include "scheduler/policy.h"
#include "sim/cluster.h"
#include "sim/err.h"
#include "sim/memory.h"
#include "traces/trace.h"

#include <stdint.h>
#include <stdio.h>

/* One kind of node of cluster.node_types. */
struct ct_config_nodes {
	const char *name, *gpu_type, *partition;
	int64_t count, gpus, gpu_mem_mib, mem_mib;
	double gpu_speed, cpus;
	struct ct_loc at;
};

/* A key that waits until its table is known (policy options), or the place where
 * a value was given. */
struct ct_config_setting {
	const char *key, *text, *folder;
	struct ct_loc at;
};

struct ct_yaml;

struct ct_config {
	struct ct_arena arena; /* owns all texts and lists below */
	struct {
		const char *file, *format, *assign, *only;
		int on_bad_row; /* enum ct_bad_row */
		double load;    /* offered load to stretch submissions to; 0 = as they are */
		int shift_to_zero;
		struct ct_column_map *columns;
		size_t n_columns, cap_columns;
		struct ct_trace_option *options; /* trace.options.NAME, checked by the reader */
		size_t n_options, cap_options;
	} trace;
	struct {
		const char *kind, *constants, *change; /* kind NULL: the jobs are those of trace.file */
		int64_t jobs, node_gpus, seed;         /* seed -1: sim.seed */
		double days, gpus, load, share;        /* 0: what the generator says; gpus: of the cluster */
		double spread, tilt;
		int failed;
	} generate;
	struct {
		const char *file;
		int64_t nodes, gpus_per_node, gpu_mem_mib, mem_mib;
		const char *gpu_type, *partition;
		double gpu_speed, cpus_per_node;
		struct ct_config_nodes *types;
		size_t n_types;
		struct ct_loc simple_at,
		    list_at; /* where one of the keys, or the list, was given; file NULL = nowhere */
		const char *simple_key;
		struct ct_cluster_spec spec; /* by ct_config_finish() */
	} cluster;
	struct {
		const char *name; /* or the path of a shared object */
		struct ct_config_setting *settings;
		size_t n_settings, cap_settings;
		struct ct_loc at;               /* of the name */
		const struct ct_policy *policy; /* by ct_config_finish() */
		void *state;                    /* option values, policy->state_size bytes */
	} policy;
	struct {
		int64_t seed, residents, gpu_reserve_mib;
		ct_time warmup, until, series; /* until, series: 0 = none, automatic */
		ct_time period, step, preempt_loss, preempt_loss_multi;
		int censor, events, decisions, later_keeps_rate;
		int compat; /* enum ct_compat */
		double attain_floor;
	} sim;
	struct {
		const char *pairs;
		double fallback;
	} contention;
	struct {
		const char *dir, *file;
		int residual;
		double scaling, gpu_span;
		int amp, jobs_start; /* jobs_start: 0 default, 1 fastest */
		int64_t draw;
		int host, measured; /* host: 0 fitted, 1 blind */
		double default_batch;
		const char *change;
	} calib;
	struct {
		const char *file;
		int predictor; /* enum ct_belief_predictor */
		int64_t seed;
		double profile_error, pairs;
	} iac;
	struct {
		const char *file;
		ct_time cost[4]; /* enum ct_transition_kind, of any job */
	} transitions;
	struct {
		const char *file;
		ct_time mtbf, repair, gpu_mtbf, gpu_repair, checkpoint, restart;
		double shape, gpu_shape, repair_sigma;
		int repair_law; /* enum ct_repair_law */
	} failures;
	struct {
		const char *file, *csv;
		int perf;
	} output;
};

/* What ct_config_finish() must find. */
enum ct_config_need {
	CT_CONFIG_TRACE = 1,
	CT_CONFIG_CLUSTER = 2,
	CT_CONFIG_POLICY = 4,
	CT_CONFIG_RUN = CT_CONFIG_TRACE | CT_CONFIG_CLUSTER | CT_CONFIG_POLICY,
};

void ct_config_init(struct ct_config *c);
void ct_config_fini(struct ct_config *c);

/* CT_EIO: not readable; CT_ECONFIG: everything wrong in it, file:line:column. */
int ct_config_load(struct ct_config *c, const char *path, struct ct_err *err);
/* The same from memory; `folder` is where relative paths start. */
int ct_config_parse(struct ct_config *c, const char *name, const void *bytes, size_t n, const char *folder,
		    struct ct_err *err);
/* "key=value" of --set. CT_EUSAGE without '=', CT_ECONFIG for key or value. */
int ct_config_assign(struct ct_config *c, const char *assignment, struct ct_err *err);
/* From a tree that was parsed already (experiments/yaml.h), and one dotted key with the
 * value and the place of a scalar of such a tree. The tree outlives the configuration. */
int ct_config_take(struct ct_config *c, const struct ct_yaml *root, const char *folder, struct ct_err *err);
int ct_config_set(struct ct_config *c, const char *key, const struct ct_yaml *y, const char *folder,
		  struct ct_err *err);
/* One key on behalf of a command-line option, "--trace jobs.csv" in messages. */
int ct_config_option(struct ct_config *c, const char *option, const char *key, const char *text, struct ct_err *err);
/* --cluster "32x8": nodes and GPUs per node; drops a list of node types. CT_EUSAGE. */
int ct_config_cluster_option(struct ct_config *c, const char *text, struct ct_err *err);

/* Checks what depends on several keys, finds the policy and sets its options, and
 * makes the cluster's specification. `need`: sum of enum ct_config_need. */
int ct_config_finish(struct ct_config *c, unsigned need, struct ct_err *err);

/* Does anything fail in this run? */
static inline int ct_config_fails(const struct ct_config *c)
{
	return c->failures.file || c->failures.mtbf > 0 || c->failures.gpu_mtbf > 0;
}

/* The effective configuration, after ct_config_finish(); into the arena.
 * YAML: every key but `cluster.file` (its content stands there instead) and the
 * section `output`; file names made absolute. Loading it gives the same run. */
const char *ct_config_yaml(struct ct_config *c);
/* One line a key that bears on the result: no paths, no trace keys (the trace's
 * content has its own digest), a loaded policy under its own name. */
const char *ct_config_digest_text(struct ct_config *c);
/* The manual: every section, the node types, and the columns of a trace. */
void ct_config_print_manual(FILE *to);

#endif
