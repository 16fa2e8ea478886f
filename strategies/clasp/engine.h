// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CLaSp's layer skipping (Chen et al. 2025, Algorithm 1 as resolved in page.md). The layers to skip are those
// whose omission changes the hidden state of the last verified token least. Dynamic programming over (layers
// seen, layers skipped) finds them. All states of a layer pass through it together, and none sees another.

#include <memory>
#include <span>
#include <vector>

#include "strategies/engine_parts.h"

namespace draftscope::engine {

/// A token whose hidden states after all layers are known: h_0 … h_L, before the final norm.
struct Anchor {
  std::int32_t position = 0;
  /// [n_layers + 1][d_model]; empty = the last round stored the states of `row`.
  std::span<const float> states;
  std::int32_t row = 0;  ///< Row of the last round (StateBank::of_round()), if `states` is empty.
};

/// Finds the `skip` whole layers to skip, in ascending order. 0 ≤ skip ≤ L. Ties skip the layer. Source:
/// page.md.
class ClaspSearch {
 public:
  [[nodiscard]] Result<std::span<const std::int32_t>> run(const Anchor& anchor, std::int32_t skip,
                                                          Probe& probe);
  /// Cosine of the found draft's last state to the anchor's.
  [[nodiscard]] double similarity() const { return similarity_; }

 private:
  /// The states [first, last] before a layer.
  struct States {
    std::int32_t first = 0;
    std::int32_t last = 0;
  };
  [[nodiscard]] Result<void> begin(const Anchor& anchor, std::int32_t skip, Probe& probe);
  [[nodiscard]] Result<void> apply_layer(std::int32_t layer, States states, std::int32_t position,
                                         Probe& probe);
  /// Computes b(i, ·), and replaces g(i − 1, ·) by g(i, ·).
  [[nodiscard]] Result<void> choose(std::int32_t i, States applied, std::int32_t skip, StateBank& bank);

  // State bank numbers; those of one kind are consecutive.
  std::vector<std::int32_t> target_;  // the anchor's states, by boundary
  std::int32_t states_ = 0;           // number of g(i − 1, 0)
  std::int32_t next_ = 0;             // number of g(i, 0)
  std::int32_t kept_ = 0;             // number of f(g(i − 1, 1))
  std::vector<StatePair> pairs_;
  std::vector<StateMove> moves_;
  std::vector<double> cosines_;
  std::vector<std::uint8_t> skips_;  // b(i, j)
  std::vector<std::int32_t> layers_;
  std::vector<Row> rows_;
  Outputs outputs_;
  double similarity_ = 0.0;
};

class ClaspMask final : public MaskChoice, public Learner {
 public:
  struct Options {
    std::int32_t n_layers = 0;
    std::int32_t skip = 0;
    std::int32_t interval = 128;  ///< Tokens or verifications from one search to the next.
    bool counts_tokens = true;    ///< Whether `interval` counts emitted tokens; otherwise verifications.
    bool carries = false;         ///< Whether set and count continue from request to request.
  };
  explicit ClaspMask(const Options& options);

  const speculation::SublayerMask* mask(const RoundView& /*round*/) override { return &mask_; }
  std::string_view origin() const override { return "clasp"; }
  void begin_request(const RequestView& request) override;
  std::span<const std::int32_t> states() const override;
  void observe(const RoundView& round, const RoundOutcome& outcome, DecisionLog* log) override;
  bool wants_to_optimise() const override { return due_; }
  Result<void> optimise(const RoundView& view, Probe& probe, DecisionLog* log) override;

 private:
  [[nodiscard]] Result<void> read_prompts_last_token(const RoundView& view, Probe& probe);

  Options options_;
  // Runs everything; it is assigned to mask_, which then keeps its memory.
  const speculation::SublayerMask everything_;
  speculation::SublayerMask mask_;
  ClaspSearch search_;
  std::vector<std::int32_t> boundaries_;  // 0 … L
  std::int32_t since_ = 0;                // tokens or verifications since the last search
  bool has_searched_ = false;
  bool due_ = false;
  std::vector<float> anchor_;  // [L + 1][d_model]; empty = the round stored the states of anchor_row_
  std::int32_t anchor_row_ = 0;
  std::int32_t anchor_position_ = -1;
  std::vector<Row> rows_;
  Outputs outputs_;
};

}  // namespace draftscope::engine
