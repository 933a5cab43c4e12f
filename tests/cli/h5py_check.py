#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a result file readable without our code, and does it say what the CSV files say?

	h5py_check.py RESULT.h5 DIR      DIR holds jobs.csv, summary.csv, series.csv
	h5py_check.py RESULT.h5          reads only

Exit status: 0 agreed, 1 did not, 77 h5py is missing (the test is skipped).
"""
import csv
import math
import os
import sys

try:
    import h5py
except ImportError:
    print("h5py_check.py: skipped: this Python has no h5py")
    sys.exit(77)


def fail(text):
    print("h5py_check.py: " + text)
    sys.exit(1)


def text(value):
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def column(f, dataset):
    """The values of a column: str, int, or float with NaN for what is absent."""
    if "heap" in dataset.attrs:  # one long text among many: offsets into a block of bytes
        heap = f[dataset.attrs["heap"]][:].tobytes()
        return [text(heap[at:heap.index(b"\0", at)]) for at in dataset[:]]
    if dataset.dtype.kind == "S":
        return [text(v) for v in dataset[:]]
    return [v.item() for v in dataset[:]]


def same(kind, value, field):
    if kind in ("code", "text"):
        return value == field
    if kind == "integer":
        return str(value) == field
    if field == "":
        return math.isnan(value)
    return float(field) == value


def check_frame(f, name, path):
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as stream:
        rows = list(csv.reader(stream))
    head, rows = rows[0], rows[1:]
    group = f[name]
    names = [d.attrs.get("name", link) for link, d in group.items()]
    if names != head:
        fail("%s: columns differ:\n  h5  %s\n  csv %s" % (name, names, head))
    for k, dataset in enumerate(group.values()):
        values, kind = column(f, dataset), dataset.attrs["kind"]
        if len(values) != len(rows):
            fail("%s/%s has %d rows, the CSV %d" % (name, head[k], len(values), len(rows)))
        for i, value in enumerate(values):
            if not same(kind, value, rows[i][k]):
                fail("%s/%s, row %d: %r in HDF5, %r in CSV" % (name, head[k], i, value, rows[i][k]))
    return len(head), len(rows)


def check_summary(f, path):
    with open(path, newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    if sorted(r["metric"] for r in rows) != sorted(f["summary"]):
        fail("summary: other metrics than in the CSV")
    for r in rows:
        d = f["summary"][r["metric"]]
        if not same("real", d[()].item(), r["value"]) or text(d.attrs["unit"]) != r["unit"]:
            fail("summary/%s: %r in HDF5, %r in CSV" % (r["metric"], d[()], r["value"]))


def main():
    if len(sys.argv) not in (2, 3):
        fail("usage: h5py_check.py RESULT.h5 [DIR]")
    with h5py.File(sys.argv[1], "r") as f:
        if f.attrs["format"] != "cotenant-result" or f.attrs["complete"] != 1:
            fail("not a complete result")
        if len(f.attrs["digest"]) != 64:
            fail("no digest")
        config = text(f["manifest/config"][()])
        columns, rows = len(f["jobs"]), len(next(iter(f["jobs"].values())))
        if len(sys.argv) == 3:
            for name in ("jobs", "series") + (("events",) if "events" in f else ()):
                size = check_frame(f, name, os.path.join(sys.argv[2], name + ".csv"))
                if name == "jobs":
                    columns, rows = size
            check_summary(f, os.path.join(sys.argv[2], "summary.csv"))
        print("h5py_check.py: %d jobs, %d columns, %d lines of configuration" % (rows, columns, config.count("\n")))


main()
