// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The pattern of a tokenizer.json: {"String": "…"} or {"Regex": "…"}. Regular expressions there are written
// for Oniguruma; they are translated and run by PCRE2 with its JIT. No other file compiles or runs a regular
// expression.

#include <draftscope/base/result.h>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/read_json.h"
#include "tokenizer/step_budget.h"

struct pcre2_real_code_8;

namespace draftscope::engine::tokenizer {

/// A half-open range of bytes.
struct Range {
  std::size_t begin;
  std::size_t end;
};

class Pattern {
 public:
  [[nodiscard]] static Result<Pattern> parse(const JsonField& field);
  [[nodiscard]] static Result<Pattern> regex(std::string_view expression, std::string_view path);
  [[nodiscard]] static Pattern literal(std::string text);

  /// The literal text; empty for a regular expression.
  [[nodiscard]] const std::string& literal_text() const { return literal_; }

  using Visit = std::function<void(Range)>;
  /// Visits all matches, left to right, without overlap. Lookarounds see only `text`. What PCRE2 may do, also
  /// by backtracking, comes from the budget, of which the visitor may take as well. Fails when it is spent,
  /// and when one match needs more than 64 MiB.
  [[nodiscard]] Result<void> for_each_match(std::string_view text, StepBudget& budget,
                                            const Visit& visit) const;

 private:
  std::string literal_;
  std::shared_ptr<const pcre2_real_code_8> code_;
};

}  // namespace draftscope::engine::tokenizer
