/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/command.h"

#include "experiments/option.h"
#include "sim/nearest.h"
#include "sim/shown.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const struct ct_command *const *ct_commands(void)
{
	static const struct ct_command *const list[] = { &ct_cmd_run,     &ct_cmd_check,    &ct_cmd_sweep,
							 &ct_cmd_repro,   &ct_cmd_policies, &ct_cmd_compare,
							 &ct_cmd_explain, &ct_cmd_report,   &ct_cmd_plan,
							 &ct_cmd_trace,   &ct_cmd_calib,    NULL };

	return list;
}

static double seconds_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double ct_wall_s(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

double ct_process_cpu_s(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

void ct_note(const char *fmt, ...)
{
	va_list ap;

	fputs("cotenant: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

int ct_fail(const struct ct_err *err)
{
	fflush(stdout);
	ct_err_print(err, stderr);
	return (int)err->code;
}

int ct_misuse(const struct ct_command *c, const char *fmt, ...)
{
	va_list ap;

	fputs("cotenant: error: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nusage: cotenant %s %s\nsee 'cotenant %s --help'\n", c->name, c->usage, c->name);
	return CT_EUSAGE;
}

/* ---- help */

static void flag_help(const struct ct_flag *f, FILE *to)
{
	char left[64];

	snprintf(left, sizeof left, "%s%c%s--%s%s%s", f->id < 128 ? "-" : "", f->id < 128 ? f->id : ' ',
		 f->id < 128 ? ", " : "   ", f->name, f->arg ? " " : "", f->arg ? f->arg : "");
	fprintf(to, "  %-28s %s\n", left, f->help);
}

void ct_command_help(const struct ct_command *c, FILE *to)
{
	fprintf(to, "usage: cotenant %s %s\n%s\n", c->name, c->usage, c->summary);
	for (const struct ct_flag *f = c->flags; f->name; f++)
		flag_help(f, to);
	if (c->notes)
		fprintf(to, "%s\n", c->notes);
	fprintf(to, "examples:\n%s\n", c->examples);
}

/* ---- flags: getopt_long() with its tables made from ours */

static int unknown_flag(const struct ct_flag_reader *r, const char *word)
{
	struct ct_nearest near;
	char shown[CT_SHOWN], name[CT_SHOWN];
	const char *best;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
	ct_nearest_init(&near, name + strspn(name, "-"));
	for (const struct ct_flag *f = r->command->flags; f->name; f++)
		ct_nearest_offer(&near, f->name);
	ct_nearest_offer(&near, "help");
	best = ct_nearest_word(&near);
	ct_misuse(r->command, "unknown option '%s'%s%s%s", ct_shown(shown, word, strlen(word)),
		  best ? "; did you mean '--" : "", best ? best : "", best ? "'?" : "");
	return CT_FLAGS_ERROR;
}

static const struct ct_flag *flag_of(const struct ct_command *c, int id)
{
	for (const struct ct_flag *f = c->flags; f->name; f++)
		if (f->id == id)
			return f;
	return NULL;
}

static int flag_error(const struct ct_flag_reader *r, int c)
{
	const struct ct_flag *f = flag_of(r->command, optopt);
	char text[3] = { '-', (char)optopt, '\0' };

	if (c == ':' && f) {
		ct_misuse(r->command, "option '--%s' wants %s", f->name, f->arg);
		return CT_FLAGS_ERROR;
	}
	if (f || (optopt == 'h' && strchr(r->argv[optind - 1], '='))) {
		ct_misuse(r->command, "option '--%s' takes no value", f ? f->name : "help");
		return CT_FLAGS_ERROR;
	}
	return unknown_flag(r, optopt ? text : r->argv[optind - 1]);
}

int ct_flag_next(struct ct_flag_reader *r)
{
	struct option longs[CT_FLAGS_MAX + 2] = { { "help", no_argument, NULL, 'h' } };
	char shorts[2 * CT_FLAGS_MAX + 4] = ":h";
	size_t n = 1, at = 2;
	int c;

	for (const struct ct_flag *f = r->command->flags; f->name && n <= CT_FLAGS_MAX; f++) {
		longs[n++] = (struct option){ f->name, f->arg ? required_argument : no_argument, NULL, f->id };
		if (f->id < 128) {
			shorts[at++] = (char)f->id;
			if (f->arg)
				shorts[at++] = ':';
		}
	}
	if (!r->begun) {
		optind = 0; /* GNU: start afresh */
		opterr = 0;
		r->begun = 1;
	}
	c = getopt_long(r->argc, r->argv, shorts, longs, NULL);
	r->arg = optarg;
	if (c == -1) {
		r->first = optind;
		return CT_FLAGS_DONE;
	}
	if (c == 'h') {
		ct_command_help(r->command, stdout);
		return CT_FLAGS_HELP;
	}
	return c == '?' || c == ':' ? flag_error(r, c) : c;
}
