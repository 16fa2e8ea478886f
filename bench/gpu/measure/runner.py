# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps with budgets: each is tried, what fails is noted, and the file of results is whole after every step."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its status (negative: by that signal; None: it found no time) and what it printed."""
    program: str
    status: int | None
    output: str
    errors: str
    seconds: float

    def reason(self) -> str:
        """The line that says why it failed."""
        if self.status is None:
            return f"{self.program} did not end within {self.seconds:.0f} s"
        if self.status < 0:
            return f"{self.program} ended by signal {-self.status}"
        lines = [line.strip() for line in self.errors.splitlines() or self.output.splitlines() if line.strip()]
        return lines[-1] if lines and lines[-1] not in ("]", "}") else f"{self.program} ended with status {self.status}"


class Runner:
    def __init__(self, out: Path, dry: bool, deadline_seconds: float, results: dict):
        self.out = out
        self.dry = dry
        self.deadline = time.monotonic() + deadline_seconds
        self.results = results
        self.results["steps"] = []
        self.log = (out / "log.txt").open("w")
        self.step_end = self.deadline
        self.libraries: list[Path] = []   # folders in which programs other than Python look first

    def step(self, name: str, budget: float, action: Callable[[], object]) -> bool:
        """Runs `action`; what it returns is filed under figures[name]. True unless it failed."""
        self.say(f"{name} …")
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
        status = "FAILED" if step["status"] == "failed" else step["status"]
        self.say(f"{name}: {status} in {step['seconds']:.1f} s" + (f": {why}" if why else ""))
        self.save()
        return step["status"] != "failed"

    def say(self, line: str):
        """A line for whoever watches."""
        print(line, flush=True)
        self.log.write(f"{line}\n")
        self.log.flush()

    def seconds_left(self) -> float:
        return self.step_end - time.monotonic()

    def run_all(self, commands: list, environments: list[dict] | None = None) -> list[Ended]:
        """Commands that run at the same time, until each has ended or the step's budget is over. Nothing that they
        started outlives the call."""
        started = []
        try:
            for i, command in enumerate(commands):
                started.append(self._start(command, environments[i] if environments else {}))
            return [self._finish(*one) for one in started]
        finally:
            for _, process, output, errors, _ in started:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                output.close()
                errors.close()

    def _start(self, command: list, environment: dict):
        words = [str(word) for word in command]
        # Python's libraries are its own.
        places = [] if words[0] == sys.executable else [str(folder) for folder in self.libraries]
        places += [os.environ["LD_LIBRARY_PATH"]] if "LD_LIBRARY_PATH" in os.environ else []
        found = {"LD_LIBRARY_PATH": ":".join(places)} if places else {}
        self.log.write(f"$ {' '.join([f'{name}={value}' for name, value in environment.items()] + words)}\n")
        self.log.flush()
        output, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        process = subprocess.Popen(words, stdout=output, stderr=errors, stdin=subprocess.DEVNULL, start_new_session=True,
                                   env={**os.environ, **found, **environment})
        return words, process, output, errors, time.monotonic()

    def _finish(self, words: list[str], process, output, errors, start: float) -> Ended:
        try:
            process.wait(timeout=max(self.seconds_left(), 0.1))
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with whatever it started
            process.wait()
            status = None
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        ended = Ended(Path(words[0]).name, status, *texts, time.monotonic() - start)
        self.log.write(f"{ended.output}{ended.errors}[{ended.program}: status {status}, {ended.seconds:.1f} s]\n\n")
        return ended

    def run(self, command: list, accept=(0,), environment: dict | None = None) -> str:
        """Standard output of a command that ends within the step's budget."""
        [ended] = self.run_all([command], [environment or {}])
        if ended.status is None:
            raise OutOfTime(ended.reason(), ended.output)
        if ended.status not in accept:
            raise StepFailed(ended.reason())
        return ended.output

    def run_json(self, command: list):
        """What a command prints. If it fails, what it measured all the same is kept."""
        [ended] = self.run_all([command])
        if ended.status == 0:
            return json.loads(ended.output)
        if ended.status is None:
            raise OutOfTime(ended.reason(), ended.output)
        try:
            figures = json.loads(ended.output)
        except ValueError:
            figures = None
        raise StepFailed(ended.reason(), figures)

    def save(self):
        """Replaces the file in one go: a reader never sees half of it."""
        target = self.out / "results.json"
        draft = self.out / ".results.json.new"
        draft.write_text(json.dumps(self.results, indent=1, ensure_ascii=False) + "\n")
        draft.replace(target)
