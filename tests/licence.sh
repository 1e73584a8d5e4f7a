#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every source file says under which licence it stands, in its first line or behind the line that names its
# interpreter: licence.sh SOURCE_DIRECTORY [--write]. With --write it adds the line where there is none.
set -u
cd "$1" || exit 1
write=${2:-}
status=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT

# line_of FILE: the line that belongs there.
line_of() {
	local words='SPDX-License-Identifier: Apache-2.0'
	case $1 in
	*.c | *.h | *.def | *.css) echo "/* $words */" ;;
	*.sql) echo "-- $words" ;;
	*.js) echo "// $words" ;;
	*) echo "# $words" ;;
	esac
}

# add FILE: one line and nothing else, so that branches merge.
add() {
	local at=1
	[ "$(head -c 2 "$1")" = '#!' ] && at=2
	if [ $at = 2 ]; then sed -i "1a $(line_of "$1")" "$1"; else sed -i "1i $(line_of "$1")" "$1"; fi
}

find .ci CMakeLists.txt cmake codecs index fs mountd tests contrib -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.js' -o -name '*.css' -o -name '*.sh' \
	-o -name '*.py' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.sql' -o -name '*.bash' -o -name '*.supp' \
	-o -name '*.sbatch' -o -path '.ci/*' -o -path 'contrib/systemd/*' \) -print0 >"$list"
count=$(tr -cd '\0' <"$list" | wc -c)
while IFS= read -r file; do
	if [ "$write" = --write ]; then
		add "$file"
	else
		echo "$file: no SPDX-License-Identifier in its first line: bash tests/licence.sh . --write"
		status=1
	fi
done < <(xargs -0 awk 'FNR == 1 {without[FILENAME]} FNR > 2 {nextfile} /SPDX-License-Identifier: [A-Z]/ {delete without[FILENAME]}
	END {for (file in without) print file}' <"$list")
[ "$count" -gt 100 ] || { echo "only $count source files found"; status=1; }
exit $status
