# SPDX-License-Identifier: GPL-3.0-or-later
"""What an H200 measured (bench/gpu/measured), and what the model makes of the same passes.

    h200_passes.csv    whole passes by bench_gpu: what the model is held to
    h200_kernels.csv   one row of Llama-3-8B, kernels one by one under the profiler: what it is fitted on
    h200_probes.csv    likewise
    h200_launches.csv  the launches of these passes, as the kernels of the commit were: `predict --launches`"""
import csv
from dataclasses import astuple, fields, replace
from pathlib import Path
from statistics import median

from times import fit, pass_seconds, rows_of
from traffic import LAYER_KERNELS, Launches

FOLDER = Path(__file__).resolve().parents[1] / "measured"
GPU = "H200-SXM5-141GB"
PROFILED = ("llama-3-8b", "bf16", 1, 512)
KEY = ("model", "weights", "rows", "context")
COLUMNS = tuple(field.name for field in fields(Launches))


def write_launches(out, weights, models, machine, rows, contexts):
    """A line a kernel; all but attention are the same at every context, which the first stands for."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*KEY, *COLUMNS))
    for counted in models:
        for count in rows:
            for context in contexts:
                for kernel in counted.launches(machine, count, context):
                    if kernel.kernel == "attention" or context == contexts[0]:
                        writer.writerow((counted.name.lower(), weights, count, context,
                                         *(f"{value:.10g}" if isinstance(value, float) else value for value in astuple(kernel))))


def read_launches(path):
    """By KEY, a pass's launches in order."""
    found = {}
    for row in rows_of(path):
        values = {name: row[name] if name == "kernel" else float(row[name]) for name in COLUMNS}
        found.setdefault((row["model"], row["weights"], int(row["rows"]), int(row["context"])), []).append(Launches(**values))
    for key, kernels in found.items():
        [of_context] = [kernel for kernel in kernels if kernel.kernel == "attention"]
        first = next(whole for other, whole in found.items() if other[:3] == key[:3])
        found[key] = [of_context if kernel.kernel == "attention" else kernel for kernel in first]
    return found


def fit_to_h200(gpu, pace, folder=FOLDER):
    launches = read_launches(folder / "h200_launches.csv")
    return fit(rows_of(folder / "h200_probes.csv"), rows_of(folder / "h200_kernels.csv"), launches[PROFILED], gpu, pace)


def first_layers(kernels, layers):
    """The launches of a pass that leaves after so many layers."""
    return [replace(kernel, times=layers) if kernel.kernel in LAYER_KERNELS else kernel for kernel in kernels]


def compare(gpu, fitted, pace, folder=FOLDER):
    """A row a measured pass; `modelled_ms` is null where two blocks of products stood on one multiprocessor."""
    launches = read_launches(folder / "h200_launches.csv")
    for row in rows_of(folder / "h200_passes.csv"):
        key = (row["model"], row["weights"], int(row["rows"]), int(row["context"]))
        ms = float(row["ms"])
        modelled = None
        if row["doubled_up"] == "no":
            kernels = first_layers(launches[key], int(row["layers"]))
            modelled = 1e3 * pass_seconds(kernels, gpu, fitted, pace, row["edges"] == "early")
        yield {"model": key[0], "weights": key[1], "rows": key[2], "context": key[3], "layers": int(row["layers"]),
               "edges": row["edges"], "doubled_up": row["doubled_up"] == "yes", "measured_ms": ms, "modelled_ms": modelled,
               "error": None if modelled is None else modelled / ms - 1.0, "date": row["date"], "commit": row["commit"],
               "source": row["source"]}


def errors(compared):
    """Median and worst of what is modelled."""
    sizes = [abs(row["error"]) for row in compared if row["error"] is not None]
    return {"median": median(sizes), "worst": max(sizes)}
