// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The fields that a filter of rounds can test, one row each. A further field is one more row.

#include <span>
#include <string_view>

#include "data/opened_recording.h"

namespace draftscope::gui {

enum class FilterKind : std::uint8_t {
  number,  ///< Number of a round.
  time,    ///< Time of a round, in nanoseconds; terms need a unit.
  text,    ///< Text of a request, its prompt or its run.
  tokens,  ///< Texts of the tokens that a round drafted or emitted.
};

struct FilterField {
  std::string_view name;  ///< Unique name.
  FilterKind kind = FilterKind::number;
  std::string_view explanation;  ///< Explanation, as a phrase.
  /// Value of a round, for numbers and times; NaN where it has none. Null for other kinds.
  double (*number)(const OpenedRecording& opened, std::uint32_t round_index) = nullptr;
  /// Text that a round has, for texts. Null for other kinds.
  std::string_view (*text)(const OpenedRecording& opened, std::uint32_t round_index) = nullptr;
};

[[nodiscard]] std::span<const FilterField> filter_fields();
/// Null if there is none of this name.
[[nodiscard]] const FilterField* filter_field(std::string_view name);

}  // namespace draftscope::gui
