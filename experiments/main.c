/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program: finds the command, keeps signals and streams in order. */
#include "experiments/command.h"
#include "experiments/config.h"
#include "experiments/run_report.h"
#include "experiments/version.h"
#include "sim/memory.h"
#include "sim/nearest.h"

#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one mutable global: a signal handler has no other way to say something. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	interrupted = sig;
}

/* Ctrl-C: the first ends the run at the next instant, a second one the process. A
 * closed pipe becomes a write error. */
static void prepare_signals(void)
{
	struct sigaction sa = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sa = (struct sigaction){ .sa_handler = SIG_IGN };
	sigemptyset(&sa.sa_mask);
	sigaction(SIGPIPE, &sa, NULL);
}

/* A standard stream that is closed would be the next file we open. Read-only, so
 * that writing to it is an error. */
static void prepare_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
			(void)!open("/dev/null", O_RDONLY);
}

static void print_usage(FILE *to)
{
	fputs("usage: cotenant COMMAND [OPTION]...\n"
	      "Simulates a shared GPU cluster: jobs, machines and a scheduling policy in, completion\n"
	      "times, utilisation and throughput out.\n"
	      "commands:\n",
	      to);
	for (const struct ct_command *const *c = ct_commands(); *c; c++)
		fprintf(to, "  %-10s %s\n", (*c)->name, (*c)->summary);
	fputs("  help       help COMMAND; help config: every key of a configuration; help metrics: every figure of a "
	      "run\n"
	      "options: --help, --version\n"
	      "exit status: 0 done, 1 some cells of a sweep failed, 2 usage, 3 configuration, 4 trace, 5 reading or "
	      "writing, 6 policy, 130 Ctrl-C\n"
	      "examples:\n"
	      "  cotenant run data:experiments/demo/demo.yaml\n"
	      "  cotenant run --trace jobs.csv --cluster 32x8 --policy easy --out easy.h5\n"
	      "  cotenant compare fifo.h5 easy.h5\n"
	      "  cotenant COMMAND --help\n",
	      to);
}

static const struct ct_command *find_command(const char *name)
{
	for (const struct ct_command *const *c = ct_commands(); *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

static int unknown_command(const char *name)
{
	struct ct_nearest near;
	const char *best;

	ct_nearest_init(&near, name);
	for (const struct ct_command *const *c = ct_commands(); *c; c++)
		ct_nearest_offer(&near, (*c)->name);
	ct_nearest_offer(&near, "help");
	best = ct_nearest_word(&near);
	ct_note("error: unknown command '%.60s'%s%s%s", name, best ? "; did you mean '" : "", best ? best : "",
		best ? "'?" : "");
	fputs("see 'cotenant --help'\n", stderr);
	return CT_EUSAGE;
}

static int help(const char *topic)
{
	const struct ct_command *c;

	if (!topic) {
		print_usage(stdout);
		return CT_OK;
	}
	if (strcmp(topic, "config") == 0) {
		ct_config_print_manual(stdout);
		return CT_OK;
	}
	if (strcmp(topic, "metrics") == 0) {
		ct_run_report_manual(stdout);
		return CT_OK;
	}
	c = find_command(topic);
	if (!c)
		return unknown_command(topic);
	ct_command_help(c, stdout);
	return CT_OK;
}

static int dispatch(struct ct_program *p, int argc, char **argv)
{
	const struct ct_command *c;

	if (argc < 2) {
		print_usage(stderr);
		return CT_EUSAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		ct_version_print(stdout);
		return CT_OK;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
		return help(argc > 2 ? argv[2] : NULL);
	c = find_command(argv[1]);
	if (!c)
		return unknown_command(argv[1]);
	return c->run(c, p, argc - 1, argv + 1);
}

/* Output that never arrived is an error, also when the command was happy. */
static int close_stdout(int status)
{
	int failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return status;
	ct_note("error: cannot write to standard output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
	return status ? status : CT_EIO;
}

int main(int argc, char **argv)
{
	struct ct_program p = { &interrupted, argc, ct_calloc((size_t)argc + 1, sizeof *argv), ct_wall_s() };
	int status;

	memcpy(p.argv, argv, (size_t)argc * sizeof *argv); /* getopt_long() reorders its own */
	prepare_streams();
	prepare_signals();
	gsl_set_error_handler_off();
	/* After a damaged file HDF5 1.10 complains at exit about handles of its own. */
	(void)H5dont_atexit();
	status = close_stdout(dispatch(&p, argc, argv));
	free(p.argv);
	return status;
}
