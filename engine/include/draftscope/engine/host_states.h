// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A bank of states in the host's memory, for backends that have none of their own.

#include <draftscope/engine/state_bank.h>

namespace draftscope::engine {

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

}  // namespace draftscope::engine
