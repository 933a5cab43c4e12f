/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h - what all commands of the program share: one table of flags that
 * drives both parsing and --help, the streams, and the process's exit status.
 *
 * stdout is data, stderr everything else. A command returns an exit status
 * (enum ct_code, 130 after Ctrl-C) and prints its own errors with ct_fail(). */
#ifndef CT_EXPERIMENTS_COMMAND_H
#define CT_EXPERIMENTS_COMMAND_H

#include "sim/err.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

enum {
	CT_EXIT_CELLS = 1, /* cells of a sweep failed, the others are there */
	CT_EXIT_INTERRUPTED = 130,
};

struct ct_flag {
	const char *name; /* "policy" for --policy */
	int id;           /* what ct_flag_next() returns; a letter is also a short option */
	const char *arg;  /* "NAME"; NULL: takes none */
	const char *help;
};

struct ct_program {
	const volatile sig_atomic_t *interrupted;
	int argc;
	char **argv; /* of the whole program, for the manifest */
	double wall_start;
};

struct ct_command {
	const char *name, *usage, *summary;
	const struct ct_flag *flags; /* ends with name NULL; --help stands in none of them */
	const char *notes, *examples;
	int (*run)(const struct ct_command *self, struct ct_program *p, int argc, char **argv);
};

extern const struct ct_command ct_cmd_run, ct_cmd_check, ct_cmd_sweep, ct_cmd_repro, ct_cmd_policies, ct_cmd_compare,
    ct_cmd_explain, ct_cmd_report, ct_cmd_plan, ct_cmd_trace, ct_cmd_calib;

/* The list of all commands, ends with NULL. */
const struct ct_command *const *ct_commands(void);

enum {
	CT_FLAGS_DONE = -1,  /* operands begin at reader.first */
	CT_FLAGS_ERROR = -2, /* said on stderr; return CT_EUSAGE */
	CT_FLAGS_HELP = -3,  /* help was printed; return 0 */
};
enum { CT_FLAGS_MAX = 32 };
struct ct_flag_reader {
	const struct ct_command *command;
	int argc, first;
	char **argv;
	const char *arg; /* of the flag just returned */
	int begun;
};
/* The next flag's id. Flags and operands may be mixed; "--" ends the flags. */
int ct_flag_next(struct ct_flag_reader *r);

void ct_command_help(const struct ct_command *c, FILE *to);
/* Prints the errors and returns the exit status. */
int ct_fail(const struct ct_err *err);
/* Usage error: message and where to find help, on stderr. Returns CT_EUSAGE. */
__attribute__((format(printf, 2, 3))) int ct_misuse(const struct ct_command *c, const char *fmt, ...);
/* "cotenant: " before, newline after, on stderr. */
__attribute__((format(printf, 1, 2))) void ct_note(const char *fmt, ...);

double ct_wall_s(void);        /* monotonic */
double ct_process_cpu_s(void); /* of the whole process */

#endif
