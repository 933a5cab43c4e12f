/* SPDX-License-Identifier: GPL-3.0-or-later */
/* identity.h - the hash that names a cell: SHA-256, first half, over everything that
 * bears on its result. That is each key of its effective configuration but the section
 * `output`, with the content of a file instead of its path: of the trace the digest of
 * its jobs, of other files and folders (calibration, pairs, weights, plug-ins) that of
 * their bytes. Moved to another folder or machine, a cell keeps its hash; edit an
 * input and it gets another. */
#ifndef CT_EXPERIMENTS_SWEEP_IDENTITY_H
#define CT_EXPERIMENTS_SWEEP_IDENTITY_H

#include "experiments/config.h"
#include "sim/digest.h"

enum { CT_SWEEP_HASH = 33 }; /* 32 hexadecimal digits and NUL */

/* Digests of files by path, each read once. Zero-initialise. */
struct ct_file_digests {
	struct ct_arena arena;
	struct ct_file_digest {
		const char *path;
		char digest[CT_DIGEST_TEXT];
	} * v;
	size_t n, cap;
};
void ct_file_digests_fini(struct ct_file_digests *d);
/* Of a file's bytes, or of a folder's plain files by name; "data:" names are looked up. CT_EIO. */
int ct_file_digest(struct ct_file_digests *d, const char *path, const char **out, struct ct_err *err);

/* `files` NULL: without the content of any file, for what only tells sweeps apart.
 * `jobs`: digest of the workload as it was read; NULL where it is generated, since the
 * generator's keys and files say it all. */
int ct_sweep_hash(struct ct_config *c, const char *jobs, struct ct_file_digests *files, char out[CT_SWEEP_HASH],
		  struct ct_err *err);

#endif
