/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/hdf5_layout.h"

#include <string.h>

void ct_h5_quiet_begin(struct ct_h5_quiet *q)
{
	if (H5Eget_auto2(H5E_DEFAULT, &q->print, &q->data) < 0) {
		q->print = NULL;
		q->data = NULL;
	}
	(void)!(H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0); /* the worst is a longer message */
}

void ct_h5_quiet_end(const struct ct_h5_quiet *q)
{
	(void)!(H5Eset_auto2(H5E_DEFAULT, q->print, q->data) < 0);
}

static int is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

void ct_h5_link_name(const char *name, char out[CT_H5_LINK_LIMIT])
{
	static const char hex[] = "0123456789ABCDEF";
	size_t k = 0;

	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (is_plain(*name)) {
			out[k++] = *name;
			continue;
		}
		out[k++] = '%';
		out[k++] = hex[c >> 4];
		out[k++] = hex[c & 15];
	}
	out[k] = '\0';
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int ct_h5_column_name(const char *link, char out[CT_NAME_LIMIT + 1])
{
	size_t k = 0;

	for (; *link; k++) {
		if (k == CT_NAME_LIMIT)
			return -1;
		if (is_plain(*link)) {
			out[k] = *link++;
			continue;
		}
		if (*link != '%' || nibble(link[1]) < 0 || nibble(link[2]) < 0)
			return -1;
		out[k] = (char)(nibble(link[1]) << 4 | nibble(link[2]));
		if (!out[k])
			return -1;
		link += 3;
	}
	out[k] = '\0';
	return k ? 0 : -1;
}
