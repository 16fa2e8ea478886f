// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// ConfLayers' layer sets (Amer et al. 2026, arXiv 2604.14612, and the authors' public code). It skips whole
// layers whose sublayers' outputs, over the output's last tokens, are less confident than those of the layers
// around (rule.h; page.md).

#include <cstdint>
#include <vector>

#include "strategies/conflayers/rule.h"
#include "strategies/engine_parts.h"

namespace draftscope::engine {

class ConfLayersMask final : public MaskChoice, public Learner {
 public:
  /// Begins with every second layer skipped, except the last.
  explicit ConfLayersMask(const speculation::ConfidenceSearches::Options& options);

  const speculation::SublayerMask* mask(const RoundView& /*round*/) override { return &mask_; }
  std::string_view origin() const override { return "conflayers"; }
  void begin_request(const RequestView& /*request*/) override {
    searches_.begin_request();
    // A search that was due after the last round has no window in the new request's text.
    due_ = false;
  }
  void observe(const RoundView& round, const RoundOutcome& outcome, DecisionLog* log) override;
  bool wants_to_optimise() const override { return due_; }
  Result<void> optimise(const RoundView& view, Probe& probe, DecisionLog* log) override;

 private:
  [[nodiscard]] Result<void> read_confidences(std::span<const std::int32_t> text, std::int32_t from,
                                              Probe& probe);
  [[nodiscard]] Result<void> run_sublayer(std::int32_t layer, bool is_attention, std::int32_t from,
                                          Probe& probe);
  void draft_without(std::span<const std::int32_t> layers);

  speculation::ConfidenceSearches::Options options_;
  speculation::ConfidenceSearches searches_;
  speculation::SublayerMask mask_;
  std::vector<std::int32_t> left_out_;  // layers
  std::vector<std::int32_t> best_;  // layers skipped by the set that accepted most; empty = no set was judged
  bool due_ = false;
  std::vector<double> confidences_;  // confidences of layers 1 … n_layers − 2
  std::vector<float> states_;        // [window][d_model]
  std::vector<float> added_;
  std::vector<Row> rows_;
  Outputs outputs_;
};

}  // namespace draftscope::engine
