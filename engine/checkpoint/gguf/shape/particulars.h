// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>

#include "checkpoint/gguf/architectures.h"

namespace draftscope::engine::gguf {

/// Windows, caps and multipliers, which some architectures have keys for; where a key is absent, what the
/// ggml project's readers take. `shape` has its sizes and the family's traits. Errors: a key out of range, a
/// window in layers at no fixed interval, a key that asks for what the architecture's layers lack.
[[nodiscard]] Result<void> read_particulars(const Metadata& metadata, const Architecture& architecture,
                                            speculation::ModelShape& shape);

}  // namespace draftscope::engine::gguf
