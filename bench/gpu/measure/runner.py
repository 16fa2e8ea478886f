# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps with budgets: each is tried, what fails is noted, and the file of results is whole after every step."""
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable


class StepFailed(Exception):
    """One line that says what was found and what was expected; perhaps what was measured all the same."""

    def __init__(self, line: str, figures: object = None):
        super().__init__(line)
        self.figures = figures


class OutOfTime(StepFailed):
    """A command that did not end; `output` is what it had printed."""

    def __init__(self, line: str, output: str):
        super().__init__(line)
        self.output = output


class StepSkipped(Exception):
    """One line that says why there is nothing to do here."""


class Runner:
    def __init__(self, out: Path, dry: bool, deadline_seconds: float, results: dict):
        self.out = out
        self.dry = dry
        self.deadline = time.monotonic() + deadline_seconds
        self.results = results
        self.results["steps"] = []
        self.log = (out / "log.txt").open("w")
        self.step_end = self.deadline

    def step(self, name: str, budget: float, action: Callable[[], object]) -> bool:
        """Runs `action`; what it returns is filed under figures[name]. True unless it failed."""
        print(f"{name} …", end="", flush=True)
        start = time.monotonic()
        self.step_end = min(start + budget, self.deadline)
        step = {"name": name, "budget_seconds": budget, "status": "ok"}
        self.results["steps"].append(step)
        try:
            if self.step_end - start < min(budget, 5):
                raise StepFailed("no time left: the steps before took it")
            figures = action()
            if figures is not None:
                self.results["figures"][name] = figures
        except StepSkipped as reason:
            step.update(status="skipped", reason=str(reason))
        except StepFailed as error:
            step.update(status="failed", error=str(error))
            if error.figures is not None:
                self.results["figures"][name] = error.figures
        except Exception as error:  # a step's failure is a result, whatever it is
            step.update(status="failed", error=f"{type(error).__name__}: {error}")
        step["seconds"] = round(time.monotonic() - start, 2)
        why = step.get("error") or step.get("reason")
        print(f" {step['status']} in {step['seconds']:.1f} s" + (f": {why}" if why else ""), flush=True)
        self.save()
        return step["status"] != "failed"

    def seconds_left(self) -> float:
        return self.step_end - time.monotonic()

    def run(self, command: list, accept=(0,), environment: dict | None = None) -> str:
        """Standard output of a command that ends within the step's budget; the rest goes to the log."""
        words = [str(word) for word in command]
        self.log.write(f"\n$ {' '.join(words)}\n")
        self.log.flush()
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True, env={**os.environ, **(environment or {})})
        try:
            output, errors = process.communicate(timeout=max(self.seconds_left(), 0.1))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with whatever it started
            output, errors = process.communicate()
            self.log.write(output + errors)
            raise OutOfTime(f"{Path(words[0]).name} did not end within the step's budget", output) from None
        except BaseException:  # interrupted: nothing that was started outlives the run
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        self.log.write(output + errors)
        if process.returncode not in accept:
            lines = [line for line in (errors or output).splitlines() if line.strip()]
            raise StepFailed(lines[-1] if lines else f"{Path(words[0]).name} ended with status {process.returncode}")
        return output

    def run_json(self, command: list, accept=(0,)):
        return json.loads(self.run(command, accept))

    def save(self):
        """Replaces the file in one go: a reader never sees half of it."""
        target = self.out / "results.json"
        draft = self.out / ".results.json.new"
        draft.write_text(json.dumps(self.results, indent=1, ensure_ascii=False) + "\n")
        draft.replace(target)
