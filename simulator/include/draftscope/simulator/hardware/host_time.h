// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time that an engine takes per step beside its passes (scheduling, sampling, launches that the device waits
// for), which decides how far tokens per second are from what the passes take.
//
// The shares are published ones: tokens per second of engines against passes priced by this cost law. A
// well-compiled engine that launches graphs came within 5 %; serving engines on an H100 took 15 to 27 %
// longer than their passes; engines that launch eagerly 53 to 68 %. They are ranges over a few engines and
// models, not a measurement of yours: `measure` or a file beats them. All functions are thread-safe.

#include <draftscope/base/result.h>
#include <string>
#include <string_view>

namespace draftscope::simulator {

/// A range; its middle is the mean, and four of five engines are taken to lie in it.
struct HostTime {
  std::string name;        ///< "serving", or what a file names
  double min_share = 0.0;  ///< of a vanilla step's pass
  double max_share = 0.0;
  double min_ns = 0.0;  ///< beside the share, per step
  double max_ns = 0.0;
  /// Whether every pass takes its share, drafts included, as where the host launches each kernel; else a
  /// vanilla step and a round take it once.
  bool is_per_pass = false;
};

/// The engine that is taken where nobody named one: "graph".
[[nodiscard]] const HostTime& graph_host();

/// "graph", "serving", "eager". Errors: anything else.
[[nodiscard]] Result<HostTime> find_host_time(std::string_view name);

/// A JSON object: `min_share` and `max_share` (of a vanilla step, at least −0.5 and at most 100), or `min_us`
/// and `max_us` (per step, from 0), or all four, with a `name` and `per_pass` (false) if you like. `file`
/// names the text in errors. Errors: no JSON object, an unknown key, neither range, a range that ends before
/// it begins.
[[nodiscard]] Result<HostTime> parse_host_time(std::string_view text, std::string_view file);

}  // namespace draftscope::simulator
