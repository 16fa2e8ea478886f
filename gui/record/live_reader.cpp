// SPDX-License-Identifier: GPL-3.0-or-later
#include "live_reader.h"

#include <draftscope/simulator/analysis/measured_recording.h>

#include <algorithm>

namespace draftscope::gui {

namespace {

/// Latest request that has begun and not ended; null between requests.
const traces::Request* request_at_hand(const traces::Recording& outline) {
  const auto found = std::find_if(outline.requests.rbegin(), outline.requests.rend(),
                                  [](const traces::Request& request) { return request.end_ns == 0; });
  return found == outline.requests.rend() ? nullptr : &*found;
}

LiveRun live_run(const simulator::Figures& figures) {
  return {.specification = figures.run->specification,
          .is_baseline = figures.run->is_baseline,
          .requests = figures.throughput.requests,
          .tokens_per_second = figures.throughput.tokens_per_second,
          .speedup = figures.speedup,
          .acceptance_rate = figures.acceptance.acceptance_rate,
          .mean_accepted_length = figures.acceptance.mean_accepted_length};
}

}  // namespace

Result<void> LiveReader::take_rounds(traces::Reader& reader, traces::RequestId at_hand) {
  if (at_hand != open_request_) open_rounds_.clear();
  open_request_ = at_hand;
  std::int64_t first_open = 0;
  const std::size_t had = open_rounds_.size();
  DRAFTSCOPE_TRY(reader.rounds({.first = last_round_id_ + 1}, [&](const traces::Round& round) {
    last_round_id_ = round.id.value();
    traces::RequestSum& sum = sums_[round.request_id];
    sum.request_id = round.request_id;
    traces::add_round(sum, round);
    if (round.request_id != at_hand) return true;
    if (first_open == 0) first_open = last_round_id_;
    open_rounds_.push_back({round, {}});
    return true;
  }));
  if (first_open == 0) return {};
  std::size_t at = had;
  return reader.draft_tokens({first_open, last_round_id_}, [&](const traces::DraftToken& draft) {
    while (at < open_rounds_.size() && open_rounds_[at].round.id < draft.round_id) ++at;
    if (at == open_rounds_.size()) return false;
    if (draft.accepted && open_rounds_[at].round.id == draft.round_id)
      open_rounds_[at].accepted.push_back(draft.token);
    return true;
  });
}

Result<LiveText> LiveReader::text_of(traces::Reader& reader, const traces::Recording& outline,
                                     const traces::Request& request) const {
  LiveText text{.repeat = request.repeat};
  for (const traces::Run& run : outline.runs)
    if (run.id == request.run_id) text.specification = run.specification;
  for (const traces::Prompt& prompt : outline.prompts) {
    if (prompt.id != request.prompt_id) continue;
    text.question_id = prompt.question_id;
    text.category = prompt.category;
    text.prompt = prompt.text;
  }
  DRAFTSCOPE_TRY_ASSIGN(const auto texts, reader.token_texts());
  const auto add_token = [&](std::int32_t token, TokenOrigin origin) {
    const auto known = texts.find(token);
    text.tokens.push_back({known == texts.end() ? std::string() : known->second, origin});
  };
  for (const OpenRound& open : open_rounds_) {
    std::int32_t left = open.round.emitted;
    for (const std::int32_t token : open.accepted)
      if (left-- > 0) add_token(token, TokenOrigin::accepted);
    if (left > 0) add_token(open.round.bonus_token, TokenOrigin::bonus);
  }
  return text;
}

Result<LiveFigures> LiveReader::read() {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(path_, stopped_));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording outline, reader.outline());
  const traces::Request* at_hand = request_at_hand(outline);
  DRAFTSCOPE_TRY(take_rounds(reader, at_hand == nullptr ? traces::RequestId() : at_hand->id));
  std::vector<traces::RequestSum> sums;
  sums.reserve(sums_.size());
  LiveFigures live{.closed_cleanly = outline.closed_cleanly};
  for (const auto& [id, sum] : sums_) {
    sums.push_back(sum);
    live.rounds += sum.rounds;
  }
  const simulator::RecordingFigures figures = simulator::measure_overview(outline, sums);
  for (const simulator::RunFigures& run : figures.runs) {
    live.runs.push_back(live_run(run.all));
    live.requests += run.all.throughput.requests;
  }
  if (at_hand != nullptr) {
    DRAFTSCOPE_TRY_ASSIGN(live.at_hand, text_of(reader, outline, *at_hand));
  }
  return live;
}

}  // namespace draftscope::gui
