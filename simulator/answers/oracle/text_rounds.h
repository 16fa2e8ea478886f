// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds along one text: where it ends, how much a round may draft, and how a round is counted.

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

/// Checks a table. Errors: a start outside the text, cells that are not positions · layers, a layer count
/// below 2.
[[nodiscard]] Result<void> check(const ShadowTable& table);

/// One past the last position that a round must yield; the end token, which the text lacks, has one.
[[nodiscard]] std::int32_t finish(const ShadowTable& table);

/// Draft tokens of `length` that the decode loop allows a round at `position`: the budget ends with the text.
/// A text that ended at an end token had a larger budget, which the table doesn't know and which is assumed
/// to be ample.
[[nodiscard]] std::int32_t drafts_allowed(const ShadowTable& table, std::int32_t position,
                                          std::int32_t length);

/// Whether layer `exit` predicts the text at `position`.
[[nodiscard]] bool is_match(const ShadowTable& table, std::int32_t position, std::int32_t exit);

/// Run lengths of all starts, for a dynamic programme: [position − first][index into exits].
struct RunTable {
  std::int32_t first = 0;
  std::size_t exits = 0;
  std::vector<std::int32_t> runs;

  /// The runs of all exits at `position`; zeros at the place of an end token.
  [[nodiscard]] std::span<const std::int32_t> at(std::int32_t position) const {
    return std::span(runs).subspan(static_cast<std::size_t>(position - first) * exits, exits);
  }
};
[[nodiscard]] RunTable run_table(const ShadowTable& table, std::span<const std::int32_t> exits);

/// Counts the round that starts at `position`; drafted 0 = a target step. It emits no more than the text
/// contains. Its verification was planned for `planned_rows`; 0 = those that it has.
void count_round(RoundStatistics& statistics, const ShadowTable& table, std::int32_t position,
                 std::int32_t exit, std::int32_t drafted, std::int32_t accepted,
                 std::int32_t planned_rows = 0);

// Fixed settings (E, γ), replayed per request, and the best of them: one for all, one per task, one per
// request. Times at any prices are then dot products (run_rows.h).

struct SettingMatrix {
  std::vector<FixedSetting> settings;
  std::vector<std::vector<RoundStatistics>> statistics;  ///< [request][setting]
};

/// Every exit with every length, after the setting without speculation. Rounds are exact except for drafts
/// that an end token would have cut short: the table doesn't know which tokens end a text, so these count in
/// full. `go_on` is called after each text. The tables must have the exits. O(tokens · exits · lengths).
/// Errors: those of check(), `go_on` returned false.
[[nodiscard]] Result<SettingMatrix> setting_matrix(std::span<const ShadowTable* const> tables,
                                                   std::span<const std::int32_t> exits,
                                                   std::span<const std::int32_t> lengths,
                                                   const std::function<bool()>& go_on = {});

/// Settings with the minimum total time. `categories` has one name per request. O(requests · settings).
/// Errors: a setting without a price.
[[nodiscard]] Result<BestSettings> best_settings(const SettingMatrix& matrix,
                                                 std::span<const std::string> categories,
                                                 const Prices& prices);

/// Result of time_ns() after a check that `prices` cover the exits and widths of the statistics; the error
/// names the first that is missing.
[[nodiscard]] Result<double> checked_time_ns(const RoundStatistics& statistics, const Prices& prices);

}  // namespace draftscope::simulator
