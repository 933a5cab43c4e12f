#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The direction of includes between the folders (the table in README.md, "Where
# things are"); include paths start at the root; policy.h, which is installed
# alone, includes only headers of the C standard; a plug-in only policy.h.
set -u
cd "$(dirname "$0")/../.." || exit 1
find sim traces calib scheduler experiments tests -name '*.[ch]' | LC_ALL=C sort | xargs awk '
BEGIN {
	may["sim"] = "sim"
	may["traces"] = "traces sim"
	may["calib"] = "calib sim"
	may["scheduler"] = "scheduler calib sim"
	may["experiments"] = "experiments scheduler calib traces sim"
	may["tests"] = "tests experiments scheduler calib traces sim"
	standard = " assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg" \
		" stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time uchar wchar wctype "
}
function wrong(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }
/^[ \t]*#[ \t]*include/ {
	n++
	split(FILENAME, part, "/"); folder = part[1]
	if (match($0, /"[^"]*"/)) {
		name = substr($0, RSTART + 1, RLENGTH - 2)
		if (name == "revision.h") next # generated
		if (name !~ /\//) { wrong("include path of \"" name "\" does not start at the root"); next }
		split(name, part, "/")
		if (index(" " may[folder] " ", " " part[1] " ") == 0)
			wrong(folder "/ may include " may[folder] ", not \"" name "\"")
		if (FILENAME == "scheduler/policy.h" || (FILENAME ~ /^scheduler\/example\// && name != "scheduler/policy.h"))
			wrong("\"" name "\" is not there for a plug-in")
	} else if (FILENAME == "scheduler/policy.h" && match($0, /<[^>]*>/)) {
		name = substr($0, RSTART + 1, RLENGTH - 2); sub(/\.h$/, "", name)
		if (index(standard, " " name " ") == 0) wrong("<" name ".h> is no header of the C standard")
	}
}
END { if (bad) { print "includes: FAILED"; exit 1 } printf "includes: ok, %d lines\n", n }'
