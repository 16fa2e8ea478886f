// SPDX-License-Identifier: GPL-3.0-or-later
#include "writing/shard_copy.h"

#include <draftscope/traces/reader.h>

#include <algorithm>
#include <span>
#include <utility>

#include "storage/schema.h"

namespace draftscope::traces {
namespace {

constexpr std::size_t rounds_per_part = 4096;

template <typename Id>
Id id_in(const std::unordered_map<Id, Id>& ids, Id id) {
  const auto found = ids.find(id);
  return found == ids.end() ? Id() : found->second;
}

}  // namespace

Result<void> ShardCopy::run() {
  DRAFTSCOPE_TRY(count_rows());
  DRAFTSCOPE_TRY(copy_names());
  add_prompts_and_tracks();
  for (const LayerSet& set : shard_.outline.layer_sets) layer_sets_[set.id] = writer().add(set);
  DRAFTSCOPE_TRY(copy_requests());
  for (const auto copy : {&ShardCopy::copy_rounds, &ShardCopy::copy_decisions, &ShardCopy::copy_shadow_tokens,
                          &ShardCopy::copy_spans, &ShardCopy::copy_kernels, &ShardCopy::copy_counters}) {
    DRAFTSCOPE_TRY((this->*copy)());
    if (is_cancelled_) return fail("merge cancelled");
  }
  return {};
}

template <typename Row>
void ShardCopy::place(Row& row) const {
  if constexpr (requires { row.track_id; }) row.track_id = id_in(tracks_, row.track_id);
  row.request_id = requests_[row.request_id];
  row.round_id = rounds_[row.round_id];
  row.start_ns = shifted(row.start_ns);
  row.end_ns = shifted(row.end_ns);
}

/// The time on the merged clock, clamped to a row's limits: a clock that jumped may have left rows before the
/// beginning or after the end.
std::int64_t ShardCopy::shifted(std::int64_t ns) const {
  if (shard_.shift_ns > 0 && ns > max_ns - shard_.shift_ns) return max_ns;
  return std::max<std::int64_t>(ns + shard_.shift_ns, 0);
}

Result<void> ShardCopy::count_rows() {
  DRAFTSCOPE_TRY_ASSIGN(const auto ids, reader_.highest_ids());
  // Ids only estimate the rows, and a file may number them as it likes.
  constexpr std::int64_t max_estimate = std::int64_t{1} << 56;
  for (const TableCount& table : ids) all_rows_ += std::clamp<std::int64_t>(table.rows, 0, max_estimate);
  return {};
}

/// Counts one more copied row; returns whether to continue.
bool ShardCopy::copied() {
  constexpr std::int64_t rows_per_word = 16384;
  if (++copied_rows_ % rows_per_word == 0)
    is_cancelled_ =
        !done_(static_cast<double>(copied_rows_) / static_cast<double>(std::max(all_rows_, copied_rows_)));
  return !is_cancelled_ && !writer().failed();
}

Result<void> ShardCopy::copy_names() {
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader_.strings());
  for (const auto& [id, text] : strings) strings_[id] = writer().intern(text);
  DRAFTSCOPE_TRY_ASSIGN(const auto texts, reader_.token_texts());
  for (const auto& [token, text] : texts) writer().add(TokenText{token, text});
  return {};
}

void ShardCopy::add_prompts_and_tracks() {
  for (const Prompt& prompt : shard_.outline.prompts) prompts_[prompt.id] = writer().add(prompt);
  // Parents come first, because a track refers to one with a lower id.
  std::vector<const Track*> tracks;
  for (const Track& track : shard_.outline.tracks) tracks.push_back(&track);
  std::ranges::sort(tracks, {}, &Track::id);
  for (const Track* track : tracks) {
    Track row = *track;
    row.parent_id = id_in(tracks_, row.parent_id);
    if (row.parent_id.is_none()) row.name = fmt::format("shard {}: {}", shard_.shard.index, row.name);
    tracks_[track->id] = writer().add(std::move(row));
  }
}

Result<void> ShardCopy::copy_requests() {
  std::vector<const Request*> requests;
  for (const Request& request : shard_.outline.requests) requests.push_back(&request);
  std::ranges::sort(requests, {}, &Request::id);
  for (const Request* request : requests) {
    Request row = *request;
    row.id = writer().next_request_id();
    requests_.add(request->id, row.id);
    // Runs of all shards have the same order.
    const auto run = std::ranges::find(shard_.outline.runs, request->run_id, &Run::id);
    row.run_id = runs_[static_cast<std::size_t>(run - shard_.outline.runs.begin())];
    row.prompt_id = id_in(prompts_, row.prompt_id);
    for (std::int64_t* time : {&row.start_ns, &row.first_token_ns, &row.end_ns})
      if (*time != 0) *time = shifted(*time);
    writer().begin(row);
    target_.add(row);
    ++summary_.requests;
  }
  return {};
}

// Parts have a number of rounds, not of ids: ids may lie far apart.
Result<void> ShardCopy::copy_rounds() {
  DRAFTSCOPE_TRY_ASSIGN(Reader tokens_reader, Reader::open(shard_.path));
  std::vector<Round> rounds;
  rounds.reserve(rounds_per_part);
  Result<void> added;
  DRAFTSCOPE_TRY(reader_.rounds({}, [&](const Round& round) {
    rounds.push_back(round);
    if (rounds.size() == rounds_per_part) {
      added = add_rounds(rounds, tokens_reader);
      rounds.clear();
    }
    return added && copied();
  }));
  DRAFTSCOPE_TRY(added);
  return rounds.empty() ? Result<void>() : add_rounds(rounds, tokens_reader);
}

Result<void> ShardCopy::add_rounds(const std::vector<Round>& rounds, Reader& tokens_reader) {
  std::vector<DraftToken> tokens;
  const IdRange ids{rounds.front().id.value(), rounds.back().id.value()};
  DRAFTSCOPE_TRY(tokens_reader.draft_tokens(ids, [&](const DraftToken& token) {
    tokens.push_back(token);
    return true;
  }));
  auto token = tokens.begin();
  for (Round round : rounds) {
    const auto begin =
        std::find_if(token, tokens.end(), [&](const DraftToken& t) { return t.round_id >= round.id; });
    token = std::find_if(begin, tokens.end(), [&](const DraftToken& t) { return t.round_id > round.id; });
    const RoundId id = writer().next_round_id();
    rounds_.add(round.id, id);
    round.id = id;
    round.request_id = requests_[round.request_id];
    round.layer_set_id = id_in(layer_sets_, round.layer_set_id);
    round.start_ns = shifted(round.start_ns);
    round.end_ns = shifted(round.end_ns);
    target_.add(round, std::span(begin, token));
    ++summary_.rounds;
  }
  return {};
}

Result<void> ShardCopy::copy_decisions() {
  return reader_.decisions([&](Decision decision) {
    place(decision);
    decision.kind_id = id_in(strings_, decision.kind_id);
    target_.add(decision);
    return copied();
  });
}

Result<void> ShardCopy::copy_shadow_tokens() {
  DRAFTSCOPE_TRY_ASSIGN(Reader reader, Reader::open(shard_.path));
  std::vector<ShadowToken> of_request;
  const auto flush = [&] {
    if (!of_request.empty()) target_.add(std::span<const ShadowToken>(of_request));
    of_request.clear();
  };
  DRAFTSCOPE_TRY(reader.shadow_tokens([&](ShadowToken token) {
    token.request_id = requests_[token.request_id];
    if (!of_request.empty() && of_request.front().request_id != token.request_id) flush();
    of_request.push_back(token);
    return copied();
  }));
  flush();
  return {};
}

Result<void> ShardCopy::copy_spans() {
  return reader_.spans({}, [&](Span span) {
    const SpanId id = writer().next_span_id();
    spans_.add(span.id, id);
    span.id = id;
    span.parent_id = spans_[span.parent_id];
    place(span);
    span.name_id = id_in(strings_, span.name_id);
    target_.add(span);
    ++summary_.spans;
    return copied();
  });
}

Result<void> ShardCopy::copy_kernels() {
  return reader_.kernels({}, [&](Kernel kernel) {
    kernel.id = writer().next_kernel_id();
    kernel.span_id = spans_[kernel.span_id];
    place(kernel);
    kernel.short_name_id = id_in(strings_, kernel.short_name_id);
    target_.add(kernel);
    ++summary_.kernels;
    return copied();
  });
}

Result<void> ShardCopy::copy_counters() {
  return reader_.counters([&](Counter counter) {
    counter.track_id = id_in(tracks_, counter.track_id);
    counter.timestamp_ns = shifted(counter.timestamp_ns);
    target_.add(counter);
    return copied();
  });
}

}  // namespace draftscope::traces
