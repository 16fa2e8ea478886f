// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The shapes of published models for which synthetic weights are made.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <string_view>

namespace draftscope::engine {

/// The shape of the model of that name, as speculation::published_model() finds it. Errors: an unknown name,
/// with the closest ones; a model whose family is not known.
[[nodiscard]] Result<speculation::ModelShape> published_shape(std::string_view name);

}  // namespace draftscope::engine
