# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns what a command shows in a terminal into an SVG picture:
`python3 docs/terminal_svg.py build/release/cli/draftscope report x.dstrace > x.svg`."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from xml.sax.saxutils import escape

COLUMNS, FIRST_LINES = 134, 30
CELL_WIDTH, LINE_HEIGHT, MARGIN = 7.22, 16, 14


def shown(command: list[str]) -> str:
    """Text of the command in a terminal of COLUMNS."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=follower, env=environment)
    os.close(follower)
    text = b""
    try:
        while chunk := os.read(leader, 65536):
            text += chunk
    except OSError:  # Linux' end of a terminal
        pass
    if process.wait() != 0:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text.decode()).replace("\r\n", "\n")


lines = shown(sys.argv[1:]).rstrip("\n").split("\n")[:FIRST_LINES]
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
