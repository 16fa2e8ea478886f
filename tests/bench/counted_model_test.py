# SPDX-License-Identifier: GPL-3.0-or-later
"""What bench/gpu/counted makes of counts: bytes and times that follow from them, on made-up figures."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench/gpu/counted"))

from times import Gpu, Pace, block_bytes_fetched, block_bytes_in_flight, pass_seconds, read_gpus  # noqa: E402
from traffic import Counted  # noqa: E402


def gpu(**changes):
    figures = dict(name="made up", architecture=90, memory_bytes=1e11, copy_rate=1e12, boundary=4e-6, multiprocessors=100,
                   clock=1e9, shared_bytes=1000)
    return Gpu(**(figures | changes))


def counted(rows=(1, 8), launches=1, excess=1.0, work=0, again=(0, 0)):
    """One product and attention; a full model ten times as wide, with eight times the K/V heads and four times the layers.
    `again` are bytes of scales that the small and the full product ask for once more."""
    def needed(weights, cache, others):
        return {"weights": weights, "cache_read": cache, "cache_written": 0, "others_read": others, "others_written": 0}

    def kernel(name, need, cache=0):
        more = again[0] if need["weights"] else 0
        moved = {"weights": need["weights"] * excess + more, "cache": cache, "others": need["others_read"]}
        return {"kernel": name, "launches": 2, "needed": need, "asked_again": more, "passed_on": 0, "moved": moved, "warp_instructions": work}

    passes = [{"rows": r, "context": c, "normed": False, "kernels": [kernel("down", needed(2000, 0, 20 * r)),
                                                    kernel("attention", needed(0, 4 * c, 0), 4 * c)]}
              for r in rows for c in (512, 1024)]
    plans = [{"machine": "100:1000", "rows": r, "kernels": [
        {"kernel": "down", "launches": launches, "blocks": 100, "tiles": 150, "normed": False, "asked_again": again[1],
         "passed_on": 0, "needed": needed(10**9, 0, 1000)},
        {"kernel": "attention", "launches": 1, "blocks": 200, "tiles": 0, "normed": False, "asked_again": 0, "passed_on": 0,
         "needed": needed(0, 0, 0)}]} for r in rows]
    sizes = {"small": {"n_layers": 2, "n_kv_heads": 1}, "full": {"n_layers": 8, "n_kv_heads": 8}}
    return Counted({"model": "made up", "sizes": sizes, "passes": passes, "plans": plans})


PACE = Pace(in_flight=65536, latency=1e-6)


class Bytes(unittest.TestCase):
    def test_scale_by_what_they_are_of(self):
        needed, moved = counted(excess=1.25).pass_bytes("100:1000", 1, 8192)
        cache = 8 * 8 / 2 * 4 * 8192  # layers, heads, of two small layers
        self.assertAlmostEqual(needed, 8 * (10**9 + 1000) + cache)
        self.assertAlmostEqual(moved - needed, 8 * 0.25 * 10**9, delta=1)

    def test_ask_for_scales_again_as_the_full_depth_says(self):
        once = counted().pass_bytes("100:1000", 1, 512)[1]
        again = counted(again=(300, 7 * 10**6)).pass_bytes("100:1000", 1, 512)[1]
        self.assertAlmostEqual(again - once, 8 * 7 * 10**6, delta=1)

    def test_count_weights_once_a_launch(self):
        once = counted().pass_bytes("100:1000", 1, 512)[1]
        twice = counted(launches=2).pass_bytes("100:1000", 1, 512)[1]
        self.assertAlmostEqual(twice - once, 8 * 10**9, delta=1)


def counted_of_normed_rows():
    """A product of rows that are normalised ahead of it; counted apart from the same one that normalises them."""
    def kernel(name, weights, others, moved_others, passed_on, **more):
        need = {"weights": weights, "cache_read": 0, "cache_written": 0, "others_read": others, "others_written": 0}
        moved = {"weights": weights, "cache": 0, "others": moved_others}
        return {"kernel": name, "launches": 1, "needed": need, "asked_again": 0, "passed_on": passed_on, "moved": moved,
                "warp_instructions": 100} | more

    staged = [kernel("qkv", 2000, 120, 120, 0)]
    normed = [kernel("qkv_norm", 0, 100, 150, 50), kernel("qkv", 2000, 20, 70, 50)]
    passes = [{"rows": 8, "context": c, "normed": False, "kernels": staged} for c in (512, 1024)]
    passes.append({"rows": 8, "context": 512, "normed": True, "kernels": normed})
    place = {"blocks": 100, "tiles": 150}
    plans = [{"machine": "100:1000", "rows": 8, "kernels": [
        kernel("qkv_norm", 0, 1000, 0, 500, normed=True, **place), kernel("qkv", 10**9, 200, 0, 500, normed=True, **place)]}]
    sizes = {"small": {"n_layers": 1, "n_kv_heads": 1}, "full": {"n_layers": 8, "n_kv_heads": 8}}
    return Counted({"model": "made up", "sizes": sizes, "passes": passes, "plans": plans})


class NormedRows(unittest.TestCase):
    def test_are_moved_and_not_needed(self):
        needed, moved = counted_of_normed_rows().pass_bytes("100:1000", 8, 512)
        self.assertAlmostEqual(needed, 8 * (10**9 + 1000 + 200))
        self.assertAlmostEqual(moved - needed, 8 * (500 + 500))

    def test_take_a_boundary_more_in_each_layer(self):
        slow = [pass_seconds(counted_of_normed_rows(), gpu(boundary=b), PACE, 8, 512)[1] for b in (0.0, 3e-6)]
        self.assertAlmostEqual(slow[1] - slow[0], 8 * 2 * 3e-6)


class Times(unittest.TestCase):
    def test_are_never_below_the_copy_rates(self):
        for tiles in (0, 1, 99, 100, 101, 150, 1000):
            for blocks in (1, 64, 100):
                self.assertGreaterEqual(PACE.stream(gpu(), 1e9, blocks, tiles), 1e9 / 1e12)

    def test_follow_littles_law_where_few_blocks_read(self):
        self.assertAlmostEqual(PACE.stream(gpu(), 1e9, 2, 2), 1e9 / (2 * 65536 / 1e-6))
        self.assertAlmostEqual(PACE.stream(gpu(), 1e9, 100, 100), 1e9 / 1e12)
        # A last turn of two blocks is as slow as two blocks are.
        self.assertAlmostEqual(PACE.stream(gpu(), 102e6, 100, 102), 100e6 / 1e12 + 2e6 / (2 * 65536 / 1e-6))

    def test_have_boundaries_that_early_loads_shorten(self):
        fast, slow = pass_seconds(counted(), gpu(boundary=20e-6), PACE, 1, 512)
        early = 8 * 100 * 65536 / 1e12
        self.assertAlmostEqual(slow - fast, early)
        # Prefetches do as much again, up to the whole boundary.
        more = Pace(PACE.in_flight, PACE.latency, PACE.in_flight)
        fast, slow = pass_seconds(counted(), gpu(boundary=20e-6), more, 1, 512)
        self.assertAlmostEqual(slow - fast, 2 * early)
        fast, slow = pass_seconds(counted(), gpu(boundary=5e-6), more, 1, 512)
        self.assertAlmostEqual(slow - fast, 8 * 5e-6)
        older = pass_seconds(counted(), gpu(architecture=80), PACE, 1, 512)
        self.assertEqual(older[0], older[1])

    def test_are_those_of_instructions_where_these_take_longer(self):
        busy = pass_seconds(counted(work=10**7), gpu(boundary=0.0), PACE, 1, 512)[1]
        idle = pass_seconds(counted(), gpu(boundary=0.0), PACE, 1, 512)[1]
        self.assertGreater(busy, 2 * idle)

    def test_read_the_tables_that_they_name(self):
        names = {one.name for one in read_gpus(ROOT / "simulator/data/gpus.csv")}
        self.assertIn("H200-SXM5-141GB", names)
        self.assertNotIn("MI300X", names)
        expectations = ROOT / "scripts/sass.d/expectations.csv"
        self.assertGreaterEqual(block_bytes_in_flight(expectations), 16 * 256)
        self.assertGreaterEqual(block_bytes_fetched(expectations), 32 * 256)


if __name__ == "__main__":
    unittest.main()
