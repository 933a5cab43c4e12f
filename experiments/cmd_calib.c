/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant calib fit | import | show | train | eval | scenario | posterior */
#include "experiments/cmd_calib.h"

#include "experiments/data_path.h"
#include "sim/csv.h"
#include "sim/nearest.h"

#include <string.h>

enum {
	DIR_ = 256,
	SOLO,
	PAIRS,
	MODE,
	GPU,
	GPU_MEM,
	RESERVE,
	OUT,
	SEED,
	MEASURED,
	JSON,
	PREDICTOR,
	SEEDS,
	CALIB,
	CURVE,
	VOLCANO,
	WITHOUT,
	EVALUATIONS,
	BLIND_HOST
};
static const struct ct_flag flags[] = {
	{ "solo", SOLO, "FILE", "fit: CSV of throughputs alone; eval: of Lucid's form; import gavel: of decays" },
	{ "pairs", PAIRS, "FILE", "fit: CSV of throughputs in pairs; eval: measured pairs (Lucid, Gavel)" },
	{ "mode", MODE, "MODE", "fit: auto, counters, latent or overrides (default auto)" },
	{ "gpu", GPU, "NAME", "fit: what the GPU is called; import, eval: which one of Gavel's" },
	{ "gpu-mem-mib", GPU_MEM, "MIB", "fit, import: its memory; train, eval: that pairs must fit (default 81920)" },
	{ "reserve-mib", RESERVE, "MIB", "fit: memory of a shared GPU that no job may use" },
	{ "measured", MEASURED, NULL,
	  "fit of a folder: in runs its pairs replace the model; eval --calib: by its pairs" },
	{ "calib", CALIB, "FILE", "eval: a calibration file; its truth, or its measured pairs" },
	{ "curve", CURVE, NULL, "eval of measured pairs: error by the share of pairs shown" },
	{ "dir", DIR_, "DIR", "calibration folder (default data:calib/a100-40gb)" },
	{ "seed", SEED, "N", "fit, import, train, eval: the (first) seed (default 1)" },
	{ "out", OUT, "PATH", "fit, import, train, posterior: file to write; show: folder for CSV files" },
	{ "predictor", PREDICTOR, "NAME", "train: dnn, xgb or linear (default dnn)" },
	{ "seeds", SEEDS, "N", "eval: how many, for the intervals (default 3); scenario: runs of a vector (60)" },
	{ "volcano", VOLCANO, "NAME", "scenario: the Volcano profile that is fitted (default volcano)" },
	{ "without", WITHOUT, "FIGURE", "scenario: a figure that the loss leaves out" },
	{ "evaluations", EVALUATIONS, "N", "scenario: vectors tried from each of four starts (default 30)" },
	{ "blind-host", BLIND_HOST, NULL, "posterior: host pressure's prior is the share of time the GPU is idle" },
	{ "jobs", 'j', "N", "scenario: worker processes (default 1)" },
	{ "json", JSON, NULL, "one JSON document on stdout" },
	{ 0 },
};

static const struct action {
	const char *name;
	int (*run)(struct ct_calib_args *a);
} actions[] = {
	{ "fit", ct_calib_cmd_fit },
	{ "import", ct_calib_cmd_import },
	{ "show", ct_calib_cmd_show },
	{ "train", ct_calib_cmd_train },
	{ "eval", ct_calib_cmd_eval },
	{ "scenario", ct_calib_cmd_scenario },
	{ "posterior", ct_calib_cmd_posterior },
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static int unknown_action(const struct ct_command *self, const char *word)
{
	struct ct_nearest near;
	const char *best;

	ct_nearest_init(&near, word);
	for (size_t i = 0; i < ACTIONS; i++)
		ct_nearest_offer(&near, actions[i].name);
	best = ct_nearest_word(&near);
	return ct_misuse(self, "'%.60s' is no action of calib%s%s%s", word, best ? "; did you mean '" : "",
			 best ? best : "", best ? "'?" : "");
}

static int act(struct ct_calib_args *a, int argc, char **argv)
{
	if (!argc)
		return ct_misuse(a->command, "nothing to do");
	a->argc = argc - 1;
	a->argv = argv + 1;
	for (size_t i = 0; i < ACTIONS; i++)
		if (!strcmp(argv[0], actions[i].name))
			return actions[i].run(a);
	return unknown_action(a->command, argv[0]);
}

static int positive(const struct ct_calib_args *a, const char *flag, const char *arg, unsigned *out)
{
	int64_t v;

	if (ct_parse_i64(arg, strlen(arg), &v) || v < 1 || v > 1000)
		return ct_misuse(a->command, "--%s wants a whole number from 1 to 1000, got '%.40s'", flag, arg);
	*out = (unsigned)v;
	return 0;
}

static int take(struct ct_calib_args *a, int id, const char *arg)
{
	int64_t seed;

	switch (id) {
	case DIR_:
		a->dir = arg;
		break;
	case SOLO:
		a->solo = arg;
		break;
	case PAIRS:
		a->pairs = arg;
		break;
	case MODE:
		a->mode = arg;
		break;
	case GPU:
		a->gpu = arg;
		break;
	case GPU_MEM:
		a->gpu_mem = arg;
		break;
	case RESERVE:
		a->reserve = arg;
		break;
	case OUT:
		a->out = arg;
		break;
	case SEED:
		if (ct_parse_i64(arg, strlen(arg), &seed) || seed < 0)
			return ct_misuse(a->command, "--seed wants a whole number >= 0, got '%.40s'", arg);
		a->seed = (uint64_t)seed;
		break;
	case PREDICTOR:
		a->predictor = arg;
		break;
	case SEEDS:
		if (ct_parse_i64(arg, strlen(arg), &seed) || seed < 1 || seed > 200)
			return ct_misuse(a->command, "--seeds wants a whole number from 1 to 200, got '%.40s'", arg);
		a->seeds = (unsigned)seed;
		break;
	case CALIB:
		a->calib = arg;
		break;
	case CURVE:
		a->curve = 1;
		break;
	case VOLCANO:
		a->volcano = arg;
		break;
	case WITHOUT:
		a->without = arg;
		break;
	case EVALUATIONS:
		return positive(a, "evaluations", arg, &a->evaluations);
	case 'j':
		return positive(a, "jobs", arg, &a->processes);
	case BLIND_HOST:
		a->blind_host = 1;
		break;
	case MEASURED:
		a->measured = 1;
		break;
	default:
		a->json = 1;
	}
	return 0;
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct ct_arena arena = { 0 };
	struct ct_calib_args a = { .command = self, .arena = &arena, .seed = 1, .interrupted = program->interrupted };
	int id, rc = 0;

	while (!rc && (id = ct_flag_next(&r)) >= 0)
		rc = take(&a, id, r.arg);
	if (!rc)
		rc = id == CT_FLAGS_DONE   ? act(&a, argc - r.first, argv + r.first)
		     : id == CT_FLAGS_HELP ? CT_OK
					   : CT_EUSAGE;
	ct_arena_fini(&arena);
	return rc;
}

const struct ct_command ct_cmd_calib = {
	.name = "calib",
	.usage = "fit | import lucid DIR | import gavel FILE | show [FILE.h5] | train | eval | scenario | posterior "
		 "[OPTION]...",
	.summary = "calibrate contention from measured pairs, and look at a calibration",
	.flags = flags,
	.notes = "solo.csv: config_id,workload,type,throughput; counters and knobs where known\n"
		 "pairs.csv: config_i,config_j,thr_i_colo,thr_j_colo[,mps,repeat]\n",
	.examples = "  cotenant calib fit --solo solo.csv --pairs pairs.csv --out my-gpu.h5\n"
		    "  cotenant calib fit --dir data:calib/a100-40gb --out a100.h5     the paper's Table 6\n"
		    "  cotenant calib import lucid DIR --out lucid.h5       Lucid's RTX 3090 table\n"
		    "  cotenant calib import gavel oracle_throughputs.json --gpu v100 --out v100.h5\n"
		    "  cotenant calib show --out build/calib\n"
		    "  cotenant calib train --out iac.h5              the interference predictor\n"
		    "  cotenant calib eval --seeds 5                  Table 7 beside ours\n"
		    "  cotenant calib eval --pairs gavel_pairs.csv --gpu v100\n"
		    "  cotenant calib eval --calib lucid.h5 --curve\n"
		    "  cotenant calib scenario -j 2 --out fit.csv     load, spread and tilt behind `cotenant repro`\n"
		    "  cotenant calib posterior --out calib/a100-40gb/posterior.csv     how sure: for calib.draw\n"
		    "  cotenant run --set calib=my-gpu.h5 ...",
	.run = run,
};
