// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Advice for a terminal and for programs (keys: cli/OUTPUT.md).

#include <draftscope/simulator/answers/advice.h>
#include <string>
#include <vector>

#include "report/answers/simulate_text.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

struct Advices {
  const traces::Recording* recording = nullptr;
  std::vector<simulator::Advice> machines;
  std::vector<Refusal> refusals;
};

/// Text of the advice, about ten lines per machine.
[[nodiscard]] std::string advise_text(const Advices& advices, bool quiet, const Glyphs& glyphs);
[[nodiscard]] std::string advise_json(const Advices& advices);

}  // namespace draftscope::cli
