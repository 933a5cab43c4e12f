/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - main() for a fuzz target without libFuzzer: runs it once over every
 * file of its corpus, tests/fuzz/corpus/NAME (NAME from the program's own name,
 * replay_NAME), or over the files named. So `make test` with any compiler replays
 * what fuzzing once found. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
		fprintf(stderr, "cannot read '%s': %s\n", path, strerror(errno));
		if (f)
			fclose(f);
		return 1;
	}
	/* Exactly as large as the input, so that a sanitizer sees the byte after it. */
	data = malloc(size ? (size_t)size : 1);
	if (!data || fread(data, 1, (size_t)size, f) != (size_t)size) {
		fprintf(stderr, "cannot read '%s'\n", path);
		free(data);
		fclose(f);
		return 1;
	}
	fclose(f);
	fprintf(stderr, "%s\n", path); /* the last one named is the one that crashed */
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	return 0;
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int replay_folder(const char *folder)
{
	struct dirent **entry;
	int i, n = scandir(folder, &entry, visible, alphasort), bad = 0;
	char path[4096];

	if (n < 0) {
		fprintf(stderr, "cannot read '%s': %s\n", folder, strerror(errno));
		return 1;
	}
	for (i = 0; i < n; i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name) >= sizeof(path))
			bad = 1;
		else
			bad |= replay_file(path);
		free(entry[i]);
	}
	free(entry);
	if (n == 0)
		fprintf(stderr, "'%s' is empty\n", folder);
	return bad || n == 0;
}

int main(int argc, char **argv)
{
	const char *name = strstr(argv[0], "replay_");
	char folder[4096];
	int i, bad = 0;

	if (argc > 1) {
		for (i = 1; i < argc; i++)
			bad |= replay_file(argv[i]);
		return bad;
	}
	if (!name || (size_t)snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s", name + 7) >= sizeof(folder)) {
		fprintf(stderr, "usage: replay_NAME [FILE...]\n");
		return 2;
	}
	return replay_folder(folder);
}
