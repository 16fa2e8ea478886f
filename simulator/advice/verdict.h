// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From predicted gains to a verdict.

#include <draftscope/simulator/advice.h>

namespace draftscope::simulator {

/// Sets the verdict, its reason and what to set, from the answer and the held-out gain. `is_other_model`: the
/// prices are of a model whose acceptance was never recorded.
void judge(Advice& advice, bool is_other_model);

}  // namespace draftscope::simulator
