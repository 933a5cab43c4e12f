/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/sources.h"

#include "sim/random.h"

#include <errno.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SETTINGS = 64, DRAWS_SEED = 1 };

/* A job of the case; more are refused. */
enum { MOST_JOBS = 64 };
struct lengths {
	size_t n;
	struct {
		char id[64], model[64];
		double submit_s, length_s;
		uint32_t gpus;
	} job[MOST_JOBS];
};

static int note_jobs(const struct ct_workload *w, struct lengths *out, struct ct_err *err)
{
	if (w->n > MOST_JOBS)
		return ct_err_add(err, CT_ECONFIG, NULL, "a case of more than %d jobs", (int)MOST_JOBS);
	out->n = w->n;
	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];

		snprintf(out->job[i].id, sizeof out->job[i].id, "%s", j->id);
		snprintf(out->job[i].model, sizeof out->job[i].model, "%s", ct_strings_text(&w->strings, j->model));
		out->job[i].submit_s = ct_seconds(j->submit_us);
		out->job[i].length_s = ct_seconds(j->duration_us);
		out->job[i].gpus = j->num_gpus;
	}
	return 0;
}

static int begins(const char *key, const char *section)
{
	return !strncmp(key, section, strlen(section));
}

/* A setting of the day that has no say here is at least one that the day has. */
static int check_settings(const struct ct_repro_sources *s, struct ct_err *err)
{
	struct ct_cell_set set[SETTINGS];
	struct ct_config c;
	size_t n = 0;

	for (size_t i = 0; i < s->n_set && n < SETTINGS; i++)
		if (!begins(s->set[i].key, "policy."))
			set[n++] = s->set[i];
	ct_config_init(&c);
	ct_cell_config(&c, s->scenario, set, n, err);
	ct_config_fini(&c);
	return (int)err->code;
}

static int add(struct ct_cell_set *to, size_t *n, const struct ct_cell_set *set, struct ct_err *err)
{
	if (*n == SETTINGS)
		return ct_err_add(err, CT_ECONFIG, NULL, "a case of more than %d settings", (int)SETTINGS);
	to[(*n)++] = *set;
	return 0;
}

static int settings_of(const struct ct_repro_sources *s, const struct ct_paper_change *v, const char *trace,
		       struct ct_cell_set *to, size_t *n, struct ct_err *err)
{
	static const char *const taken[] = { "calib.", "iac.", "transitions." };
	int elastico = 0;

	*n = 0;
	for (size_t i = 0; i < v->n; i++) {
		elastico |= !strcmp(v->set[i].key, "policy.name") && !strcmp(v->set[i].value, "elastico");
		CT_TRY(add(to, n, &v->set[i], err));
	}
	for (size_t i = 0; i < s->n_set; i++) {
		int wanted = elastico && begins(s->set[i].key, "policy.");

		for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
			wanted |= begins(s->set[i].key, taken[k]);
		if (wanted)
			CT_TRY(add(to, n, &s->set[i], err));
	}
	return trace ? add(to, n, &(struct ct_cell_set){ "trace.file", trace }, err) : 0;
}

/* One run; `trace` NULL: the case's own jobs, kept in `jobs`. */
static int run_case(const struct ct_repro_sources *s, const struct ct_paper_figure *f, size_t variant,
		    const char *trace, double *out, struct lengths *jobs, struct ct_err *err)
{
	const struct ct_cell_request request = { .interrupt = s->interrupted };
	struct ct_cell_set set[SETTINGS];
	struct ct_cell_result r;
	struct ct_config c;
	size_t n;
	int rc;

	*out = NAN;
	CT_TRY(settings_of(s, &s->paper->variant[variant], trace, set, &n, err));
	ct_config_init(&c);
	rc = ct_cell_config(&c, f->config, set, n, err);
	if (!rc && ct_cell_run(&c, &request, &r, err) == 0) {
		*out = r.summary[f->metric];
		if (!trace)
			note_jobs(r.setup.work, jobs, err);
		ct_cell_fini(&r);
	}
	ct_config_fini(&c);
	return (int)err->code;
}

static int compare(const struct ct_repro_sources *s, const struct ct_paper_figure *f, const char *trace, double *out,
		   struct lengths *jobs, struct ct_err *err)
{
	double ours, base;

	CT_TRY(run_case(s, f, f->variant, trace, &ours, jobs, err));
	CT_TRY(run_case(s, f, f->over, trace, &base, jobs, err));
	*out = f->scale * (f->complement ? 1 - ours / base : ours / base);
	return 0;
}

/* The same jobs with other lengths, as a file in memory: nothing to clean up after Ctrl-C. Draw `draw` of
 * job i is the same under both policies. */
static int draw_file(const struct lengths *jobs, uint64_t draw, int *fd, struct ct_err *err)
{
	struct ct_stream stream;
	FILE *f;

	*fd = memfd_create("case.csv", MFD_CLOEXEC);
	f = *fd < 0 ? NULL : fdopen(dup(*fd), "w");
	if (!f)
		return ct_err_at(err, CT_EIO, NULL, "no memory for a case's jobs: %s", strerror(errno));
	ct_stream_init(&stream, DRAWS_SEED, CT_RANDOM_WORKLOAD, draw);
	fputs("job_id,submit_time,num_gpus,duration,model\n", f);
	for (size_t i = 0; i < jobs->n; i++)
		fprintf(f, "%s,%.6f,%u,%.6f,%s\n", jobs->job[i].id, jobs->job[i].submit_s, (unsigned)jobs->job[i].gpus,
			jobs->job[i].length_s * exp2(2 * gsl_rng_uniform(&stream.rng) - 1), jobs->job[i].model);
	if (fclose(f) != 0)
		return ct_err_at(err, CT_EIO, NULL, "a case's jobs: %s", strerror(errno));
	return 0;
}

static int over_lengths(const struct ct_repro_sources *s, const struct lengths *jobs, struct ct_repro_row *r,
			struct ct_err *err)
{
	double lo = INFINITY, hi = -INFINITY, value;

	for (uint64_t draw = 0; draw < CT_CASE_DRAWS && !*s->interrupted; draw++) {
		char path[64];
		int fd, rc = draw_file(jobs, draw, &fd, err);

		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (!rc)
			rc = compare(s, r->figure, path, &value, NULL, err);
		if (fd >= 0)
			close(fd);
		CT_TRY(rc);
		lo = fmin(lo, value);
		hi = fmax(hi, value);
	}
	r->lo = lo;
	r->hi = hi;
	return 0;
}

int ct_repro_cases(const struct ct_repro_sources *s, struct ct_repro *rows, struct ct_err *err)
{
	for (size_t i = 0; i < rows->n && !*s->interrupted; i++) {
		struct ct_repro_row *r = &rows->row[i];
		struct lengths jobs = { 0 };

		if (r->figure->from != CT_FROM_CASES)
			continue;
		CT_TRY(check_settings(s, err));
		CT_TRY(compare(s, r->figure, NULL, &r->ours, &jobs, err));
		CT_TRY(over_lengths(s, &jobs, r, err));
		r->seeds = 1;
		ct_repro_judge(r);
	}
	return 0;
}
