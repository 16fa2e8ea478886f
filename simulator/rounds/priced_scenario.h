// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parts of the prices of rounds (round_prices.h).

#include <draftscope/simulator/rounds/round_prices.h>
#include <cstdint>
#include <optional>

namespace draftscope::simulator {

/// Scenario that is priced for these rounds: the machine's, with their drafts, widths and contexts.
[[nodiscard]] Scenario answer_scenario(const StrategyRounds& rounds, const Machine& machine);

/// Checks that prices are known; those of another model that drafts are only known where they were recorded.
/// Error: the strategy and what is missing.
[[nodiscard]] Result<void> check_draft_model(const StrategyRounds& rounds, bool is_as_recorded);

/// Refuses drafts on weights of no fewer bits than the model's that is asked about. The pair that was
/// recorded may stay: its times were measured.
[[nodiscard]] Result<void> check_draft_weights(const CostModel& trained, const Scenario& scenario);

/// Need of a GPU's memory, and the available memory.
struct DeviceCheck {
  std::optional<MemoryNeed> memory;
  std::optional<double> usable_memory;
  std::optional<CostNote> note;
};

/// Checks that the machine has the memory and the number type; empty where the recording shows that it has.
/// Errors: those of check_draft_weights(), check_memory() and check_number_type().
[[nodiscard]] Result<DeviceCheck> check_device(const CostModel& trained, const Scenario& scenario,
                                               const Machine& machine);

/// Prices with `rows` more K/V rows before every pass. O(prices).
[[nodiscard]] Prices at_longer_context(Prices prices, std::int32_t rows);

/// Rows of the widest verification, at least 2.
[[nodiscard]] std::int32_t widest_verification(const SettingRounds& setting);

}  // namespace draftscope::simulator
