// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From predicted gains to a verdict.

#include <draftscope/simulator/answers/advice.h>

namespace draftscope::simulator {

/// Sets the verdict, its reason and what to set, from the answer and the held-out gain.
void judge(Advice& advice, const ModelShape& recorded, const ModelShape& asked);

}  // namespace draftscope::simulator
