// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/rounds_part.h>

#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/simulator/analysis/stretches.h>
#include <draftscope/simulator/rounds/round_prices.h>
#include <draftscope/traces/text_share.h>
#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "answers/advice/prompt_order.h"
#include "rounds/replay/replay.h"
#include "rounds/round_sources.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {

namespace {

/// Name of the part that each request belongs to.
std::vector<std::string> part_names(const StrategyRounds& rounds, PartBy by,
                                    const std::vector<traces::PromptId>& prompts,
                                    const traces::Recording& recording) {
  std::map<traces::PromptId, const traces::Prompt*> by_id;
  for (const traces::Prompt& prompt : recording.prompts) by_id.emplace(prompt.id, &prompt);
  const QuestionNames question_names(recording.meta);
  std::vector<std::string> names;
  names.reserve(rounds.vanilla.size());
  for (std::size_t i = 0; i < rounds.vanilla.size(); ++i) {
    if (by == PartBy::category) {
      names.push_back(i < rounds.categories.size() ? rounds.categories[i] : std::string());
      continue;
    }
    const auto prompt = i < prompts.size() ? by_id.find(prompts[i]) : by_id.end();
    names.push_back(prompt == by_id.end() ? fmt::format("request {}", i + 1)
                                          : question_names.label(*prompt->second));
  }
  return names;
}

template <typename T>
std::vector<T> chosen(const std::vector<T>& values, const std::vector<std::size_t>& places) {
  std::vector<T> result;
  for (const std::size_t place : places)
    if (place < values.size()) result.push_back(values[place]);
  return result;
}

/// Statistics of a request by stretch of its output.
std::map<std::int32_t, RoundStatistics> by_stretch(const KnownRequest& request,
                                                   const RoundStatistics& whole) {
  std::map<std::int32_t, RoundStatistics> stretches;
  std::int32_t first_token = 1;  // The prefill's token has index 0.
  for (const KnownRound& known : request.rounds) {
    const traces::Round& round = known.round;
    const std::int64_t accepted = traces::tokens_of(round).accepted_in_text(request.request->stop);
    add_round(stretches[first_token / published_stretch_tokens * published_stretch_tokens], known.draft,
              round.root_position,
              {.drafted = round.drafted,
               .accepted = static_cast<std::int32_t>(accepted),
               .siblings = round.drafted - known.draft_steps},
              round.emitted, known.planned_rows, std::max(round.verify_rows - round.drafted - 1, 0));
    first_token += round.emitted;
  }
  // Time of the host is spread over the rounds.
  const auto all = static_cast<std::int64_t>(request.rounds.size());
  std::int64_t done = 0;
  std::int64_t given_ns = 0;
  for (auto& [stretch, statistics] : stretches) {
    done += statistics.rounds;
    statistics.host_ns = whole.host_ns * done / all - given_ns;
    given_ns += statistics.host_ns;
  }
  return stretches;
}

/// Requests of a run with the rounds of one stretch alone.
struct StretchRows {
  std::deque<traces::Request> requests;
  RunRows rows;
};

/// A run by stretch of its output, with the time of rounds alone as in stretches.h.
std::map<std::int32_t, StretchRows> rows_by_stretch(const RunRows& run) {
  std::map<std::int32_t, StretchRows> stretches;
  for (const RequestRows& rows : run.requests) {
    std::int32_t first_token = 1;  // The prefill's token has index 0.
    for (std::size_t first = 0; first < rows.rounds.size();) {
      const std::int32_t stretch = first_token / published_stretch_tokens * published_stretch_tokens;
      constexpr std::int64_t known_ns = 1;  // No time stands for one that is not known.
      traces::Request request{.id = rows.request->id,
                              .run_id = rows.request->run_id,
                              .prompt_id = rows.request->prompt_id,
                              .repeat = rows.request->repeat,
                              .first_token_ns = known_ns,
                              .end_ns = known_ns};
      std::size_t end = first;
      for (; end < rows.rounds.size() && first_token < stretch + published_stretch_tokens; ++end) {
        const traces::Round& round = rows.rounds[end];
        request.end_ns += round.end_ns - round.start_ns;
        first_token += round.emitted;
      }
      if (end == rows.rounds.size()) request.stop = rows.request->stop;
      StretchRows& into = stretches[stretch];
      into.rows.run = run.run;
      into.requests.push_back(std::move(request));
      into.rows.requests.push_back({.request = &into.requests.back(),
                                    .prompt = rows.prompt,
                                    .rounds = rows.rounds.subspan(first, end - first),
                                    .phase_spans = {}});
      first = end;
    }
  }
  return stretches;
}

/// Gives the stretches of a run that was measured their own ratios.
void put_stretch_ratios(const TrainedRecording& trained, const StrategyRounds& rounds,
                        std::map<std::int32_t, RoundsPart>& parts) {
  const auto measured = measured_rounds(trained, rounds);
  if (!measured) return;
  const auto of_run = rows_by_stretch(*measured->run);
  const auto of_vanilla = rows_by_stretch(vanilla_of(trained, *measured->run));
  for (auto& [first_token, part] : parts) {
    const auto run = of_run.find(first_token);
    const auto vanilla = of_vanilla.find(first_token);
    if (run != of_run.end() && vanilla != of_vanilla.end())
      put_own_ratios(trained, run->second.rows, vanilla->second.rows, part.rounds, part.rounds);
  }
}

/// Whether two sums have the same rounds; exits may be in another order, and rows that never occurred be left
/// out.
bool has_same_rounds(RoundStatistics a, RoundStatistics b) {
  for (RoundStatistics* sum : {&a, &b}) {
    for (DraftStatistics& draft : sum->drafts)
      while (!draft.verify.empty() && draft.verify.back().passes == 0) draft.verify.pop_back();
    std::sort(sum->drafts.begin(), sum->drafts.end(),
              [](const DraftStatistics& x, const DraftStatistics& y) { return x.exit < y.exit; });
  }
  return a == b;
}

Result<std::vector<RoundsPart>> stretch_parts(const StrategyRounds& rounds, const WhatIf& what_if,
                                              const std::vector<traces::PromptId>& prompts) {
  if (!rounds.setting.max_drafted.empty())
    return fail("strategy {}: found two cases of its rounds, expected one for --by stretch", rounds.strategy);
  if (!rounds.auxiliary_passes.empty())
    return fail(
        "strategy {}: found passes of its own, expected none for --by stretch (a recorded run has report "
        "--by stretch)",
        rounds.strategy);
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<KnownRequest> known, known_rounds(what_if.trained(), rounds));
  std::map<std::int32_t, RoundsPart> parts;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const RoundStatistics& whole = rounds.setting.min_drafted[i];
    RoundStatistics sum;
    PassCount vanilla = rounds.vanilla[i];
    std::int64_t first_context = known[i].rounds.empty() ? 0 : known[i].rounds.front().round.root_position;
    const auto stretches = by_stretch(known[i], whole);
    for (const auto& [first_token, statistics] : stretches) {
      add(sum, statistics);
      const auto had = parts.find(first_token);
      RoundsPart& part = had != parts.end() ? had->second : parts[first_token];
      if (had == parts.end()) {
        part.name = fmt::format("{}-{}", first_token, first_token + published_stretch_tokens - 1);
        part.rounds = rounds;
        part.rounds.setting.min_drafted.clear();
        part.rounds.vanilla.clear();
        part.rounds.categories.clear();
        part.rounds.prompts.clear();
      }
      // The last stretch has the step that finds the text's end, too.
      const bool is_last = first_token == stretches.rbegin()->first;
      const PassCount steps = is_last ? vanilla : vanilla_steps(statistics.tokens, first_context);
      first_context += statistics.tokens;
      vanilla.passes -= steps.passes;
      vanilla.context -= steps.context;
      part.rounds.setting.min_drafted.push_back(statistics);
      part.rounds.vanilla.push_back(steps);
      if (i < rounds.categories.size()) part.rounds.categories.push_back(rounds.categories[i]);
      if (i < prompts.size()) part.rounds.prompts.push_back(prompts[i]);
    }
    if (!has_same_rounds(sum, whole))
      return fail(
          "strategy {}: found rounds of another context or model, expected the recorded ones for --by "
          "stretch",
          rounds.strategy);
  }
  put_stretch_ratios(what_if.trained(), rounds, parts);
  std::vector<RoundsPart> result;
  result.reserve(parts.size());
  for (auto& [first_token, part] : parts) result.push_back(std::move(part));
  return result;
}

}  // namespace

Result<std::vector<RoundsPart>> parts_of(const StrategyRounds& rounds, PartBy by, const WhatIf& what_if,
                                         const traces::Recording& recording) {
  const std::vector<traces::PromptId> prompts = prompts_of(rounds, what_if, recording);
  if (by == PartBy::stretch) return stretch_parts(rounds, what_if, prompts);
  std::vector<std::pair<std::string, std::vector<std::size_t>>> parts;
  const std::vector<std::string> names = part_names(rounds, by, prompts, recording);
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto part =
        std::find_if(parts.begin(), parts.end(), [&](const auto& had) { return had.first == names[i]; });
    if (part == parts.end()) part = parts.insert(parts.end(), {names[i], {}});
    part->second.push_back(i);
  }
  const auto measured = measured_rounds(what_if.trained(), rounds);
  std::vector<RoundsPart> result;
  for (const auto& [name, places] : parts) {
    RoundsPart part{name, rounds};
    part.rounds.setting.min_drafted = chosen(rounds.setting.min_drafted, places);
    part.rounds.setting.max_drafted = chosen(rounds.setting.max_drafted, places);
    part.rounds.vanilla = chosen(rounds.vanilla, places);
    part.rounds.categories = chosen(rounds.categories, places);
    part.rounds.prompts = chosen(prompts, places);
    if (measured) put_own_ratios(what_if.trained(), *measured, part.rounds.prompts, part.rounds);
    result.push_back(std::move(part));
  }
  return result;
}

}  // namespace draftscope::simulator
