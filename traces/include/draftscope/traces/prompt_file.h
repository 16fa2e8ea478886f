// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt files in Spec-Bench's question format: one JSON object per line with question_id, category and
// turns.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::traces {

struct Question {
  std::int64_t question_id = 0;  ///< The line number where the file gives none.
  std::string category;
  std::vector<std::string> turns;
};

/// Reads the questions of a prompt file in order; blank lines are skipped. Errors, with file, line and field:
/// any other line that is not a question, an id that occurs twice, a file without questions.
[[nodiscard]] Result<std::vector<Question>> read_questions(const std::filesystem::path& path);

}  // namespace draftscope::traces
