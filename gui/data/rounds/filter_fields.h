// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a filter of rounds can ask for, one row each. A further field is one more row.

#include <span>
#include <string_view>

#include "data/opened_recording.h"

namespace draftscope::gui {

enum class FilterKind : std::uint8_t {
  number,  ///< of a round
  time,    ///< of a round, in nanoseconds; asked for with a unit
  text,    ///< of a request, its prompt or its run
  tokens,  ///< texts of the tokens that a round drafted or emitted
};

struct FilterField {
  std::string_view name;  ///< unique
  FilterKind kind = FilterKind::number;
  std::string_view explanation;  ///< a phrase
  /// Value of a round, for numbers and times; not a number where it has none. Null for other kinds.
  double (*number)(const OpenedRecording& opened, std::uint32_t round_index) = nullptr;
  /// Text that a round has, for texts. Null for other kinds.
  std::string_view (*text)(const OpenedRecording& opened, std::uint32_t round_index) = nullptr;
};

[[nodiscard]] std::span<const FilterField> filter_fields();
/// Null if there is none of this name.
[[nodiscard]] const FilterField* filter_field(std::string_view name);

}  // namespace draftscope::gui
