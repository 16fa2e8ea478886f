// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The bank of states in device memory (draftscope/engine/state_bank.h). Its first numbers are the states that
// the last round stored, [n_layers + 1][rows]; the states of reserve() follow.

#include <draftscope/engine/state_bank.h>
#include <cstddef>

#include "buffers.h"
#include "cuda/passes/pass_launcher.h"
#include "device_memory.h"
#include "gpu.h"

namespace draftscope::engine::cuda {

class DeviceStates final : public StateBank {
 public:
  /// Owns only the memory of reserved states. `state` is the host's copy of the pass's state, which receives
  /// their address.
  DeviceStates(Gpu& gpu, PassLauncher& launcher, const Buffers& buffers, std::size_t d_model,
               std::int32_t rows, PassState& state)
      : gpu_(gpu), launcher_(launcher), buffers_(buffers), d_model_(d_model), rows_(rows), state_(state) {}

  [[nodiscard]] Result<std::int32_t> reserve(std::int32_t count) override;
  [[nodiscard]] std::int32_t of_round(std::int32_t boundary, std::int32_t row) const override {
    return boundary * rows_ + row;
  }
  [[nodiscard]] Result<void> put(std::int32_t at, std::span<const float> states) override;
  [[nodiscard]] Result<void> move(std::span<const StateMove> moves) override;
  [[nodiscard]] Result<void> compare(std::span<const StatePair> pairs, std::vector<double>& cosines) override;

  [[nodiscard]] std::int32_t size() const { return buffers_.work.n_round_states + reserved_; }

 private:
  [[nodiscard]] Result<void> upload_pairs();

  Gpu& gpu_;
  PassLauncher& launcher_;
  const Buffers& buffers_;
  std::size_t d_model_;
  std::int32_t rows_;  ///< Maximum rows that a round stores per boundary.
  PassState& state_;
  DeviceMemory memory_;
  std::int32_t reserved_ = 0;
  std::vector<NumberPair> pairs_;
  std::vector<float> cosines_;
};

}  // namespace draftscope::engine::cuda
