# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the loss of both trainings and joins their logs into one table.

    python plot_curve.py --out curve layerskip=corpus/layerskip.csv+corpus/layerskip.2.csv plain=…

Stages of one training are joined by a plus sign.
"""
import argparse
import csv
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Two hues that stay apart for colour-blind eyes and in grey.
COLOURS = {"layerskip": "#0072b2", "plain": "#d55e00"}


def column(rows, name):
    return np.array([float(row[name]) if row[name] else np.nan for row in rows])


def stages(paths):
    """The rows of all stages, counted on from one to the next."""
    joined, before = [], {"step": 0, "tokens": 0, "seconds": 0.0}
    for path in paths:
        rows = list(csv.DictReader(open(path)))
        for row in rows:
            row.update({name: round(float(row[name]) + before[name], 1 if name == "seconds" else None) for name in before})
        before = {name: rows[-1][name] for name in before}
        joined += rows
    return joined


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="writes OUT.csv and OUT.png")
    parser.add_argument("logs", nargs="+", metavar="RECIPE=CSV[+CSV…]")
    arguments = parser.parse_args()
    figure, (train, held_out) = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    joined = []
    for recipe, path in (log.split("=") for log in arguments.logs):
        rows = stages(path.split("+"))
        joined += [{"recipe": recipe, **row} for row in rows]
        tokens = column(rows, "tokens") / 1e6
        train.plot(tokens, column(rows, "train_loss"), color=COLOURS[recipe], linewidth=1, label=recipe)
        for kind, dashes in (("code", "-"), ("prose", "--")):
            loss = column(rows, f"held_out_{kind}")
            known = ~np.isnan(loss)
            held_out.plot(tokens[known], loss[known], dashes, color=COLOURS[recipe], linewidth=1,
                          label=f"{recipe}, {kind}")
    for axes, title in ((train, "training text"), (held_out, "held-out text")):
        axes.set(title=title, xlabel="million tokens seen")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    train.set_ylabel("loss of the full model, nats a token")
    train.set_ylim(top=7)
    figure.savefig(arguments.out.with_suffix(".png"), dpi=110)
    with open(arguments.out.with_suffix(".csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, joined[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(joined)


if __name__ == "__main__":
    main()
