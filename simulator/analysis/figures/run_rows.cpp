// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/figures/request_rows.h"

#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/text_share.h>

#include <algorithm>
#include <type_traits>
#include <unordered_map>

namespace draftscope::simulator {

namespace {

using traces::DraftToken;
using traces::RequestStop;
using traces::Round;

bool is_finished(const traces::Request& request) {
  return request.end_ns > request.start_ns && request.stop != RequestStop::cancelled &&
         request.stop != RequestStop::error;
}

/// Consecutive elements with the same key, by key.
template <typename Row, typename Key>
auto group(const std::vector<Row>& rows, Key key) {
  std::unordered_map<std::invoke_result_t<Key, const Row&>, std::span<const Row>> groups;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first + 1;
    while (last < rows.size() && key(rows[last]) == key(rows[first])) ++last;
    groups.emplace(key(rows[first]), std::span<const Row>(rows).subspan(first, last - first));
    first = last;
  }
  return groups;
}

/// Draft tokens ordered by round, optimised for rounds that are requested in order of their ids.
class TokensByRound {
 public:
  explicit TokensByRound(std::span<const DraftToken> tokens) : tokens_(tokens) {}

  [[nodiscard]] std::span<const DraftToken> of(traces::RoundId round_id) {
    if (next_ >= tokens_.size() || tokens_[next_].round_id != round_id)
      next_ = static_cast<std::size_t>(
          std::lower_bound(tokens_.begin(), tokens_.end(), round_id,
                           [](const DraftToken& token, traces::RoundId id) { return token.round_id < id; }) -
          tokens_.begin());
    const std::size_t first = next_;
    while (next_ < tokens_.size() && tokens_[next_].round_id == round_id) ++next_;
    return tokens_.subspan(first, next_ - first);
  }

 private:
  std::span<const DraftToken> tokens_;
  std::size_t next_ = 0;
};

/// Draft tokens that the verifier reached, up to the text's end.
std::int64_t tested_in_text(std::span<const DraftToken> drafted, const Round& round, RequestStop stop) {
  std::vector<std::int32_t> depths;
  const std::int64_t in_text = traces::tokens_of(round).in_text(stop);
  if (in_text <= round.accepted) depths = traces::token_depths(drafted);
  std::int64_t tested = 0;
  for (std::size_t i = 0; i < drafted.size(); ++i)
    tested += drafted[i].tested && (depths.empty() || depths[i] < in_text) ? 1 : 0;
  return tested;
}

KnownOfRequest known_of_requests(const traces::Meta& meta) {
  using traces::MissingData;
  return {.wall_times = !traces::is_missing(meta, MissingData::wall_times),
          .first_token_times = !traces::is_missing(meta, MissingData::first_token_times),
          .token_ids = !traces::is_missing(meta, MissingData::token_ids),
          .output_text = !traces::is_missing(meta, MissingData::output_text)};
}

traces::RoundTokens round_tokens(const traces::RequestSum& sum) {
  return {sum.rounds, sum.accepted, sum.emitted};
}

}  // namespace

std::vector<RunRows> finished_requests(const traces::Recording& recording) {
  std::unordered_map<traces::PromptId, const traces::Prompt*> prompts;
  for (const traces::Prompt& prompt : recording.prompts) prompts.emplace(prompt.id, &prompt);
  const KnownOfRequest known = known_of_requests(recording.meta);
  std::vector<RunRows> runs;
  std::unordered_map<traces::RunId, std::size_t> run_index;
  for (const traces::Run& run : recording.runs) {
    run_index.emplace(run.id, runs.size());
    runs.push_back({&run, {}, 0});
  }
  for (const traces::Request& request : recording.requests) {
    const auto run = run_index.find(request.run_id);
    const auto prompt = prompts.find(request.prompt_id);
    if (run == run_index.end() || prompt == prompts.end()) continue;
    RunRows& into = runs[run->second];
    if (!is_finished(request)) {
      ++into.unfinished_requests;
      ++into.unfinished_by_category[prompt->second->category];
      continue;
    }
    RequestRows rows;
    rows.request = &request;
    rows.prompt = prompt->second;
    rows.known = known;
    into.requests.push_back(std::move(rows));
  }
  return runs;
}

traces::RequestSum sum_of_rounds(const RequestRows& rows) {
  traces::RequestSum sum{.request_id = rows.request->id};
  if (rows.stored != nullptr)
    sum = *rows.stored;
  else
    for (const Round& round : rows.rounds) traces::add_round(sum, round);
  sum.accepted = round_tokens(sum).accepted_in_text(rows.request->stop);
  return sum;
}

std::int64_t tokens_in_text(const traces::RequestSum& sum, traces::RequestStop stop) {
  return round_tokens(sum).in_text(stop);
}

std::vector<RunRows> rows_by_run(const traces::Recording& recording,
                                 std::span<const traces::Span> phase_spans) {
  const auto rounds_of = group(recording.rounds, [](const Round& round) { return round.request_id; });
  TokensByRound tokens(recording.draft_tokens);
  std::unordered_map<traces::RequestId, std::vector<traces::Span>> spans_of;
  for (const traces::Span& span : phase_spans)
    if (span.depth == 0 && span.request_id != 0) spans_of[span.request_id].push_back(span);

  std::vector<RunRows> runs = finished_requests(recording);
  for (RunRows& run : runs)
    for (RequestRows& rows : run.requests) {
      if (const auto found = rounds_of.find(rows.request->id); found != rounds_of.end())
        rows.rounds = found->second;
      rows.tested_tokens = 0;
      for (const Round& round : rows.rounds) {
        const std::span<const DraftToken> drafted = tokens.of(round.id);
        const bool complete = drafted.size() == static_cast<std::size_t>(std::max(round.drafted, 0));
        if (!complete) rows.tested_tokens = -1;
        if (rows.tested_tokens >= 0) rows.tested_tokens += tested_in_text(drafted, round, rows.request->stop);
      }
      if (const auto found = spans_of.find(rows.request->id); found != spans_of.end())
        rows.phase_spans = std::move(found->second);
    }
  return runs;
}

const RunRows* baseline_of(std::span<const RunRows> runs) {
  const auto found = std::find_if(runs.begin(), runs.end(), [](const RunRows& run) {
    return run.run->is_baseline && !run.requests.empty();
  });
  return found == runs.end() ? nullptr : &*found;
}

RunRows only_category(const RunRows& run, std::string_view category) {
  const auto unfinished = run.unfinished_by_category.find(category);
  RunRows subset{run.run, {}, unfinished == run.unfinished_by_category.end() ? 0 : unfinished->second};
  std::copy_if(run.requests.begin(), run.requests.end(), std::back_inserter(subset.requests),
               [&](const RequestRows& rows) { return rows.prompt->category == category; });
  return subset;
}

std::vector<std::string> categories(const RunRows& run) {
  std::vector<std::string> names;
  for (const RequestRows& rows : run.requests)
    if (std::find(names.begin(), names.end(), rows.prompt->category) == names.end())
      names.push_back(rows.prompt->category);
  return names;
}

}  // namespace draftscope::simulator
