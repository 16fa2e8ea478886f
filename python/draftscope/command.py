# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts the programs that a wheel with the command brings in draftscope/bin."""

import ctypes
import os
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent / "bin"


def start(name):
    program = PROGRAMS / name
    try:
        os.execv(program, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: {program}: {error.strerror}, expected the program that this package brings")


def cli():
    start("draftscope")


def gui():
    try:
        for library in ("libQt6Widgets.so.6", "libQt6Svg.so.6"):
            ctypes.CDLL(library)
    except OSError as error:
        sys.exit(f"draftscope-gui: found no Qt 6 ({error}), expected the system's (Debian: libqt6widgets6 libqt6svg6 libqt6printsupport6)")
    start("draftscope-gui")
