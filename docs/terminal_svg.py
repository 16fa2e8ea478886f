# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns a command's text into an SVG picture of a terminal: `draftscope report x.dstrace | python3 docs/terminal_svg.py > x.svg`."""
import sys
from xml.sax.saxutils import escape

CELL_WIDTH, LINE_HEIGHT, MARGIN = 7.22, 16, 14
FIRST_LINES = 30

lines = sys.stdin.read().rstrip("\n").split("\n")[:FIRST_LINES]
width = max(len(line) for line in lines) * CELL_WIDTH + 2 * MARGIN
height = len(lines) * LINE_HEIGHT + 2 * MARGIN
print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}">')
print('<rect width="100%" height="100%" rx="8" fill="#16191d"/>')
print('<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12" fill="#d5dae0">')
for number, line in enumerate(lines):
    baseline = MARGIN + (number + 0.75) * LINE_HEIGHT
    # textLength keeps the columns aligned whatever monospace font the reader has.
    print(f'<text x="{MARGIN}" y="{baseline:.0f}" xml:space="preserve" textLength="{len(line) * CELL_WIDTH:.1f}" '
          f'lengthAdjust="spacingAndGlyphs">{escape(line)}</text>' if line else "")
print("</g></svg>")
