# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of several draftscope processes that share a model: how they are started, found and ended."""
import ctypes
import os
import shutil
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

from recordings import SKIPPED, expect

START_SECONDS = 60
END_SECONDS = 10
LAUNCHER = ("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none")
STRATEGIES = ("vanilla", "layerskip:exit=7,gamma=4,verify=above-exit", "mix:mask=exit,exit=5,shape=tree", "prompt-lookup")
MARK = "DRAFTSCOPE_TEST_JOB"


def mpirun(ranks, *command, **options):
    settings = {"capture_output": True, "text": True, "timeout": 1200, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run([*LAUNCHER, "-n", str(ranks), *map(str, command)], **settings)


def skip_without_mpi(program):
    if shutil.which("mpirun") is None or mpirun(2, "true").returncode != 0:
        print("skipped: mpirun does not start two processes on this machine")
        sys.exit(SKIPPED)
    built = mpirun(2, program, "generate", "--tensor-parallel", "2", "--model", "none", "--prompt", "x")
    if "build without MPI" in built.stderr:
        print("skipped: " + built.stderr.strip())
        sys.exit(SKIPPED)


def lines_of(stderr):
    """Those of draftscope."""
    return [line for line in stderr.splitlines() if line.startswith("draftscope:")]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition, seconds, message):
    until = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < until, message())
        time.sleep(0.05)


def stop_main_thread(pid):
    """Stops one thread of a process amid its work, as a disk that does not answer would: the others run on. Within MPI, which a disk
    does not stop, it is let go on. Lasts until this process ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    seize, interrupt, registers, go_on, any_thread = 0x4206, 0x4207, 12, 7, 0x40000000
    own = os.readlink(f"/proc/{pid}/exe")
    found = (ctypes.c_ulong * 27)()

    def ask(request, data=None):
        expect(libc.ptrace(request, pid, None, data) == 0, f"ptrace: {os.strerror(ctypes.get_errno())}")

    def is_at_work():
        ask(registers, ctypes.addressof(found))
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            if first <= found[16] < last:
                return line.endswith(own)
        return False

    ask(seize)
    while True:
        ask(interrupt)
        os.waitpid(pid, any_thread)
        if is_at_work():
            break
        ask(go_on)
        time.sleep(0.001)
    # Its end is this process's to hear of, before its parent does.
    threading.Thread(target=os.waitpid, args=(pid, any_thread), daemon=True).start()


class Job:
    """A launcher and the ranks that it started."""

    def __init__(self, launcher, program, *arguments, log, ranks=2, **options):
        self.log = Path(log)
        self.mark = uuid.uuid4().hex
        self.program = str(program)
        environment = {**options.pop("env", os.environ), MARK: self.mark}
        with open(log, "w") as output:
            self.process = subprocess.Popen([*launcher, "-n", str(ranks), program, *map(str, arguments)], stdout=output, stderr=output,
                                            stdin=options.pop("stdin", subprocess.DEVNULL), env=environment, **options)
        self.ranks = {}
        try:
            wait_until(lambda: len(self.find_ranks()) == ranks, START_SECONDS,
                       lambda: f"{ranks} ranks did not start within {START_SECONDS} s: {self.text()}")
        except BaseException:
            self.close()
            raise

    def find_ranks(self):
        """Ids of processes by rank."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = dict(entry.split(b"=", 1) for entry in (folder / "environ").read_bytes().split(b"\0") if b"=" in entry)
                is_rank = os.readlink(folder / "exe") == os.path.realpath(self.program)
            except OSError:
                continue
            if is_rank and environment.get(MARK.encode()) == self.mark.encode() and b"PMIX_RANK" in environment:
                found[int(environment[b"PMIX_RANK"])] = int(folder.name)
        self.ranks = found
        return found

    def text(self):
        return self.log.read_text(errors="replace")

    def expect_end(self, why):
        try:
            code = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{why} and the job still ran after {END_SECONDS} s: {self.text()}")
        expect(code != 0, f"{why} and the job ended well")
        # The launcher may be gone before the last of what it killed is.
        wait_until(lambda: not any(is_alive(pid) for pid in self.ranks.values()), END_SECONDS,
                   lambda: f"{why} and one of {sorted(self.ranks.values())} is left")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class RecordingJob(Job):
    """One that records for longer than any test, of which something is on the disk already."""

    def __init__(self, launcher, program, model, folder, name, *arguments, ranks=2, **options):
        self.trace = folder / f"{name}.dstrace"
        super().__init__(launcher, program, "record", "--tensor-parallel", str(ranks), "--model", model, "--prompts",
                         folder / "prompts.jsonl", "--repeats", "1000", "--max-tokens", "64", "--threads", "1", "--strategy", "vanilla",
                         "--output", self.trace, *arguments, log=folder / f"{name}.log", ranks=ranks, **options)
        try:
            wait_until(self.trace.exists, START_SECONDS, lambda: "nothing was recorded: " + self.text())
            time.sleep(0.5)  # it decodes
        except BaseException:
            self.close()
            raise
