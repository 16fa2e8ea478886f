// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A machine by its words, as one types them: "rtx 4090 llama3 8b fp8".

#include <optional>
#include <string>
#include <string_view>

#include "what_if/questions/question.h"

namespace draftscope::gui {

/// The GPU, the model and the number type of the weights that words name, in any order, with any case and
/// punctuation; parts of a name suffice ("4090"), of which the shortest name with them is meant. None if a
/// word belongs to no name, or if neither a GPU nor a model is named.
[[nodiscard]] std::optional<Question> named_question(std::string_view words);

/// "Llama-3-8B on RTX 4090, fp8", with what the question names of it.
[[nodiscard]] std::string machine_words(const Question& question);

}  // namespace draftscope::gui
