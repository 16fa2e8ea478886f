// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The figures of a run by a publication's convention (figures/conventions.h), once, for texts, JSON, CSV and
// cli/OUTPUT.md. Safe from any thread.

#include <draftscope/simulator/catalogue/figure.h>
#include <draftscope/simulator/figures/conventions.h>
#include <span>

namespace draftscope::simulator {

[[nodiscard]] std::span<const FigureOf<ConventionFigures>> convention_figures();

}  // namespace draftscope::simulator
