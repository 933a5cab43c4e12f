/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/trace.h"

#include "traces/csv_jobs.h"
#include "traces/figures.h"
#include "traces/hdf5_jobs.h"
#include "traces/reader_options.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* The generic reader stands last: any text is recognised as its. */
static const struct ct_trace_format formats[] = {
	{ "cotenant-hdf5", "canonical HDF5, written by 'cotenant trace import'", ct_hdf5_jobs_recognise,
	  ct_hdf5_jobs_read, NULL },
	{ "csv", "CSV with a header, columns in any order, plain or gzip", ct_csv_jobs_recognise, ct_csv_jobs_read,
	  NULL },
};
enum { FORMATS = sizeof formats / sizeof *formats, HEAD = 1 << 14 };

const struct ct_trace_format *ct_trace_format_at(size_t i)
{
	return i < FORMATS ? &formats[i] : NULL;
}

/* Up to HEAD bytes of the inflated content; CT_EIO. */
static int read_head(const char *path, char *head, size_t *n, struct ct_err *err)
{
	struct ct_loc at = { .file = path };
	gzFile f;
	int got;

	errno = 0;
	f = gzopen(path, "rb");
	if (!f)
		return ct_err_at(err, CT_EIO, NULL, "cannot open '%s': %s", path, strerror(errno ? errno : ENOMEM));
	got = gzread(f, head, HEAD);
	*n = got > 0 ? (size_t)got : 0;
	if (got < 0) {
		int code;
		const char *why = gzerror(f, &code);

		/* A short member is left to the reader, which knows how far it came. */
		if (code == Z_ERRNO)
			ct_err_at(err, CT_EIO, &at, "cannot read: %s", strerror(errno));
		else if (code != Z_BUF_ERROR)
			ct_err_at(err, CT_EIO, &at, "damaged gzip: %s", why);
	}
	gzclose(f);
	return (int)err->code;
}

static int not_recognised(const char *path, const char *head, size_t n, struct ct_err *err)
{
	struct ct_loc at = { .file = path };

	if (n >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2)))
		return ct_err_at(err, CT_ETRACE, &at, "is UTF-16 text, wanted UTF-8");
	return ct_err_at(err, CT_ETRACE, &at, "is in no known trace format; wanted text with a header line, or HDF5");
}

static int recognise(const char *path, const struct ct_trace_format **out, struct ct_err *err)
{
	char head[HEAD];
	struct stat st;
	size_t n = 0;

	*out = &formats[FORMATS - 1];
	if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return 0; /* a pipe can be read only once */
	CT_TRY(read_head(path, head, &n, err));
	for (size_t i = 0; i < FORMATS; i++) {
		if (formats[i].recognise(head, n)) {
			*out = &formats[i];
			return 0;
		}
	}
	return not_recognised(path, head, n, err);
}

static int find_format(const char *path, const char *name, const struct ct_trace_format **out, struct ct_err *err)
{
	if (!name || !strcmp(name, "auto"))
		return recognise(path, out, err);
	for (size_t i = 0; i < FORMATS; i++) {
		if (!strcmp(formats[i].name, name)) {
			*out = &formats[i];
			return 0;
		}
	}
	return ct_err_at(err, CT_ECONFIG, NULL, "no trace format '%s'; known are 'cotenant-hdf5' and 'csv'", name);
}

/* Submissions and deadlines count from the first submission on. */
static void shift_to_zero(struct ct_workload *w)
{
	ct_time first = w->jobs[0].submit_us;

	for (size_t i = 1; i < w->n; i++)
		if (w->jobs[i].submit_us < first)
			first = w->jobs[i].submit_us;
	if (!first)
		return;
	for (size_t i = 0; i < w->n; i++) {
		w->jobs[i].submit_us -= first;
		if (w->jobs[i].deadline_us >= 0)
			w->jobs[i].deadline_us -= first;
	}
	ct_workload_count(w, "shifted_submit", "submission counted from the first one", w->n, 0);
}

static int finish(struct ct_workload *w, const struct ct_trace_options *o, struct ct_err *err)
{
	struct ct_loc at = { .file = w->report.source };
	char stated[CT_DIGEST_TEXT];

	if (!w->n && o->figures && o->figures->n)
		return ct_workload_seal(w, err);
	if (!w->n && w->report.rows_read)
		return ct_err_at(err, CT_ETRACE, &at, "holds no jobs: all %llu rows were dropped",
				 (unsigned long long)w->report.rows_read);
	if (!w->n)
		return ct_err_at(err, CT_ETRACE, &at, "holds no jobs");
	if (o->shift_to_zero)
		shift_to_zero(w);
	memcpy(stated, w->digest, sizeof stated);
	CT_TRY(ct_workload_seal(w, err));
	if (*stated && !o->shift_to_zero && strcmp(stated, w->digest) != 0)
		return ct_err_at(err, CT_ETRACE, &at, "content does not match its own digest: the file was changed");
	return 0;
}

int ct_trace_read(const char *path, const struct ct_trace_options *o, struct ct_workload **out, struct ct_err *err)
{
	static const struct ct_trace_options defaults;
	const struct ct_trace_format *format;
	struct ct_workload *w;
	int rc;

	o = o ? o : &defaults;
	CT_TRY(find_format(path, o->format, &format, err));
	if (!format->opts)
		CT_TRY(ct_trace_opts_read(NULL, format->name, o, NULL, err));
	w = ct_workload_new();
	w->report.source = ct_workload_text(w, path, strlen(path));
	w->report.format = format->name;
	rc = format->read(path, o, w, err);
	if (!rc)
		rc = finish(w, o, err);
	if (rc)
		ct_workload_free(w);
	else
		*out = w;
	return rc;
}
