#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes rule_golden.csv: layers that ConfLayers leaves out, by its rule in plain Python, of made-up
confidences. A row: lambda, layers of the model, confidences (of layers 1 to L-2), places left out."""
import csv
import os
import random
import statistics


def second_derivative(values):
    def derivative(v):
        inner = [(b - a) / 2 for a, b in zip(v, v[2:])]
        return [v[1] - v[0], *inner, v[-1] - v[-2]]

    return derivative(derivative(values))


def centred(values):
    low, high = min(values), max(values)
    values = [(v - low) / (high - low + 1e-8) for v in values]
    mean = statistics.fmean(values)
    if max(values) - min(values) <= 1e-8:
        return [0.5] * len(values)
    factor = min(0.5 / (max(values) - mean), 0.5 / (mean - min(values)))
    return [min(1.0, max(0.0, 0.5 + factor * (v - mean))) for v in values]


def left_out(confidences, strictness, layers):
    spread = statistics.pstdev(confidences) + 1e-6
    mean = statistics.fmean(confidences)
    scaled = [(c - mean) / spread for c in confidences]
    bends = second_derivative(scaled)
    equal = 0
    while equal < len(bends) and bends[equal] == bends[0]:
        equal += 1
    weights = centred(bends)
    places = []
    for i, value in enumerate(scaled):
        window = 2 + int(5 * equal * weights[i] * ((i + 1) / layers))
        reach = window // 2
        around = [scaled[j] for j in range(max(0, i - reach), min(len(scaled), i + reach + 1)) if j != i]
        if value < statistics.fmean(around) - strictness * statistics.pstdev(around):
            places.append(i)
    return places


def main():
    random.seed(11)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rule_golden.csv")
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["lambda", "n_layers", "confidences", "left_out"])
        for trial in range(40):
            layers = random.randint(4, 40)
            grows = trial % 3 == 0
            confidences = [random.random() + (0.1 * i if grows else 0.0) for i in range(layers - 2)]
            if trial % 7 == 0:  # the first ones alike, whose bends are equal
                confidences[: min(6, layers - 2)] = [0.25] * min(6, layers - 2)
            strictness = random.choice([-0.5, -0.05, 0.0, 0.1, 0.6])
            rows.writerow([strictness, layers, " ".join(f"{c!r}" for c in confidences),
                           " ".join(map(str, left_out(confidences, strictness, layers)))])


if __name__ == "__main__":
    main()
