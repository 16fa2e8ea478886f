// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt files: Spec-Bench's and SPEED-Bench's questions (question_id, category, turns), HumanEval's
// (task_id, prompt), GSM8K's (question), Alpaca's (instruction, input), ShareGPT's (conversations), chats
// (messages), OpenAI's batches (body) and plain texts (prompt, text).

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::traces {

/// A message of a conversation that a question continues.
struct QuestionMessage {
  std::string role;  ///< "system", "user", "assistant"
  std::string content;
};

struct Question {
  std::int64_t question_id = 0;  ///< The line or place in the file where it gives no integer.
  std::string name;              ///< The id where the file gives a text; otherwise empty.
  std::string category;
  std::vector<std::string> turns;
  std::vector<QuestionMessage> given;  ///< Messages before the first turn; a chat template holds them.
};

/// The id as the file gives it.
[[nodiscard]] std::string question_label(const Question& question);

/// Reads the questions of a prompt file in order: one JSON object or string a line, or one JSON array of
/// them, which may be `data` or `questions` of one object, or in a file .txt one text a line; blank lines are
/// skipped. Errors, with file, line and field: any other line, an id that occurs twice, a file without
/// questions. Conversations without a message of the user, and texts that are empty, are errors, too, unless
/// `without_prompt` is there to count them.
[[nodiscard]] Result<std::vector<Question>> read_questions(const std::filesystem::path& path,
                                                           std::size_t* without_prompt = nullptr);

}  // namespace draftscope::traces
