// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One model with one weight format on one backend. Everything is measured in turn in each repeat, so that a
// disturbance hits all of it; ratios are of the same repeat where they can be.

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
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<double>> by_context;  // context, rows
  std::map<std::int32_t, std::vector<double>> by_exit;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<double>> drafts, verifications;  // exit, γ
  std::vector<Decoded> vanilla;
  std::map<std::int32_t, std::vector<Decoded>> layerskip;  // by exit
};

class Benchmark {
 public:
  Benchmark(const engine::Checkpoint& checkpoint, engine::Backend& backend, const Options& options,
            engine::CudaWeights rounded);

  /// The figures, as bench/gpu/README.md describes them.
  [[nodiscard]] nlohmann::json run(Rates& rates);
  /// Only decodes, for a while, so that someone may watch clocks and power.
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
  std::vector<std::int32_t> widths_;  ///< the first is the unit, the second must not be below it
};

}  // namespace draftscope::bench
