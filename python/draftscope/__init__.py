# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of speculative decoding: read(path) gives pandas frames, record and Writer make recordings, plot draws rounds."""

from .recording import Recording, read
from .writer import Writer

__all__ = ["Recording", "Writer", "read"]
