#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A report in a browser, where there is one: nothing on the console, and neither a wide screen
# nor a telephone scrolls sideways.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness

S=$root/experiments/paper/scenario.yaml
small="--set cluster.nodes=2 --set generate.days=0.3 --set sim.until=25920"
for policy in volcano lucid elastico; do
	# shellcheck disable=SC2086 # words
	(cd "$work/here" && "$C" run "$S" --policy $policy $small --out "$work/$policy.h5" >/dev/null 2>&1)
done
cat >"$work/repro.csv" <<'S'
id,table,unit,place,role,published,ours,mean_lo,mean_hi,lo,hi,fits_lo,fits_hi,seeds,agrees,definition,note
t.fit,t,x,"Table <4>",fit,2,1.9,1.8,2,1.5,2.5,,,10,yes,how it is meant,
t.hit,t,%,Table 4,predict,40,41,40,42,35,45,,,10,yes,,
t.miss,t,%,Table 4,predict,40,60,59,61,50,70,,,10,NO,,"a note, with <i>"
t.none,t,s,Table 9,beside,3,,,,,,,,0,not produced,,why not
S
begin "page" "$C" report "$work/volcano.h5" "$work/lucid.h5" "$work/elastico.h5" --figures "$work/repro.csv" --out "$work/r.html"
status 0; no_out; no_err
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
	# a page in a frame of so many pixels, all of it unfolded: does its body scroll sideways?
	frame() { # WIDTH PAGE
		cat >"$work/frame.html" <<S
<!DOCTYPE html><iframe src="$2" style="width:$1px;height:900px;border:0"></iframe><script>
onload = () => {
	const d = frames[0].document;
	d.querySelectorAll("details").forEach(e => { e.open = true; });
	document.title = d.documentElement.scrollWidth <= $1 && d.body.scrollWidth <= $1 ? "fits" : "too wide";
};
</script>
S
	}
	headless="--headless --no-sandbox --disable-gpu --user-data-dir=$work/profile --allow-file-access-from-files --virtual-time-budget=5000"
	# shellcheck disable=SC2086 # words
	begin "browser" "$browser" $headless --enable-logging=stderr --dump-dom "file://$work/r.html"; status 0
	that [ "$(grep -c 'CONSOLE' "$work/err")" = 0 ]; out '*<h1>Cotenant report</h1>*'
	for width in 1280 390; do
		frame $width r.html
		# shellcheck disable=SC2086
		begin "browser, $width pixels" "$browser" $headless --dump-dom "file://$work/frame.html"; status 0; out '*<title>fits</title>*'
	done
	# That these would have seen it.
	echo '<!DOCTYPE html><div style="width:2000px">x</div><script>nothing()</script>' >"$work/bad.html"
	frame 1280 bad.html
	# shellcheck disable=SC2086
	begin "browser, a page too wide" "$browser" $headless --dump-dom "file://$work/frame.html"; out '*<title>too wide</title>*'
	# shellcheck disable=SC2086
	begin "browser, an error" "$browser" $headless --enable-logging=stderr --dump-dom "file://$work/bad.html"
	that grep -q 'CONSOLE.*nothing is not defined' "$work/err"
else
	skip "browser" "no chromium"
fi
finish
