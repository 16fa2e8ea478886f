// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/frames.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "foreign/foreign_writer.h"
#include "foreign/json_fields.h"

namespace draftscope::traces {
namespace {

constexpr std::int64_t max_position = std::numeric_limits<std::int32_t>::max();

template <typename Frame>
bool by_lane_and_start(const Frame& a, const Frame& b) {
  return std::tie(a.lane, a.start_ns, a.end_ns) < std::tie(b.lane, b.start_ns, b.end_ns);
}

/// The last frame of the lane that starts by then, or the end.
template <typename Frame>
std::size_t last_started(const std::vector<Frame>& frames, std::uint32_t lane, std::int64_t start_ns) {
  const auto after = std::upper_bound(
      frames.begin(), frames.end(), std::tuple(lane, start_ns),
      [](const auto& key, const Frame& frame) { return key < std::tuple(frame.lane, frame.start_ns); });
  if (after == frames.begin() || (after - 1)->lane != lane) return frames.size();
  return static_cast<std::size_t>(after - frames.begin()) - 1;
}

/// Fails with a frame's problem, or counts it.
Result<void> refuse_or_count(std::string problem, LeftOut* left_out) {
  if (left_out == nullptr) return fail("{}", problem);
  left_out->add(std::move(problem));
  return {};
}

/// Leaves the frames that do not begin before the end of the one before them.
template <typename Frame>
Result<void> keep_ordered(std::vector<Frame>& frames, const std::string& name, std::string_view what,
                          LeftOut* left_out) {
  std::vector<Frame> kept;
  kept.reserve(frames.size());
  for (Frame& frame : frames) {
    if (!kept.empty() && frame.lane == kept.back().lane && frame.start_ns < kept.back().end_ns) {
      DRAFTSCOPE_TRY(refuse_or_count(
          fmt::format(
              "{}: the {} at {} ns starts before the end of the one before it ({} ns), expected one after "
              "another",
              name, what, frame.start_ns, kept.back().end_ns),
          left_out));
      continue;
    }
    kept.push_back(std::move(frame));
  }
  frames = std::move(kept);
  return {};
}

/// Makes a chain as deep as the tree; further tokens are children of the root.
std::vector<DraftToken> draft_of(const Round& round) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<DraftToken> tokens;
  for (std::int32_t i = 0; i < round.drafted; ++i) {
    const bool in_chain = i < round.tree_depth;
    tokens.push_back({round.id, i, in_chain ? i - 1 : -1, unknown_token, unknown, unknown,
                      in_chain && i < round.accepted, in_chain && i <= round.accepted});
  }
  return tokens;
}

}  // namespace

Result<void> Frames::assign(Writer& writer, const std::string& name, LeftOut* left_out) {
  std::sort(requests_.begin(), requests_.end(), by_lane_and_start<RequestFrame>);
  std::sort(rounds_.begin(), rounds_.end(), by_lane_and_start<RoundFrame>);
  DRAFTSCOPE_TRY(keep_ordered(requests_, name, "request", left_out));
  DRAFTSCOPE_TRY(keep_ordered(rounds_, name, "round", left_out));
  for (RequestFrame& request : requests_) request.id = writer.next_request_id();
  std::vector<RoundFrame> kept;
  kept.reserve(rounds_.size());
  for (const RoundFrame& round : rounds_) {
    const std::size_t request = last_started(requests_, round.lane, round.start_ns);
    std::string problem;
    if (request == requests_.size() || requests_[request].end_ns < round.end_ns)
      problem =
          fmt::format("{}: the round at {} to {} ns is in no request of its thread, expected one around it",
                      name, round.start_ns, round.end_ns);
    else if (round.number != 0 && !by_number_.emplace(round.number, kept.size()).second)
      problem = fmt::format("{}: round {} is there twice, expected each round once", name, round.number);
    if (!problem.empty()) {
      DRAFTSCOPE_TRY(refuse_or_count(std::move(problem), left_out));
      continue;
    }
    request_of_.push_back(request);
    kept.push_back(round);
  }
  rounds_ = std::move(kept);
  return {};
}

FrameRows Frames::holding(std::uint32_t lane, std::int64_t start_ns, std::int64_t end_ns) const {
  FrameRows rows;
  const std::size_t request = last_started(requests_, lane, start_ns);
  if (request == requests_.size() || requests_[request].end_ns < end_ns) return rows;
  rows.request_id = requests_[request].id;
  const std::size_t round = last_started(rounds_, lane, start_ns);
  if (round != rounds_.size() && rounds_[round].end_ns >= end_ns && request_of_[round] == request)
    rows.round_id = RoundId::from(round + 1);
  return rows;
}

FrameRows Frames::round_with_number(std::int64_t number) const {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return {};
  return {requests_[request_of_[found->second]].id, RoundId::from(found->second + 1)};
}

void Frames::write_requests(PacedTrace& target) {
  std::map<std::string, RunId> runs;
  std::map<std::int64_t, PromptId> prompts;
  std::vector<std::int64_t> emitted(requests_.size(), 0);
  for (std::size_t i = 0; i < rounds_.size(); ++i) emitted[request_of_[i]] += rounds_[i].emitted;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const RequestFrame& frame = requests_[i];
    if (const auto [run, is_new] = runs.try_emplace(frame.specification); is_new) {
      run->second = target.writer().add(foreign_run(frame.specification, false, "{}"));
      ++target.counts().runs;
    }
    if (const auto [prompt, is_new] = prompts.try_emplace(frame.question_id); is_new)
      prompt->second = target.writer().add(
          Prompt{0, frame.question_id, "", 0, fmt::format("[question {}]", frame.question_id), {}});
    Request row = frame;
    row.run_id = runs.at(frame.specification);
    row.prompt_id = prompts.at(frame.question_id);
    row.end_ns = std::max(frame.end_ns, std::int64_t{1});  // 0 would mean that it never ended
    std::int64_t tokens = frame.n_tokens;
    if (tokens < 0) {
      target.note(MissingData::output_lengths);
      tokens = std::min(emitted[i], max_answer_tokens);
    }
    row.tokens.assign(static_cast<std::size_t>(tokens), unknown_token);
    target.add(row);
  }
  for (const MissingData missing :
       {MissingData::token_ids, MissingData::prompts, MissingData::output_text,
        MissingData::first_token_times, MissingData::confidences, MissingData::layer_sets})
    target.note(missing);
}

void Frames::write_rounds(PacedTrace& target, const std::vector<Times>& times) {
  std::int32_t index = 0;
  std::int64_t position = 0;
  for (std::size_t i = 0; i < rounds_.size(); ++i) {
    const RoundFrame& frame = rounds_[i];
    if (i == 0 || request_of_[i] != request_of_[i - 1]) {
      index = 0;
      position = 0;
    }
    Round row = frame;
    row.id = target.writer().next_round_id();
    row.request_id = requests_[request_of_[i]].id;
    row.index = index++;
    row.root_position = static_cast<std::int32_t>(std::min<std::int64_t>(position, max_position));
    position += frame.emitted;
    if (frame.drafted > frame.tree_depth) target.note(MissingData::draft_trees);
    if (!frame.has_lengths) target.note(MissingData::accepted_lengths);
    const auto time_of = [&](Phase phase) { return times[i][static_cast<std::size_t>(phase)]; };
    row.draft_ns = time_of(Phase::draft);
    row.verify_ns = time_of(Phase::verify);
    row.accept_ns = time_of(Phase::accept);
    row.optimise_ns = time_of(Phase::optimise);
    row.control_ns = time_of(Phase::control);
    std::int64_t left_ns = row.end_ns - row.start_ns;
    const std::int64_t length_ns = left_ns;
    bool do_fit = true;
    for (const std::int64_t part_ns :
         {row.draft_ns, row.verify_ns, row.accept_ns, row.optimise_ns, row.control_ns}) {
      do_fit = do_fit && part_ns <= left_ns;
      if (do_fit) left_ns -= part_ns;
    }
    if (!do_fit) {  // phases that overlap do not add up to the round's time
      row.draft_ns = row.verify_ns = row.accept_ns = row.optimise_ns = row.control_ns = 0;
      target.note(MissingData::phase_times);
    } else if (left_ns == length_ns) {
      target.note(MissingData::phase_times);
    }
    target.add(row, draft_of(row));
  }
}

void Frames::write(PacedTrace& target, Intervals& intervals) {
  std::vector<Times> times(rounds_.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const Interval& row = intervals.rows()[i];
    if (row.phase == no_phase || row.round_id.is_none() || intervals.placed()[i].depth != 0) continue;
    const auto round = static_cast<std::size_t>(row.round_id.value() - 1);
    if (row.start_ns < rounds_[round].start_ns || row.end_ns > rounds_[round].end_ns) continue;
    // More than the round's time is never written, so that no sum overflows.
    std::int64_t& time_ns = times[round][static_cast<std::uint8_t>(row.phase)];
    const std::int64_t max_time_ns = rounds_[round].end_ns - rounds_[round].start_ns + 1;
    time_ns += std::min(row.end_ns - row.start_ns, max_time_ns - time_ns);
  }
  if (requests_.empty()) target.note(MissingData::runs);
  if (rounds_.empty()) target.note(MissingData::rounds);
  if (!requests_.empty()) write_requests(target);
  write_rounds(target, times);
}

}  // namespace draftscope::traces
