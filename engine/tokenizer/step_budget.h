// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The limit of one encoding, and of one reading of a tokenizer's file. Normalizers, patterns and templates
// are a program that comes with a model from an unknown source; this is to it what jinja::Limits are to a
// chat template.

#include <draftscope/base/result.h>
#include <cstddef>
#include <string_view>

namespace draftscope::engine::tokenizer {

/// Counts steps: a byte that is read or written, or a step of a pattern; a step takes a few nanoseconds.
/// Published
/// tokenizers take less than 400 for each byte of a text.
class StepBudget {
 public:
  static constexpr std::size_t steps_of_any_text = std::size_t{64} << 20U;
  static constexpr std::size_t steps_per_byte = 1024;

  /// `subject` is the text or file, of this number of bytes, that errors name. Both views must outlive the
  /// budget.
  StepBudget(std::string_view subject, std::size_t bytes)
      : subject_(subject), bytes_(bytes), limit_(steps_of_any_text + steps_per_byte * bytes) {}

  /// Sets the stage that errors name, by its key in tokenizer.json.
  void at_stage(std::string_view stage) { stage_ = stage; }

  /// Takes steps; false from the first time on that too few are left.
  [[nodiscard]] bool take(std::size_t count) {
    if (count > limit_ - used_) is_spent_ = true;
    if (!is_spent_) used_ += count;
    return !is_spent_;
  }
  [[nodiscard]] bool is_spent() const { return is_spent_; }
  [[nodiscard]] tl::unexpected<Error> error() const {
    return fail("{}: the tokenizer's {} needs more than {} steps for {} bytes, expected at most {}", subject_,
                stage_, limit_, bytes_, limit_);
  }
  /// Takes steps. Errors: too few are left.
  [[nodiscard]] Result<void> spend(std::size_t count) {
    if (!take(count)) return error();
    return {};
  }

 private:
  std::string_view subject_;
  std::string_view stage_ = "added_tokens";
  std::size_t bytes_;
  std::size_t limit_;
  std::size_t used_ = 0;
  bool is_spent_ = false;
};

}  // namespace draftscope::engine::tokenizer
