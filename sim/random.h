/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random.h - random streams keyed by what they are for, never by call order.
 *
 * A stream is Philox4x32-10 (Salmon et al., SC'11) as a gsl_rng_type, keyed by
 * (seed, purpose, entity); its n-th draw is a pure function of those and n. Two
 * policies thus see the same world (common random numbers), and a new draw
 * somewhere changes nothing elsewhere. Streams live on the stack:
 *
 *	struct ct_stream s;
 *	ct_stream_init(&s, seed, CT_RANDOM_ESTIMATE, job);
 *	double z = gsl_ran_gaussian_ziggurat(&s.rng, 1.0); */
#ifndef CT_SIM_RANDOM_H
#define CT_SIM_RANDOM_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* Never renumber: a number is part of every recorded result. */
enum ct_random_purpose {
	CT_RANDOM_ESTIMATE = 1, /* error of a job's run-time estimate */
	CT_RANDOM_POLICY = 2,   /* a policy's own ties */
	CT_RANDOM_WORKLOAD = 3, /* generated jobs */
	CT_RANDOM_TRUTH = 4,    /* frozen residual of a pair */
	CT_RANDOM_TEST = 5,
	CT_RANDOM_PREDICTOR = 6,  /* training of an interference predictor */
	CT_RANDOM_SAMPLING = 7,   /* which pairs a generated data set measures, and their noise */
	CT_RANDOM_SAMPLE = 8,     /* which jobs of a trace are taken */
	CT_RANDOM_GROUP = 16,     /* a generated group of jobs */
	CT_RANDOM_HOUR = 18,      /* the arrival rate of one hour */
	CT_RANDOM_ASSIGN = 19,    /* the workload of a job that names none */
	CT_RANDOM_FAILURE = 20,   /* one outage of a node or GPU */
	CT_RANDOM_BELIEF = 21,    /* errors of the profiles a scheduler sees; which measured pairs it learns from */
	CT_RANDOM_CURVE = 22,     /* which measured pairs are kept apart */
	CT_RANDOM_POSTERIOR = 25, /* a draw of the truth from the posterior of its fit */
};

struct ct_philox {
	uint32_t key[2], counter[4], block[4], left;
};

struct ct_stream {
	gsl_rng rng; /* pass &s->rng to any gsl_ran_* function */
	struct ct_philox state;
};

/* The stream must not be copied after initialisation (rng points into it). */
void ct_stream_init(struct ct_stream *s, uint64_t seed, enum ct_random_purpose purpose, uint64_t entity);

/* One block of the bare generator, for the published known answers. */
void ct_philox_block(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);

/* The type, for gsl_rng_alloc(); gsl_rng_set() keys it by the seed alone. */
extern const gsl_rng_type *const ct_rng_philox;

#endif
