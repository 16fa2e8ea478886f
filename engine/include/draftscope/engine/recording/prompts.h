// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt files in Spec-Bench's question format: one JSON object a line with question_id, category and turns.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::engine {

struct Question {
  std::int64_t question_id = 0;  ///< the line number where the file gives none
  std::string category;
  std::vector<std::string> turns;
};

/// Blank lines are skipped; anything else that is not a question is an error that names the file, line and
/// field.
[[nodiscard]] Result<std::vector<Question>> read_questions(const std::filesystem::path& path);

}  // namespace draftscope::engine
