# SPDX-License-Identifier: GPL-3.0-or-later
"""What scikit-learn's GaussianProcessRegressor makes of small data sets, configured as bayesian-optimization 1.5.1
configures it (Matern(nu=2.5), normalize_y, alpha = noise, five restarts), as golden.json. Each set gives the points and
scores; at each of a few length scales the log marginal likelihood, and mean, deviation and upper confidence bound at
query points, and the highest bound that the package's acq_max finds; and the likelihood of the length scale that
scikit-learn's optimiser finds. Made with scikit-learn 1.9 and bayesian-optimization 1.5.1: python make_golden.py"""
import json
import warnings
from pathlib import Path

import numpy as np
from bayes_opt.util import UtilityFunction, acq_max
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern

KAPPA = 2.5


def smooth(points):
    return np.sin(3.0 * points[:, 0]) + points.sum(axis=1) ** 2


def layer_sets(rng, n, components, skipped):
    points = np.zeros((n, components))
    for row in points:
        row[rng.choice(components, skipped, replace=False)] = 1.0
    return points


def data_sets():
    rng = np.random.RandomState(1)
    line = rng.uniform(size=(6, 1))
    yield "one point", np.array([[0.25, 0.75]]), np.array([3.0]), 1e-2
    yield "constant scores", rng.uniform(size=(5, 3)), np.full(5, 0.5), 1e-2
    yield "line", line, smooth(line), 1e-6
    square = rng.uniform(size=(25, 2))
    yield "square", square, smooth(square), 1e-2
    repeated = np.vstack([square[:8], square[:4]])
    yield "repeated points", repeated, np.concatenate([smooth(square[:8]), smooth(square[:4]) + 0.1]), 1e-2
    sets = layer_sets(rng, 40, 20, 9)
    worth = rng.normal(size=20)
    yield "layer sets", sets, sets @ worth + 0.3 * rng.normal(size=40), 1e-2
    mixed = np.vstack([layer_sets(rng, 30, 12, 5), rng.uniform(size=(10, 12))])
    yield "layer sets and inner points", mixed, -((mixed - 0.4) ** 2).sum(axis=1), 1e-2


def golden_of(name, points, scores, noise):
    rng = np.random.RandomState(2)
    queries = np.vstack([rng.uniform(size=(3, points.shape[1])), points[:1]])
    at = []
    for length_scale in (0.3, 1.0, 4.0):
        fixed = GaussianProcessRegressor(Matern(nu=2.5, length_scale=length_scale), alpha=noise, normalize_y=True,
                                         optimizer=None).fit(points, scores)
        mean, deviation = fixed.predict(queries, return_std=True)
        utility = UtilityFunction(kind="ucb", kappa=KAPPA).utility
        bounds = np.tile([0.0, 1.0], (points.shape[1], 1))
        place = acq_max(utility, fixed, scores.max(), bounds, np.random.RandomState(3),
                        y_max_params=points[scores.argmax()])
        at.append({"length_scale": length_scale, "log_likelihood": float(fixed.log_marginal_likelihood_value_),
                   "mean": mean.tolist(), "deviation": deviation.tolist(),
                   "upper_bound": (mean + KAPPA * deviation).tolist(),
                   "highest_bound": float(utility(place[None], fixed, None)[0])})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a length scale at its bound is worth a warning there, a case here
        fitted = GaussianProcessRegressor(Matern(nu=2.5), alpha=noise, normalize_y=True, n_restarts_optimizer=5,
                                          random_state=1).fit(points, scores)
    return {"name": name, "noise": noise, "kappa": KAPPA, "points": points.tolist(), "scores": scores.tolist(),
            "queries": queries.tolist(), "at": at, "fitted": {
                "length_scale": float(fitted.kernel_.length_scale),
                "log_likelihood": float(fitted.log_marginal_likelihood_value_)}}


def rounded(value):
    """Short numbers first, goldens of exactly those."""
    return np.round(np.asarray(value, dtype=float), 6)


if __name__ == "__main__":
    golden = [golden_of(name, rounded(points), rounded(scores), noise) for name, points, scores, noise in data_sets()]
    lines = ",\n".join(json.dumps(one) for one in golden)
    Path(__file__).with_name("golden.json").write_text(f"[\n{lines}\n]\n")
