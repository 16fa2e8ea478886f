// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The same rounds as each publication counts them. Papers of this field give "acceptance rate", "mean
// accepted length" and "speedup" other meanings: what a draft token is tested against, what is averaged
// (rounds, prompts, questions), what is left out. A figure may be held against a paper's only in that paper's
// convention.
//
// Sources: the papers' sections and, where they leave it open, the code that they published; see
// conventions().

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

enum class Convention : std::uint8_t { layerskip, draft_verify, swift, clasp, del, spec_bench };

/// How one publication counts. Each text is a sentence without its final stop.
struct ConventionRow {
  Convention convention;
  std::string_view key;     ///< `--as KEY`, in JSON
  std::string_view title;   ///< name and source
  std::string_view sample;  ///< what is averaged over
  std::string_view acceptance;
  std::string_view accepted_length;
  std::string_view speed;
};

/// In the order of Convention.
[[nodiscard]] std::span<const ConventionRow> conventions();

/// Figures of a run by one convention; absent is what the publication does not report, or what the recording
/// lacks.
struct ConventionFigures {
  const traces::Run* run = nullptr;
  std::int64_t samples = 0;   ///< that were averaged over
  std::int64_t left_out = 0;  ///< samples that the publication's code skips
  std::optional<double> acceptance_rate;
  std::optional<double> accepted_length;
  std::optional<double> etpl;               ///< tokens per loaded layer (DEL)
  std::optional<double> tokens_per_second;  ///< prefill included
  std::optional<double> wall_ns_per_token;  ///< likewise
  std::optional<double> speedup;            ///< over the baseline run on the same prompts; absent without one
};

/// One element a run, in the recording's order. `recording` must outlive the result. O(rows · log rows).
[[nodiscard]] std::vector<ConventionFigures> figures_as(Convention convention,
                                                        const traces::Recording& recording);

}  // namespace draftscope::simulator
