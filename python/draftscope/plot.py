# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a recording with matplotlib: one round, and why a run is as fast as it is."""

import json
import shutil
import subprocess
import textwrap

PHASES = ("draft", "verify", "accept", "optimise", "control", "other")
COLOURS = {"draft": "#4c78a8", "verify": "#f58518", "accept": "#54a24b", "optimise": "#b279a2", "control": "#9d755d",
           "other": "#bab0ac"}


def round(recording, round, axes=None):
    """A round: its draft tokens with their confidence, kept or not, above where its time went."""
    import matplotlib.pyplot

    rows = recording.rounds
    row = rows[rows["round"] == round]
    if row.empty:
        raise ValueError(f"{recording.path}: has no round {round}")
    row = row.iloc[0]
    tokens = recording.draft_tokens
    tokens = tokens[tokens["round"] == round]
    if axes is None:
        _, axes = matplotlib.pyplot.subplots(2, 1, figsize=(7, 4), height_ratios=(3, 1), layout="constrained")
    texts = dict(recording.sql("SELECT token, text FROM token_texts").itertuples(index=False))
    known = tokens["confidence"].fillna(1.0)
    axes[0].bar(range(len(tokens)), known, color=["#54a24b" if kept else "#e45756" for kept in tokens["accepted"]],
                alpha=1.0 if tokens["confidence"].notna().any() else 0.3)
    axes[0].set_xticks(range(len(tokens)), [repr(texts.get(token, token)) for token in tokens["token"]])
    axes[0].set_ylim(0, 1)
    axes[0].set_ylabel("confidence")
    axes[0].set_title(f"round {row['round_index']} of request {row['request']}: {row['accepted']} of {row['drafted']} kept,"
                      f" {row['emitted']} tokens")
    left = 0.0
    for phase in PHASES:
        width = row[f"{phase}_ns"] / 1e6
        if width > 0:
            axes[1].barh([0], [width], left=left, color=COLOURS[phase], label=phase)
        left += width
    axes[1].set_yticks([])
    axes[1].set_xlabel("ms")
    if left > 0:
        axes[1].legend(ncols=len(PHASES), fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.5))
    return axes


def why(recording, axes=None):
    """Time per token of each run by phase, with what draftscope explain says under it, where the command is installed."""
    import matplotlib.pyplot

    rows = recording.rounds
    sums = rows.groupby("specification")[["emitted", *[f"{phase}_ns" for phase in PHASES]]].sum()
    if axes is None:
        _, axes = matplotlib.pyplot.subplots(figsize=(8, 1.5 + 0.9 * len(sums)), layout="constrained")
    left = 0.0 * sums["emitted"]
    for phase in PHASES:
        width = sums[f"{phase}_ns"] / sums["emitted"] / 1e6
        if width.sum() > 0:
            axes.barh(sums.index, width, left=left, color=COLOURS[phase], label=phase)
        left += width
    axes.set_xlabel("ms per token")
    axes.legend(fontsize="small", ncols=len(PHASES), loc="upper center", bbox_to_anchor=(0.5, -0.16))
    sentences = explained(recording.path)
    if sentences:
        lines = [line for sentence in sentences for line in textwrap.wrap(sentence, 100)]
        axes.set_title("\n".join(lines), fontsize="small", loc="left")
    return axes


def explained(path, command="draftscope"):
    """The first finding of each run, as draftscope explain says it; [] where the command is not installed."""
    if shutil.which(command) is None:
        return []
    said = subprocess.run([command, "explain", path, "--json", "--measured-only"], capture_output=True, text=True)
    if said.returncode != 0:
        return []
    return [f"{run['specification']}: {run['findings'][0]['sentence']}" for recording in json.loads(said.stdout)["recordings"]
            for run in recording["runs"] if run.get("findings")]
