# SPDX-License-Identifier: GPL-3.0-or-later
"""What bench/gpu/run makes of what tests and tools of a device print, on made-up output."""
import contextlib
import os
import re
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench/gpu"))
os.chdir(ROOT)

from measure import check, scale, table  # noqa: E402
from measure.check import Question  # noqa: E402
from measure.runner import Ended, OutOfTime, StepFailed, StepSkipped  # noqa: E402
from measure.sampler import Sampler  # noqa: E402


class Programs:
    """A runner whose programs end one after the other as is given, and the rest as the last."""
    dry = False

    def __init__(self, *ended: Ended):
        self.ended = list(ended)
        self.commands, self.environments, self.lines = [], [], []

    def run_all(self, commands, environments=None):
        self.commands += [[str(word) for word in command] for command in commands]
        self.environments += environments or [{}] * len(commands)
        return [self.ended.pop(0) if len(self.ended) > 1 else self.ended[0] for _ in commands]

    def say(self, line):
        self.lines.append(line)


def ended(output: str, status: int | None = 0) -> Ended:
    return Ended("tests_gpu", status, output, "", 3.0)


def passing(count: int) -> str:
    return f"[==========] {count} tests ran. (9 ms total)\n[  PASSED  ] {count} tests.\n"


def raising(error):
    def answer(runner, sizes):
        raise error
    return answer


def asked(**answers) -> dict:
    """The step's figures, whether it failed or not."""
    questions = [Question(name, f"{name}?", answer) for name, answer in answers.items()]
    try:
        return check.check(Programs(), scale.on_gpu(), questions)
    except StepFailed as error:
        return error.figures


class Check(unittest.TestCase):
    def test_asks_every_question_whatever_the_others_found(self):
        figures = asked(first=raising(StepFailed("it lied")), second=raising(OutOfTime("too long", "")),
                        third=raising(StepSkipped("no tool")), fourth=lambda *_: {"tests": 3})
        self.assertEqual([answer["verdict"] for answer in figures.values()], ["wrong", "no answer", "not asked", "right"])

    def test_fails_where_one_is_wrong_or_none_was_asked(self):
        for answers in ((lambda *_: 1, raising(StepFailed("it lied"))), (raising(StepSkipped("no device")),) * 2):
            with self.assertRaises(StepFailed):
                check.check(Programs(), scale.on_gpu(), [Question(f"{i}", "?", answer) for i, answer in enumerate(answers)])


class DeviceTests(unittest.TestCase):
    def setUp(self):
        processors = unittest.mock.patch("os.cpu_count", return_value=16)
        processors.start()
        self.addCleanup(processors.stop)

    FAILED = ("[ RUN      ] Models/EveryStrategyOnTheDevice.DecodesTheTextOfVanilla/2\n"
              "[  FAILED  ] Models/EveryStrategyOnTheDevice.DecodesTheTextOfVanilla/2, where GetParam() = 2 (123 ms)\n"
              "[  PASSED  ] 1 test.\n[  FAILED  ] 1 test, listed below:\n"
              "[  FAILED  ] Models/EveryStrategyOnTheDevice.DecodesTheTextOfVanilla/2, where GetParam() = 2\n")

    def test_are_divided_among_processes(self):
        runner = Programs(ended(passing(4)), ended(passing(3)))
        found = check.device_tests(runner, "ChainRounds.*")
        shards = found["shards"]
        self.assertEqual(found["tests"], 4 + 3 * (shards - 1))
        self.assertEqual([one["GTEST_SHARD_INDEX"] for one in runner.environments], [str(i) for i in range(shards)])
        self.assertEqual({one["GTEST_TOTAL_SHARDS"] for one in runner.environments}, {str(shards)})

    def test_count_every_turn(self):
        found = check.device_tests(Programs(ended(passing(4) * 20)), "ChainRounds.*", "--gtest_repeat=20")
        self.assertEqual((found["tests"], found["turns"]), (4 * found["shards"], 20))

    def test_name_what_failed_with_its_parameters(self):
        with self.assertRaisesRegex(StepFailed, "Models/EveryStrategyOnTheDevice.DecodesTheTextOfVanilla/2$") as caught:
            check.device_tests(Programs(ended(self.FAILED, 1), ended(passing(2))), "*")
        self.assertEqual(len(caught.exception.figures["wrong"]), 1)

    def test_are_wrong_where_a_program_fails_and_names_none(self):
        for status, output, why in ((1, "failed to start: cuda backend: out of memory\n", "out of memory"),
                                    (-11, "[ RUN      ] Few/Tests.One/1\n", r"signal 11 \(in Few/Tests.One/1\)"),
                                    (77, "skipped: no CUDA device\n", "skipped: no CUDA device")):
            with self.assertRaisesRegex(StepFailed, why):
                check.device_tests(Programs(ended(output, status), *[ended(passing(2))] * 9), "*")

    def test_have_no_answer_where_there_is_no_time(self):
        output = "[ RUN      ] Tests.One\n[       OK ] Tests.One (3 ms)\n[ RUN      ] Tests.Two\n"
        with self.assertRaisesRegex(OutOfTime, r"did not end within 3 s \(in Tests.Two\)"):
            check.device_tests(Programs(ended(output, None), ended(passing(2))), "*")
        with self.assertRaisesRegex(StepFailed, "EveryStrategyOnTheDevice") as caught:
            check.device_tests(Programs(ended(output, None), ended(self.FAILED, 1)), "*")
        self.assertNotIsInstance(caught.exception, OutOfTime)

    def test_are_wrong_where_the_pattern_names_none(self):
        with self.assertRaisesRegex(StepFailed, "no test passed"):
            check.device_tests(Programs(ended("[  PASSED  ] 0 tests.\n")), "Nothing.*")

    def test_are_not_asked_without_a_device(self):
        with self.assertRaisesRegex(StepSkipped, "^no CUDA device$"):
            check.device_tests(Programs(ended("skipped: no CUDA device\n", 77)), "ChainRounds.*")

    def test_have_names_that_exist(self):
        known = {line.split("(", 1)[1].split(",")[0] for folder in ("engine/cuda", "engine/lossless", "gpu")
                 for file in (ROOT / "tests" / folder).rglob("*_test.cpp") for line in file.read_text().splitlines()
                 if line.startswith(("TEST(", "TEST_F(", "TEST_P("))}
        runner = Programs(ended(passing(1)))
        for question in (check.TESTS[0], *check.QUESTIONS[:2]):
            question.answer(runner, scale.on_gpu())
        filters = {command[1].removeprefix("--gtest_filter=") for command in runner.commands} | set(check.SANITIZERS.values())
        for pattern in re.split("[:-]", ":".join(filters)):
            self.assertIn(pattern.removeprefix("*/").split(".")[0], known | {""})

    def test_leave_out_nothing_but_what_is_not_there(self):
        self.assertEqual(check.other_tests(), "-" + check.lossless_tests())
        with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
            self.assertIn("*/DemoModel.*/Plain", check.other_tests())
            self.assertTrue(check.lossless_tests().endswith("-*/DemoModel.*/Plain"))


class Conservation(unittest.TestCase):
    def test_is_wrong_where_a_recording_does_not_start_or_add_up(self):
        self.assertEqual(check.conservation(Programs(ended("9 rounds; worst round off by 0.1 %\n")), "program"),
                         {"rounds": "9 rounds; worst round off by 0.1 %"})
        for output, why in (("failed to start: batch.layers is [0, -7)\n", "batch.layers"),
                            ("9 rounds\nbroken: round 3 is 2 % off\n", "^round 3 is 2 % off$")):
            with self.assertRaisesRegex(StepFailed, why):
                check.conservation(Programs(ended(output, 1)), "plain")
        with self.assertRaises(StepSkipped):
            check.conservation(Programs(ended("skipped: no CUDA device\n", 77)), "program")


class Sanitizers(unittest.TestCase):
    READ = ("========= COMPUTE-SANITIZER\n[       OK ] Models/KernelsAlone.DecodeTheTextOfVanilla/bf16 (900 ms)\n"
            "========= Uninitialized __global__ memory read of size 4 bytes\n"
            "=========     at void cuda::finish_wide_qkv<cuda::Bf16>(const cuda::WideParams &)+0x5d0 in pass_ops.h:321\n"
            "=========     by thread (32,0,0) in block (8,0,0)\n========= \n")
    RACE = ("========= Error: Race reported between Write access at void cuda::head(int)+0x10 in head.h:7\n"
            "=========     and Read access at void cuda::head(int)+0x20 in head.h:9 [4 hazards]\n")

    def test_say_what_they_found_and_where(self):
        self.assertEqual(check.findings(self.READ * 3 + self.RACE),
                         ["Uninitialized __global__ memory read of size 4 bytes in pass_ops.h:321, 3 times",
                          "Race reported between Write access in head.h:7, 1 times"])

    def test_are_asked_each_whatever_the_others_found(self):
        runner = Programs(ended(passing(1)), ended("skipped: no tool\n", 77), ended(self.RACE, 42), ended(self.READ, None))
        with self.assertRaises(StepFailed) as caught:
            check.sanitizers(runner)
        figures = caught.exception.figures
        self.assertEqual([one["verdict"] for one in figures.values()], ["clean", "not asked", "wrong", "wrong"])
        self.assertEqual(figures["initcheck"]["passed"], 1)
        self.assertRegex(str(caught.exception), "racecheck: Race reported .*; initcheck: Uninitialized")

    def test_have_no_answer_where_they_found_nothing_in_time(self):
        with self.assertRaisesRegex(StepFailed, "memcheck: tests_gpu did not end") as caught:
            check.sanitizers(Programs(ended("", None), ended(passing(1))))
        self.assertEqual(caught.exception.figures["memcheck"]["verdict"], "no answer")

    def test_are_skipped_without_a_device(self):
        with self.assertRaisesRegex(StepSkipped, "no CUDA device"):
            check.sanitizers(Programs(ended("skipped: no CUDA device\n", 77)))


class Clocks(unittest.TestCase):
    def card(self, *lines):
        sampler = Sampler()
        sampler.rows = []
        for line in lines:
            sampler.take(line)
        return sampler.figures()

    def test_are_those_under_load(self):
        card = self.card("210, 405, 70.0, 40, 0x0000000000000001", "1755, 2619, 600.5, 61, 0x0000000000000004",
                         "1800, 2619, 640.0, 62, 0x0000000000000000")
        self.assertEqual((card["samples"], card["clocks_sm"]["lowest"], card["slowdowns"]), (2, 1755.0, []))

    def test_say_what_slows_the_card_down(self):
        self.assertEqual(self.card("900, 2619, 600.0, 95, 0x0000000000000028")["slowdowns"],
                         ["hardware slowdown", "thermal slowdown"])

    def test_leave_out_what_a_card_does_not_tell(self):
        self.assertIsNone(self.card("1755, 2619, [N/A], 61, 0x0000000000000004", "", "1755, 2619, 1.0, 3, [N/A]"))


class Table(unittest.TestCase):
    def test_begins_with_what_could_be_wrong(self):
        figures = asked(first=raising(StepFailed("it lied")), second=lambda *_: {"tests": 3})
        machine = dict.fromkeys(("gpu", "driver", "cuda_toolkit", "date"), "x")
        text = table.summarise({"machine": machine, "figures": {"check": figures}, "mode": "gpu", "steps": []})
        self.assertIn("first?               wrong: it lied\nsecond?              right\n", text)
        self.assertLess(text.index("first?"), text.index("target"))


if __name__ == "__main__":
    unittest.main()
