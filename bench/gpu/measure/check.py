# SPDX-License-Identifier: GPL-3.0-or-later
"""What could be wrong on a device that no other machine shows, in two minutes and before any figure: each question is
asked whatever the others found, and the step fails with all that was found."""
import re
from dataclasses import dataclass
from typing import Callable

from . import build
from .runner import OutOfTime, Runner, StepFailed, StepSkipped
from .sampler import Sampler
from .scale import Scale

PROGRAM = build.FOLDER / "tests/gpu/tests_gpu"
SKIPPED = 77
# Kernels start before the ones ahead have ended. One that then read what these still write would give other bits from
# time to time: rounds of ever other widths, one behind the other, many times over.
TURNS_OF_ROUNDS = 20
SUSTAINED_SECONDS = 5


@dataclass(frozen=True)
class Question:
    name: str
    asks: str
    answer: Callable[[Runner, Scale], object]  # what was found; StepFailed if it is wrong


def tests(runner: Runner, pattern: str, *options: str) -> dict:
    """What tests of `pattern` passed. A pattern that names none is an error."""
    output = runner.run([PROGRAM, f"--gtest_filter={pattern}", "--gtest_brief=1", *options], accept=(0, 1, SKIPPED))
    reason = build.skipped(output)
    if reason:
        raise StepSkipped(reason)
    failed = list(dict.fromkeys(re.findall(r"\[  FAILED  \] (\w+\.\w+)", output)))
    if failed:
        raise StepFailed(f"failed tests: {', '.join(failed[:3])}")
    passed = [int(count) for count in re.findall(r"\[  PASSED  \] (\d+) test", output)]
    if not passed or 0 in passed:
        raise StepFailed(f"no test passed, expected {pattern} to")
    return {"tests": passed[0], "turns": len(passed)}


def clocks(runner: Runner, scale: Scale) -> dict:
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


QUESTIONS = (
    Question("losslessness", "does every strategy decode vanilla's text?",
             lambda runner, _: tests(runner, "*/EveryStrategyOnTheDevice.*:CoupledText.*:ClaspOnTheDevice.*")),
    Question("stale reads", "do rounds of ever other widths keep their bits, turn by turn?",
             lambda runner, _: tests(runner, "ChainRounds.*:GraphReuse.*", f"--gtest_repeat={TURNS_OF_ROUNDS}")),
    Question("clocks", "does the card keep its clocks under load?", clocks),
    Question("races", "are the threads of a block free of races, by racecheck?",
             lambda runner, _: build.sanitize(runner, "racecheck")))


def check(runner: Runner, scale: Scale, questions=QUESTIONS) -> dict:
    if runner.dry:
        raise StepSkipped("needs a device")
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
    if wrong:
        raise StepFailed("; ".join(wrong), figures)
    if all(answer["verdict"] == "not asked" for answer in figures.values()):
        raise StepFailed(f"nothing could be asked: {figures[questions[0].name]['why']}", figures)
    return figures
