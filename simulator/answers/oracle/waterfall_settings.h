// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Fixed settings (E, γ), replayed per request, and the best of them: one for all, one per task, one per
// request. Times at any prices are then dot products (run_rows.h).

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/answers/waterfall.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

struct SettingMatrix {
  std::vector<FixedSetting> settings;
  std::vector<std::vector<RoundStatistics>> statistics;  ///< [request][setting]
};

/// The rounds of one fixed setting. They are exact except for drafts that an end token would have cut short:
/// the table doesn't know which tokens end a text, so these count in full. O(rounds) after O(tokens). Errors:
/// a table whose cells don't fit its text, an exit out of range, a negative length.
[[nodiscard]] Result<RoundStatistics> fixed_setting(const ShadowTable& table, FixedSetting setting);

/// Every exit with every length, after the setting without speculation. `go_on` is called after each text.
/// O(tokens · exits · lengths). Errors: those of fixed_setting(), `go_on` returned false.
[[nodiscard]] Result<SettingMatrix> setting_matrix(std::span<const ShadowTable* const> tables,
                                                   std::span<const std::int32_t> exits,
                                                   std::span<const std::int32_t> lengths,
                                                   const std::function<bool()>& go_on = {});

/// Settings with the minimum total time. `categories` has one name per request. O(requests · settings).
/// Errors: no setting, ragged rows, another number of categories than of requests, a setting without a price.
[[nodiscard]] Result<BestSettings> best_settings(const SettingMatrix& matrix,
                                                 std::span<const std::string> categories,
                                                 const Prices& prices);

/// Result of time_ns() after a check that `prices` cover the exits and widths of the statistics; the error
/// names the first that is missing.
[[nodiscard]] Result<double> checked_time_ns(const RoundStatistics& statistics, const Prices& prices);

}  // namespace draftscope::simulator
