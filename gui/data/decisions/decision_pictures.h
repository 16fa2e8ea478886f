// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The pictures that decisions are drawn as, one row each: which decisions, which of their series, how, after
// which paper, and who records them. A picture of a new series is one more row.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "data/decisions/decision_history.h"

namespace draftscope::gui {

enum class PictureShape : std::uint8_t {
  lines,       ///< a line a series, over the rounds
  exits,       ///< a row an exit, over the rounds, by colour
  shares,      ///< how often each word was said, over the rounds
  gaps,        ///< how much sets have in common, by tokens between them
  categories,  ///< a row an exit, a column a category of prompts
  segments,    ///< a row an exit, a column a stretch of the output
  search,      ///< trials of `tune`, which a policy file has
};

/// A line of a picture.
struct PictureLine {
  std::string_view key;  ///< of a row of simulator::decision_series(), or "realised_gain"; empty = no line
};

struct DecisionPicture {
  std::string_view key;    ///< unique
  std::string_view title;  ///< for people
  PictureShape shape = PictureShape::lines;
  std::string_view kind;         ///< Kind of the decisions.
  std::string_view source;       ///< paper and figure; empty = the project's own
  std::string_view recorded_by;  ///< strategies that make such decisions
  std::array<PictureLine, 2> lines{};
  std::string_view words{};       ///< key of simulator::decision_words() that tells marks or shares apart
  std::string_view phase_kind{};  ///< kind of the decisions that change what the strategy is doing
  std::string_view phase_words{};
  std::string_view first_phase{};  ///< before any of them
  bool is_share = false;           ///< values lie between 0 and 1
};

[[nodiscard]] std::span<const DecisionPicture> decision_pictures();

/// Whether a run has what the picture shows. Of a search none has.
[[nodiscard]] bool has_picture(const RunHistory& run, const DecisionPicture& picture);

/// Index of the first picture that a run has; of the first of all if it has none.
[[nodiscard]] std::size_t first_picture(const RunHistory& run);

/// "No decision of this run is of the kind …: it is recorded by …". One line.
[[nodiscard]] std::string why_no_picture(const RunHistory& run, const DecisionPicture& picture);

}  // namespace draftscope::gui
