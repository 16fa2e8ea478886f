// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Normalizers, pre-tokenizers, post-processors and decoders are each one step, a {"type": "Sequence"} of
// steps, or null. All four are read as a flat list of steps.

#include <draftscope/base/result.h>
#include <functional>
#include <string>
#include <string_view>

#include "tokenizer/read_json.h"

namespace draftscope::engine::tokenizer {

using VisitStep = std::function<Result<void>(const std::string& type, const JsonField& step)>;

/// Visits each step in order; `member` names the array within a Sequence. Null has no steps.
[[nodiscard]] Result<void> for_each_in_sequence(const JsonField& field, std::string_view member,
                                                const VisitStep& visit);

}  // namespace draftscope::engine::tokenizer
