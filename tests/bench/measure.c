/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure - what a command costs: 'measure RUNS COMMAND...' runs it RUNS times and
 * prints "CPU_S PEAK_RSS_MIB" on stderr's line of its own, last: the least CPU time
 * (user + system, the fair figure on a shared machine) and the largest memory of
 * the runs. The command's stdout is that of the last run; exit status: its own. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int run(char **argv, int last, double *cpu_s, double *rss_mib)
{
	struct rusage use;
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -1;
	if (pid == 0) {
		if (!last && !freopen("/dev/null", "w", stdout))
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &use) != pid)
		return -1;
	*cpu_s = seconds(use.ru_utime) + seconds(use.ru_stime);
	*rss_mib = (double)use.ru_maxrss / 1024;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int runs = argc > 2 ? atoi(argv[1]) : 0;
	double best = 0, peak = 0;

	if (runs < 1) {
		fputs("usage: measure RUNS COMMAND...\n", stderr);
		return 2;
	}
	for (int i = 0; i < runs; i++) {
		double cpu = 0, rss = 0;
		int code = run(argv + 2, i == runs - 1, &cpu, &rss);

		if (code != 0) {
			fprintf(stderr, "measure: '%s' ended with %d\n", argv[2], code);
			return code < 0 ? 1 : code;
		}
		best = i == 0 || cpu < best ? cpu : best;
		peak = rss > peak ? rss : peak;
	}
	fprintf(stderr, "%.4f %.1f\n", best, peak);
	return 0;
}
