/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/config_table.h"

#include "calib/belief.h"
#include "experiments/compat.h"
#include "experiments/config.h"
#include "experiments/option.h"
#include "sim/profile.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define AT(field)   offsetof(struct ct_config, field)
#define NODE(field) offsetof(struct ct_config_nodes, field)
enum {
	WHERE = CT_OPT_NO_DIGEST,
	PATH = CT_OPT_NO_DIGEST | CT_OPT_PATH,
};
#define MAX_MIB     4e9  /* 3.8 PiB; fits 32 bits */
#define MAX_CORES   4e6  /* milli-CPU fit 32 bits */
#define MAX_SECONDS 2e11 /* below CT_TIME_LIMIT */
#define ANY_MAX     INFINITY

static const struct ct_opt trace_opts[] = {
	{ "file", CT_OPT_TEXT, AT(trace.file), "", 0, 0, NULL, NULL, "the jobs: CSV or canonical HDF5, plain or .gz",
	  PATH },
	{ "format", CT_OPT_TEXT, AT(trace.format), "auto", 0, 0, NULL, NULL,
	  "name of the reader, auto = from the content (`cotenant trace formats`)", WHERE },
	{ "on_bad_row", CT_OPT_ENUM, AT(trace.on_bad_row), "refuse", 0, 0, "refuse|drop", NULL,
	  "a row that cannot be a job: refuse the file, or drop and count the row", WHERE },
	{ "assign", CT_OPT_TEXT, AT(trace.assign), "", 0, 0, NULL, NULL,
	  "weights of workload names for jobs that name none, e.g. data:traces/data/assign.csv; seed: sim.seed", PATH },
	{ "only", CT_OPT_TEXT, AT(trace.only), "", 0, 0, NULL, NULL,
	  "COLUMN=VALUE: only the jobs with that value in a column of the trace's own, such as kind=train", WHERE },
	{ "load", CT_OPT_DOUBLE, AT(trace.load), "0", 0, 1000, NULL, NULL,
	  "stretch submission times to this offered load, 0 = as they are", WHERE },
	{ "shift_to_zero", CT_OPT_BOOL, AT(trace.shift_to_zero), "false", 0, 0, NULL, NULL,
	  "subtract the first submission from all times", WHERE },
	{ 0 },
};
/* The jobs that come out have a digest of their own. */
static const struct ct_opt generate_opts[] = {
	{ "kind", CT_OPT_TEXT, AT(generate.kind), "", 0, 0, NULL, NULL,
	  "pai, genai, mixed or testbed (`cotenant trace generate --help`); none = the jobs are in trace.file", WHERE },
	{ "jobs", CT_OPT_INT, AT(generate.jobs), "0", 0, 1e9, NULL, "jobs",
	  "how many, 0 = as many as arrive in generate.days", WHERE },
	{ "days", CT_OPT_DOUBLE, AT(generate.days), "0", 0, 36525, NULL, "days",
	  "span of the arrivals, 0 = as long as generate.jobs take", WHERE },
	{ "seed", CT_OPT_INT, AT(generate.seed), "-1", -1, ANY_MAX, NULL, NULL,
	  "of the jobs alone, -1 = sim.seed: each seed has its own arrivals, the same under all policies", WHERE },
	{ "gpus", CT_OPT_DOUBLE, AT(generate.gpus), "0", 0, 1e7, NULL, "GPUs",
	  "cluster that the arrivals are made for, 0 = this one; give it where the cluster varies", WHERE },
	{ "load", CT_OPT_DOUBLE, AT(generate.load), "0", 0, 1000, NULL, NULL,
	  "mixed, testbed: offered load of that cluster, 0 = 1 (trace.load stretches what is there instead)", WHERE },
	{ "share", CT_OPT_DOUBLE, AT(generate.share), "0", 0, 1, NULL, "frac",
	  "mixed: training's share of the work, 0 = 0.7", WHERE },
	{ "spread", CT_OPT_DOUBLE, AT(generate.spread), "0", 0, 4, NULL, NULL,
	  "testbed: sd of the logarithm of run times, 0 = the constants' 1.3", WHERE },
	{ "tilt", CT_OPT_DOUBLE, AT(generate.tilt), "0", -4, 4, NULL, NULL,
	  "testbed: favours large GPU counts, by count^tilt", WHERE },
	{ "node_gpus", CT_OPT_INT, AT(generate.node_gpus), "0", 0, CT_MAX_GPUS_PER_NODE, NULL, "GPUs",
	  "mixed: leave out training on shares of more GPUs than this, 0 = keep it", WHERE },
	{ "failed", CT_OPT_BOOL, AT(generate.failed), "false", 0, 0, NULL, NULL,
	  "also jobs that fail, as in the trace (state 'Failed')", WHERE },
	{ "constants", CT_OPT_TEXT, AT(generate.constants), "", 0, 0, NULL, NULL,
	  "instead of the generator's own file of constants", PATH },
	{ "change", CT_OPT_TEXT, AT(generate.change), "", 0, 0, NULL, NULL,
	  "constants that are otherwise: infer_share=*0.8, train_gpus@8=0 (NAME[@KEY]=VALUE, *FACTOR)", WHERE },
	{ 0 },
};
static const struct ct_opt cluster_opts[] = {
	{ "file", CT_OPT_TEXT, AT(cluster.file), "", 0, 0, NULL, NULL,
	  "YAML file with the other keys of this section, or a machine table (pai_machine_spec, openb_node_list)",
	  PATH },
	{ "nodes", CT_OPT_INT, AT(cluster.nodes), "0", 0, CT_MAX_GPUS, NULL, NULL, "number of nodes, all alike", 0 },
	{ "gpus_per_node", CT_OPT_INT, AT(cluster.gpus_per_node), "8", 0, CT_MAX_GPUS_PER_NODE, NULL, NULL,
	  "GPUs of each", 0 },
	{ "gpu_type", CT_OPT_TEXT, AT(cluster.gpu_type), "", 0, 0, NULL, NULL,
	  "name of the GPUs, as a job may ask for it", 0 },
	{ "gpu_speed", CT_OPT_DOUBLE, AT(cluster.gpu_speed), "1", 1e-3, 1e3, NULL, "x",
	  "speed, 1 = the GPU that durations are given for", 0 },
	{ "gpu_mem_mib", CT_OPT_INT, AT(cluster.gpu_mem_mib), "0", 0, MAX_MIB, NULL, "MiB",
	  "memory of a GPU, 0 = unlimited", 0 },
	{ "cpus_per_node", CT_OPT_DOUBLE, AT(cluster.cpus_per_node), "0", 0, MAX_CORES, NULL, "cores",
	  "CPU cores of a node, three decimals, 0 = unlimited", 0 },
	{ "mem_mib", CT_OPT_INT, AT(cluster.mem_mib), "0", 0, MAX_MIB, NULL, "MiB",
	  "host memory of a node, 0 = unlimited", 0 },
	{ "partition", CT_OPT_TEXT, AT(cluster.partition), "", 0, 0, NULL, NULL, "virtual cluster of all nodes", 0 },
	{ 0 },
};
const struct ct_opt ct_config_node_opts[] = {
	{ "name", CT_OPT_TEXT, NODE(name), "", 0, 0, NULL, NULL, "of this kind of node, for messages", 0 },
	{ "count", CT_OPT_INT, NODE(count), "1", 1, CT_MAX_GPUS, NULL, NULL, "number of such nodes", 0 },
	{ "gpus", CT_OPT_INT, NODE(gpus), "8", 0, CT_MAX_GPUS_PER_NODE, NULL, NULL, "GPUs of each", 0 },
	{ "gpu_type", CT_OPT_TEXT, NODE(gpu_type), "", 0, 0, NULL, NULL, "name of its GPUs", 0 },
	{ "gpu_speed", CT_OPT_DOUBLE, NODE(gpu_speed), "1", 1e-3, 1e3, NULL, "x", "their speed", 0 },
	{ "gpu_mem_mib", CT_OPT_INT, NODE(gpu_mem_mib), "0", 0, MAX_MIB, NULL, "MiB", "their memory, 0 = unlimited",
	  0 },
	{ "cpus", CT_OPT_DOUBLE, NODE(cpus), "0", 0, MAX_CORES, NULL, "cores", "CPU cores of a node, 0 = unlimited",
	  0 },
	{ "mem_mib", CT_OPT_INT, NODE(mem_mib), "0", 0, MAX_MIB, NULL, "MiB", "host memory of a node, 0 = unlimited",
	  0 },
	{ "partition", CT_OPT_TEXT, NODE(partition), "", 0, 0, NULL, NULL, "its virtual cluster", 0 },
	{ 0 },
};
static const struct ct_opt policy_opts[] = {
	{ "name", CT_OPT_TEXT, AT(policy.name), "", 0, 0, NULL, NULL,
	  "a built-in policy (`cotenant policies`), or the path of a shared object", 0 },
	{ 0 },
};
/* attain_floor 0.6 is an assumption: the paper does not publish its floor. */
static const struct ct_opt sim_opts[] = {
	{ "seed", CT_OPT_INT, AT(sim.seed), "1", 0, ANY_MAX, NULL, NULL, "of all random draws", 0 },
	{ "warmup", CT_OPT_SECONDS, AT(sim.warmup), "0", 0, MAX_SECONDS, NULL, "s",
	  "start of the measurement window, after the first submission", 0 },
	{ "until", CT_OPT_SECONDS, AT(sim.until), "0", 0, MAX_SECONDS, NULL, "s",
	  "its end, 0 = run until every job has ended", 0 },
	{ "censor", CT_OPT_BOOL, AT(sim.censor), "false", 0, 0, NULL, NULL,
	  "stop at sim.until instead of following the window's jobs to their end", 0 },
	{ "attain_floor", CT_OPT_DOUBLE, AT(sim.attain_floor), "0.6", 0, 1, NULL, "frac",
	  "target rate: a job attains when solo duration / time since start reaches this", 0 },
	{ "residents", CT_OPT_INT, AT(sim.residents), "2", 1, 64, NULL, "jobs", "jobs that may share one GPU", 0 },
	{ "gpu_reserve_mib", CT_OPT_INT, AT(sim.gpu_reserve_mib), "0", 0, MAX_MIB, NULL, "MiB",
	  "memory of a shared GPU that no job may use", 0 },
	{ "series", CT_OPT_SECONDS, AT(sim.series), "0", 0, MAX_SECONDS, NULL, "s",
	  "bin of the time series, 0 = from the trace's span", 0 },
	{ "period", CT_OPT_SECONDS, AT(sim.period), "0", 0, MAX_SECONDS, NULL, "s",
	  "ask the policy only at multiples of this, 0 = the policy's own period", 0 },
	{ "preempt_loss", CT_OPT_SECONDS, AT(sim.preempt_loss), "0", 0, MAX_SECONDS, NULL, "s",
	  "work a preemption throws away, of a job on one node", 0 },
	{ "preempt_loss_multi", CT_OPT_SECONDS, AT(sim.preempt_loss_multi), "0", 0, MAX_SECONDS, NULL, "s",
	  "the same of a job on several nodes", 0 },
	{ "step", CT_OPT_SECONDS, AT(sim.step), "0", 0, MAX_SECONDS, NULL, "s",
	  "see ends as a simulator of such steps does, one step late; 0 = exact", 0 },
	{ "later_keeps_rate", CT_OPT_BOOL, AT(sim.later_keeps_rate), "false", 0, 0, NULL, NULL,
	  "with step: a job keeps its slow-down after an earlier resident ended", 0 },
	{ "compat", CT_OPT_ENUM, AT(sim.compat), "none", 0, 0, CT_COMPAT_CHOICES, NULL,
	  "defaults that repeat another simulator (scheduler/lucid/README.md)", 0 },
	{ "events", CT_OPT_BOOL, AT(sim.events), "false", 0, 0, NULL, NULL, "record every event", 0 },
	{ "decisions", CT_OPT_BOOL, AT(sim.decisions), "true", 0, 0, NULL, NULL,
	  "keep in a result file why jobs waited and what slowed them, for `cotenant explain`",
	  WHERE /* not in the digest */ },
	{ 0 },
};
static const struct ct_opt contention_opts[] = {
	{ "pairs", CT_OPT_TEXT, AT(contention.pairs), "", 0, 0, NULL, NULL,
	  "CSV model,partner,factor: speed left beside a partner", PATH },
	{ "fallback", CT_OPT_DOUBLE, AT(contention.fallback), "1", 1e-3, 2, NULL, "frac",
	  "factor of pairs without a row", 0 },
	{ 0 },
};
static const struct ct_opt calib_opts[] = {
	{ "dir", CT_OPT_TEXT, AT(calib.dir), "", 0, 0, NULL, NULL,
	  "calibration folder: families and contention of jobs whose model it knows", PATH },
	{ "file", CT_OPT_TEXT, AT(calib.file), "", 0, 0, NULL, NULL,
	  "the same from a file of `cotenant calib fit`; calib=FILE is short for it", PATH },
	{ "residual", CT_OPT_BOOL, AT(calib.residual), "true", 0, 0, NULL, NULL,
	  "multiply each pair's slow-down by its frozen random residual", WHERE /* in the calibration's digest */ },
	{ "scaling", CT_OPT_DOUBLE, AT(calib.scaling), ".9", .5, 1, NULL, NULL,
	  "training on k of n GPUs keeps (k/n)^scaling of its speed; assumed, to be swept", WHERE /* likewise */ },
	{ "amp", CT_OPT_BOOL, AT(calib.amp), "true", 0, 0, NULL, NULL, "families have mixed-precision configurations",
	  WHERE /* likewise */ },
	{ "static", CT_OPT_ENUM, AT(calib.jobs_start), "default", 0, 0, "default|fastest", NULL,
	  "the configuration that a policy without choice runs a job in; work is measured by the default",
	  WHERE /* likewise */ },
	{ "gpu_span", CT_OPT_DOUBLE, AT(calib.gpu_span), "4", 1, 1024, NULL, "x",
	  "training runs on as few as num_gpus / this GPUs under a policy that makes use of it; 4 is the median of "
	  "PAI's users, 1 = never",
	  WHERE /* in the jobs' min_gpus */ },
	{ "draw", CT_OPT_INT, AT(calib.draw), "0", 0, 1e9, NULL, NULL,
	  "the truth is this draw from the posterior of the folder's fit, 0 = the best fit itself",
	  WHERE /* likewise */ },
	{ "host", CT_OPT_ENUM, AT(calib.host), "fitted", 0, 0, "fitted|blind", NULL,
	  "prior of host pressure: as the folder has it, or the share of time in which the GPU is idle",
	  WHERE /* likewise */ },
	{ "measured", CT_OPT_BOOL, AT(calib.measured), "false", 0, 0, NULL, NULL,
	  "the folder's measured pairs (table6.csv) replace the model", WHERE /* likewise */ },
	{ "default_batch", CT_OPT_DOUBLE, AT(calib.default_batch), "1", 1. / 1024, 1, NULL, "x",
	  "batch of the folder's default configurations over the largest", WHERE /* likewise */ },
	{ "change", CT_OPT_TEXT, AT(calib.change), "", 0, 0, NULL, NULL,
	  "numbers of workloads.csv or the contention that are otherwise: sm=*0.8, host@BERT=0.1, c_H=0.9",
	  WHERE /* likewise */ },
	{ 0 },
};
/* 24 to 25 % of the pairs were measured for the paper; a file has what its owner measured. */
static const struct ct_opt iac_opts[] = {
	{ "predictor", CT_OPT_ENUM, AT(iac.predictor), "dnn", 0, 0, CT_BELIEF_CHOICES, NULL,
	  "how a policy predicts slow-downs; oracle is the truth itself, none believes in no slow-down",
	  WHERE /* in the belief's digest, with all of this section */ },
	{ "file", CT_OPT_TEXT, AT(iac.file), "", 0, 0, NULL, NULL,
	  "predictor of `cotenant calib train`; none = train at the first question", PATH },
	{ "seed", CT_OPT_INT, AT(iac.seed), "1", 0, ANY_MAX, NULL, NULL, "of the training and of what it measures",
	  WHERE },
	{ "profile_error", CT_OPT_DOUBLE, AT(iac.profile_error), ".03", 0, .5, NULL, NULL,
	  "log sd of the counters and throughput that a profiler sees, once a configuration", WHERE },
	{ "pairs", CT_OPT_DOUBLE, AT(iac.pairs), "1", 0.01, 1, NULL, "frac",
	  "share of a calibration file's measured pairs that the predictor learns from", WHERE },
	{ 0 },
};
#define COST(kind) AT(transitions.cost) + (kind) * sizeof(ct_time)
static const struct ct_opt transitions_opts[] = {
	{ "file", CT_OPT_TEXT, AT(transitions.file), "", 0, 0, NULL, NULL,
	  "CSV kind,model,from,to,seconds,blocks,source", PATH },
	{ "start", CT_OPT_SECONDS, COST(CT_TRANSITION_START), "0", 0, MAX_SECONDS, NULL, "s",
	  "first start of any job without a row in the file", 0 },
	{ "switch", CT_OPT_SECONDS, COST(CT_TRANSITION_SWITCH), "0", 0, MAX_SECONDS, NULL, "s",
	  "switch of configuration", 0 },
	{ "migrate", CT_OPT_SECONDS, COST(CT_TRANSITION_MIGRATE), "0", 0, MAX_SECONDS, NULL, "s", "move to other GPUs",
	  0 },
	{ "resume", CT_OPT_SECONDS, COST(CT_TRANSITION_RESUME), "0", 0, MAX_SECONDS, NULL, "s",
	  "start after a preemption", 0 },
	{ 0 },
};
/* Exponential repairs need no further number, and availability does not depend on the
 * law. For real machines see Schroeder and Gibson (DSN'06): times to failure Weibull of
 * shape 0.7 to 0.8, repairs log-normal, mean 355 and median 54 minutes (sigma 1.94). */
static const struct ct_opt failures_opts[] = {
	{ "file", CT_OPT_TEXT, AT(failures.file), "", 0, 0, NULL, NULL,
	  "CSV time,node,gpu,duration or event (down|up): outages, after the first submission", PATH },
	{ "mtbf", CT_OPT_SECONDS, AT(failures.mtbf), "0", 0, MAX_SECONDS, NULL, "s",
	  "mean time a node works between repair and failure, 0 = never fails", 0 },
	{ "shape", CT_OPT_DOUBLE, AT(failures.shape), "1", 0.1, 100, NULL, NULL,
	  "of its Weibull distribution, 1 = exponential", 0 },
	{ "repair", CT_OPT_SECONDS, AT(failures.repair), "3600", 0, MAX_SECONDS, NULL, "s",
	  "mean time until it is up again", 0 },
	{ "gpu_mtbf", CT_OPT_SECONDS, AT(failures.gpu_mtbf), "0", 0, MAX_SECONDS, NULL, "s",
	  "the same of a single GPU, its node and the others go on", 0 },
	{ "gpu_shape", CT_OPT_DOUBLE, AT(failures.gpu_shape), "1", 0.1, 100, NULL, NULL, "of its distribution", 0 },
	{ "gpu_repair", CT_OPT_SECONDS, AT(failures.gpu_repair), "3600", 0, MAX_SECONDS, NULL, "s",
	  "mean time until it works again", 0 },
	{ "repair_law", CT_OPT_ENUM, AT(failures.repair_law), "exponential", 0, 0, "exponential|fixed|lognormal", NULL,
	  "distribution of both repair times", 0 },
	{ "repair_sigma", CT_OPT_DOUBLE, AT(failures.repair_sigma), "1", 0, 10, NULL, NULL,
	  "of the logarithm, with lognormal", 0 },
	{ "checkpoint", CT_OPT_SECONDS, AT(failures.checkpoint), "0", 0, MAX_SECONDS, NULL, "s",
	  "run time between a job's checkpoints, 0 = none: a failure takes all since its start", 0 },
	{ "restart", CT_OPT_SECONDS, AT(failures.restart), "0", 0, MAX_SECONDS, NULL, "s",
	  "what a start after a failure takes beside transitions.resume", 0 },
	{ 0 },
};
static const struct ct_opt output_opts[] = {
	{ "file", CT_OPT_TEXT, AT(output.file), "", 0, 0, NULL, NULL, "result file, HDF5; none = no file", PATH },
	{ "csv", CT_OPT_TEXT, AT(output.csv), "", 0, 0, NULL, NULL, "folder for jobs.csv, summary.csv, series.csv",
	  PATH },
	{ "perf", CT_OPT_BOOL, AT(output.perf), "true", 0, 0, NULL, NULL,
	  "keep wall-clock figures, date and command line in the result", WHERE },
	{ 0 },
};

const struct ct_config_section ct_config_sections[CT_CONFIG_SECTIONS] = {
	{ "trace", trace_opts, "the jobs" },
	{ "cluster", cluster_opts, "the machines" },
	{ "policy", policy_opts, "the scheduler" },
	{ "sim", sim_opts, "what is simulated and measured" },
	{ "generate", generate_opts, "jobs made anew for each seed, instead of trace.file" },
	{ "contention", contention_opts, "what sharing a GPU costs" },
	{ "calib", calib_opts, "what is known of the jobs' models on this GPU" },
	{ "iac", iac_opts, "what a scheduler believes of jobs that share a GPU" },
	{ "transitions", transitions_opts, "what starting, switching, moving and resuming cost" },
	{ "failures", failures_opts, "nodes and GPUs that fail; without file and mtbf none do" },
	{ "output", output_opts, "what is written" },
};

const struct ct_config_section *ct_config_section(const char *name)
{
	for (size_t i = 0; i < CT_CONFIG_SECTIONS; i++)
		if (strcmp(ct_config_sections[i].name, name) == 0)
			return &ct_config_sections[i];
	return NULL;
}
