// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How kernels get to a GPU, which decides what surrounds them:
//     T = max(kernels + gaps between them, launches by the host) + what a pass takes on the host.
// The numbers are priors from published measurements (Python: LayerSkip-family code at 0.87–0.97 ms a layer,
// and 1.2–2.1 ms a pass), from measurements of graphs, and for eager C++ from experience.

#include <draftscope/base/result.h>
#include <array>
#include <cstdint>
#include <string_view>

namespace draftscope::simulator {

enum class Regime : std::uint8_t {
  as_fitted,     ///< what the cost model was fitted to
  eager_python,  ///< a framework launches every kernel
  eager_cpp,     ///< a C++ loop launches every kernel
  graph,         ///< one CUDA graph a pass, the host waits for each
  device_loop,   ///< graphs that feed one another: the host waits once a round
  persistent,    ///< one resident kernel: launch and ramp-up are paid once a pass
};

inline constexpr std::array<Regime, 6> all_regimes{Regime::as_fitted,   Regime::eager_python,
                                                   Regime::eager_cpp,   Regime::graph,
                                                   Regime::device_loop, Regime::persistent};

[[nodiscard]] std::string_view regime_name(Regime regime);
/// "as-fitted", "eager-python", "eager-cpp", "graph", "device-loop", "persistent".
[[nodiscard]] Result<Regime> parse_regime(std::string_view text);

/// Times in nanoseconds. `sigma` is relative, of all of them together.
struct RegimeCosts {
  double gap_ns_per_kernel = 0.0;
  double host_ns_per_kernel = 0.0;
  double host_ns_per_layer = 0.0;
  double host_ns_per_pass = 0.0;
  double host_ns_per_draft_step = 0.0;  ///< in place of host_ns_per_pass
  double sigma = 0.0;
};

/// Not of as_fitted, which has no costs of its own: all zero.
[[nodiscard]] RegimeCosts regime_costs(Regime regime);

}  // namespace draftscope::simulator
