// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/writer.h>
#include <string>

namespace draftscope::simulator {

/// The figures must be those of the rows, without data that `meta` declares missing. A vanilla step is the
/// time per token of vanilla decoding that the measured decode speedup implies, so that yields / takes is
/// that speedup.
[[nodiscard]] RoundAccount round_account(const Figures& figures, const RunRows& rows,
                                         const traces::Meta& meta);

/// The opening sentences of a diagnosis, without its findings.
[[nodiscard]] std::string summary_of(const Diagnosis& diagnosis, const Figures& figures,
                                     const traces::Meta& meta);

}  // namespace draftscope::simulator
