# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a timeline as a trace viewer would, and adds it up.

timeline_check.py TIMELINE.json [JOBS.csv]
    prints one line a slice, "node tid from_s dur_s job", in the order of the file; wants
    events in order of time, none on top of another in a lane, names for every lane,
    and, with jobs.csv, each job's slices times its share to add up to its gpu_s.
"""
import csv
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    doc = json.load(f)
assert doc["displayTimeUnit"] == "ms"
last, busy, held, named, counters = None, {}, {}, set(), set()
for e in doc["traceEvents"]:
    assert all(type(e[k]) is int for k in ("pid", "tid", "ts")), e
    assert last is None or e["ts"] >= last, ("not in order of time", e)
    last = e["ts"]
    lane = e["pid"], e["tid"]
    if e["ph"] == "M":
        if e["name"] == "thread_name":
            named.add(lane)
    elif e["ph"] == "C":
        counters.add(e["name"])
        assert all(v >= 0 for v in e["args"].values()), e
    else:
        assert e["ph"] == "X" and type(e["dur"]) is int and e["dur"] > 0, e
        assert lane in named, ("lane without a name", e)
        assert busy.get(lane, e["ts"]) <= e["ts"], ("two at once", e)
        busy[lane] = e["ts"] + e["dur"]
        job = e["args"]["job"]
        held[job] = held.get(job, 0) + e["dur"] * e["args"]["share"]
        print(*lane, "%g %g" % (e["ts"] / 1e6, e["dur"] / 1e6), job)
assert counters == {"queue length", "free GPUs"}, counters
if len(sys.argv) > 2:
    with open(sys.argv[2], encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            want = float(row["gpu_s"] or 0)
            have = held.get(row["job_id"], 0) / 1e6
            assert abs(have - want) <= 1e-6 * max(1, want), (row["job_id"], have, want)
