# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws an adapter's training: how often exits foretell the full model's best token, and the losses.

    python plot_adapter.py adapter/curve.csv curve.png
"""
import argparse
import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Light to dark with depth: an order that grey keeps.
SHADES = plt.get_cmap("viridis_r")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("curve", type=Path)
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    rows = list(csv.DictReader(open(arguments.curve)))
    names = [name for name in rows[0] if name.startswith("agreement_")]
    figure, (shares, losses) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for i, name in enumerate(names):
        known = [(float(row["step"]), 100 * float(row[name])) for row in rows if row[name]]
        exit_layer = name.removeprefix("agreement_")
        label = "all layers" if exit_layer == "full" else f"exit {exit_layer}"
        colour = SHADES((i + 1) / len(names))
        shares.plot(*zip(*known), color=colour, linewidth=1.3)
        shares.annotate(label, known[-1], xytext=(5, -3), textcoords="offset points", color=colour, fontsize=8)
    shares.set(title="best token as the model's without an adapter", xlabel="steps", ylabel="%", ylim=(0, 100),
               xlim=(0, 1.2 * float(rows[-1]["step"])))
    steps = [float(row["step"]) for row in rows]
    losses.plot(steps, [float(row["full_loss"]) for row in rows], color=SHADES(1.0), linewidth=1.3, label="all layers")
    losses.plot(steps, [float(row["exit_loss"]) for row in rows], color=SHADES(0.4), linewidth=1.3, label="exits, weighted")
    losses.set(title="losses of the training", xlabel="steps", yscale="log")
    for axes in (shares, losses):
        axes.grid(alpha=0.3)
    losses.legend(frameon=False, fontsize=8)
    figure.savefig(arguments.picture, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
