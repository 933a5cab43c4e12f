/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/trace.h"

#include "traces/csv_jobs.h"
#include "traces/figures.h"
#include "traces/formats.h"
#include "traces/genai.h"
#include "traces/hdf5_jobs.h"
#include "traces/pai.h"
#include "traces/reader_options.h"
#include "traces/source.h"

#include <string.h>

/* The generic reader stands last: any text is recognised as its. */
static const struct ct_trace_format formats[] = {
	{ "cotenant-hdf5", "canonical HDF5, written by 'cotenant trace import'", ct_hdf5_jobs_recognise, NULL,
	  ct_hdf5_jobs_read, NULL },
	{ "genai", "Alibaba GenAI serving trace (GenTD26): any of its tables, as published", NULL, ct_genai_recognise,
	  ct_genai_read, ct_genai_opts },
	{ "pai", "Alibaba PAI (cluster-trace-gpu-v2020): its tables, or any of them", NULL, ct_pai_recognise,
	  ct_pai_read, ct_pai_opts },
	{ "openb", "Alibaba openb pods (cluster-trace-gpu-v2023)", ct_openb_recognise, NULL, ct_openb_read, NULL },
	{ "helios", "Helios and Lucid job log (cluster_log.csv, cluster_full_log.csv)", ct_helios_recognise, NULL,
	  ct_helios_read, ct_helios_opts },
	{ "philly", "Microsoft Philly jobs as one CSV table", ct_philly_recognise, NULL, ct_philly_read,
	  ct_philly_opts },
	{ "itp", "Microsoft ITP clusters (elasticflow-traces)", ct_itp_recognise, NULL, ct_itp_read, NULL },
	{ "tiresias", "Tiresias job file", ct_tiresias_recognise, NULL, ct_tiresias_read, NULL },
	{ "pollux", "Pollux and Sia workloads; durations from a table", ct_pollux_recognise, NULL, ct_pollux_read,
	  ct_pollux_opts },
	{ "gavel", "Gavel trace of ten tab-separated fields; durations from a table", ct_gavel_recognise, NULL,
	  ct_gavel_read, ct_gavel_opts },
	{ "swf", "Standard Workload Format", ct_swf_recognise, NULL, ct_swf_read, ct_swf_opts },
	{ "csv", "CSV with a header, columns in any order, plain or gzip", ct_csv_jobs_recognise, NULL,
	  ct_csv_jobs_read, NULL },
};
enum { FORMATS = sizeof formats / sizeof *formats };

const struct ct_trace_format *ct_trace_format_at(size_t i)
{
	return i < FORMATS ? &formats[i] : NULL;
}

static int not_recognised(const struct ct_source *s, struct ct_err *err)
{
	const struct ct_member *m = ct_source_members(s) == 1 ? ct_source_member(s, 0) : NULL;
	struct ct_loc at = { .file = ct_source_path(s) };

	if (!ct_source_members(s))
		return ct_err_at(err, CT_ETRACE, &at, "holds no files");
	if (!m)
		return ct_err_at(err, CT_ETRACE, &at, "none of its %zu files is in a known trace format",
				 ct_source_members(s));
	if (m->head_n >= 2 && (!memcmp(m->head, "\xff\xfe", 2) || !memcmp(m->head, "\xfe\xff", 2)))
		return ct_err_at(err, CT_ETRACE, &at, "is UTF-16 text, wanted UTF-8");
	return ct_err_at(err, CT_ETRACE, &at, "is in no known trace format; wanted text with a header line, or HDF5");
}

/* Among several files, the generic reader takes only what is called a table. */
static int is_called_csv(const char *name)
{
	const char *dot = strstr(name, ".csv");

	return dot && (!dot[4] || !strcmp(dot + 4, ".gz"));
}

static int fits(const struct ct_source *s, size_t i, const struct ct_trace_format *f)
{
	const struct ct_member *m = ct_source_member(s, i);

	if (!f->recognise(m->head, m->head_n))
		return 0;
	return f != &formats[FORMATS - 1] || ct_source_members(s) == 1 || is_called_csv(m->name);
}

/* The one member that fits; SIZE_MAX: none. */
static int find_member(const struct ct_source *s, const struct ct_trace_format *f, size_t *out, struct ct_err *err)
{
	struct ct_loc at = { .file = ct_source_path(s) };

	*out = SIZE_MAX;
	for (size_t i = 0; i < ct_source_members(s); i++) {
		if (!fits(s, i, f))
			continue;
		if (*out != SIZE_MAX)
			return ct_err_at(err, CT_ETRACE, &at, "'%s' and '%s' are both a trace ('%s'); name one of them",
					 ct_source_member(s, *out)->path, ct_source_member(s, i)->path, f->name);
		*out = i;
	}
	return 0;
}

static int recognise(const struct ct_source *s, const struct ct_trace_format **out, size_t *member, struct ct_err *err)
{
	const struct ct_member *one = ct_source_members(s) == 1 ? ct_source_member(s, 0) : NULL;

	*member = 0;
	*out = &formats[FORMATS - 1];
	if (one && !one->size && !one->head_n)
		return 0; /* empty, or a pipe, which can be read only once */
	if (one && ct_csv_jobs_canonical(one->head, one->head_n))
		return 0; /* whatever other format's columns it carries along */
	for (size_t i = 0; i < FORMATS; i++) {
		*out = &formats[i];
		*member = SIZE_MAX;
		if (formats[i].recognise_all && formats[i].recognise_all(s))
			return 0;
		if (formats[i].recognise)
			CT_TRY(find_member(s, &formats[i], member, err));
		if (*member != SIZE_MAX)
			return 0;
	}
	return not_recognised(s, err);
}

static const struct ct_trace_format *format_named(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static int find_format(const struct ct_source *s, const char *name, const struct ct_trace_format **out, size_t *member,
		       struct ct_err *err)
{
	struct ct_loc at = { .file = ct_source_path(s) };

	if (!name || !strcmp(name, "auto"))
		return recognise(s, out, member, err);
	*out = format_named(name);
	if (!*out)
		return ct_err_at(err, CT_ECONFIG, NULL, "no trace format '%s'; 'cotenant trace formats' lists them",
				 name);
	*member = SIZE_MAX;
	if (!ct_source_members(s))
		return not_recognised(s, err);
	if (!(*out)->recognise)
		return 0;
	*member = 0;
	if (ct_source_members(s) == 1)
		return 0;
	CT_TRY(find_member(s, *out, member, err));
	if (*member == SIZE_MAX)
		return ct_err_at(err, CT_ETRACE, &at, "none of its %zu files looks like format '%s'",
				 ct_source_members(s), name);
	return 0;
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

static int read_source(const struct ct_source *s, const struct ct_trace_options *o, struct ct_workload **out,
		       struct ct_err *err)
{
	const struct ct_trace_format *format;
	struct ct_workload *w;
	size_t member;
	int rc;

	CT_TRY(find_format(s, o->format, &format, &member, err));
	if (!format->opts)
		CT_TRY(ct_trace_opts_read(NULL, format->name, o, NULL, err));
	w = ct_workload_new();
	w->report.source = ct_workload_text(w, ct_source_path(s), strlen(ct_source_path(s)));
	w->report.format = format->name;
	ct_workload_count(w, "skipped_appledouble", "files of a Mac's archive that hold no data (._*)",
			  ct_source_appledouble(s), 0);
	rc = format->read(s, member, o, w, err);
	if (!rc)
		rc = finish(w, o, err);
	if (rc)
		ct_workload_free(w);
	else
		*out = w;
	return rc;
}

static int read_and_close(struct ct_source *s, const struct ct_trace_options *o, struct ct_workload **out,
			  struct ct_err *err)
{
	static const struct ct_trace_options defaults;
	int rc = read_source(s, o ? o : &defaults, out, err);

	ct_source_close(s);
	return rc;
}

int ct_trace_read(const char *path, const struct ct_trace_options *o, struct ct_workload **out, struct ct_err *err)
{
	struct ct_source *s;

	CT_TRY(ct_source_open(path, &s, err));
	return read_and_close(s, o, out, err);
}

int ct_trace_read_memory(const char *name, const void *bytes, size_t n, const struct ct_trace_options *o,
			 struct ct_workload **out, struct ct_err *err)
{
	struct ct_source *s;

	CT_TRY(ct_source_open_memory(name, bytes, n, &s, err));
	return read_and_close(s, o, out, err);
}
