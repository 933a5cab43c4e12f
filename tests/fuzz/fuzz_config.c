/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configuration from arbitrary bytes. Relations that must hold for every input:
 * an error has a message with a place inside the file; what was accepted, printed
 * and read again is the same configuration and has the same digest text. */
#include "experiments/config.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "fuzz.yaml"

static void require(bool holds, const char *what, const char *detail)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s: %s\n", what, detail);
	abort();
}

/* Length of line `line` (from 1) without its break; SIZE_MAX when there is none. A
 * break is what libyaml takes for one. */
static size_t line_length(const uint8_t *s, size_t n, size_t line)
{
	size_t start = 0, i = 0, at = 1;

	while (i <= n) {
		size_t k = 0;

		if (i == n)
			return at == line ? i - start : SIZE_MAX;
		if (s[i] == '\r')
			k = i + 1 < n && s[i + 1] == '\n' ? 2 : 1;
		else if (s[i] == '\n')
			k = 1;
		else if (i + 1 < n && s[i] == 0xc2 && s[i + 1] == 0x85)
			k = 2;
		else if (i + 2 < n && s[i] == 0xe2 && s[i + 1] == 0x80 && (s[i + 2] == 0xa8 || s[i + 2] == 0xa9))
			k = 3;
		if (k && at == line)
			return i - start;
		if (k) {
			at++;
			start = i + k;
		}
		i += k ? k : 1;
	}
	return SIZE_MAX;
}

/* The first message is about a place that exists. */
static void check_error(const struct ct_err *err, const uint8_t *data, size_t size)
{
	unsigned long line = 0, col = 0;
	size_t bom = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, length;

	require(err->count > 0 && err->kept > 0 && err->text[0], "an error without a message", "");
	require(err->code == CT_ECONFIG || err->code == CT_EIO || err->code == CT_EPOLICY, "exit code", err->text);
	if (sscanf(err->text, NAME ":%lu:%lu:", &line, &col) != 2)
		return;
	length = line_length(data + bom, size - bom, line);
	require(length != SIZE_MAX, "a line that is not there", err->text);
	require(col >= 1 && col <= length + 1, "a column that is not there", err->text);
}

static void check_round_trip(struct ct_config *c, unsigned need)
{
	const char *text = ct_config_yaml(c);
	struct ct_config again;
	struct ct_err err = { 0 };

	ct_config_init(&again);
	require(ct_config_parse(&again, "printed", text, strlen(text), NULL, &err) == 0 &&
		    ct_config_finish(&again, need, &err) == 0,
		"what was printed is refused", err.text);
	require(strcmp(ct_config_yaml(&again), text) == 0, "printed twice, differs", text);
	require(strcmp(ct_config_digest_text(&again), ct_config_digest_text(c)) == 0, "digest text differs", text);
	ct_config_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_config c;
	struct ct_err err = { 0 };
	unsigned need;

	/* Neither devices nor shared objects: the input names files. */
	if (memchr(data, '/', size) || memmem(data, size, ".so", 3))
		return 0;
	ct_config_init(&c);
	if (ct_config_parse(&c, NAME, data, size, NULL, &err)) {
		check_error(&err, data, size);
	} else {
		need = (c.cluster.nodes || c.cluster.n_types ? CT_CONFIG_CLUSTER : 0u) |
		       (c.policy.name ? CT_CONFIG_POLICY : 0u);
		if (ct_config_finish(&c, need, &err) == 0)
			check_round_trip(&c, need);
		else
			require(err.count > 0, "refused without a message", "");
	}
	ct_config_fini(&c);
	return 0;
}
