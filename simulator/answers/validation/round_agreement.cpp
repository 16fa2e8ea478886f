// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/validation/round_agreement.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include <draftscope/base/sha256.h>
#include <draftscope/traces/text_share.h>

#include "rounds/replay/shadow_table.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {

namespace {

using Counts = PredictedRequest::Counts;

Counts counts_of(const RequestRows& rows) {
  Counts counts;
  for (const traces::Round& round : rows.rounds) {
    ++counts.rounds;
    counts.drafted += round.drafted;
    counts.accepted += traces::tokens_of(round).accepted_in_text(rows.request->stop);
    counts.emitted += round.emitted;
  }
  return counts;
}

/// Describes the difference; "" if the counts equal the prediction, or are within its bounds.
std::string difference(const Counts& found, const Counts& least, const Counts& most) {
  const auto compare = [](const char* what, std::int64_t measured, std::int64_t a, std::int64_t b) {
    const auto [low, high] = std::minmax(a, b);
    if (measured >= low && measured <= high) return std::string();
    return low == high ? fmt::format("{} {}, predicted {}", measured, what, low)
                       : fmt::format("{} {}, predicted {} to {}", measured, what, low, high);
  };
  for (std::string text : {compare("rounds", found.rounds, least.rounds, most.rounds),
                           compare("emitted tokens", found.emitted, least.emitted, most.emitted),
                           compare("accepted tokens", found.accepted, least.accepted, most.accepted),
                           compare("draft tokens", found.drafted, least.drafted, most.drafted)})
    if (!text.empty()) return text;
  return "";
}

/// The prompts of the rounds in the order of `what_if`.
std::vector<const traces::Prompt*> prompts_of_rounds(const WhatIf& what_if,
                                                     const traces::Recording& recording,
                                                     const StrategyRounds& rounds) {
  std::vector<const traces::Prompt*> prompts;
  if (rounds.source == RoundSource::replayed) {
    std::unordered_map<traces::PromptId, const traces::Prompt*> by_id;
    for (const traces::Prompt& prompt : recording.prompts) by_id.emplace(prompt.id, &prompt);
    std::unordered_map<traces::RequestId, const traces::Prompt*> of_request;
    for (const traces::Request& request : recording.requests)
      of_request.emplace(request.id, by_id[request.prompt_id]);
    for (const ShadowTable& table : what_if.trained().texts().tables)
      if (const traces::Prompt* prompt = of_request[table.request_id]; prompt != nullptr)
        prompts.push_back(prompt);
    return prompts;
  }
  // Recorded rounds have one request per prompt, in order of their start.
  for (const RunRows& run : rows_by_run(recording)) {
    if (run.run->specification != rounds.strategy) continue;
    std::set<traces::PromptId> known;
    for (const RequestRows& rows : run.requests)
      if (!rows.rounds.empty() && known.insert(rows.prompt->id).second) prompts.push_back(rows.prompt);
    break;
  }
  return prompts;
}

Counts counts_of(const RoundStatistics& request) {
  return {request.rounds, request.drafted, request.accepted, request.tokens};
}

}  // namespace

std::string_view round_match_name(RoundMatch match) {
  constexpr std::array<std::string_view, 4> names{"not compared", "exact", "bounded", "differs"};
  return names[static_cast<std::size_t>(match)];
}

RoundAgreement compare_rounds(std::span<const PredictedRequest> predicted, const RunRows& measured) {
  RoundAgreement agreement;
  std::unordered_map<std::string_view, const PredictedRequest*> by_text;
  for (const PredictedRequest& request : predicted) by_text.try_emplace(request.prompt_sha256, &request);
  for (const RequestRows& rows : measured.requests) {
    const std::string sha256 = sha256_of(rows.prompt->text);
    const auto found = by_text.find(sha256);
    if (found == by_text.end()) continue;
    const PredictedRequest& request = *found->second;
    ++agreement.requests;
    const std::string text = difference(counts_of(rows), request.least, request.most);
    const RoundMatch match = !text.empty()                                   ? RoundMatch::differs
                             : request.least.drafted != request.most.drafted ? RoundMatch::bounded
                                                                             : RoundMatch::exact;
    agreement.match = std::max(agreement.match, match);
    if (!text.empty() && agreement.first_difference.empty())
      agreement.first_difference = fmt::format("question {} turn {} repeat {}: {}", rows.prompt->question_id,
                                               rows.prompt->turn, rows.request->repeat, text);
  }
  return agreement;
}

std::vector<PredictedRequest> predicted_requests(const WhatIf& what_if, const traces::Recording& recording,
                                                 const StrategyRounds& rounds) {
  std::vector<PredictedRequest> requests;
  if (rounds.source == RoundSource::modelled) return requests;
  const std::vector<const traces::Prompt*> prompts = prompts_of_rounds(what_if, recording, rounds);
  const std::vector<RoundStatistics>& least = rounds.setting.min_drafted;
  const std::vector<RoundStatistics>& most =
      rounds.setting.max_drafted.empty() ? least : rounds.setting.max_drafted;
  if (prompts.size() != least.size()) return requests;
  for (std::size_t i = 0; i < prompts.size(); ++i)
    requests.push_back({sha256_of(prompts[i]->text), counts_of(least[i]), counts_of(most[i])});
  return requests;
}

}  // namespace draftscope::simulator
