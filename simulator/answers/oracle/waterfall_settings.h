// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Fixed settings (E, γ), replayed request by request, and the best of them: one for all, one a task, one a
// request. Times on any prices are then dot products (run_rows.h).

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

/// The rounds of one fixed setting, exact but for drafts that an end token would have cut short: the table
/// doesn't tell which tokens end a text, so that these are counted in full. O(rounds) after O(tokens).
/// Errors: a table whose cells don't fit its text, an exit out of range, a negative length.
[[nodiscard]] Result<RoundStatistics> fixed_setting(const ShadowTable& table, FixedSetting setting);

/// Every exit with every length, after the setting without speculation. O(tokens · exits · lengths). Errors
/// as above, and `go_on`, which is asked after each text, saying no.
[[nodiscard]] Result<SettingMatrix> setting_matrix(std::span<const ShadowTable* const> tables,
                                                   std::span<const std::int32_t> exits,
                                                   std::span<const std::int32_t> lengths,
                                                   const std::function<bool()>& go_on = {});

/// Least total time. `categories` has one name a request. O(requests · settings). Errors: no setting, ragged
/// rows, another number of categories than of requests, a setting without a price.
[[nodiscard]] Result<BestSettings> best_settings(const SettingMatrix& matrix,
                                                 std::span<const std::string> categories,
                                                 const Prices& prices);

/// time_ns, once it is sure that `prices` cover the exits and widths of the statistics; otherwise the error
/// names the first that is missing.
[[nodiscard]] Result<double> checked_time_ns(const RoundStatistics& statistics, const Prices& prices);

}  // namespace draftscope::simulator
