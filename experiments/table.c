/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/table.h"

#include "sim/err.h"
#include "sim/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One character of UTF-8 at *s, which moves behind it; '?' for what is none, and
 * for control characters. `n` is its length as it will be printed. */
static uint32_t next_character(const unsigned char **s)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = *s;
	uint32_t c = *p;
	size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;

	*s = p + 1;
	if (n == 0)
		return '?';
	if (n == 1)
		return c < 0x20 || c == 0x7f ? '?' : c;
	c &= 0xffu >> (n + 1);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return '?';
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c < least[n] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff || c < 0xa0)
		return '?'; /* not the shortest form, a surrogate, too large, a C1 control */
	*s = p + n;
	return c;
}

/* Unicode 15, the ranges that occur in names; not the whole of UAX #11. */
static size_t width_of(uint32_t c)
{
	static const struct {
		uint32_t first, last;
		size_t width;
	} range[] = {
		{ 0x300, 0x36f, 0 },   { 0x200b, 0x200f, 0 },   { 0x202a, 0x202e, 0 },   { 0xfe00, 0xfe0f, 0 },
		{ 0xfeff, 0xfeff, 0 }, { 0x1100, 0x115f, 2 },   { 0x2e80, 0x303e, 2 },   { 0x3041, 0xa4cf, 2 },
		{ 0xac00, 0xd7a3, 2 }, { 0xf900, 0xfaff, 2 },   { 0xfe30, 0xfe6f, 2 },   { 0xff00, 0xff60, 2 },
		{ 0xffe0, 0xffe6, 2 }, { 0x1f300, 0x1f64f, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
	};

	for (size_t i = 0; i < sizeof range / sizeof *range; i++)
		if (c >= range[i].first && c <= range[i].last)
			return range[i].width;
	return 1;
}

size_t ct_text_width(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = 0;

	while (*s)
		n += width_of(next_character(&s));
	return n;
}

/* A copy that can be printed anywhere. Never longer than the original. */
static char *printable(const char *text)
{
	const unsigned char *s = (const unsigned char *)(text ? text : "");
	char *out = ct_calloc(strlen((const char *)s) + 1, 1), *to = out;

	while (*s) {
		const unsigned char *from = s;

		if (next_character(&s) == '?')
			*to++ = '?';
		else
			for (; from < s; from++)
				*to++ = (char)*from;
	}
	return out;
}

void ct_table_init(struct ct_table *t)
{
	memset(t, 0, sizeof *t);
}

void ct_table_fini(struct ct_table *t)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		free(t->column[i].title);
		free(t->column[i].unit);
	}
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cell[i]);
	free(t->cell);
	memset(t, 0, sizeof *t);
}

void ct_table_column(struct ct_table *t, const char *title, const char *unit, enum ct_align align)
{
	CT_CHECK(NULL, t->n_columns < CT_TABLE_COLUMNS && t->n_cells == 0, "column '%s' comes too late", title);
	t->column[t->n_columns].title = printable(title);
	t->column[t->n_columns].unit = printable(unit);
	t->column[t->n_columns].align = align;
	t->n_columns++;
}

void ct_table_text(struct ct_table *t, const char *s)
{
	CT_GROW(t->cell, t->cap_cells, t->n_cells + 1);
	t->cell[t->n_cells++] = printable(s);
}

void ct_table_number(struct ct_table *t, double v, int decimals)
{
	char text[64];

	if (isnan(v))
		strcpy(text, "-");
	else if (isinf(v))
		strcpy(text, v < 0 ? "-inf" : "inf");
	else
		snprintf(text, sizeof text, fabs(v) < 1e15 ? "%.*f" : "%.*e", decimals, v);
	if (strspn(text, "-0.") == strlen(text) && text[0] == '-' && text[1])
		memmove(text, text + 1, strlen(text)); /* "-0.00" */
	ct_table_text(t, text);
}

void ct_table_end_row(struct ct_table *t)
{
	while (t->n_columns && t->n_cells % t->n_columns)
		ct_table_text(t, "");
}

/* ---- printing */

struct line {
	FILE *to;
	size_t blanks; /* owed before the next visible character */
};

static void put_cell(struct line *l, const char *s, size_t width, enum ct_align align)
{
	size_t w = ct_text_width(s), pad = width > w ? width - w : 0;

	if (align == CT_RIGHT)
		l->blanks += pad;
	if (*s) {
		fprintf(l->to, "%*s%s", (int)l->blanks, "", s);
		l->blanks = 0;
	}
	if (align == CT_LEFT)
		l->blanks += pad;
	l->blanks += 2;
}

static const char *cell_at(const struct ct_table *t, size_t row, size_t column)
{
	size_t i = row * t->n_columns + column;

	return i < t->n_cells ? t->cell[i] : "";
}

static size_t rows_of(const struct ct_table *t)
{
	return t->n_columns ? (t->n_cells + t->n_columns - 1) / t->n_columns : 0;
}

static size_t column_width(const struct ct_table *t, size_t column)
{
	size_t width = ct_text_width(t->column[column].title), w = ct_text_width(t->column[column].unit);

	width = w > width ? w : width;
	for (size_t row = 0; row < rows_of(t); row++) {
		w = ct_text_width(cell_at(t, row, column));
		width = w > width ? w : width;
	}
	return width;
}

void ct_table_print(const struct ct_table *t, FILE *to)
{
	size_t width[CT_TABLE_COLUMNS];
	struct line l = { .to = to };
	int any_unit = 0;

	for (size_t c = 0; c < t->n_columns; c++) {
		width[c] = column_width(t, c);
		any_unit |= *t->column[c].unit != '\0';
	}
	for (size_t c = 0; c < t->n_columns; c++)
		put_cell(&l, t->column[c].title, width[c], t->column[c].align);
	fputc('\n', to);
	l.blanks = 0;
	for (size_t c = 0; c < t->n_columns && any_unit; c++)
		put_cell(&l, t->column[c].unit, width[c], t->column[c].align);
	if (any_unit)
		fputc('\n', to);
	for (size_t row = 0; row < rows_of(t); row++) {
		l.blanks = 0;
		for (size_t c = 0; c < t->n_columns; c++)
			put_cell(&l, cell_at(t, row, c), width[c], t->column[c].align);
		fputc('\n', to);
	}
}
