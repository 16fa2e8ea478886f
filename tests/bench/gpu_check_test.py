# SPDX-License-Identifier: GPL-3.0-or-later
"""What the first step of bench/gpu/run makes of what programs print, on made-up output."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench/gpu"))

from measure import build, check, scale, table  # noqa: E402
from measure.check import Question  # noqa: E402
from measure.runner import OutOfTime, StepFailed, StepSkipped  # noqa: E402
from measure.sampler import Sampler  # noqa: E402


class Printed:
    """A runner whose commands print what is given."""
    dry = False

    def __init__(self, output: str):
        self.output = output
        self.commands = []

    def run(self, command, accept=(0,), environment=None):
        self.commands.append([str(word) for word in command])
        return self.output


def raising(error):
    def answer(runner, sizes):
        raise error
    return answer


def asked(**answers) -> dict:
    """The step's figures, whether it failed or not."""
    questions = [Question(name, f"{name}?", answer) for name, answer in answers.items()]
    try:
        return check.check(Printed(""), scale.on_gpu(), questions)
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
                check.check(Printed(""), scale.on_gpu(), [Question(f"{i}", "?", answer) for i, answer in enumerate(answers)])


class Tests(unittest.TestCase):
    PASSED = "Repeating all tests (iteration {}) . . .\n[==========] 4 tests from 2 test suites ran. (9 ms total)\n[  PASSED  ] 4 tests.\n"

    def test_count_every_turn(self):
        found = check.tests(Printed("".join(self.PASSED.format(i) for i in range(20))), "ChainRounds.*", "--gtest_repeat=20")
        self.assertEqual(found, {"tests": 4, "turns": 20})

    def test_name_what_failed_in_any_turn(self):
        output = self.PASSED + "[  FAILED  ] ChainRounds.AreWhatTheDecodeLoopWouldHaveDone (3 ms)\n[  PASSED  ] 3 tests.\n"
        with self.assertRaisesRegex(StepFailed, "ChainRounds.AreWhatTheDecodeLoopWouldHaveDone"):
            check.tests(Printed(output), "ChainRounds.*")

    def test_are_wrong_where_the_pattern_names_none(self):
        with self.assertRaisesRegex(StepFailed, "no test passed"):
            check.tests(Printed("[  PASSED  ] 0 tests.\n"), "Nothing.*")

    def test_are_not_asked_without_a_device(self):
        with self.assertRaisesRegex(StepSkipped, "no CUDA device"):
            check.tests(Printed("skipped: no CUDA device\n"), "ChainRounds.*")

    def test_name_tests_that_exist(self):
        known = {line.split("(", 1)[1].split(",")[0] for folder in ("tests/engine/cuda", "tests/engine/lossless")
                 for file in (ROOT / folder).rglob("*_test.cpp") for line in file.read_text().splitlines()
                 if line.startswith(("TEST(", "TEST_F(", "TEST_P("))}
        runner = Printed("[  PASSED  ] 1 test.\n")
        for question in check.QUESTIONS[:2]:
            question.answer(runner, scale.on_gpu())
        for command in runner.commands:
            for pattern in command[1].removeprefix("--gtest_filter=").split(":"):
                self.assertIn(pattern.removeprefix("*/").removesuffix(".*"), known)


class Races(unittest.TestCase):
    def test_are_racechecks_word(self):
        runner = Printed("1/1 Test #7: gpu.sanitizer.racecheck ...   Passed    9.00 sec\n100% tests passed\n")
        self.assertEqual(build.sanitize(runner, "racecheck"), {"clean": ["racecheck"]})
        self.assertIn("^gpu\\.sanitizer\\.racecheck$", runner.commands[0])


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
