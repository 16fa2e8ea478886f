// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Functions that only tokenizer files need in addition to base/json_field.h.

#include <draftscope/base/json_field.h>
#include <draftscope/base/result.h>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace draftscope::engine::tokenizer {

/// Reads an integer ≥ 0.
[[nodiscard]] Result<std::int32_t> non_negative(const JsonField& field);

/// Reads a string that is exactly one code point.
[[nodiscard]] Result<std::string> one_character(const JsonField& field);

// Normalizers, pre-tokenizers, post-processors and decoders are each one step, a {"type": "Sequence"} of
// steps, or null. All four are read as a flat list of steps.

using VisitStep = std::function<Result<void>(const std::string& type, const JsonField& step)>;

/// Visits each step in order; `member` names the array within a Sequence. Null has no steps.
[[nodiscard]] Result<void> for_each_in_sequence(const JsonField& field, std::string_view member,
                                                const VisitStep& visit);

}  // namespace draftscope::engine::tokenizer
