/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/version.h"

#include "revision.h"

#include <gnu/libc-version.h>
#include <gsl/gsl_version.h>
#include <hdf5.h>
#include <openssl/crypto.h>
#include <string.h>
#include <yaml.h>
#include <zlib.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void libraries(struct ct_version *v)
{
	unsigned major = 0, minor = 0, patch = 0;
	const char *ssl = OpenSSL_version(OPENSSL_VERSION_STRING);

	snprintf(v->gsl, sizeof v->gsl, "%s", gsl_version);
	if (H5get_libversion(&major, &minor, &patch) >= 0)
		snprintf(v->hdf5, sizeof v->hdf5, "%u.%u.%u", major, minor, patch);
	snprintf(v->zlib, sizeof v->zlib, "%s", zlibVersion());
	snprintf(v->libyaml, sizeof v->libyaml, "%s", yaml_get_version_string());
	snprintf(v->openssl, sizeof v->openssl, "%s", ssl ? ssl : "");
	snprintf(v->glibc, sizeof v->glibc, "%s", gnu_get_libc_version());
}

struct ct_version ct_version(void)
{
	struct ct_version v = { CT_VERSION, CT_REVISION, COMPILER, CT_BUILD, CT_PREFIX, "", "", "", "", "", "" };

	libraries(&v);
	return v;
}

void ct_version_print(FILE *to)
{
	struct ct_version v = ct_version();

	fprintf(to, "cotenant %s (%s)\n", v.version, v.revision);
	fprintf(to, "compiler: %s; build: %s\n", v.compiler, v.build);
	fprintf(to, "libraries: gsl %s, hdf5 %s, zlib %s, libyaml %s, openssl %s, glibc %s\n", v.gsl, v.hdf5, v.zlib,
		v.libyaml, v.openssl, v.glibc);
	fputs("licence: GPL-3.0-or-later\n", to);
}
