// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A filter of rounds as people write it: terms with spaces between them, all of which must hold.
//
//   category:prose accepted=0 time>3ms run:swift token:"the" !stop=length
//
// A term is a field, a comparison and a value; ! in front turns it round. Texts contain (:) or are (=, !=)
// the value, whatever its case; numbers and times are compared (=, !=, <, <=, >, >=; : is =). Times have a
// unit: ns, us, ms, s. A value in quotes may hold spaces; in it \" is a quote and \\ a backslash.

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
  double number = 0.0;  ///< Value of numbers and times, these in nanoseconds.
  std::string text;     ///< Texts and tokens that are asked for.

  friend bool operator==(const FilterTerm& a, const FilterTerm& b) {
    return a.field == b.field && a.test == b.test && a.is_negated == b.is_negated && a.number == b.number &&
           a.text == b.text;
  }
};

/// Without terms it leaves all rounds.
struct RoundFilter {
  std::vector<FilterTerm> terms;
  friend bool operator==(const RoundFilter& a, const RoundFilter& b) { return a.terms == b.terms; }
};

/// Errors: one line with the column, what was found and what was expected.
[[nodiscard]] Result<RoundFilter> parse_filter(std::string_view words);

/// Words that parse_filter() makes the same filter of.
[[nodiscard]] std::string filter_text(const RoundFilter& filter);

}  // namespace draftscope::gui
