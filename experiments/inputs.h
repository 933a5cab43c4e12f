/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inputs.h - what studies run on that is not in this repository: mixtures of published
 * traces, and worlds of measured numbers. Recipes stand under `inputs` of
 * experiments/paper/published.yaml; a setting names one with "input:NAME".
 *
 *	inputs:
 *	  mixed:                   # a trace for each seed
 *	    jobs:
 *	      - {file: philly/philly.csv.gz, kind: train, days: 28..95, weekdays: true, demand: 150}
 *	      - {file: genai, kind: infer, trace.options.fold: "1"}
 *	  lucid: {measured: lucid, file: lucid}                       # a calibration file
 *	  v100: {measured: gavel, file: pairs.csv, gpu: v100, solo: alone.csv}
 *	  lucid-jobs: {constants: "data:traces/data/testbed.csv", models: lucid}
 *
 * A part of `jobs` is a published trace below the data folder, superposed on the others:
 *	file            of any format that `cotenant trace formats` lists
 *	trace.options.X its reader's options
 *	kind            value of the column `kind` of its jobs: train, infer
 *	group           only the jobs of this group
 *	longest         only jobs that run for so many seconds at most
 *	days            FIRST..LAST of the trace's clock, both included, from 0: a seed takes one
 *	                whole day of them, seed 1 the first, and counts time from its midnight;
 *	                without it every seed takes the whole trace as it is
 *	weekdays        true: FIRST is a Monday, and Saturdays and Sundays are passed over
 *	demand          GPUs that the jobs of these days keep busy on the average: arrivals are
 *	                thinned at random to it, or so many days in a row superposed (and thinned)
 *	                as it takes. Run times and sizes stay. Without it: as it comes
 * so that each seed has a day of its own, and seeds are as independent as days are. More
 * seeds than there are days are refused.
 *
 * `constants` are a generator's (traces/constants.h) with the workloads of a measured world
 * instead of its own models, all alike.
 *
 *	struct ct_inputs *in = ct_inputs_new(paper, NULL);
 *	CT_TRY(ct_inputs_get(in, "mixed", 3, &path, &err));     // made when it is first asked for
 *	CT_TRY(ct_inputs_get(in, "mixed@1", 3, &path, &err));   // that of seed 1, whatever the seed
 *	ct_inputs_free(in);                                     // and the files */
#ifndef CT_EXPERIMENTS_INPUTS_H
#define CT_EXPERIMENTS_INPUTS_H

#include "experiments/repro/paper.h"

struct ct_inputs;

/* `data`: the folder of the published files; NULL: $COTENANT_SHARED_DATA, else
 * ../shared/data. It is not looked at before a file of it is wanted. */
struct ct_inputs *ct_inputs_new(const struct ct_paper *p, const char *data);
void ct_inputs_free(struct ct_inputs *in);

/* A file that lives until ct_inputs_free(). Each published file is read once. CT_EIO:
 * the data are not there; CT_ECONFIG: the recipe is wrong, with its place; CT_ETRACE. */
int ct_inputs_get(struct ct_inputs *in, const char *name, int64_t seed, const char **path, struct ct_err *err);

#endif
