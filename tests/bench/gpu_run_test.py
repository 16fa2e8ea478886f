# SPDX-License-Identifier: GPL-3.0-or-later
"""How bench/gpu/run runs programs, keeps what they measured and finds what they need, on small programs of its own."""
import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench/gpu"))

from measure import baselines, build, decoding, machine, recording, scale, table, targets  # noqa: E402
from measure.runner import Ended, OutOfTime, Runner, StepFailed  # noqa: E402


def is_running(process: int) -> bool:
    try:
        return Path("/proc", str(process), "stat").read_text().split()[2] not in "ZX"
    except OSError:
        return False


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(folder.name)
        self.folder = Path(folder.name)
        self.results = {"figures": {}, "mode": "gpu", "machine": dict.fromkeys(("gpu", "driver", "cuda_toolkit", "date"), "x")}
        self.runner = Runner(self.folder, False, 60, self.results)
        self.lines = []
        self.runner.say = self.lines.append
        self.addCleanup(self.runner.log.close)

    def program(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n" + text)
        file.chmod(0o755)
        return file


class Programs(InAFolder):
    def test_run_at_the_same_time(self):
        # Each waits until the other has begun.
        meets = self.program("meets", 'touch "$1"; for i in $(seq 100); do [ ! -e "$2" ] || exit 0; sleep 0.1; done; exit 1\n')
        self.assertEqual([one.status for one in self.runner.run_all([[meets, "a", "b"], [meets, "b", "a"]])], [0, 0])

    def test_end_with_all_they_started_when_time_is_over(self):
        lasting = self.program("lasting", "echo begun; sleep 50 & echo $! > child; wait\n")
        self.runner.step_end = time.monotonic() + 3.0  # so that it has begun by then on a busy machine, too
        with self.assertRaisesRegex(OutOfTime, "lasting did not end within") as caught:
            self.runner.run([lasting])
        self.assertEqual(caught.exception.output, "begun\n")
        child = int(Path("child").read_text())
        for _ in range(100):
            if not is_running(child):
                return
            time.sleep(0.05)
        self.fail("its child runs on")

    def test_keep_what_they_measured_where_they_fail(self):
        slow = self.program("slow", 'echo \'[{"rows": 2}]\'; echo "bench_gpu: 2 rows are faster than 1" >&2; exit 1\n')
        self.assertFalse(self.runner.step("decode", 9, lambda: self.runner.run_json([slow])))
        self.assertEqual(self.results["figures"], {"decode": [{"rows": 2}]})
        self.assertEqual(self.results["steps"][0]["error"], "bench_gpu: 2 rows are faster than 1")
        self.assertRegex(self.lines[-1], "^decode: FAILED in .* s: bench_gpu: 2 rows are faster than 1$")
        self.assertIn("decode  failed  bench_gpu: 2 rows are faster than 1", table.summarise(self.results))

    def test_say_how_they_ended_where_they_print_no_reason(self):
        for text, why in (("kill -9 $$\n", "quiet ended by signal 9"), ("echo '[]'; exit 3\n", "[]"), ("exit 3\n", "status 3")):
            with self.assertRaises(StepFailed) as caught:
                self.runner.run([self.program("quiet", text)])
            self.assertIn(why, str(caught.exception))

    def test_look_for_libraries_where_python_does_not(self):
        self.runner.libraries = [Path("/a"), Path("/b")]
        shown = self.program("shown", 'echo "$LD_LIBRARY_PATH"\n')
        self.assertEqual(self.runner.run([shown]).strip().split(":")[:2], ["/a", "/b"])
        self.assertNotIn("/a", self.runner.run([sys.executable, "-c", "import os; print(os.environ.get('LD_LIBRARY_PATH'))"]))


class WeightFormats(InAFolder):
    RESULT = {"weights": "fp8", "vanilla": {"tokens_per_s": {"median": 9.0}}, "verify_widths": [], "layerskip": []}

    def test_are_measured_each_whatever_becomes_of_the_others(self):
        def run_json(command):
            if "fp8" in command:
                return [self.RESULT]
            raise StepFailed("bench_gpu: 2 rows are faster than 1", [self.RESULT | {"weights": "as-stored"}])
        self.runner.run_json = run_json
        with self.assertRaisesRegex(StepFailed, "^as-stored: bench_gpu: 2 rows are faster than 1$") as caught:
            decoding.model(self.runner, scale.on_gpu(), scale.on_gpu().models[0])
        self.assertEqual([result["weights"] for result in caught.exception.figures], ["as-stored", "fp8"])


class Targets(unittest.TestCase):
    def test_hold_a_pass_to_one_of_as_many_rows_at_the_shortest_context(self):
        against = lambda rows, value, **more: {"rows": rows, "against_one_row": {"median": value}, **more}  # noqa: E731
        result = {"weights": "as-stored", "verify_widths": [against(1, 1.0), against(8, 1.25)],
                  "contexts": [against(8, 1.5, context_tokens=8000), against(8, 1.3, context_tokens=2048)]}
        found = {row["what"]: row["measured"] for row in targets.compare({"decode 8b": [result]})}
        self.assertAlmostEqual(found["context 8000 against 512, 8 rows, 8B"], 1.5 / 1.25)
        self.assertAlmostEqual(found["verify 8 rows against 1, 8B"], 1.25)
        self.assertIsNone(found["verify 16 rows against 1, 8B"])


class Strategies(InAFolder):
    def run_of(self, specification: str, same_text: bool | None) -> dict:
        return {"specification": specification, "decode_tokens_per_second": 100.0, "acceptance_rate": 0.5,
                "tokens_per_round": 2.0, "draft_cost": 0.1, "verify_cost": 1.1, "rounds": 10, "target_step_ns": 50.0,
                "breakdown": {"accept_ns": 50, "optimise_ns": 100, "control_ns": 40, "sync_ns": 60},
                "speedup": None if same_text is None else {"decode_value": 1.5},
                "identity": None if same_text is None else {"same_text": same_text}}

    def test_have_control_in_steps_per_round(self):
        self.assertAlmostEqual(recording.of_strategy(self.run_of("del", True))["control_steps_per_round"], 0.5)

    def test_fail_with_another_text_and_keep_their_figures(self):
        self.runner.run = lambda command: ""
        for same in (True, False):
            runs = [self.run_of("vanilla", None), self.run_of("swift", same)]
            self.runner.run_json = lambda command, found=runs: {"runs": found}
            ask = lambda: recording.strategies(self.runner, scale.on_gpu(), "demo", "model", 3)  # noqa: E731
            if same:
                self.assertEqual([row["speedup"] for row in ask()], [None, 1.5])
                continue
            with self.assertRaisesRegex(StepFailed, "another text than vanilla's under swift$") as caught:
                ask()
            self.assertEqual(len(caught.exception.figures), 2)


class Baselines(InAFolder):
    LINE = json.dumps({"ways": {"eager": {"tokens_per_s": {"median": 27.8}}}})

    def result_of(self, status: int | None, output: str, errors: str = ""):
        self.runner.run_all = lambda commands: [Ended("python3", status, output, errors, 90.0)]
        return baselines.transformers(self.runner, scale.on_gpu(), [])

    def test_keep_the_ways_that_there_was_time_for(self):
        self.assertEqual(self.result_of(0, self.LINE + "\n"), json.loads(self.LINE))
        with self.assertRaisesRegex(StepFailed, "^python3 did not end within 90 s$") as caught:
            self.result_of(None, self.LINE + "\n")
        self.assertEqual(caught.exception.figures, json.loads(self.LINE))

    def test_say_why_there_is_no_result(self):
        with self.assertRaisesRegex(StepFailed, "^ModuleNotFoundError: No module named 'torch'$"):
            self.result_of(1, "", "Traceback\nModuleNotFoundError: No module named 'torch'\n")


class Start(InAFolder):
    def setUp(self):
        super().setUp()
        self.program(str(build.DRAFTSCOPE), 'echo "0.2.0 $LD_LIBRARY_PATH"\n')
        Path(machine.PACKED).write_text(json.dumps({"commit": "abc", "architectures": "90", "uncommitted_changes": False}))
        self.cuda, self.empty = self.folder / "cuda", self.folder / "empty"
        for folder in (self.cuda, self.empty):
            folder.mkdir()
        for name in build.CUBLAS:
            (self.cuda / name).touch()

    def test_finds_the_libraries_of_the_node(self):
        found = build.start(self.runner, [self.empty, self.cuda])
        self.assertEqual(found["commit"], "abc")
        self.assertEqual(found["libraries"], {**dict.fromkeys(build.CUBLAS, str(self.cuda)), build.CUPTI: None})
        self.assertEqual(self.runner.libraries, [build.PACKED_LIBRARIES.resolve(), self.cuda])

    def test_says_in_a_line_what_is_not_there(self):
        (self.cuda / build.CUBLAS[1]).unlink()
        with self.assertRaisesRegex(StepFailed, "^libcublasLt.so.13 is in none of 2 folders, expected that of CUDA 13"):
            build.start(self.runner, [self.empty, self.cuda])

    def test_fails_where_a_program_does_not_start(self):
        self.program(str(build.DRAFTSCOPE), "echo 'error while loading shared libraries: libx.so' >&2; exit 127\n")
        with self.assertRaisesRegex(StepFailed, "error while loading shared libraries: libx.so"):
            build.start(self.runner, [self.cuda])


if __name__ == "__main__":
    unittest.main()
