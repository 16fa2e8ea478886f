// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A filter of rounds as people write it: terms with spaces between them, all of which must hold.
//
//   category:prose accepted=0 time>3ms run:swift token:"the" !stop=length
//
// A term is a field, a comparison and a value; a leading ! negates it. Texts contain (:) or equal (=, !=) the
// value, ignoring case. Numbers and times are compared (=, !=, <, <=, >, >=; : is =). Times have a unit: ns,
// us, ms, s. A value in quotes may contain spaces; in it \" is a quote and \\ a backslash.

#include <draftscope/base/result.h>
#include <string>
#include <string_view>
#include <vector>

#include "data/rounds/filter_fields.h"

namespace draftscope::gui {

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
