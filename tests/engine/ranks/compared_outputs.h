// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/backend.h>

#include <vector>

namespace draftscope::engine::test {

/// A pass that must come to be; throws with its error otherwise.
Outputs run_pass(Backend& backend, const Batch& batch);

[[nodiscard]] bool have_same_bits(const std::vector<float>& a, const std::vector<float>& b);
/// Expects the same bits of all that a pass gives.
void expect_same(const Outputs& found, const Outputs& expected);

}  // namespace draftscope::engine::test
