# SPDX-License-Identifier: GPL-3.0-or-later
"""Clocks, power, temperature and what holds the clocks down, read while something runs."""
import shutil
import statistics
import subprocess
import threading

FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")
REASONS = "clocks_event_reasons.active"
# Bits of NVML's clocks event reasons that say a card is not well, whatever it computes.
SLOWDOWNS = {0x8: "hardware slowdown", 0x20: "thermal slowdown", 0x40: "thermal slowdown by hardware",
             0x80: "power brake"}


class Sampler:
    PERIOD_MS = 200

    def __enter__(self):
        self.rows = []
        # Lines must not wait in the pipe until the sampler ends.
        unbuffered = ["stdbuf", "-oL"] if shutil.which("stdbuf") else []
        try:
            self.process = subprocess.Popen(
                [*unbuffered, "nvidia-smi", f"--query-gpu={','.join((*FIELDS, REASONS))}", "--format=csv,noheader,nounits",
                 f"--loop-ms={self.PERIOD_MS}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:  # a fact that is not known is no error
            self.process = None
            return self
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        return self

    def _read(self):
        for line in self.process.stdout:
            self.take(line)

    def take(self, line: str):
        *values, reasons = line.split(",")
        try:
            self.rows.append((*(float(value) for value in values), int(reasons, 16)))
        except ValueError:
            return  # a field that this card does not tell

    def __exit__(self, *_):
        if self.process is None:
            return
        self.process.terminate()
        self.process.wait()
        self.reader.join()

    def figures(self) -> dict | None:
        # The model is made and uploaded first: only samples with the card at work count.
        if not self.rows:
            return None
        power = FIELDS.index("power.draw")
        most = max(row[power] for row in self.rows)
        busy = [row for row in self.rows if row[power] > 0.6 * most]
        columns = {name: [row[i] for row in busy] for i, name in enumerate(FIELDS)}
        held = 0
        for row in busy:
            held |= row[-1]
        return {"samples": len(busy), "slowdowns": [name for bit, name in SLOWDOWNS.items() if held & bit],
                **{name.replace(".", "_"): {"lowest": min(values), "median": statistics.median(values), "highest": max(values)}
                   for name, values in columns.items()}}
