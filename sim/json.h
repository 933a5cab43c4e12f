/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json.h - writes JSON (RFC 8259) to a stream, piece by piece.
 *
 *	struct ct_json j;
 *	ct_json_begin(&j, stdout);
 *	ct_json_open(&j, NULL, '{', 0);              // one member a line
 *	ct_json_f64(&j, "mean_jct_s", 1.5);
 *	ct_json_open(&j, "rows", '[', 0);
 *	ct_json_open(&j, NULL, '{', 1);              // all on one line
 *	ct_json_text(&j, "metric", "jct");
 *	ct_json_close(&j);
 *	ct_json_close(&j);
 *	ct_json_close(&j);
 *	CT_TRY(ct_json_end(&j, "standard output", &err));
 *
 * gives
 *	{
 *	  "mean_jct_s": 1.5,
 *	  "rows": [
 *	    {"metric": "jct"}
 *	  ]
 *	}
 *
 * Whatever the texts hold, the document is valid: control characters are escaped,
 * bytes that are not UTF-8 become U+FFFD. Numbers are the shortest that read back
 * as the same double; NaN and infinities are null. Nothing depends on the locale.
 * Keys come in the order of the calls; who wants them sorted calls in order. */
#ifndef CT_SIM_JSON_H
#define CT_SIM_JSON_H

#include "sim/err.h"

#include <stdint.h>
#include <stdio.h>

enum { CT_JSON_DEPTH = 16 };

struct ct_json {
	FILE *to;
	int failed; /* errno of the first write that failed */
	int depth;
	struct {
		char close;
		int one_line, any; /* any: has a member */
	} level[CT_JSON_DEPTH];
};

void ct_json_begin(struct ct_json *j, FILE *to);
/* Newline, flush. CT_EIO when any write failed; `name` says where to in the message. */
int ct_json_end(struct ct_json *j, const char *name, struct ct_err *err);

/* `key` is NULL within an array and at the top. `bracket` is '{' or '['. With
 * `one_line` it and all within it stand on one line. */
void ct_json_open(struct ct_json *j, const char *key, char bracket, int one_line);
void ct_json_close(struct ct_json *j);
void ct_json_f64(struct ct_json *j, const char *key, double v);
void ct_json_i64(struct ct_json *j, const char *key, int64_t v);
void ct_json_bool(struct ct_json *j, const char *key, int v);
void ct_json_null(struct ct_json *j, const char *key);
/* NULL is null. */
void ct_json_text(struct ct_json *j, const char *key, const char *s);
/* A number that stands as text somewhere, written as it is if it is one by JSON's
 * grammar ("1.50"), otherwise as a text ("0x1", "1,5"), "nan" and "inf" as null. */
void ct_json_number_text(struct ct_json *j, const char *key, const char *s);

#endif
