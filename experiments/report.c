/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/report.h"

#include "experiments/html.h"
#include "experiments/version.h"
#include "sim/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The style sheet as it is; it is the program's own data. */
static int put_style(const char *path, FILE *to, struct ct_err *err)
{
	FILE *from = fopen(path, "r");
	char block[4096];
	size_t n;
	int failed;

	if (!from)
		return ct_err_at(err, CT_EIO, NULL, "cannot open '%s': %s", path, strerror(errno));
	while ((n = fread(block, 1, sizeof block, from)) > 0)
		fwrite(block, 1, n, to);
	failed = ferror(from);
	fclose(from);
	return failed ? ct_err_at(err, CT_EIO, NULL, "cannot read '%s'", path) : 0;
}

static int put_head(const char *style, FILE *to, struct ct_err *err)
{
	fputs(
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Cotenant report</title>\n<style>\n",
	    to);
	CT_TRY(put_style(style, to, err));
	fputs("</style></head><body><main>\n<h1>Cotenant report</h1>\n", to);
	return 0;
}

static void put_foot(FILE *to)
{
	struct ct_version v = ct_version();

	fputs("<footer>Written by cotenant ", to);
	ct_html_text(to, v.version);
	fputs(", revision ", to);
	ct_html_text(to, v.revision);
	fputs(". Definitions: sim/metrics.h.</footer>\n</main></body></html>\n", to);
}

static int put_page(const struct ct_report_request *q, const struct ct_comparison *c, FILE *to, struct ct_err *err)
{
	CT_TRY(put_head(q->style, to, err));
	if (c->n_runs) {
		ct_report_tables(c, q->path, to);
		CT_TRY(ct_report_plots(c, to, err));
	}
	if (q->figures)
		CT_TRY(ct_report_figures(q->figures, to, err));
	if (c->n_runs)
		ct_report_details(c, to);
	put_foot(to);
	return 0;
}

/* Complete or not there. */
static int put_file(const struct ct_report_request *q, const struct ct_comparison *c, struct ct_err *err)
{
	char *tmp = ct_output_temporary(q->out);
	FILE *to = fopen(tmp, "w");
	int rc = 0;

	if (!to) {
		rc = ct_err_at(err, CT_EIO, NULL, "cannot write '%s': %s", q->out, strerror(errno));
		free(tmp);
		return rc;
	}
	rc = put_page(q, c, to, err);
	if (!rc && (fflush(to) || ferror(to)))
		rc = ct_err_at(err, CT_EIO, NULL, "cannot write '%s': %s", q->out, strerror(errno));
	if (fclose(to) && !rc)
		rc = ct_err_at(err, CT_EIO, NULL, "cannot write '%s': %s", q->out, strerror(errno));
	if (rc)
		unlink(tmp);
	else
		rc = ct_output_commit(tmp, q->out, err);
	free(tmp);
	return rc;
}

/* One run is compared with nothing. */
static int load_one(struct ct_comparison *c, const char *path, struct ct_err *err)
{
	const char *policy;

	c->run = ct_calloc(1, sizeof *c->run);
	c->label = ct_calloc(1, sizeof *c->label);
	c->n_runs = 1;
	CT_TRY(ct_result_read_h5(path, &c->run[0], err));
	policy = ct_result_get(&c->run[0], CT_RESULT_MANIFEST, "policy");
	c->label[0] = strdup(policy ? policy : path);
	return 0;
}

int ct_report_write(const struct ct_report_request *q, struct ct_err *err)
{
	struct ct_comparison c = { 0 };
	int rc = 0;

	if (q->n_paths == 1)
		rc = load_one(&c, q->path[0], err);
	else if (q->n_paths > 1)
		rc = ct_compare_load(&c, q->path, q->n_paths, err);
	if (!rc)
		rc = put_file(q, &c, err);
	ct_compare_fini(&c);
	return rc;
}
