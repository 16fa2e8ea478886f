// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/verified_layers.h"

#include "analysis/run_specification.h"

namespace draftscope::simulator {

VerifiedLayers verified_layers(const traces::Run& run) {
  return verifies_above_exit(run) ? VerifiedLayers::above_exit : VerifiedLayers::all;
}

}  // namespace draftscope::simulator
