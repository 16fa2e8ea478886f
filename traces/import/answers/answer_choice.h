// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One element of `choices` in Spec-Bench's and SWIFT's answer files: all turns of one question.

#include <draftscope/base/result.h>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "import/answer_writer.h"

namespace draftscope::traces {

struct ChoiceTurns {
  std::vector<Answer> turns;         ///< texts, counts, times and rounds are set
  bool are_turns_told_apart = true;  ///< false: decoding_steps do not say where a turn's rounds end
};

/// `where` is what an error begins with. Errors: a field is absent, of another type or out of range; lists
/// of different lengths.
[[nodiscard]] Result<ChoiceTurns> read_choice(const nlohmann::json& choice, const std::string& where);

}  // namespace draftscope::traces
