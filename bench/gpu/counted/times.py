# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of passes from what their kernels move: a model, no measurement.

A kernel takes the longer of its bytes and its instructions, and a boundary.
- Bytes: tiles go to blocks in turns. n blocks of a turn move at most min(copy rate, n · bytes in flight / latency) a second
  (Little's law). Copy rate: mem_bw_gbs · bw_eff of simulator/data/gpus.csv. Bytes in flight of a block: the loads of weights that
  scripts/sass finds before a wait, 16 bytes a lane, 256 lanes. Latency: an argument.
- Instructions: those of warps, at one a clock for each of a multiprocessor's four schedulers; PTX's, for machine code's.
- Boundary: t0_us of gpus.csv, which a fit of library products has (launch, ramp, tail). That is the slow end. The fast end takes off
  what a product's early loads and prefetches of its first tiles bring meanwhile, where kernels may start early (compute capability
  9.0 and later): blocks of the kernel after next take the places of those that end.
Not in it: waits of a kernel for its own loads beyond the bytes in flight, clocks that drop, the second cache's own rate."""
import csv
import re
from dataclasses import dataclass

# Shared memory that a block may have, by architecture (CUDA C++ Programming Guide, Technical Specifications per Compute Capability).
SHARED_KB = {"sm80": 163, "sm86": 99, "sm87": 163, "sm89": 99, "sm90": 227, "sm100": 227, "sm103": 227, "sm110": 227,
             "sm120": 99, "sm121": 99}
SCHEDULERS = 4
PRODUCTS = ("qkv", "output", "gate_up", "down", "head")
BLOCK_LANES, LOAD_BYTES, PREFETCH_BYTES = 256, 16, 32


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@dataclass
class Gpu:
    name: str
    architecture: int
    memory_bytes: float
    copy_rate: float  # bytes a second
    boundary: float   # seconds
    multiprocessors: int
    clock: float      # a second
    shared_bytes: int

    @property
    def machine(self):
        return f"{self.multiprocessors}:{self.shared_bytes}"


def read_gpus(path):
    """NVIDIA GPUs that have bf16 products, in the table's order."""
    for row in rows_of(path):
        if row["vendor"] != "NVIDIA" or row["arch"] not in SHARED_KB:
            continue
        yield Gpu(row["name"], int(row["arch"][2:]), float(row["mem_gb"]) * 1e9,
                  float(row["mem_bw_gbs"]) * 1e9 * float(row["bw_eff"]), float(row["t0_us"]) * 1e-6, int(row["sm_count"]),
                  float(row["boost_mhz"]) * 1e6, SHARED_KB[row["arch"]] * 1024)


def block_bytes_in_flight(expectations):
    """From the gate's own line about loads before a wait."""
    for row in rows_of(expectations):
        if re.fullmatch("weight_(loads|copies)_before_wait", row["figure"]):
            return int(re.search(r"\d+", row["holds"])[0]) * LOAD_BYTES * BLOCK_LANES
    raise SystemExit(f"{expectations}: found no weight_loads_before_wait nor weight_copies_before_wait, expected a line of it")


def block_bytes_fetched(expectations):
    """From the gate's line about prefetches before a wait."""
    for row in rows_of(expectations):
        if row["figure"] == "prefetches_before_wait":
            return int(re.search(r"\d+", row["holds"])[0]) * PREFETCH_BYTES * BLOCK_LANES
    raise SystemExit(f"{expectations}: found no prefetches_before_wait, expected a line of it")


@dataclass
class Pace:
    in_flight: float      # bytes, of a block
    latency: float        # seconds
    fetched: float = 0.0  # bytes, of a block, into the second cache ahead of its loads

    def stream(self, gpu, byte_count, blocks, tiles):
        """Seconds of a kernel's bytes."""
        rate = lambda n: min(gpu.copy_rate, n * self.in_flight / self.latency)
        if not tiles or tiles <= blocks:
            return byte_count / rate(blocks)
        whole, rest = divmod(tiles, blocks)
        a_tile = byte_count / tiles
        return whole * blocks * a_tile / rate(blocks) + (rest * a_tile / rate(rest) if rest else 0.0)


def pass_seconds(counted, gpu, pace, rows, context):
    """(fast, slow) seconds of a pass."""
    fast = slow = 0.0
    for planned in counted.plans[gpu.machine, rows]:
        name, times = planned["kernel"], counted.layers(planned["kernel"])
        _, moved, work = counted.kernel(planned, rows, context)
        tiles = planned["tiles"] if name in PRODUCTS else 0
        one = max(pace.stream(gpu, sum(moved.values()), planned["blocks"], tiles),
                  work / (gpu.multiprocessors * SCHEDULERS * gpu.clock))
        early = 0.0
        if gpu.architecture >= 90 and name in PRODUCTS:
            first_tiles = moved["weights"] * min(1.0, planned["blocks"] / planned["tiles"])
            early = min(first_tiles, planned["blocks"] * (pace.in_flight + pace.fetched)) / gpu.copy_rate
        slow += times * (one + planned["launches"] * gpu.boundary)
        fast += times * (one + planned["launches"] * max(0.0, gpu.boundary - early))
    return fast, slow
