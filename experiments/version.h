/* SPDX-License-Identifier: GPL-3.0-or-later */
/* version.h - what this program was built from, with and into: for --version and
 * the manifest of every result. */
#ifndef CT_EXPERIMENTS_VERSION_H
#define CT_EXPERIMENTS_VERSION_H

#include <stdio.h>

struct ct_version {
	const char *version, *revision;                                        /* "0.1.0", git commit with "-dirty" */
	const char *compiler, *build;                                          /* "gcc 12.2.0", variant and flags */
	const char *prefix;                                                    /* of the installation */
	char gsl[24], hdf5[24], zlib[24], libyaml[24], openssl[24], glibc[24]; /* at run time */
};

struct ct_version ct_version(void);
void ct_version_print(FILE *to);

#endif
