// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt files in Spec-Bench's question format: one JSON object a line with question_id, category and turns.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::traces {

struct Question {
  std::int64_t question_id = 0;  ///< the line number where the file gives none
  std::string category;
  std::vector<std::string> turns;
};

/// Questions of a prompt file in its order; blank lines are skipped. Fails on anything else that is not a
/// question and on an id that occurs twice, with file, line and field, and on a file without questions.
[[nodiscard]] Result<std::vector<Question>> read_questions(const std::filesystem::path& path);

}  // namespace draftscope::traces
