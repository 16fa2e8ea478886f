// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a file of prompts. Any input is read or refused in one line; ids are unique, and every question has
// a turn.

#include <draftscope/traces/prompt_file.h>

#include <cstdint>
#include <set>

#include "promises.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace draftscope::fuzz;
  const InputFile file(".jsonl", {reinterpret_cast<const char*>(data), size});
  const auto questions = draftscope::traces::read_questions(file.path());
  require_value_or_line(questions);
  if (!questions) return 0;
  require(!questions->empty(), "no question");
  std::set<std::int64_t> ids;
  for (const auto& question : *questions) {
    require(ids.insert(question.question_id).second, "an id twice");
    require(!question.turns.empty(), "a question without turns");
  }
  return 0;
}
