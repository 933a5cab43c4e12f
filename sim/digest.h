/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digest.h - SHA-256 over results and inputs (DESIGN.md, "Determinism").
 *
 * The hash itself is OpenSSL's libcrypto: a million-job result is 200 MB of
 * columns, and it alone among Debian's libraries uses the processor's SHA
 * instructions through a stable interface.
 *
 * Every value goes in with its length or in a fixed little-endian form, so that
 * two different sequences of values cannot give the same bytes. */
#ifndef CT_SIM_DIGEST_H
#define CT_SIM_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct ct_digest {
	void *ctx;
};

enum { CT_DIGEST_TEXT = 65 }; /* 64 hexadecimal digits and NUL */

void ct_digest_init(struct ct_digest *d);
void ct_digest_bytes(struct ct_digest *d, const void *p, size_t n);
/* Length, then the bytes. NULL counts as "". */
void ct_digest_text(struct ct_digest *d, const char *s);
void ct_digest_i64(struct ct_digest *d, int64_t v);
/* Bit pattern; every NaN is the same NaN and -0 is 0. */
void ct_digest_f64(struct ct_digest *d, double v);
void ct_digest_i64_array(struct ct_digest *d, const int64_t *v, size_t n);
void ct_digest_f64_array(struct ct_digest *d, const double *v, size_t n);
/* Writes the hexadecimal digest and frees the state. */
void ct_digest_final(struct ct_digest *d, char out[CT_DIGEST_TEXT]);

#endif
