/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which writer a file name asks for. */
#include "traces/formats.h"
#include "traces/trace.h"

#include <string.h>

typedef int (*write_fn)(const struct ct_workload *w, const char *path, struct ct_err *err);

static write_fn writer_of(const char *path)
{
	static const struct {
		const char *end;
		write_fn write;
	} writers[] = { { ".csv", ct_trace_write_csv },
			{ ".swf", ct_trace_write_swf },
			{ ".h5", ct_trace_write_h5 },
			{ ".hdf5", ct_trace_write_h5 } };
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
		size_t k = strlen(writers[i].end);

		if (n > k && !strcmp(path + n - k, writers[i].end))
			return writers[i].write;
	}
	return NULL;
}

int ct_trace_can_write(const char *path)
{
	return writer_of(path) != NULL;
}

int ct_trace_write(const struct ct_workload *w, const char *path, struct ct_err *err)
{
	write_fn write = writer_of(path);

	CT_CHECK(NULL, write, "no writer for '%s'", path);
	return write(w, path, err);
}
