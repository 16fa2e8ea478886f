// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/traces/records.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <map>
#include <string>

namespace draftscope::simulator {

/// Text ids that a prompt file gave its questions ("HumanEval/0"), of the recording's `question_names`.
class QuestionNames {
 public:
  /// Reads them; where the row is absent or no JSON object of texts, no question has a name.
  explicit QuestionNames(const traces::Meta& meta);
  /// Name of a question; "" = none. Valid as long as this object.
  [[nodiscard]] const std::string& name(std::int64_t question_id) const;
  /// Number of a prompt, its turn from the second on, and its name: "3", "3.2", "3 (HumanEval/0)".
  [[nodiscard]] std::string label(const traces::Prompt& prompt) const;

 private:
  std::map<std::int64_t, std::string> names_;
};

// A prompt's category as sentences name it. Pure, safe from any thread.

/// The category, or words for prompts without one.
[[nodiscard]] inline std::string category_name(const std::string& category) {
  return category.empty() ? "(no category)" : category;
}

/// Settings in which the requests of a server's recording differ, from meta's `question_settings`, in one
/// line: "max tokens 4 to 64; temperature 0.7 in 2, 1.2 in 1 of 5 requests". Empty where they agree or the
/// row is absent. Thread-safe.
[[nodiscard]] std::string differing_settings(const traces::Meta& meta);

}  // namespace draftscope::simulator
