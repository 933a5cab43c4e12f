/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/digest.h"
#include "sim/err.h"

#include <math.h>
#include <openssl/evp.h>
#include <string.h>

enum { BLOCK = 512 }; /* array elements converted at a time */

void ct_digest_init(struct ct_digest *d)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	CT_CHECK(NULL, ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1, "SHA-256 cannot be set up");
	d->ctx = ctx;
}

void ct_digest_bytes(struct ct_digest *d, const void *p, size_t n)
{
	CT_CHECK(NULL, EVP_DigestUpdate(d->ctx, p, n) == 1, "SHA-256 failed");
}

static void put64(unsigned char *to, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		to[i] = (unsigned char)(v >> 8 * i);
}

static uint64_t f64_bits(double v)
{
	uint64_t bits;

	if (isnan(v))
		return UINT64_C(0x7ff8000000000000);
	if (v == 0)
		return 0;
	memcpy(&bits, &v, sizeof bits);
	return bits;
}

void ct_digest_i64(struct ct_digest *d, int64_t v)
{
	unsigned char b[8];

	put64(b, (uint64_t)v);
	ct_digest_bytes(d, b, sizeof b);
}

void ct_digest_f64(struct ct_digest *d, double v)
{
	ct_digest_i64(d, (int64_t)f64_bits(v));
}

void ct_digest_text(struct ct_digest *d, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	ct_digest_i64(d, (int64_t)n);
	if (n)
		ct_digest_bytes(d, s, n);
}

void ct_digest_i64_array(struct ct_digest *d, const int64_t *v, size_t n)
{
	unsigned char b[8 * BLOCK];

	ct_digest_i64(d, (int64_t)n);
	for (size_t i = 0, k; i < n; i += k) {
		k = n - i < BLOCK ? n - i : BLOCK;
		for (size_t j = 0; j < k; j++)
			put64(b + 8 * j, (uint64_t)v[i + j]);
		ct_digest_bytes(d, b, 8 * k);
	}
}

void ct_digest_f64_array(struct ct_digest *d, const double *v, size_t n)
{
	unsigned char b[8 * BLOCK];

	ct_digest_i64(d, (int64_t)n);
	for (size_t i = 0, k; i < n; i += k) {
		k = n - i < BLOCK ? n - i : BLOCK;
		for (size_t j = 0; j < k; j++)
			put64(b + 8 * j, f64_bits(v[i + j]));
		ct_digest_bytes(d, b, 8 * k);
	}
}

void ct_digest_final(struct ct_digest *d, char out[CT_DIGEST_TEXT])
{
	static const char hex[] = "0123456789abcdef";
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	CT_CHECK(NULL, EVP_DigestFinal_ex(d->ctx, md, &n) == 1 && n == 32, "SHA-256 failed");
	EVP_MD_CTX_free(d->ctx);
	d->ctx = NULL;
	for (unsigned i = 0; i < n; i++) {
		out[2 * i] = hex[md[i] >> 4];
		out[2 * i + 1] = hex[md[i] & 15];
	}
	out[64] = '\0';
}
