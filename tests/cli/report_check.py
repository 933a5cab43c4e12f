# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a report as a browser would, and its drawings back into numbers.

report_check.py REPORT.html DIR...
    wants tags that nest, unique ids, all that aria-labelledby names, no script and
    nothing from elsewhere; then, curve by curve, compares the distributions of JCT and
    waiting with DIR/jobs.csv and the GPUs held with DIR/series.csv (`cotenant run --csv`),
    pixels turned into values by the ticks and their labels.
"""
import csv
import html.parser
import math
import re
import sys

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.ids, self.wanted = [], set(), set()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert tag not in ("script", "link", "img", "iframe", "object"), tag
        for name, value in attrs.items():
            assert not name.startswith("on") and name not in ("src", "href"), (tag, name, value)
        if "id" in attrs:
            assert attrs["id"] not in self.ids, attrs["id"]
            self.ids.add(attrs["id"])
        self.wanted.update(attrs.get("aria-labelledby", "").split())
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack and self.stack[-1] == tag, (tag, self.stack[-3:], self.getpos())
        self.stack.pop()


def line(points):
    """Least squares through (pixel, value)."""
    n = len(points)
    mx, my = sum(p for p, _ in points) / n, sum(v for _, v in points) / n
    slope = sum((p - mx) * (v - my) for p, v in points) / sum((p - mx) ** 2 for p, _ in points)
    return lambda p: my + slope * (p - mx)


def read_plot(svg, log_x):
    x = [(float(p), float(v)) for p, v in re.findall(r'class="tick" d="M([\d.]+) [^>]*/><text[^>]*>([^<]+)<', svg)]
    y = [(float(p), float(v)) for p, v in re.findall(r'class="grid" d="M\d+ ([\d.]+)H[^>]*/><text[^>]*>([^<]+)<', svg)]
    at_x, at_y = line([(p, math.log(v) if log_x else v) for p, v in x]), line(y)
    curves = {}
    for number, d in re.findall(r'<path class="s(\d)" d="([^"]*)"', svg):
        numbers = [float(v) for v in re.findall(r"[\d.]+", d)]
        curves[int(number)] = [(at_x(a), at_y(b)) for a, b in zip(numbers[::2], numbers[1::2])]
    return curves


def step_at(curve, x):
    value = None
    for a, b in curve:
        if a <= x:
            value = b
    return value


def rows(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
assert not page.stack and page.wanted <= page.ids
assert "http" not in re.sub(r"http-equiv", "", text), "something from elsewhere"
plots = {m[1]: m[0] for m in re.findall(r'(<svg class="plot".*?aria-labelledby="(\w+)-t.*?</svg>)', text, re.S)}
for i, folder in enumerate(sys.argv[2:]):
    jobs = [r for r in rows(folder + "/jobs.csv") if r["measured"] == "1"]
    for plot, column in (("jct", "turnaround_time"), ("wait", "queue_s")):
        curve, values = read_plot(plots[plot], True)[i], sorted(float(r[column]) for r in jobs)
        for k in range(len(values) - 1):
            if values[k + 1] > 1.1 * values[k] and values[k] > 0:  # between two steps that can be seen apart
                have = step_at(curve, math.log(values[k] * values[k + 1]) / 2)
                assert abs(have - (k + 1) / len(values)) < 0.01, (folder, plot, values[k], have)
        assert abs(curve[-1][1] - 1) < 0.01, (plot, curve[-1])
    series = rows(folder + "/series.csv")
    curve, first = read_plot(plots["held"], False)[i], float(series[0]["time"])
    for a, b in zip(series, series[1:]):
        have = step_at(curve, (float(a["time"]) + float(b["time"])) / 2 - first)
        want = 100 * float(a["held_gpus"]) / float(a["total_gpus"])
        assert abs(have - want) < 0.6, (folder, a["time"], have, want)
    print("read", folder, len(jobs), "jobs", len(series), "bins")
