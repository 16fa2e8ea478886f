// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Writes numbers that are not finite into a checkpoint's weights.

#include <draftscope/engine/checkpoint.h>

#include <cstdint>

#include "random_model.h"

namespace draftscope::engine::test {

enum class Poison : std::uint8_t { nan, inf, minus_inf };

/// Writes into one element. The test must own the memory of the view.
void poison(const TensorView& tensor, std::int64_t row, std::int64_t column, Poison value);

/// The four ways in which logits form no distribution.
enum class BadLogits : std::uint8_t { all_nan, one_nan, inf, all_minus_inf };
inline constexpr BadLogits all_bad_logits[] = {BadLogits::all_nan, BadLogits::one_nan, BadLogits::inf,
                                               BadLogits::all_minus_inf};

/// Makes a head give logits of this kind for states whose first value is positive after the final norm. The
/// head must be untied.
void poison_head(const Checkpoint& checkpoint, BadLogits kind, Random& random);

/// Writes a NaN or an infinity into a matrix of a random layer; returns the layer.
std::int32_t poison_layer(const Checkpoint& checkpoint, Random& random);

}  // namespace draftscope::engine::test
