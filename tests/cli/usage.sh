#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Help, version, and misuse: what goes to which stream, with which exit status.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness

begin "no command" "$C"; status 2; no_out; err "usage: cotenant COMMAND*"
begin "--help" "$C" --help; status 0; no_err; out "usage: cotenant COMMAND*"; out "  run *"
begin "-h" "$C" -h; status 0; no_err; out "usage: cotenant COMMAND*"
begin "--version" "$C" --version; status 0; no_err
out "cotenant [0-9]*.[0-9]* (*)"; out "compiler: *"; out "libraries: gsl *, hdf5 *, zlib *, libyaml *, openssl *"
begin "unknown command" "$C" rnu; status 2; no_out; err "cotenant: error: unknown command 'rnu'; did you mean 'run'?"
begin "unknown command, nothing near" "$C" elephant; status 2; err "cotenant: error: unknown command 'elephant'"
begin "help of an unknown command" "$C" help chekc; status 2; err "*did you mean 'check'?"

for c in run check policies compare plan trace; do
	begin "$c --help" "$C" $c --help; status 0; no_err; out "usage: cotenant $c *"; out "examples:"
	that [ "$(wc -l <"$work/out")" -le 24 ]
	that [ "$(awk '{ if (length > m) m = length } END { print m }' "$work/out")" -le 100 ]
	tail -n 1 "$work/out" >"$work/last"
	that has_line "$work/last" "  cotenant $c *"
	cp "$work/out" "$work/help"
	begin "$c -h" "$C" $c -h; status 0; no_err; that cmp -s "$work/out" "$work/help"
	begin "help $c" "$C" help $c; status 0; that cmp -s "$work/out" "$work/help"
	begin "$c, unknown option" "$C" $c --jsno; status 2; no_out
	err "cotenant: error: unknown option '--jsno'*"; err "usage: cotenant $c *"
done
begin "help fits a screen" "$C" --help
that [ "$(wc -l <"$work/out")" -le 24 ]

begin "help metrics" "$C" help metrics; status 0; no_err
out "backlog_growth *GPUs *(work submitted in the window*"; out "profile_hits_frac *arrivals whose workload*"
cp "$work/out" "$work/manual"
begin "every metric of a run" "$C" run --trace "$root/tests/data/conformance/easy3.csv" --cluster 1x4 --policy fifo --csv "$work/m"; status 0
that [ "$(sed 1d "$work/m/summary.csv" | wc -l)" -ge 40 ]
that [ "$(sed '1d; s/,.*//' "$work/m/summary.csv" | while read -r key; do grep -q "^$key " "$work/manual" || echo "$key"; done)" = "" ]

begin "help config" "$C" help config; status 0; no_err
for key in trace.file trace.load cluster.nodes policy.name sim.seed sim.until contention.pairs transitions.start \
	output.file; do
	out "  $key *"
done

begin "run, nothing" "$C" run; status 2; no_out; err "cotenant: error: nothing to run*"
begin "run, two files" "$C" run a.yaml b.yaml; status 2; err "*one configuration at most, got 'b.yaml' too"
begin "run, unknown option" "$C" run --polcy fifo; status 2; err "*unknown option '--polcy'; did you mean '--policy'?"
begin "run, short option" "$C" run -x; status 2; err "*unknown option '-x'"
begin "run, option without value" "$C" run --trace; status 2; err "cotenant: error: option '--trace' wants FILE"
begin "run, value for a switch" "$C" run --json=3; status 2; err "cotenant: error: option '--json' takes no value"
begin "run, value for help" "$C" run --help=3; status 2; err "cotenant: error: option '--help' takes no value"
begin "run, bad --progress" "$C" run --progress=often; status 2; err "*--progress wants auto, always or never, got 'often'"
begin "run, bad --cluster" "$C" run --cluster 8by8 --trace t --policy fifo; status 2
err "cotenant: error: --cluster wants NODESxGPUS such as 32x8, got '8by8'"
begin "run, --set without =" "$C" run --set sim.seed --cluster 1x1 --trace t --policy fifo; status 2
err "cotenant: error: --set wants key=value, got 'sim.seed'"
begin "check, nothing" "$C" check; status 2; err "cotenant: error: nothing to check"
begin "policies, two names" "$C" policies fifo sjf; status 2; err "*one policy at most, got 'sjf' too"
begin "trace, nothing" "$C" trace; status 2; err "cotenant: error: nothing to do"
begin "trace, unknown action" "$C" trace ifno; status 2; err "*did you mean 'info'?"
begin "trace info, no file" "$C" trace info; status 2; err "*'info' wants one file, got 0"
begin "trace import, no --out" "$C" trace import x.csv; status 2; err "*'import' wants --out FILE"
begin "trace import, other ending" "$C" trace import x.csv --out y.xls; status 2; err "*ends in .h5, .csv or .swf, got 'y.xls'"
begin "trace info, --out" "$C" trace info x.csv --out y.csv; status 2; err "*--out belongs to 'import'"
begin "compare, one file" "$C" compare a.h5; status 2

begin "policies" "$C" policies; status 0; no_err; out "fifo *"; out "easy *"; out "las *"
begin "policies NAME" "$C" policies easy; status 0; no_err; out "easy: *"; out "  policy.placement *"
begin "policies, unknown" "$C" policies fiof; status 6; no_out; err "*'fiof'*did you mean 'fifo'*"
begin "trace columns" "$C" trace columns; status 0; no_err; out "submit_time *(required)"; out "*also called: *"
begin "trace formats" "$C" trace formats; status 0; no_err; out "csv *"
files
finish
