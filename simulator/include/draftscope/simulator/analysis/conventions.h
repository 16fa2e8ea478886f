// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures of the same rounds by the counting convention of each publication. Papers of this field define
// "acceptance rate", "mean accepted length" and "speedup" differently: what a draft token is tested against,
// what is averaged (rounds, prompts, questions), what is left out. A figure may be compared with a paper's
// only in that paper's convention.
//
// Sources: sections of the papers and, where they leave it open, their published code; see conventions().

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

enum class Convention : std::uint8_t { layerskip, draft_verify, swift, clasp, del, spec_bench };

/// Counting convention of one publication. Each text is a sentence without its final stop.
struct ConventionRow {
  Convention convention;
  std::string_view key;     ///< Value of `--as KEY`, and key in JSON.
  std::string_view title;   ///< Name and source.
  std::string_view sample;  ///< The unit that is averaged over.
  std::string_view acceptance;
  std::string_view accepted_length;
  std::string_view speed;
};

/// Rows in order of Convention.
[[nodiscard]] std::span<const ConventionRow> conventions();

/// Figures of a run by one convention. A figure is absent if the publication does not report it or the
/// recording lacks it.
struct ConventionFigures {
  const traces::Run* run = nullptr;
  std::string category;       ///< Category of the prompts; empty = all prompts.
  std::int64_t samples = 0;   ///< Number of samples that were averaged.
  std::int64_t left_out = 0;  ///< Number of samples that the publication's code skips.
  std::optional<double> acceptance_rate;
  std::optional<double> accepted_length;
  std::optional<double> etpl;               ///< tokens per loaded layer (DEL)
  std::optional<double> tokens_per_second;  ///< prefill included
  std::optional<double> wall_ns_per_token;  ///< Wall time per token, prefill included.
  /// Speedup that M, α and the share of layers that a draft skips promise (SWIFT, Equation 6).
  std::optional<double> expected_speedup;
  std::optional<double> speedup;  ///< Speedup over the baseline run on the same prompts; absent without one.
};

/// One element per run, in order of the recording. `recording` must outlive the result. O(rows · log rows).
[[nodiscard]] std::vector<ConventionFigures> figures_as(Convention convention,
                                                        const traces::Recording& recording);

/// The figures of each run on the prompts of each category: [run][category], in order of the recording.
[[nodiscard]] std::vector<std::vector<ConventionFigures>> category_figures_as(
    Convention convention, const traces::Recording& recording);

}  // namespace draftscope::simulator
