#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `report`: a page read back into numbers, a timeline known by hand and one added up.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
H=$work/here
run() { (cd "$H" && "$C" run "$@" >/dev/null 2>&1); }
python=$(command -v python3)

# The trace of explain.sh: 4 GPUs, fifo: big 0 to 100 on 3 of them, wide 100 to 150, then small
# and late. Its names want escaping.
cat >"$work/a.csv" <<'S'
job_id,submit_time,num_gpus,duration,model
"<script>alert(1)</script>&""x'",0,3,100,<b>A
wide,10,4,50,B
small,20,1,200,C
late,30,1,10,A
S
run --trace "$work/a.csv" --cluster 1x4 --policy fifo --out "$work/fifo.h5" --csv "$work/fifo"
run --trace "$work/a.csv" --cluster 1x4 --policy easy --out "$work/easy.h5" --csv "$work/easy"
cat >"$work/repro.csv" <<'S'
id,table,unit,place,role,published,ours,mean_lo,mean_hi,lo,hi,fits_lo,fits_hi,seeds,agrees,definition,note
t.fit,t,x,"Table <4>",fit,2,1.9,1.8,2,1.5,2.5,,,10,yes,how it is meant,
t.hit,t,%,Table 4,predict,40,41,40,42,35,45,,,10,yes,,
t.miss,t,%,Table 4,predict,40,60,59,61,50,70,,,10,NO,,"a note, with <i>"
t.none,t,s,Table 9,beside,3,,,,,,,,0,not produced,,why not
S

begin "page" "$C" report "$work/fifo.h5" "$work/easy.h5" --figures "$work/repro.csv" --out "$work/r.html"; status 0; no_out; no_err
cp "$work/r.html" "$work/out"
out '<tr><th scope="row">&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;x&#39;</th>*&lt;b&gt;A</td>*'
that [ "$(grep -c '<script\|<b>\|<i>' "$work/r.html")" = 0 ]
# 4 jobs, JCT 100, 140, 330 and 130 s under fifo, where late is backfilled under easy: 10 s
out '<tr><th scope="row">mean_jct_s</th><td class="number">175.000</td><td class="number">145.000</td><td>s</td>*job completion time*'
out '<tr><th scope="row">t.miss</th>*<td class="verdict no">* does not agree</td>*a note, with &lt;i&gt;*'
out '<tr><th scope="row">t.none</th>*<td class="verdict none">not produced</td>*why not*'
out '*<strong>1 of 1</strong> figures agree.</p>'; out '*<strong>1 of 2</strong> figures agree.</p>'
out '<tr><th scope="row">t.fit</th><td class="place">Table &lt;4&gt;</td><td>x</td><td class="number">2.000</td><td class="number">1.900</td><td class="number">-5.0</td>*'
begin "the same page again" "$C" report "$work/fifo.h5" "$work/easy.h5" --figures "$work/repro.csv" --out "$work/r2.html"; status 0
that cmp "$work/r.html" "$work/r2.html"
# files of earlier versions have no aim; those of now have
awk -F, -v OFS=, 'NR == 1 { print $0, "aim", "tolerance" } /^t.fit/ { print $0, "met", "x0.07" } /^t.hit/ { print $0, "met", "a3" }
	/^t.miss/ { print $0, "missed", "a3" } /^t.none/ { sub("not produced", "unreachable"); print $0, "", "" }' "$work/repro.csv" >"$work/aim.csv"
begin "aims" "$C" report --figures "$work/aim.csv" --out "$work/aim.html"; status 0; no_err
cp "$work/aim.html" "$work/out"
out '<tr><th scope="row">t.fit</th>*<td>met (7 %)</td>*'; out '<tr><th scope="row">t.miss</th>*<td>missed (3)</td>*'
out '*<strong>1 of 2</strong> meet their aim.</p>'; out '*<td class="verdict none">unreachable</td>*'
sed 's/,met,/,nearly,/' "$work/aim.csv" >"$work/nearly.csv"
begin "an unknown aim" "$C" report --figures "$work/nearly.csv" --out "$work/x.html"; status 3; err "*nearly.csv:2:*'aim' wants met, missed or nothing, got 'nearly'"
begin "one run" "$C" report "$work/easy.h5" --out "$work/one.html"; status 0; no_err
that [ "$(grep -c 'Paired differences' "$work/one.html")" = 0 ]
begin "figures alone" "$C" report --figures "$work/repro.csv" --out "$work/f.html"; status 0; no_err

if [ -n "$python" ]; then
	begin "drawings read back" "$python" "$root/tests/cli/report_check.py" "$work/r.html" "$work/fifo" "$work/easy"; status 0; no_err
	out "read *fifo 4 jobs 6 bins"
else
	skip "drawings read back" "no python3"
fi

begin "timeline" "$C" report "$work/fifo.h5" --timeline "$work/t.json"; status 0; no_out; no_err
if [ -n "$python" ]; then
	check() { begin "$1" "$python" "$root/tests/cli/timeline_check.py" "$work/$2.json" "$work/$2/jobs.csv"; status 0; no_err; }
	cp "$work/t.json" "$work/fifo.json"
	check "timeline by hand" fifo
	cat >"$work/want" <<'S'
0 0 0 100 <script>alert(1)</script>&"x'
0 1 0 100 <script>alert(1)</script>&"x'
0 2 0 100 <script>alert(1)</script>&"x'
0 0 100 50 wide
0 1 100 50 wide
0 2 100 50 wide
0 3 100 50 wide
0 0 150 200 small
0 1 150 10 late
S
	that cmp "$work/want" "$work/out"

	# Preempted at 10, back at 15, 3 s of resume and the 90 s that were left.
	printf 'job_id,submit_time,num_gpus,duration\nlong,0,1,100\nshort,10,1,5\n' >"$work/c.csv"
	run --trace "$work/c.csv" --cluster 1x1 --policy srtf --set transitions.resume=3 --out "$work/srtf.h5" --csv "$work/srtf"
	"$C" report "$work/srtf.h5" --timeline "$work/srtf.json"
	check "preempted" srtf
	printf '0 0 0 10 long\n0 0 10 5 short\n0 0 15 93 long\n' >"$work/want"
	that cmp "$work/want" "$work/out"

	# Two on one GPU, for nothing: the second in a lane of its own, which is free again for the third.
	printf 'job_id,submit_time,num_gpus,duration\na,0,1,100\nb,10,1,20\nc,50,1,10\n' >"$work/b.csv"
	run --trace "$work/b.csv" --cluster 1x1 --policy fifo --set policy.residents=2 --out "$work/pair.h5" --csv "$work/pair"
	"$C" report "$work/pair.h5" --timeline "$work/pair.json"
	check "shared" pair
	printf '0 0 0 100 a\n0 1 10 20 b\n0 1 50 10 c\n' >"$work/want"
	that cmp "$work/want" "$work/out"

	# A day with moves, switches and profile runs, and one that stops before its jobs do.
	S=$root/experiments/paper/scenario.yaml
	run "$S" --policy elastico --out "$work/elastico.h5" --csv "$work/elastico"
	"$C" report "$work/elastico.h5" --timeline "$work/elastico.json"
	check "moves add up" elastico
	run "$S" --policy lucid --out "$work/lucid.h5" --csv "$work/lucid"
	"$C" report "$work/lucid.h5" --timeline "$work/lucid.json"
	check "profile runs add up" lucid
	run "$S" --policy easy --set sim.censor=true --out "$work/cut.h5" --csv "$work/cut"
	"$C" report "$work/cut.h5" --timeline "$work/cut.json"
	check "cut off, adds up" cut
else
	skip "timelines" "no python3"
fi

# Without decisions the placements of preempted jobs are not known, and it says so.
printf 'job_id,submit_time,num_gpus,duration\nlong,0,1,100\nshort,10,1,5\n' >"$work/c.csv"
run --trace "$work/c.csv" --cluster 1x1 --policy srtf --set sim.decisions=false --out "$work/no.h5"
begin "no decisions" "$C" report "$work/no.h5" --timeline "$work/no.json"; status 0; no_out
err "cotenant: 1 placements are not shown: the result does not say where or when; run it again with sim.decisions=true"
that [ "$(grep -c '"ph": "X"' "$work/no.json")" = 1 ]; that grep -q '"ph": "X", "name": "short"' "$work/no.json"
begin "limit" "$C" report "$work/fifo.h5" --timeline "$work/l.json" --limit 20; status 3; no_out
err "cotenant: error: the timeline has 33 events, more than 20, which a viewer may not bear; --limit 33 writes it all the same"
that [ ! -e "$work/l.json" ]

begin "nothing to write" "$C" report "$work/fifo.h5"; status 2; no_out; err "*give --out or --timeline"
begin "no results" "$C" report --out "$work/x.html"; status 2; no_out
begin "timeline of two" "$C" report "$work/fifo.h5" "$work/easy.h5" --timeline "$work/x.json"; status 2; no_out
begin "not a result" "$C" report "$work/a.csv" --out "$work/x.html"; status 5; no_out
begin "not figures" "$C" report --figures "$work/a.csv" --out "$work/x.html"; status 3; no_out
that [ ! -e "$work/x.html" ]
sed 's/,yes,/,perhaps,/' "$work/repro.csv" >"$work/bad.csv"
begin "an unknown verdict" "$C" report --figures "$work/bad.csv" --out "$work/x.html"; status 3; no_out
err "*bad.csv:2:*'agrees' wants yes, NO, not known, not produced, unreachable, synthetic or nothing, got 'perhaps'"
that [ ! -e "$work/x.html" ]
begin "no folder" "$C" report "$work/fifo.h5" --out "$work/none/x.html"; status 5; no_out
finish
