// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decisions as a log takes them.

#include <draftscope/engine/strategy.h>
#include <fmt/format.h>
#include <cstdint>
#include <string_view>

namespace draftscope::engine {

/// That a number moved, and to what. Nothing if it did not, or nobody listens.
template <typename Number>
void log_change(DecisionLog* log, std::string_view kind, Number before, Number after) {
  if (log == nullptr || before == after) return;
  log->add(
      {.kind = kind, .detail = [=] { return fmt::format(R"({{"before":{},"after":{}}})", before, after); }});
}

}  // namespace draftscope::engine
