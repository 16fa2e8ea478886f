# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of passes from what their kernels move and run: a model, no measurement.

A pass is what one takes that runs no layer, and its kernels one after the other. A kernel takes
- a boundary: between kernels of a graph, where they start early and where they don't (measured with kernels that do nothing);
- to start: what reading takes beside boundary and bytes, until its first bytes are there. A product that starts early has had
  them;
- its own part, which nothing overlaps: found by the profiler, less its launch and the rest of this list. Of products that
  normalise rows, of those that read theirs from the second cache, of attention, and of the smallest kernels;
- a product's weights: tiles go to blocks in turns, and n blocks of a turn move at most min(rate, n · bytes in flight / latency)
  a second (Little's law). The rate is a share of what reading alone reaches. Or its instructions, if they take longer: each
  of a multiprocessor's eight warps runs one in `WARP_CYCLES`;
- a product's rows: bytes of activations that its blocks ask the second cache for, at the rate of reading, which is taken for the
  second cache's as well; and the instructions that normalise a row, which every block does for itself;
- attention: its own part beyond the smallest kernels' for every split that its busiest block computes in turn, as their
  instructions are to those of the attention that was profiled; or its K/V's bytes, or its instructions, if they take longer.

Fitted (`fit()`) on kernels that the profiler timed one by one, one row of Llama-3-8B, and on probes (bench/gpu/measured). Times
of passes are not used, but for one figure, WARP_CYCLES, which decides where layers are in fewer bits. Figures of an H200 stand
for other GPUs; only their rates, multiprocessors and clocks are their own.
Not in it: two blocks of products on one multiprocessor, clocks that drop, and that the profiler empties the caches before each
kernel."""
import csv
import re
from dataclasses import dataclass
from statistics import median

from traffic import NORMALISING, WARPS, Launches

# Shared memory that a block may have, by architecture (CUDA C++ Programming Guide, Technical Specifications per Compute
# Capability).
SHARED_KB = {"sm80": 163, "sm86": 99, "sm87": 163, "sm89": 99, "sm90": 227, "sm100": 227, "sm103": 227, "sm110": 227,
             "sm120": 99, "sm121": 99}
SCHEDULERS = 4
# Two warps share a scheduler: 2 if both always have an instruction ready, 4 if each waits for the one before. Of 2, 3 and 4
# this is nearest to the H200's passes with layers in fp8.
WARP_CYCLES = 3
READING = ("output", "down")
PRODUCTS = (*NORMALISING, *READING)
BLOCK_LANES, LOAD_BYTES = 256, 16


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@dataclass
class Gpu:
    name: str
    architecture: int
    memory_bytes: float
    read_rate: float  # bytes a second that reading alone reaches
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
                  float(row["mem_bw_gbs"]) * 1e9 * float(row["read_eff"]), int(row["sm_count"]), float(row["boost_mhz"]) * 1e6,
                  SHARED_KB[row["arch"]] * 1024)


def block_bytes_in_flight(expectations):
    """From the gate's own line about loads before a wait."""
    for row in rows_of(expectations):
        if re.fullmatch("weight_(loads|copies)_before_wait", row["figure"]):
            return int(re.search(r"\d+", row["holds"])[0]) * LOAD_BYTES * BLOCK_LANES
    raise SystemExit(f"{expectations}: found no weight_loads_before_wait nor weight_copies_before_wait, expected a line of it")


@dataclass
class Pace:
    in_flight: float  # bytes, of a block
    latency: float    # seconds

    def stream(self, read_rate, byte_count, blocks, tiles):
        """Seconds of a product's weights."""
        rate = lambda n: min(read_rate, n * self.in_flight / self.latency)
        if not tiles or tiles <= blocks:
            return byte_count / rate(blocks)
        whole, rest = divmod(tiles, blocks)
        a_tile = byte_count / tiles
        return whole * blocks * a_tile / rate(blocks) + (rest * a_tile / rate(rest) if rest else 0.0)


@dataclass
class Fit:
    """Seconds, and shares of what reading alone reaches."""
    plain_boundary: float
    early_boundary: float
    empty_pass: float          # with its inputs and the host's part
    start: float
    own: dict                  # by kind: "normalising", "reading", "attention", "smallest"
    share: dict                # by kind of product
    split_instructions: float  # of each warp, in the attention that was profiled

    def row_seconds(self, kernel: Launches, gpu: Gpu):
        """What a product's rows take before it begins, and while it waits for them."""
        normalising = kernel.steps * kernel.row_instructions * WARP_CYCLES / gpu.clock if kernel.kernel in NORMALISING else 0.0
        return kernel.asked_bytes / gpu.read_rate + normalising

    def seconds(self, kernel: Launches, gpu: Gpu, pace: Pace, early: bool):
        boundary = self.early_boundary if early else self.plain_boundary
        if kernel.kernel in PRODUCTS:
            kind = "normalising" if kernel.steps else "reading"
            first = boundary + (0.0 if early else self.start) + self.own[kind]
            weights = pace.stream(gpu.read_rate * self.share[kind], kernel.weight_bytes, kernel.blocks, kernel.tiles)
            work = kernel.instructions / (gpu.multiprocessors * WARPS) * WARP_CYCLES / gpu.clock
            return kernel.launches * first + max(weights, work) + self.row_seconds(kernel, gpu)
        first = kernel.launches * (boundary + self.own["smallest"])
        if kernel.kernel != "attention":
            return first
        splits = kernel.steps * kernel.row_instructions / self.split_instructions
        return first + max((self.own["attention"] - self.own["smallest"]) * splits, kernel.cache_bytes / gpu.read_rate,
                           kernel.instructions / (gpu.multiprocessors * SCHEDULERS * gpu.clock))


def line(points):
    """(y at x = 0, slope) of the least squares of relative errors."""
    weights = [1.0 / y**2 for _, y in points]
    total = sum(weights)
    x_mean = sum(w * x for w, (x, _) in zip(weights, points)) / total
    y_mean = sum(w * y for w, (_, y) in zip(weights, points)) / total
    slope = (sum(w * (x - x_mean) * (y - y_mean) for w, (x, y) in zip(weights, points))
             / sum(w * (x - x_mean)**2 for w, (x, _) in zip(weights, points)))
    return y_mean - slope * x_mean, slope


def fit(probes, profiled, kernels, gpu, pace):
    """`probes` and `profiled`: rows of bench/gpu/measured; `kernels`: the launches that were profiled."""
    probe = {row["probe"]: float(row["microseconds"]) * 1e-6 for row in probes if row["probe"] != "read"}
    reads = [(float(row["bytes"]), float(row["microseconds"]) * 1e-6) for row in probes if row["probe"] == "read"]
    plain = probe["boundary, plain edge"]
    start = median(seconds - n / gpu.read_rate for n, seconds in reads) - plain
    alone = {row["kernel"]: float(row["microseconds"]) * 1e-6 - probe["launch under the profiler"] for row in profiled}
    by_name = {kernel.kernel: kernel for kernel in kernels}
    found = Fit(plain, probe["boundary, early start"], probe["empty pass"], start,
                {"attention": alone["attention"], "smallest": alone["finish_head"]}, {}, by_name["attention"].row_instructions)
    for kind, names in (("normalising", NORMALISING), ("reading", READING)):
        points = []
        for name in names:
            kernel = by_name[name]
            reading = pace.stream(gpu.read_rate, kernel.weight_bytes, kernel.blocks, kernel.tiles)
            points.append((reading, alone[name] - start - found.row_seconds(kernel, gpu)))
        found.own[kind], slope = line(points)
        found.share[kind] = 1.0 / slope
    return found


def pass_seconds(kernels, gpu, fitted, pace, early):
    """`kernels`: of all layers and the head, or of the layers that run."""
    return fitted.empty_pass + sum(kernel.times * fitted.seconds(kernel, gpu, pace, early)
                                   for kernel in kernels if kernel.kernel != "load_inputs")
