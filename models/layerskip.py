# SPDX-License-Identifier: GPL-3.0-or-later
"""The LayerSkip recipe (Elhoushi et al. 2024, arXiv 2404.16710, section 4): how often a layer is dropped, and which exits a
step trains with which weight. Exits are indices of layers, counted from zero: exit l follows layer l."""
import math

import torch


def dropout_rates(layers: int, max_rate: float) -> torch.Tensor:
    """D(l) * p_max, D(l) = exp(l ln2 / (L-1)) - 1: nothing at the bottom, p_max at the top."""
    depth = torch.arange(layers)
    return max_rate * (torch.exp(depth * math.log(2) / (layers - 1)) - 1)


def dropout_scale(progress: float, curriculum: str) -> float:
    """S(t), by which the rates are multiplied: constant for models that were trained before, exponential from scratch."""
    return 1.0 if curriculum == "constant" else math.exp(progress * math.log(2)) - 1


def exit_weights(layers: int, scale: float, first: int = 0) -> torch.Tensor:
    """Unnormalised weight of the loss after each layer: quadratic in depth, the last one largest.

    The paper counts layers from `first` = 0, which leaves the first exit without a weight.
    """
    weights = scale * torch.arange(first, layers + first).cumsum(0).float()
    weights[-1] = layers - 1 + first + weights[-2]
    return weights


def rotational_exits(step: int, exits: list[int], per_step: int) -> list[int]:
    """The early exits whose turn it is, evenly spread over all of them: the paper's C_rot,R, whose R is the number of
    exits by `per_step`."""
    return sorted(exits[(step + i * len(exits) // per_step) % len(exits)] for i in range(per_step))


def gradual_exits(progress: float, exits: list[int]) -> list[int]:
    """The paper's C_gradual: exits join from the last to the first, all of them after half the training."""
    joined = min(len(exits), int(progress * 2 * len(exits)))
    return sorted(exits)[len(exits) - joined:]
