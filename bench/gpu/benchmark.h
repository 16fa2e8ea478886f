// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Measures one model with one weight format on one backend. Each repeat measures everything in turn, so that
// a disturbance affects all of it; ratios are taken within a repeat where possible.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "calibration/pass_times.h"
#include "decoding.h"
#include "options.h"
#include "rates.h"

namespace draftscope::bench {

/// Seconds, repeat by repeat.
struct Measured {
  std::map<std::int32_t, std::vector<double>> by_width;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<double>> by_context;  // By context and rows.
  std::map<std::int32_t, std::vector<double>> by_exit;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<double>> drafts, verifications;  // Exit, γ.
  std::vector<Decoded> vanilla;
  std::map<std::int32_t, std::vector<Decoded>> layerskip;  // By exit.
};

class Benchmark {
 public:
  Benchmark(const engine::Checkpoint& checkpoint, engine::Backend& backend, const Options& options,
            engine::CudaWeights rounded);

  /// Returns the figures that bench/gpu/README.md describes.
  [[nodiscard]] nlohmann::json run(Rates& rates);
  /// Only decodes, for a while, so that a user can watch clocks and power.
  [[nodiscard]] nlohmann::json sustain();

 private:
  void measure_once(Measured& measured);
  [[nodiscard]] nlohmann::json describe() const;
  void add_vanilla(nlohmann::json& result, const Measured& measured, const Rates& rates) const;
  void add_passes(nlohmann::json& result, const Measured& measured) const;
  void add_drafts(nlohmann::json& result, const Measured& measured, const Rates& rates) const;
  void add_speculation(nlohmann::json& result, const Measured& measured) const;
  /// Seconds of `rows` rows after `context` committed ones through layers [0, n_layers) and the head.
  [[nodiscard]] double pass_seconds(std::int32_t rows, std::int32_t context, std::int32_t n_layers);
  [[nodiscard]] double draft_step_seconds(const Measured& measured, std::int32_t exit) const;

  const engine::Checkpoint& checkpoint_;
  engine::Backend& backend_;
  const Options& options_;
  engine::CudaWeights rounded_;
  engine::CalibrationPasses passes_;
  std::vector<std::int32_t> prompt_;
  std::vector<std::int32_t> widths_;  ///< The first is the unit; the second must not be faster.
};

}  // namespace draftscope::bench
