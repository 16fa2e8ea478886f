# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what runs on the device is right: its tests, questions that a device alone answers, and compute-sanitizer's tools.
Each is asked whatever the others found, and a step fails with all that was found."""
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from . import build
from .runner import Ended, OutOfTime, Runner, StepFailed, StepSkipped
from .sampler import Sampler
from .scale import Scale

SANITIZE = Path("tests/gpu/sanitize")
SKIPPED = 77
SHARDS = 8   # processes among which the tests are divided: 15 s on an H200
LOSSLESS = ("*/EveryStrategyOnTheDevice.*", "*/DemoModel.*")
NOT_PACKED = {"models/demo-plain": "*/DemoModel.*/Plain"}   # tests of what an archive leaves behind
# Blocks of a program meet at barriers alone. One that read what another still writes would give other bits from time to time:
# rounds of ever other widths, one after the other, many times over.
TURNS_OF_ROUNDS = 20
SUSTAINED_SECONDS = 5
# initcheck does not see what cuBLAS writes.
SANITIZERS = {"memcheck": "SmallModel.*", "synccheck": "SmallModel.*", "racecheck": "*/KernelsAlone.*",
              "initcheck": "*/KernelsAlone.*"}

FINDINGS = "Invalid|Uninitialized|Race|Barrier|Divergent|Program hit"   # how its reports begin


@dataclass(frozen=True)
class Question:
    name: str
    asks: str
    answer: Callable[[Runner, Scale], object]  # what was found; StepFailed if it is wrong


def skipped(output: str) -> str:
    """Why a program did not run; nothing if it did."""
    why = [line for line in output.splitlines() if line.startswith("skipped: ")]
    return why[0].removeprefix("skipped: ") if why else ""


def failed_tests(output: str) -> list[str]:
    """Names of tests that failed, with what stands before and after them where a test has parameters."""
    return list(dict.fromkeys(re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", output, re.MULTILINE)))


def unfinished_test(output: str) -> str:
    """The test in which a program ended."""
    lines = [line for line in output.splitlines() if re.match(r"\[( RUN      |       OK |  FAILED  |  SKIPPED )\] ", line)]
    return f" (in {lines[-1].split('] ')[1]})" if lines and lines[-1].startswith("[ RUN ") else ""


def faults(ended: Ended) -> list[str]:
    """What was wrong with one program of tests; nothing if all passed, or none was this one's."""
    wrong = failed_tests(ended.output)
    if ended.status is None or ended.status < 0 or (ended.status != 0 and not wrong):
        wrong.append(ended.reason() + unfinished_test(ended.output))
    return wrong


def device_tests(runner: Runner, pattern: str, *options: str) -> dict:
    """Tests of `pattern`, divided among processes. A pattern that names none is an error."""
    shards = min(SHARDS, os.cpu_count() or 1)
    programs = runner.run_all(
        [[build.DEVICE_TESTS, f"--gtest_filter={pattern}", *options]] * shards,
        [{"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)} for shard in range(shards)])
    if all(ended.status == SKIPPED for ended in programs):
        raise StepSkipped(skipped(programs[0].output))
    wrong = list(dict.fromkeys(fault for ended in programs for fault in faults(ended)))
    passed = [[int(count) for count in re.findall(r"\[  PASSED  \] (\d+) test", ended.output)] for ended in programs]
    found = {"tests": sum(turns[0] for turns in passed if turns), "turns": max(len(turns) for turns in passed),
             "shards": shards, "shard_seconds": [round(ended.seconds, 1) for ended in programs], "wrong": wrong}
    for fault in wrong:
        runner.say(f"  failed: {fault}")
    if wrong:
        late = [ended for ended in programs if ended.status is None]
        line = ", ".join(wrong[:3]) + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "")
        if len(late) == len(wrong):
            raise OutOfTime(line, late[0].output)
        raise StepFailed(f"failed tests: {line}", found)
    if found["tests"] == 0:
        raise StepFailed(f"no test passed, expected {pattern} to")
    runner.say(f"  {found['tests']} tests passed" + (f", {found['turns']} times" if found["turns"] > 1 else ""))
    return found


def conservation(runner: Runner, passes: str) -> dict:
    """Whether a recording on the device adds up."""
    [ended] = runner.run_all([[build.RECORDED, passes]])
    if ended.status == SKIPPED:
        raise StepSkipped(skipped(ended.output))
    broken = [line.split("broken: ")[-1] for line in ended.output.splitlines() if line.startswith("broken: ")]
    if ended.status != 0:
        raise StepFailed("; ".join(broken[:2]) or ended.reason(), {"broken": broken})
    return {"rounds": ended.output.strip().splitlines()[-1]}


def clocks(runner: Runner, scale: Scale) -> dict:
    if runner.dry:
        raise StepSkipped("needs a device")
    small = scale.models[-1]
    with Sampler() as sampler:
        runner.run([build.PROGRAMS / "bench_gpu", "--json", "--device", scale.device, "--context", scale.context, "--tokens",
                    scale.tokens, "--probe-bytes", scale.probe_bytes, "--model", small.argument, "--sustain", SUSTAINED_SECONDS])
    card = sampler.figures()
    if card is None:
        raise StepSkipped("nvidia-smi tells no clocks")
    if card["slowdowns"]:
        raise StepFailed(f"the card slows down under load: {', '.join(card['slowdowns'])}", card)
    return card


def other_tests() -> str:
    """Tests that none of the questions asks for, as a filter."""
    return "-" + ":".join((*LOSSLESS, *(tests for folder, tests in NOT_PACKED.items() if not Path(folder).is_dir())))


def lossless_tests() -> str:
    left_out = [tests for folder, tests in NOT_PACKED.items() if not Path(folder).is_dir()]
    return ":".join(LOSSLESS) + ("-" + ":".join(left_out) if left_out else "")


TESTS = (
    Question("device", "do all other tests pass on the device?", lambda runner, _: device_tests(runner, other_tests())),
    Question("conservation program", "does a recording of programs add up?", lambda runner, _: conservation(runner, "program")),
    Question("conservation plain", "does a recording of a launch an operation add up?",
             lambda runner, _: conservation(runner, "plain")))

QUESTIONS = (
    Question("losslessness", "does every strategy decode vanilla's text?",
             lambda runner, _: device_tests(runner, lossless_tests())),
    Question("stale reads", "do rounds of ever other widths keep their bits, turn by turn?",
             lambda runner, _: device_tests(runner, "ChainRounds.*", f"--gtest_repeat={TURNS_OF_ROUNDS}")),
    Question("clocks", "does the card keep its clocks under load?", clocks))


def check(runner: Runner, scale: Scale, questions=QUESTIONS) -> dict:
    figures: dict = {}
    wrong = []  # or without an answer
    for question in questions:
        answer = figures[question.name] = {"asks": question.asks}
        try:
            answer.update(verdict="right", found=question.answer(runner, scale))
        except StepSkipped as reason:
            answer.update(verdict="not asked", why=str(reason))
        except StepFailed as error:
            verdict = "no answer" if isinstance(error, OutOfTime) else "wrong"
            answer.update(verdict=verdict, why=str(error), found=error.figures)
            wrong.append(f"{question.name}: {error}")
        runner.say(f"  {question.asks} {answer['verdict']}" + (f": {answer['why']}" if "why" in answer else ""))
    if wrong:
        raise StepFailed("; ".join(wrong), figures)
    if all(answer["verdict"] == "not asked" for answer in figures.values()):
        reason = f"nothing could be asked: {figures[questions[0].name]['why']}"
        raise StepSkipped(reason) if runner.dry else StepFailed(reason, figures)
    return figures


def findings(output: str) -> list[str]:
    """What one of compute-sanitizer's tools found, where in the sources, and how often."""
    lines = [line for line in output.splitlines() if line.startswith("=========")]
    found = Counter()
    for line, after in zip(lines, [*lines[1:], ""]):
        what = re.match(rf"========= (?:Error: |Warning: )?((?:{FINDINGS}).*?)( at |$)", line)
        place = re.search(r" in (\S+:\d+)", line) or re.search(r" in (\S+:\d+)", after)
        if what:
            found[what.group(1) + (f" in {place.group(1)}" if place else "")] += 1
    return [f"{what}, {count} times" for what, count in found.most_common()]


def sanitizers(runner: Runner) -> dict:
    """compute-sanitizer's tools at the same time, each over the tests that it can follow."""
    programs = runner.run_all([[SANITIZE, tool, build.DEVICE_TESTS, tests] for tool, tests in SANITIZERS.items()])
    if all(ended.status == SKIPPED for ended in programs):
        raise StepSkipped(skipped(programs[0].output))
    figures, wrong = {}, []
    for (tool, tests), ended in zip(SANITIZERS.items(), programs):
        found = findings(ended.output)
        passed = len(re.findall(r"^\[       OK \] ", ended.output, re.MULTILINE))
        answer = figures[tool] = {"tests": tests, "passed": passed, "seconds": round(ended.seconds, 1), "findings": found}
        if ended.status == 0:
            answer["verdict"] = "clean"
        elif ended.status == SKIPPED:
            answer.update(verdict="not asked", why=skipped(ended.output))
        else:
            why = found[:2] or failed_tests(ended.output)[:2] or [ended.reason() + unfinished_test(ended.output)]
            answer.update(verdict="no answer" if ended.status is None and not found else "wrong", why="; ".join(why))
            wrong.append(f"{tool}: {answer['why']}")
        runner.say(f"  {tool}: {answer['verdict']}, {passed} tests of {tests}"
                   + (f": {answer['why']}" if "why" in answer else ""))
    if wrong:
        raise StepFailed("; ".join(wrong), figures)
    return figures
