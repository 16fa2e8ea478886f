// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/oracle/text_rounds.h"

#include <algorithm>
#include <array>

#include "rounds/replay/replay.h"

namespace draftscope::simulator {

namespace {

RoundStatistics walk(const ShadowTable& table, const RunTable& runs, FixedSetting setting) {
  RoundStatistics statistics;
  for (std::int32_t position = table.first; position < finish(table);) {
    const std::int32_t drafted = drafts_allowed(table, position, setting.length);
    const std::int32_t accepted = drafted > 0 ? std::min(drafted, runs.at(position)[0]) : 0;
    count_round(statistics, table, position, setting.exit, drafted, accepted);
    position += accepted + 1;
  }
  return statistics;
}

std::size_t least(const std::vector<double>& times) {
  return static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
}

void add_to(std::vector<double>& sums, const std::vector<double>& times) {
  sums.resize(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) sums[i] += times[i];
}

}  // namespace

Result<void> check(const ShadowTable& table) {
  if (table.n_layers < 2)
    return fail("shadow table of request {}: found {} layers, expected at least 2", table.request_id,
                table.n_layers);
  // A text with only the prefill's token ends where its first round would start.
  if (table.first < 1 || table.first > table.end())
    return fail("shadow table of request {}: first position is {}, expected 1 to {}", table.request_id,
                table.first, table.end());
  const std::size_t expected =
      static_cast<std::size_t>(table.end() - table.first) * static_cast<std::size_t>(table.n_layers);
  if (table.cells.size() != expected)
    return fail("shadow table of request {}: found {} cells, expected {}", table.request_id,
                table.cells.size(), expected);
  return {};
}

std::int32_t finish(const ShadowTable& table) {
  return table.end() + (table.ended_at_eos ? 1 : 0);
}

std::int32_t drafts_allowed(const ShadowTable& table, std::int32_t position, std::int32_t length) {
  return table.ended_at_eos ? length : std::min(length, table.end() - position - 1);
}

bool is_match(const ShadowTable& table, std::int32_t position, std::int32_t exit) {
  return table.cell(position, exit).token == table.text[static_cast<std::size_t>(position)];
}

RunTable run_table(const ShadowTable& table, std::span<const std::int32_t> exits) {
  RunTable result{.first = table.first, .exits = exits.size(), .runs = {}};
  const auto positions = static_cast<std::size_t>(table.end() - table.first);
  result.runs.resize((positions + 1) * exits.size());
  for (std::size_t row = positions; row-- > 0;) {
    const std::int32_t position = table.first + static_cast<std::int32_t>(row);
    for (std::size_t i = 0; i < exits.size(); ++i)
      if (is_match(table, position, exits[i]))
        result.runs[row * exits.size() + i] = result.runs[(row + 1) * exits.size() + i] + 1;
  }
  return result;
}

void count_round(RoundStatistics& statistics, const ShadowTable& table, std::int32_t position,
                 std::int32_t exit, std::int32_t drafted, std::int32_t accepted, std::int32_t planned_rows) {
  add_round(statistics, exit, position - 1, {.drafted = drafted, .accepted = accepted},
            emitted_tokens(table, position - 1, accepted), planned_rows);
}

Result<SettingMatrix> setting_matrix(std::span<const ShadowTable* const> tables,
                                     std::span<const std::int32_t> exits,
                                     std::span<const std::int32_t> lengths,
                                     const std::function<bool()>& go_on) {
  SettingMatrix matrix;
  matrix.settings.push_back({});
  for (const std::int32_t exit : exits)
    for (const std::int32_t length : lengths) matrix.settings.push_back({exit, length});
  for (const ShadowTable* table : tables) {
    DRAFTSCOPE_TRY(check(*table));
    std::vector<RoundStatistics>& row = matrix.statistics.emplace_back();
    row.push_back(walk(*table, RunTable{}, {}));  // Without a draft run lengths are not read.
    for (const std::int32_t exit : exits) {
      const std::array<std::int32_t, 1> one{exit};
      const RunTable runs = run_table(*table, one);
      for (const std::int32_t length : lengths) row.push_back(walk(*table, runs, {exit, length}));
    }
    if (go_on && !go_on()) return fail("settings: stopped");
  }
  return matrix;
}

Result<BestSettings> best_settings(const SettingMatrix& matrix, std::span<const std::string> categories,
                                   const Prices& prices) {
  BestSettings best;
  std::vector<double> all(matrix.settings.size());
  std::map<std::string, std::vector<double>> by_category;
  for (std::size_t request = 0; request < matrix.statistics.size(); ++request) {
    std::vector<double> times;
    for (const RoundStatistics& statistics : matrix.statistics[request]) {
      DRAFTSCOPE_TRY_ASSIGN(const double time, checked_time_ns(statistics, prices));
      times.push_back(time);
    }
    best.by_request.push_back(least(times));
    add_to(all, times);
    add_to(by_category[categories[request]], times);
  }
  best.global = least(all);
  for (const auto& [category, sums] : by_category) best.by_category[category] = least(sums);
  return best;
}

Result<double> checked_time_ns(const RoundStatistics& statistics, const Prices& prices) {
  DRAFTSCOPE_TRY(check_covered(statistics, prices));
  return time_ns(statistics, prices);
}

}  // namespace draftscope::simulator
