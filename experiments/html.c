/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/html.h"

#include "experiments/option.h"

#include <math.h>
#include <string.h>

static void escape(FILE *to, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = s[i] == '&'    ? "&amp;"
				   : s[i] == '<'  ? "&lt;"
				   : s[i] == '>'  ? "&gt;"
				   : s[i] == '"'  ? "&quot;"
				   : s[i] == '\'' ? "&#39;"
						  : NULL;

		if (name)
			fputs(name, to);
		else
			fputc(s[i], to);
	}
}

void ct_html_text(FILE *to, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	while (n) {
		size_t bad = ct_utf8_check(s, n), good = bad < n ? bad : n;

		escape(to, s, good);
		if (good == n)
			return;
		fputs("&#xFFFD;", to);
		s += good + 1;
		n -= good + 1;
	}
}

void ct_html_table_open(FILE *to, const char *caption)
{
	fputs("<div class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"", to);
	ct_html_text(to, caption);
	fputs("\"><table><caption>", to);
	ct_html_text(to, caption);
	fputs("</caption>\n", to);
}

void ct_html_table_close(FILE *to)
{
	fputs("</tbody></table></div>\n", to);
}

static void cell(FILE *to, const char *open, const char *s, const char *close)
{
	fputs(open, to);
	ct_html_text(to, s);
	fputs(close, to);
}

void ct_html_column(FILE *to, const char *title, const char *class)
{
	fprintf(to, "<th scope=\"col\"%s%s%s>", class ? " class=\"" : "", class ? class : "", class ? "\"" : "");
	cell(to, "", title, "</th>");
}

void ct_html_row(FILE *to, const char *s)
{
	cell(to, "<th scope=\"row\">", s, "</th>");
}

void ct_html_cell(FILE *to, const char *s)
{
	cell(to, "<td>", s, "</td>");
}

void ct_html_number(FILE *to, double v, int decimals)
{
	fputs("<td class=\"number\">", to);
	if (isnan(v))
		fputs("\xe2\x80\x93", to);
	else if (isinf(v))
		fputs(v < 0 ? "\xe2\x88\x92\xe2\x88\x9e" : "\xe2\x88\x9e", to);
	else
		fprintf(to, fabs(v) < 1e12 ? "%.*f" : "%.*e", decimals, v);
	fputs("</td>", to);
}
