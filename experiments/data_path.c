/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/data_path.h"

#include "experiments/version.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "../" could leave the data folders: a file elsewhere is named by its path. */
static bool is_plain(const char *name)
{
	return name[0] && name[0] != '/' && strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0 &&
	       !strstr(name, "/../");
}

static bool try(const char *folder, const char *below, const char *name, struct ct_arena *arena, const char **out)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s%s/%s", folder, below, name);

	if (n < 0 || (size_t)n >= sizeof path || access(path, R_OK))
		return false;
	*out = ct_arena_text(arena, path, (size_t)n);
	return true;
}

/* Folder of the running program, without the final '/'; false if unknown. */
static bool program_folder(char out[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
	char *slash;

	if (n <= 0)
		return false;
	out[n] = '\0';
	slash = strrchr(out, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

int ct_data_path(const char *path, struct ct_arena *arena, const char **out, struct ct_err *err)
{
	const char *name = path + 5, *env = getenv("COTENANT_DATA");
	char folder[PATH_MAX];

	if (strncmp(path, "data:", 5) != 0) {
		*out = path;
		return 0;
	}
	if (!is_plain(name))
		return ct_err_add(err, CT_EIO, NULL, "'%s' is not the name of a data file", path);
	if (env && env[0] && try(env, "", name, arena, out))
		return 0;
	if (program_folder(folder) &&
	    (try(folder, "/../..", name, arena, out) || try(folder, "/../share/cotenant", name, arena, out)))
		return 0;
	if (try(ct_version().prefix, "/share/cotenant", name, arena, out))
		return 0;
	return ct_err_add(
	    err, CT_EIO, NULL,
	    "data file '%s' not found in $COTENANT_DATA (%s), beside the program, or in %s/share/cotenant", name,
	    env && env[0] ? env : "not set", ct_version().prefix);
}
