// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes that a strategy makes for its own purposes, apart from the text: a candidate mask over known tokens
// (SWIFT), dynamic programming over hidden states (CLaSp), layers' heads on known states (DEL). They run in
// scratch rows of the K/V cache after the context, which the next round overwrites, and never touch the
// context's rows.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/state_bank.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// A bank of states in the host's memory, for backends that have no bank.
class HostStates final : public StateBank {
 public:
  explicit HostStates(std::size_t d_model) : d_model_(d_model) {}

  [[nodiscard]] Result<std::int32_t> reserve(std::int32_t count) override;
  /// Never called: backends without a bank return a round's states to the caller.
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
  bool reads_kept = false;        ///< Whether Row::hidden is a number in Probe::states() instead.
  std::int32_t context = 0;       ///< Rows attend to the text's positions [0, context).
  bool chain = true;  ///< Whether each row also attends to those before it; otherwise only to itself.
  std::int32_t chain_rows = 0;  ///< If > 0, rows form chains of this length, which do not see each other.
  const speculation::SublayerMask* mask = nullptr;
  LayerRange layers;
  Wanted wanted;
};

class Probe {
 public:
  /// Makes a probe. `committed` is the number of cache rows that contain the text's K/V. The probe must not
  /// be used after optimise() returns.
  Probe(Backend& backend, std::int32_t committed)
      : backend_(backend),
        host_states_(static_cast<std::size_t>(backend.shape().d_model)),
        committed_(committed) {}

  /// Updates the number of committed rows after the text has grown.
  void set_committed(std::int32_t committed) { committed_ = committed; }

  [[nodiscard]] const speculation::ModelShape& shape() const { return backend_.shape(); }
  /// Number of positions whose K/V is in the cache: all of the text but the root.
  [[nodiscard]] std::int32_t committed() const { return committed_; }
  /// Maximum rows of one pass now: limited by the widest batch-invariant pass and by the cache rows after the
  /// context.
  [[nodiscard]] std::int32_t room() const;
  /// Maximum rows of a pass of no layers (final norm and head on hidden states), which takes no cache rows.
  [[nodiscard]] std::int32_t head_room() const;
  /// The backend's bank, or one on the host if it has none. Passes read states from it and leave states
  /// there.
  [[nodiscard]] StateBank& states();
  /// Runs a pass. Fails as Backend::forward() does, or if the pass is wider than its room.
  [[nodiscard]] Result<void> run(const ProbePass& pass, Outputs& outputs);

 private:
  [[nodiscard]] Result<void> forward(Batch batch, Outputs& outputs);

  Backend& backend_;
  HostStates host_states_;
  std::int32_t committed_;
  std::vector<std::uint64_t> ancestors_;
};

}  // namespace draftscope::engine
