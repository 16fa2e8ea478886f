// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The pictures of decisions, one table row each: which decisions and series a picture shows, its shape, its
// source paper, and the strategies that record it. A picture of a new series is one more row.

#include <cstdint>
#include <span>
#include <string_view>

#include "data/decisions/decision_history.h"

namespace draftscope::gui {

enum class PictureShape : std::uint8_t {
  lines,       ///< One line per series, over the rounds.
  exits,       ///< One row per exit, over the rounds, by colour.
  shares,      ///< Frequency of each word, over the rounds.
  gaps,        ///< Overlap of sets, by the tokens between them.
  categories,  ///< One row per exit, one column per category of prompts.
  segments,    ///< One row per exit, one column per stretch of the output.
  search,      ///< Trials of `tune`, from a policy file.
};

struct DecisionPicture {
  std::string_view key;    ///< Unique key.
  std::string_view title;  ///< Title for people.
  PictureShape shape = PictureShape::lines;
  std::string_view kind;         ///< Kind of the decisions.
  std::string_view source;       ///< Paper and figure; empty = the project's own.
  std::string_view recorded_by;  ///< Strategies that make such decisions.
  bool is_share = false;         ///< Whether values lie between 0 and 1.
  std::string_view line{};       ///< Key in simulator::decision_series(), or "realised_gain"; empty = none.
  std::string_view other_line{};
  std::string_view words{};       ///< Key in simulator::decision_words() that tells marks or shares apart.
  std::string_view phase_kind{};  ///< Kind of the decisions that change what the strategy is doing.
  std::string_view phase_words{};
  std::string_view first_phase{};  ///< Phase before the first such decision.
};

[[nodiscard]] std::span<const DecisionPicture> decision_pictures();

/// Whether a run has what the picture shows. No run has a search.
[[nodiscard]] bool has_picture(const RunHistory& run, const DecisionPicture& picture);

/// Index of the first picture that a run has; the first picture of all if it has none.
[[nodiscard]] std::size_t first_picture(const RunHistory& run);

/// "No decision of this run is of the kind …: it is recorded by …". One line.
[[nodiscard]] std::string why_no_picture(const RunHistory& run, const DecisionPicture& picture);

}  // namespace draftscope::gui
