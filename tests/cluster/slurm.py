# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Slurm of one node on this machine, for the time of a test. It runs in a folder of its own, with its own keys, ports and
files, and is gone afterwards."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from recordings import SKIPPED, expect

PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", "sbatch", "sinfo")
START_SECONDS = 60


def missing_programs(*others):
    """Why Slurm can't be run here, or nothing."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [name for name in (*PROGRAMS, *others) if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)} missing"
    return "Slurm needs root" if os.geteuid() != 0 else ""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


class NotStarted(Exception):
    """The machine does not let Slurm or MPI run: that says nothing about shards."""


def run_or_skip(test):
    try:
        test()
    except NotStarted as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)


class Slurm:
    """A controller and a node of two processors on this machine."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.processes = []
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        for name in ("state", "spool"):
            (folder / name).mkdir()
        host = socket.gethostname().split(".")[0]
        (folder / "slurm.conf").write_text(f"""ClusterName=draftscope
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")

    def start(self, *command):
        log = open(self.folder / f"{Path(command[0]).name}.out", "w")
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=self.environment))

    def __enter__(self):
        key = self.folder / "munge.key"
        expect(run("mungekey", "--create", f"--keyfile={key}").returncode == 0, "mungekey failed")
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                   f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munged.seed",
                   f"--log-file={self.folder}/munged.log")
        self.start("slurmctld", "-D", "-f", str(self.folder / "slurm.conf"))
        self.start("slurmd", "-D", "-f", str(self.folder / "slurm.conf"))
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if "idle" in run("sinfo", "--noheader", "--format=%T", env=self.environment).stdout:
                return self
            time.sleep(0.3)
        for log in sorted(self.folder.glob("*.out")) + sorted(self.folder.glob("*.log")):
            print(f"--- {log.name}\n" + log.read_text(errors="replace")[-2000:])
        self.stop()
        raise NotStarted(f"Slurm did not start on this machine within {START_SECONDS} s")

    def submit(self, *arguments, **environment):
        """Waits for the array to end."""
        return run("sbatch", "--wait", *arguments, cwd=self.folder, env={**self.environment, **environment})

    def logs(self):
        return "\n".join(log.read_text(errors="replace") for log in self.folder.glob("draftscope-*.log"))

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()

    def __exit__(self, *_):
        self.stop()
