// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/json_field.h>
#include <draftscope/speculation/model_families.h>
#include <draftscope/speculation/model_shape.h>

namespace draftscope::speculation {

/// Reads activation, biases, sliding windows, caps and multipliers, which each family writes in its own way;
/// a family that has no branch here writes them as Llama does.
/// `shape` already has its sizes and the family's traits. Errors: a part that is not supported, or that
/// contradicts another.
[[nodiscard]] Result<void> read_particulars(const JsonField& config, const ModelFamily& family,
                                            ModelShape& shape);

}  // namespace draftscope::speculation
