/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant trace slice | sample | scale | mix: a trace made from traces. */
#include "experiments/cmd_trace.h"
#include "experiments/config.h"
#include "experiments/overrides.h"
#include "experiments/progress.h"
#include "experiments/setup.h"
#include "traces/transform.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FLAG_FROM = CT_FLAG_OWN,
	FLAG_TO,
	FLAG_FOR,
	FLAG_KEEP_TIMES,
	FLAG_SHARE,
	FLAG_BY,
	FLAG_RATE,
	FLAG_LOAD,
	FLAG_NO_TYPES
};
enum { PARTS = 16 };

#define OUT_FLAG                                                                \
	{                                                                       \
		"out", CT_FLAG_OUT, "FILE", "trace to write: .h5, .csv or .swf" \
	}
#define SEED_FLAG                                                         \
	{                                                                 \
		"seed", CT_FLAG_SEED, "N", "of the random choice of jobs" \
	}

/* What the flags said. */
struct wish {
	struct ct_overrides o;
	const char *out;
	ct_time from, to, span;
	int keep_times, no_types, given_from, given_to;
	double share, rate, load;
	enum ct_sample_by by;
};

/* ---- values */

/* "90", "1.5h", "2d": seconds, minutes, hours or days. */
static int parse_span(const char *text, size_t n, ct_time *out)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	int64_t factor = 1;
	ct_time t;

	for (size_t i = 0; n && i < sizeof units / sizeof *units; i++)
		if (text[n - 1] == units[i].unit)
			factor = units[i].seconds;
	if (n && (text[n - 1] < '0' || text[n - 1] > '9') && text[n - 1] != '.')
		n--;
	if (ct_time_parse(text, n, &t) || t < 0 || t > CT_TIME_LIMIT / factor)
		return -1;
	*out = t * factor;
	return 0;
}

static int span_flag(const struct ct_command *self, const char *name, const char *text, ct_time *out)
{
	if (!parse_span(text, strlen(text), out))
		return 0;
	return ct_misuse(self, "--%s wants seconds, or a number with s, m, h or d, got '%.100s'", name, text);
}

static int number_flag(const struct ct_command *self, const char *name, const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (end != text && !*end && *out > 0 && isfinite(*out))
		return 0;
	return ct_misuse(self, "--%s wants a number above 0, got '%.100s'", name, text);
}

static int take_flag(const struct ct_command *self, struct wish *x, int id, const char *arg)
{
	switch (id) {
	case FLAG_FROM:
		x->given_from = 1;
		return span_flag(self, "from", arg, &x->from);
	case FLAG_TO:
		x->given_to = 1;
		return span_flag(self, "to", arg, &x->to);
	case FLAG_FOR:
		return span_flag(self, "for", arg, &x->span);
	case FLAG_KEEP_TIMES:
		x->keep_times = 1;
		return 0;
	case FLAG_NO_TYPES:
		x->no_types = 1;
		return 0;
	case FLAG_SHARE:
		return number_flag(self, "share", arg, &x->share);
	case FLAG_RATE:
		return number_flag(self, "rate", arg, &x->rate);
	case FLAG_LOAD:
		return number_flag(self, "load", arg, &x->load);
	case FLAG_BY:
		x->by = strcmp(arg, "user") == 0 ? CT_SAMPLE_USER : CT_SAMPLE_JOB;
		if (strcmp(arg, "user") != 0 && strcmp(arg, "job") != 0)
			return ct_misuse(self, "--by wants job or user, got '%.100s'", arg);
		return 0;
	default:
		if (id == CT_FLAG_OUT)
			x->out = arg;
		ct_overrides_add(&x->o, id, arg);
		return 0;
	}
}

/* ---- reading and writing */

static int load(struct ct_setup *s, struct ct_config *c, const struct wish *x, const char *file, struct ct_err *err)
{
	struct ct_progress p;
	int rc;

	ct_config_init(c);
	ct_config_option(c, "FILE", "trace.file", file, err);
	ct_overrides_apply(&x->o, NULL, c, err);
	if (!err->code)
		ct_config_finish(c, CT_CONFIG_TRACE, err);
	if (err->code)
		return (int)err->code;
	ct_progress_init(&p, CT_PROGRESS_AUTO, "reading", "B");
	rc = ct_setup_trace(s, c, NULL, NULL, err);
	ct_progress_done(&p);
	return rc;
}

/* What was made, on stderr: stdout is data. */
static void print_made(const struct ct_workload *w, double gpus)
{
	const char *line = w->report.history ? w->report.history : "";

	while (*line) {
		size_t n = strcspn(line, "\n");

		fprintf(stderr, "cotenant: %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	fprintf(stderr, "cotenant: %zu jobs, %.1f GPU h", w->n, ct_workload_gpu_seconds(w) / 3600);
	if (gpus > 0)
		fprintf(stderr, ", offered load %.4f of %.0f GPUs", ct_workload_offered_load(w, gpus), gpus);
	fputc('\n', stderr);
}

static int write_made(const struct ct_workload *made, const struct wish *x, double gpus, struct ct_err *err)
{
	int rc = ct_trace_write(made, x->out, err);

	if (!rc)
		print_made(made, gpus);
	return rc;
}

/* ---- the four */

typedef int (*transform_fn)(const struct wish *x, const struct ct_setup *s, const struct ct_config *c,
			    struct ct_workload **made, struct ct_err *err);

static int do_slice(const struct wish *x, const struct ct_setup *s, const struct ct_config *c,
		    struct ct_workload **made, struct ct_err *err)
{
	ct_time to = x->given_to ? x->to : x->span ? x->from + x->span : CT_TIME_LIMIT;

	(void)c;
	return ct_transform_slice(s->work, x->from, to, !x->keep_times, made, err);
}

static int do_sample(const struct wish *x, const struct ct_setup *s, const struct ct_config *c,
		     struct ct_workload **made, struct ct_err *err)
{
	return ct_transform_sample(s->work, x->share, x->by, (uint64_t)c->sim.seed, made, err);
}

static int do_scale(const struct wish *x, const struct ct_setup *s, const struct ct_config *c,
		    struct ct_workload **made, struct ct_err *err)
{
	if (x->rate > 0)
		return ct_transform_rate(s->work, x->rate, made, err);
	return ct_transform_load(s->work, ct_setup_gpus(c), x->load, made, err);
}

static int one_file(const struct wish *x, const char *file, transform_fn transform)
{
	struct ct_workload *made = NULL;
	struct ct_setup s = { 0 };
	struct ct_err err = { 0 };
	struct ct_config c;

	if (!load(&s, &c, x, file, &err) && !transform(x, &s, &c, &made, &err))
		write_made(made, x, ct_setup_gpus(&c), &err);
	ct_workload_free(made);
	ct_setup_fini(&s);
	ct_config_fini(&c);
	return err.code ? ct_fail(&err) : CT_OK;
}

/* SHARE:FILE or SHARE:FILE@FROM. */
struct operand {
	double share;
	char *file;
	ct_time from;
	char label[64];
};

static int parse_operand(const struct ct_command *self, const char *text, struct operand *p)
{
	const char *colon = strchr(text, ':'), *at;
	char *end;

	p->share = strtod(text, &end);
	if (!colon || end != colon || end == text || !(p->share > 0) || !isfinite(p->share) || !colon[1])
		return ct_misuse(self, "a part wants SHARE:FILE or SHARE:FILE@FROM, got '%.200s'", text);
	p->file = ct_realloc_array(NULL, strlen(colon), 1);
	memcpy(p->file, colon + 1, strlen(colon));
	at = strrchr(p->file, '@');
	if (at && !parse_span(at + 1, strlen(at + 1), &p->from))
		p->file[at - p->file] = '\0';
	return 0;
}

/* The file's name up to its first dot; a number behind it when it is taken. */
static void label_operand(struct operand *p, size_t i)
{
	const char *slash = strrchr(p[i].file, '/'), *name = slash && slash[1] ? slash + 1 : p[i].file;
	size_t n = strcspn(name, "./");

	snprintf(p[i].label, sizeof p[i].label, "%.*s", (int)(n && n < 40 ? n : 4), n ? name : "part");
	for (size_t k = 0; k < i; k++)
		if (!strcmp(p[k].label, p[i].label)) {
			size_t used = strlen(p[i].label);

			snprintf(p[i].label + used, sizeof p[i].label - used, "-%zu", i + 1);
			return;
		}
}

struct inputs {
	struct operand operand[PARTS];
	struct ct_setup setup[PARTS];
	struct ct_config config[PARTS];
	struct ct_workload *cut[PARTS];
	struct ct_mix_part part[PARTS];
	size_t n, loaded;
};

static int load_part(struct inputs *in, size_t i, const struct wish *x, struct ct_err *err)
{
	struct operand *p = &in->operand[i];

	in->loaded = i + 1;
	CT_TRY(load(&in->setup[i], &in->config[i], x, p->file, err));
	label_operand(in->operand, i);
	in->part[i] = (struct ct_mix_part){ in->setup[i].work, p->label, p->share };
	if (p->from) {
		CT_TRY(ct_transform_slice(in->setup[i].work, p->from, CT_TIME_LIMIT, 1, &in->cut[i], err));
		in->part[i].w = in->cut[i];
	}
	return 0;
}

static int mix_parts(struct inputs *in, const struct wish *x, struct ct_err *err)
{
	struct ct_mix_options o = { .span = x->span, .load = x->load, .untyped = x->no_types };
	struct ct_workload *made;
	int rc;

	for (size_t i = 0; i < in->n; i++)
		CT_TRY(load_part(in, i, x, err));
	o.gpus = ct_setup_gpus(&in->config[0]);
	o.seed = (uint64_t)in->config[0].sim.seed;
	CT_TRY(ct_transform_mix(in->part, in->n, &o, &made, err));
	rc = write_made(made, x, o.gpus, err);
	ct_workload_free(made);
	return rc;
}

static int run_mix(const struct ct_command *self, const struct wish *x, int argc, char **argv)
{
	struct inputs *in = ct_calloc(1, sizeof *in);
	struct ct_err err = { 0 };
	int rc = 0;

	for (int i = 0; !rc && i < argc; i++)
		rc = parse_operand(self, argv[i], &in->operand[in->n++]);
	if (!rc) {
		mix_parts(in, x, &err);
		rc = err.code ? ct_fail(&err) : CT_OK;
	}
	for (size_t i = 0; i < in->loaded; i++) {
		ct_workload_free(in->cut[i]);
		ct_setup_fini(&in->setup[i]);
		ct_config_fini(&in->config[i]);
	}
	for (size_t i = 0; i < in->n; i++)
		free(in->operand[i].file);
	free(in);
	return rc;
}

/* ---- command lines */

static int check_wish(const struct ct_command *self, const struct wish *x, int argc)
{
	if (self == &ct_cmd_trace_mix && (argc < 1 || argc > PARTS))
		return ct_misuse(self, "wants 1 to %d parts SHARE:FILE, got %d", (int)PARTS, argc);
	if (self != &ct_cmd_trace_mix && argc != 1)
		return ct_misuse(self, "wants one file, got %d", argc);
	if (!x->out)
		return ct_misuse(self, "wants --out FILE");
	if (!ct_trace_can_write(x->out))
		return ct_misuse(self, "--out wants a name that ends in .h5, .csv or .swf, got '%.200s'", x->out);
	if (self == &ct_cmd_trace_slice && !x->given_from && !x->given_to && !x->span)
		return ct_misuse(self, "wants --from, --to or --for");
	if (self == &ct_cmd_trace_slice && x->given_to && x->span)
		return ct_misuse(self, "--to and --for exclude each other");
	if (self == &ct_cmd_trace_sample && !(x->share > 0))
		return ct_misuse(self, "wants --share");
	if (self == &ct_cmd_trace_scale && (x->rate > 0) == (x->load > 0))
		return ct_misuse(self, "wants one of --rate and --load");
	return 0;
}

static int act(const struct ct_command *self, const struct wish *x, int argc, char **argv)
{
	CT_TRY(check_wish(self, x, argc));
	if (self == &ct_cmd_trace_mix)
		return run_mix(self, x, argc, argv);
	return one_file(x, argv[0],
			self == &ct_cmd_trace_slice    ? do_slice
			: self == &ct_cmd_trace_sample ? do_sample
						       : do_scale);
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct wish x = { 0 };
	int id, rc = 0;

	(void)program;
	while (!rc && (id = ct_flag_next(&r)) >= 0)
		rc = take_flag(self, &x, id, r.arg);
	if (!rc && id == CT_FLAGS_DONE)
		rc = act(self, &x, argc - r.first, argv + r.first);
	else if (!rc)
		rc = id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	ct_overrides_fini(&x.o);
	return rc;
}

static const struct ct_flag slice_flags[] = {
	{ "from", FLAG_FROM, "TIME", "first submission taken: seconds of the trace's clock, or with s, m, h, d" },
	{ "to", FLAG_TO, "TIME", "end of the window, not in it" },
	{ "for", FLAG_FOR, "TIME", "length of the window, instead of --to" },
	{ "keep-times", FLAG_KEEP_TIMES, NULL,
	  "submissions stay on the trace's clock; otherwise they count from --from" },
	OUT_FLAG,
	CT_TRACE_FLAGS,
	{ 0 },
};
const struct ct_command ct_cmd_trace_slice = {
	.name = "trace slice",
	.usage = "FILE [--from TIME] [--to TIME | --for TIME] --out FILE",
	.summary = "the jobs submitted in a window of time",
	.flags = slice_flags,
	.examples = "  cotenant trace slice pai.h5 --from 7d --for 1d --out day.h5",
	.run = run,
};

static const struct ct_flag sample_flags[] = {
	{ "share", FLAG_SHARE, "X", "probability with which each is kept, above 0 and up to 1" },
	{ "by", FLAG_BY, "job|user", "keep single jobs (default), or users with all their jobs" },
	SEED_FLAG,
	OUT_FLAG,
	CT_TRACE_FLAGS,
	{ 0 },
};
const struct ct_command ct_cmd_trace_sample = {
	.name = "trace sample",
	.usage = "FILE --share X [--by job|user] [--seed N] --out FILE",
	.summary = "a random part of the jobs or users",
	.flags = sample_flags,
	.examples = "  cotenant trace sample pai.h5 --share 0.1 --by user --seed 1 --out tenth.h5",
	.run = run,
};

static const struct ct_flag scale_flags[] = {
	{ "rate", FLAG_RATE, "X", "submissions X times as dense" },
	{ "load", FLAG_LOAD, "X", "as dense as gives this offered load on --cluster" },
	{ "cluster", CT_FLAG_CLUSTER, "NODESxGPUS", "machines that the load is for" },
	OUT_FLAG,
	CT_TRACE_FLAGS,
	{ 0 },
};
const struct ct_command ct_cmd_trace_scale = {
	.name = "trace scale",
	.usage = "FILE --rate X | --load X --cluster NODESxGPUS, --out FILE",
	.summary = "another arrival rate; run times stay",
	.flags = scale_flags,
	.examples = "  cotenant trace scale itp.h5 --load 0.9 --cluster 16x8 --out busy.h5",
	.run = run,
};

static const struct ct_flag mix_flags[] = {
	{ "for", FLAG_FOR, "TIME", "length of the mix, such as 1d; default: that of the longest part" },
	{ "load", FLAG_LOAD, "X", "offered load on --cluster; default: as much as the shares allow without repeating" },
	{ "cluster", CT_FLAG_CLUSTER, "NODESxGPUS", "machines that the load is for" },
	{ "no-types", FLAG_NO_TYPES, NULL, "jobs ask for no GPU type, for a cluster of one type" },
	SEED_FLAG,
	OUT_FLAG,
	CT_TRACE_FLAGS,
	{ 0 },
};
const struct ct_command ct_cmd_trace_mix = {
	.name = "trace mix",
	.usage = "SHARE:FILE[@FROM]... [--for TIME] [--load X --cluster NODESxGPUS] --out FILE",
	.summary = "several traces in one, each with its share of the work",
	.flags = mix_flags,
	.notes = "Shares are of the GPU-seconds and relative to their sum. FROM is where a part begins. A part with\n"
		 "too much work is thinned at random (--seed), one with too little is repeated, which is said.\n",
	.examples = "  cotenant trace mix 0.7:pai.h5@7d 0.3:genai.h5 --for 1d --load 1.4 --cluster 8x8 --out mixed.h5",
	.run = run,
};
