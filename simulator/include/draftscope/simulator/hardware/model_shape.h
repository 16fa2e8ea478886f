// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The shape of the model that a recording was made with.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/traces/writer.h>

namespace draftscope::simulator {

using speculation::ModelShape;

/// Errors: meta lacks `model_shape` or one of its sizes, sizes that do not fit together. Thread-safe.
[[nodiscard]] Result<ModelShape> recorded_shape(const traces::Meta& meta);

}  // namespace draftscope::simulator
