// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The fields that a filter of rounds can test, one row each. A further field is one more row.

#include <draftscope/base/result.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// A filter of rounds as people write it: terms with spaces between them, all of which must hold.
//
//   category:prose accepted=0 time>3ms run:swift token:"the" !stop=length
//
// A term is a field, a comparison and a value; a leading ! negates it. Texts contain (:) or equal (=, !=) the
// value, ignoring case. Numbers and times are compared (=, !=, <, <=, >, >=; : is =). Times have a unit: ns,
// us, ms, s. A value in quotes may contain spaces; in it \" is a quote and \\ a backslash.

enum class FilterTest : std::uint8_t { contains, equal, unequal, less, at_most, more, at_least };

struct FilterTerm {
  const FilterField* field = nullptr;
  FilterTest test = FilterTest::equal;
  bool is_negated = false;
  double number = 0.0;  ///< Value for numbers and times; times are in nanoseconds.
  std::string text;     ///< Value for texts and tokens.

  bool operator==(const FilterTerm&) const = default;
};

/// A filter without terms leaves all rounds.
struct RoundFilter {
  std::vector<FilterTerm> terms;
  bool operator==(const RoundFilter&) const = default;
};

/// Errors: one line with the column, what was found and what was expected.
[[nodiscard]] Result<RoundFilter> parse_filter(std::string_view words);

}  // namespace draftscope::gui
