// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/costs/regime.h"

#include <array>

namespace draftscope::simulator {

namespace {

constexpr std::array<std::string_view, 6> names{"as-fitted", "eager-python", "eager-cpp",
                                                "graph",     "device-loop",  "persistent"};

}  // namespace

std::string_view regime_name(Regime regime) {
  return names[static_cast<std::size_t>(regime)];
}

Result<Regime> parse_regime(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return static_cast<Regime>(i);
  return fail("regime is '{}', expected as-fitted, eager-python, eager-cpp, graph, device-loop or persistent",
              text);
}

RegimeCosts regime_costs(Regime regime) {
  switch (regime) {
    case Regime::eager_python:
      return {.host_ns_per_layer = 870e3,
              .host_ns_per_pass = 1.4e6,
              .host_ns_per_draft_step = 1.4e6,
              .sigma = 0.3};
    case Regime::eager_cpp:
      return {.gap_ns_per_kernel = 1.5e3,
              .host_ns_per_kernel = 4.5e3,
              .host_ns_per_pass = 15e3,
              .host_ns_per_draft_step = 15e3,
              .sigma = 0.5};
    case Regime::graph:
      return {.host_ns_per_pass = 22e3, .host_ns_per_draft_step = 22e3, .sigma = 0.5};
    case Regime::device_loop:
      return {.host_ns_per_pass = 22e3, .host_ns_per_draft_step = 1e3, .sigma = 0.5};
    case Regime::persistent:
      return {.host_ns_per_pass = 15e3, .host_ns_per_draft_step = 1e3, .sigma = 0.5};
    case Regime::as_fitted:
      break;
  }
  return {};
}

}  // namespace draftscope::simulator
