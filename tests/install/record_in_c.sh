# SPDX-License-Identifier: GPL-3.0-or-later
# Compiles the example as C11 against an installed folder, runs it, and validates and reports what it recorded.
# Usage: record_in_c.sh PREFIX LIBDIR DOCDIR CC DRAFTSCOPE FOLDER
set -eu
export PKG_CONFIG_PATH="$1/$2/pkgconfig"
flags=$(pkg-config --cflags --libs draftscope-record)
# shellcheck disable=SC2086
"$4" -std=c11 -pedantic -Wall -Wextra -Werror "$1/$3/examples/example.c" $flags "-Wl,-rpath,$1/$2" -o "$6/record_example"
rm -f "$6/example.dstrace"
"$6/record_example" "$6/example.dstrace"
"$5" inspect "$6/example.dstrace" --validate
"$5" report "$6/example.dstrace" | grep draft-model
# Nothing but the header's names is seen.
names=$(nm -D --defined-only "$1/$2/libdraftscope-record.so.1" | awk '$2 == "T" || $2 == "W" {print $3}' | grep -v '^draftscope_record_' || true)
[ -z "$names" ] || { echo "others' names are exported: $names" >&2; exit 1; }
