// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/history_report.h"

#include <draftscope/speculation/policy_history.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "report/report_json_parts.h"
#include "report/series_table.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

/// "single 60, probe 9, model 120": trials by what proposed them, in the order in which they first came.
std::string proposed_by_text(const speculation::PolicyFile& policy) {
  std::vector<std::string_view> order;
  std::map<std::string_view, std::int64_t> counts;
  for (const speculation::Trial& trial : policy.trials)
    if (const std::string_view origin = speculation::trial_origin(trial); ++counts[origin] == 1)
      order.push_back(origin);
  std::string text;
  for (const std::string_view origin : order)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", origin, count(counts[origin]));
  return text;
}

std::int64_t teacher_forced_trials(const speculation::PolicyFile& policy) {
  return std::count_if(policy.trials.begin(), policy.trials.end(), [](const speculation::Trial& trial) {
    return trial.scored_by == speculation::ScoredBy::teacher_forced;
  });
}

}  // namespace

std::string history_text(const speculation::PolicyFile& policy, const Glyphs& glyphs) {
  std::string text =
      fmt::format("{}{}\n", policy.strategy.empty() ? "no trial yet" : printable(policy.strategy),
                  policy.finished ? "" : " (the search is not finished)");
  const auto all = static_cast<std::int64_t>(policy.trials.size());
  text += fmt::format("  {} trials: {}\n", count(all), proposed_by_text(policy));
  if (const std::int64_t forced = teacher_forced_trials(policy); forced > 0)
    text += fmt::format("  scored: teacher-forced {}, decoded {}\n", count(forced), count(all - forced));
  std::vector<ChartedSeries> series;
  for (const speculation::TrialSeries& one : speculation::policy_history(policy))
    series.push_back({std::string(one.title), one.values});
  return text + series_table(series, glyphs);
}

std::string history_json(const speculation::PolicyFile& policy) {
  Json json = new_document();
  json["strategy"] = policy.strategy;
  json["finished"] = policy.finished;
  json["trials"] = policy.trials.size();
  Json& origins = json["origin"] = Json::array();
  Json& scored_by = json["scored_by"] = Json::array();
  Json& settings = json["setting"] = Json::array();
  for (const speculation::Trial& trial : policy.trials) {
    origins.push_back(speculation::trial_origin(trial));
    scored_by.push_back(speculation::scored_by_name(trial.scored_by));
    settings.push_back(trial.setting);
  }
  Json& series = json["series"] = Json::array();
  for (const speculation::TrialSeries& one : speculation::policy_history(policy))
    series.push_back(Json::object({{"key", one.key}, {"values", values_json(one.values)}}));
  return json_text(json);
}

}  // namespace draftscope::cli
