#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Independent reference for rigid whole-GPU jobs: 'reference.py FILE NODESxGPUS POLICY [count|pack]'
prints job_id,start,finish (seconds, six decimals) for every job in order of submission; with
--summary only mean JCT, mean wait and makespan.

Policies: fifo, firstfit, sjf, easy (true run times). Shares no code with the simulator: a binary
heap of completions, a plain list as queue, Python integers as microseconds. At each instant all
completions come first, then all arrivals, then one pass over the queue.

'reference.py generate JOBS SEED LOAD NODESxGPUS WHOLE' writes a job file: sizes 1/2/4/8/16, log-normal
durations, Poisson arrivals; times in whole seconds (many ties) when WHOLE is 1, else in microseconds."""
import bisect
import csv
import gzip
import heapq
import random
import sys
from decimal import Decimal


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", newline="") as f:
        rows = [(int(Decimal(r["submit_time"]) * 1000000), int(r["num_gpus"]),
                 int(Decimal(r["duration"]) * 1000000), r["job_id"]) for r in csv.DictReader(f)]
    return sorted(rows, key=lambda r: r[0])  # stable: ties in the order of the file


class Count:
    """Any free GPU."""

    def __init__(self, nodes, gpus):
        self.free = nodes * gpus

    def take(self, n):
        if n > self.free:
            return None
        self.free -= n
        return n

    def give(self, n):
        self.free += n

    def full(self):
        return self.free == 0


class Pack:
    """One node, fewest free GPUs that still fit, lowest index on ties; larger jobs: whole free nodes."""

    def __init__(self, nodes, gpus):
        self.gpus, self.free = gpus, [gpus] * nodes

    def take(self, n):
        if n <= self.gpus:
            fits = [(f, i) for i, f in enumerate(self.free) if f >= n]
            plan = [(min(fits)[1], n)] if fits else None
        else:
            whole = [i for i, f in enumerate(self.free) if f == self.gpus]
            k = n // self.gpus
            if n % self.gpus:
                raise SystemExit("pack: sizes over one node must be whole nodes here")
            plan = [(i, self.gpus) for i in whole[:k]] if len(whole) >= k else None
        for i, g in plan or ():
            self.free[i] -= g
        return plan

    def give(self, plan):
        for i, g in plan:
            self.free[i] += g

    def full(self):
        return not any(self.free)


def easy(queue, jobs, now, place, running, start):
    """Aggressive backfilling around a reservation for the head of the queue."""
    while queue and jobs[queue[0]][1] <= place.free:
        start(queue.pop(0))
    if not queue:
        return
    need, free = jobs[queue[0]][1], place.free
    for end, j in sorted(running):
        free += jobs[j][1]
        if free >= need:
            shadow = end
            break
    # every completion of that instant is back before the head starts
    free = place.free + sum(jobs[j][1] for end, j in running if end <= shadow)
    extra, kept = free - need, [queue[0]]
    for at, j in enumerate(queue[1:], 1):
        if place.free == 0:
            kept += queue[at:]
            break
        n, fits_in_time = jobs[j][1], now + jobs[j][2] <= shadow
        if n <= place.free and (fits_in_time or n <= extra):
            extra -= 0 if fits_in_time else n
            start(j)
        else:
            kept.append(j)
    queue[:] = kept


def simulate(jobs, nodes, gpus, policy, rule):
    place = {"count": Count, "pack": Pack}[rule](nodes, gpus)
    queue, running, held = [], [], {}
    begin, finish = [None] * len(jobs), [None] * len(jobs)
    arrived, now = 0, 0

    def start(j):
        begin[j], finish[j] = now, now + jobs[j][2]
        heapq.heappush(running, (finish[j], j))

    def try_start(j):
        got = place.take(jobs[j][1])
        if got is not None:
            held[j] = got
            start(j)
        return got is not None

    def start_counted(j):  # easy() has checked that it fits
        if not try_start(j):
            raise SystemExit("easy started a job that does not fit")

    while arrived < len(jobs) or running:
        now = min([end for end, _ in running[:1]] + [job[0] for job in jobs[arrived:arrived + 1]])
        while running and running[0][0] == now:
            j = heapq.heappop(running)[1]
            place.give(held.pop(j))
        while arrived < len(jobs) and jobs[arrived][0] == now:
            if policy == "sjf":
                bisect.insort(queue, arrived, key=lambda j: (jobs[j][2], j))
            else:
                queue.append(arrived)
            arrived += 1
        if policy == "easy":
            easy(queue, jobs, now, place, running, start_counted)
        elif policy == "firstfit":
            kept = []
            for at, j in enumerate(queue):
                if place.full():
                    kept += queue[at:]
                    break
                if not try_start(j):
                    kept.append(j)
            queue = kept
        else:
            while queue and try_start(queue[0]):
                queue.pop(0)
    if queue:
        raise SystemExit("jobs left over: larger than the cluster?")
    return begin, finish


def generate(n, seed, load, gpus, whole):
    draw = random.Random(seed)
    jobs = []
    for _ in range(n):
        size = draw.choices((1, 2, 4, 8, 16), (70, 10, 10, 8, 2))[0]
        jobs.append((size, max(1, round(draw.lognormvariate(6.4, 1.8) * 1000000))))
    gap = sum(size * us for size, us in jobs) / (load * gpus * n)
    unit, t = 1000000 if whole else 1, 0.0
    print("job_id,submit_time,num_gpus,duration")
    for i, (size, us) in enumerate(jobs):
        t += draw.expovariate(1 / gap)
        at, us = int(t) // unit * unit, max(unit, us // unit * unit)
        print("j%d,%d.%06d,%d,%d.%06d" % (i, at // 10**6, at % 10**6, size, us // 10**6, us % 10**6))


def main():
    if sys.argv[1:2] == ["generate"] and len(sys.argv) == 7:
        nodes, gpus = (int(x) for x in sys.argv[5].split("x"))
        return generate(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), nodes * gpus, sys.argv[6] == "1")
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    if len(args) < 3:
        raise SystemExit(__doc__)
    jobs = read(args[0])
    nodes, gpus = (int(x) for x in args[1].split("x"))
    begin, finish = simulate(jobs, nodes, gpus, args[2], args[3] if len(args) > 3 else "count")
    if "--summary" in sys.argv:
        n = len(jobs)
        print("%.3f %.3f %.0f" % (sum(finish[i] - jobs[i][0] for i in range(n)) / n / 1e6,
                                  sum(begin[i] - jobs[i][0] for i in range(n)) / n / 1e6,
                                  (max(finish) - jobs[0][0]) / 1e6))
        return
    print("job_id,start,finish")
    for (_, _, _, name), b, f in zip(jobs, begin, finish):
        print("%s,%d.%06d,%d.%06d" % (name, b // 10**6, b % 10**6, f // 10**6, f % 10**6))


if __name__ == "__main__":
    main()
