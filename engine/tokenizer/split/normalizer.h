// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tokenizer/read_json.h"
#include "tokenizer/split/pattern.h"
#include "tokenizer/step_budget.h"

namespace draftscope::engine::tokenizer {

/// Puts a text before any text that is not empty (SentencePiece's dummy prefix).
struct Prepend {
  std::string text;
};
struct ReplaceMatches {
  Pattern pattern;
  std::string content;
};
struct UnicodeForm {
  bool compose;        ///< NFC, NFKC; otherwise NFD, NFKD
  bool compatibility;  ///< NFKC, NFKD
};

using NormalizerStep = std::variant<Prepend, ReplaceMatches, UnicodeForm>;

class Normalizer {
 public:
  Normalizer() = default;
  explicit Normalizer(std::vector<NormalizerStep> steps) : steps_(std::move(steps)) {}
  [[nodiscard]] static Result<Normalizer> parse(const JsonField& field);
  [[nodiscard]] Result<std::string> apply(std::string text, StepBudget& budget) const;

 private:
  std::vector<NormalizerStep> steps_;
};

}  // namespace draftscope::engine::tokenizer
