// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes that a strategy makes for its own purposes, beside the text: a candidate mask over known tokens
// (SWIFT), dynamic programming over hidden states (CLaSp), layers' heads on known states (DEL). They run in
// scratch rows of the K/V cache behind the context, which the next round writes over, and leave the context's
// rows alone.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/host_states.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

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
  /// Maximum rows of one pass now: the widest pass that is batch-invariant, and the room behind the context.
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
