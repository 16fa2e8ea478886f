// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes that a strategy makes for its own purposes, beside the text: a candidate mask over known tokens
// (SWIFT), dynamic programming over hidden states (CLaSp), layers' heads on known states (DEL). They run in
// scratch rows of the K/V cache after the context, which the next round writes over, and leave the context's
// rows alone.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/state_bank.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// A bank of states in the host's memory, for backends that have none of their own.
class HostStates final : public StateBank {
 public:
  explicit HostStates(std::size_t d_model) : d_model_(d_model) {}

  [[nodiscard]] Result<std::int32_t> reserve(std::int32_t count) override;
  /// Such backends give a round's states to the caller.
  [[nodiscard]] std::int32_t of_round(std::int32_t /*boundary*/, std::int32_t /*row*/) const override {
    return -1;
  }
  [[nodiscard]] Result<void> put(std::int32_t at, std::span<const float> states) override;
  [[nodiscard]] Result<void> move(std::span<const StateMove> moves) override;
  [[nodiscard]] Result<void> compare(std::span<const StatePair> pairs, std::vector<double>& cosines) override;

  /// [n][d_model]
  [[nodiscard]] std::span<const float> values() const { return values_; }

 private:
  [[nodiscard]] std::span<float> state(std::int32_t number) {
    return std::span(values_).subspan(static_cast<std::size_t>(number) * d_model_, d_model_);
  }

  std::size_t d_model_;
  std::vector<float> values_;
};

struct ProbePass {
  std::span<const Row> rows;
  std::span<const float> hidden;  ///< inputs for rows with token = -1
  bool reads_kept = false;        ///< Row::hidden is a number of Probe::states() instead
  std::int32_t context = 0;       ///< rows attend to the text's positions [0, context)
  bool chain = true;              ///< each row attends to those before it; otherwise to itself alone
  std::int32_t chain_rows = 0;    ///< > 0: rows are chains of so many, which do not see each other
  const speculation::SublayerMask* mask = nullptr;
  LayerRange layers;
  Wanted wanted;
};

class Probe {
 public:
  /// `committed`: rows of the cache that hold the text's K/V. Neither backend nor probe is kept beyond
  /// optimise().
  Probe(Backend& backend, std::int32_t committed)
      : backend_(backend),
        host_states_(static_cast<std::size_t>(backend.shape().d_model)),
        committed_(committed) {}

  /// Tells that the text has grown.
  void set_committed(std::int32_t committed) { committed_ = committed; }

  [[nodiscard]] const speculation::ModelShape& shape() const { return backend_.shape(); }
  /// Positions of the text whose K/V is there: all but the root.
  [[nodiscard]] std::int32_t committed() const { return committed_; }
  /// Maximum rows of one pass now: the widest pass that is batch-invariant, and the room after the context.
  [[nodiscard]] std::int32_t room() const;
  /// Maximum rows of a pass of no layers (final norm and head on hidden states), which takes no cache rows.
  [[nodiscard]] std::int32_t head_room() const;
  /// The backend's bank, or one on the host where it has none: passes read it and leave states there either
  /// way.
  [[nodiscard]] StateBank& states();
  /// Fails as Backend::forward() does, or if the pass is wider than there is room.
  [[nodiscard]] Result<void> run(const ProbePass& pass, Outputs& outputs);

 private:
  [[nodiscard]] Result<void> forward(Batch batch, Outputs& outputs);

  Backend& backend_;
  HostStates host_states_;
  std::int32_t committed_;
  std::vector<std::uint64_t> ancestors_;
};

}  // namespace draftscope::engine
