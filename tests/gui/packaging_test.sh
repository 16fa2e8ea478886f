#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a desktop needs of the app, as its own tools see it. Ends with 77 where the tool is missing.
# Usage: packaging_test.sh desktop-entry | metainfo | icons | installed PREFIX
set -euo pipefail
packaging=$(cd "$(dirname "$0")/../../gui/packaging" && pwd)
id=org.draftscope.Draftscope

need() {
  command -v "$1" >/dev/null || { echo "$1 is not installed"; exit 77; }
}
wrong() {
  echo "$1" >&2
  exit 1
}

case $1 in
  desktop-entry)
    need desktop-file-validate
    [ -z "$(desktop-file-validate "$packaging/$id.desktop" | tee /dev/stderr)" ] || wrong "found hints or errors, expected none"
    ;;
  metainfo)
    need appstreamcli
    # From 1.0 on it warns that there is no homepage, and there is none. It does not let older releases leave that out.
    said=$(appstreamcli validate --no-net --explain "$packaging/$id.metainfo.xml" 2>&1) || {
      faults=$(grep '^[EW]: ' <<<"$said" || true)
      [[ $faults == *' url-homepage-missing' && $faults != *$'\n'* ]] || wrong "$said"
    }
    # Validation does not look whether what it names is there.
    grep -q "<launchable type=\"desktop-id\">$id.desktop</launchable>" "$packaging/$id.metainfo.xml" || wrong "launchable: expected $id.desktop"
    grep -q '<binary>draftscope-gui</binary>' "$packaging/$id.metainfo.xml" || wrong "binary: expected draftscope-gui"
    grep -q '^Exec=draftscope-gui ' "$packaging/$id.desktop" || wrong "Exec: expected draftscope-gui"
    grep -q "^Icon=$id\$" "$packaging/$id.desktop" || wrong "Icon: expected $id"
    ;;
  icons)
    for size in 16 32 48 64 128; do
      # Width and height are the two big-endian numbers at byte 16 of a PNG.
      found=$(od -An -tx1 -j16 -N8 "$packaging/icons/$id-$size.png" | tr -d ' \n')
      [ "$found" = "$(printf '%08x%08x' $size $size)" ] || wrong "icon $size: found $found, expected $size x $size"
    done
    grep -q '<svg' "$packaging/icons/$id.svg" || wrong "$id.svg: expected an SVG"
    ;;
  installed)
    prefix=$2
    files=(bin/draftscope-gui "share/applications/$id.desktop" "share/metainfo/$id.metainfo.xml" "share/mime/packages/$id.xml"
      "share/icons/hicolor/scalable/apps/$id.svg" share/draftscope/samples/early-exit.dstrace
      share/draftscope/samples/h200-smollm2-graph.dstrace share/draftscope/samples/h200-smollm2-node.dstrace share/draftscope/samples/h200-llama-1b-operations.dstrace
      share/draftscope/docs/samples.md
      share/draftscope/docs/concepts.md share/draftscope/docs/gui/window.png share/draftscope/traces/SCHEMA.md
      bin/draftscope include/draftscope/base/result.h include/draftscope/traces/reader.h include/draftscope/simulator/answers/what_if.h)
    for size in 16 32 48 64 128; do files+=("share/icons/hicolor/${size}x$size/apps/$id.png"); done
    for file in "${files[@]}"; do
      [ -s "$prefix/$file" ] || wrong "$prefix/$file: expected after cmake --install"
    done
    need update-mime-database
    share=$(mktemp -d)
    trap 'rm -r "$share"' EXIT
    cp -r "$prefix/share/mime" "$share"
    update-mime-database "$share/mime"
    grep -q 'application/x-draftscope-trace:\*\.dstrace' "$share/mime/globs2" || wrong "MIME: expected *.dstrace"
    grep -aq 'application/x-draftscope-trace' "$share/mime/magic" || wrong "MIME: expected its magic"
    # The magic as the sample has it: the application id of its SQLite header.
    [ "$(head -c 72 "$prefix/share/draftscope/samples/early-exit.dstrace" | tail -c 4)" = DStr ] || wrong "sample: expected DStr at byte 68"
    ;;
  *)
    wrong "found $1, expected desktop-entry, metainfo, icons or installed"
    ;;
esac
