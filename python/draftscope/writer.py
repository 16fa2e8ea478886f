# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes draftscope-rounds, the neutral JSON lines of docs/rounds-format.md. Each line is on its way to the disk before the
call returns, so that a process that is killed loses at most the line that it was writing (draftscope import --partial)."""

import itertools
import json
import math
import os
import socket
import threading
import time


def finite(value):
    """The value, with None for every float in it that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [finite(entry) for entry in value]
    if isinstance(value, dict):
        return {name: finite(entry) for name, entry in value.items()}
    return value


def line_of(record, fields):
    """A line; what is None is left out, what is not a number is null."""
    known = {"record": record}
    for name, value in fields.items():
        value = finite(value)
        if value is not None:
            known[name] = value
    return json.dumps(known, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


class Writer:
    """One file. Requests of several threads may interleave. Times are time.monotonic_ns()."""

    def __init__(self, path, engine, engine_version=None, model=None, settings=None, lacks=None, rank=None, overwrite=False):
        self.path = os.fspath(path)
        self._file = open(self.path, "w" if overwrite else "x", encoding="utf-8", errors="replace", buffering=1)
        self._lock = threading.Lock()
        self._requests = 0
        self._names = set()
        self.write("header", format="draftscope-rounds", version=1, engine=engine, engine_version=engine_version, model=model,
                   host=socket.gethostname(), rank=rank, settings=settings or {}, lacks=lacks or None,
                   clock={"monotonic_ns": time.monotonic_ns(), "realtime_ns": time.time_ns()})

    def write(self, record, **fields):
        line = line_of(record, fields)
        with self._lock:
            self._file.write(line)

    def run(self, run, baseline=False, parameters=None):
        """Tells a run's parameters, before its first request."""
        self.write("run", run=run, baseline=baseline or None, parameters=parameters)

    def request(self, run, name=None, **fields):
        """Begins a request; its fields are those of docs/rounds-format.md. A name that began before gets a number."""
        with self._lock:
            self._requests += 1
            name = name or str(self._requests)
            numbered = (f"{name}#{again}" for again in itertools.count(2))
            name = next(free for free in itertools.chain([name], numbered) if free not in self._names)
            self._names.add(name)
        self.write("request", request=name, run=run, **fields)
        return Request(self, name)

    def close(self):
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Request:
    """A request under way."""

    def __init__(self, writer, name):
        self.writer = writer
        self.name = name

    def round(self, accepted, **fields):
        self.writer.write("round", request=self.name, accepted=accepted, **fields)

    def end(self, **fields):
        self.writer.write("end", request=self.name, **fields)
