// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `choices` in Spec-Bench's and SWIFT's answer files: each contains all turns of one question.

#include <draftscope/base/result.h>
#include <string>

#include "foreign/json_fields.h"
#include "import/answer_writer.h"
#include "import/formats.h"

namespace draftscope::traces {

/// Adds the answers in `choices` of a line. `asked` has the run, the question, its category and the first
/// choice's repeat. `tells_turns`: whether to note choices that do not tell their turns apart. Errors begin
/// with `where`: no list of answers; a field is absent, of another type or out of range; lists of different
/// lengths.
[[nodiscard]] Result<void> add_choices(const JsonFields& fields, const Answer& asked, ImportContext& context,
                                       bool tells_turns, const std::string& where);

}  // namespace draftscope::traces
