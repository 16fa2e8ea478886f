// SPDX-License-Identifier: GPL-3.0-or-later
#include "clustered_recording.h"

#include <draftscope/traces/writer.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "../uncertainty/synthetic_requests.h"

namespace draftscope::simulator {

namespace {

constexpr std::int32_t short_length = 2;

/// Rounds of a text that gives these tokens, drafted with one length; 0 = vanilla decoding.
std::vector<SyntheticRound> rounds_of(const std::vector<std::int32_t>& accepted, std::int32_t length) {
  std::int32_t remaining = 0;
  for (const std::int32_t count : accepted) remaining += count + 1;
  std::vector<SyntheticRound> rounds;
  std::int32_t root = synthetic_prompt;
  for (std::size_t i = 0; remaining > 0; ++i) {
    const std::int32_t accepts = std::min(accepted[i % accepted.size()], length);
    const std::int32_t emitted = std::min(accepts + 1, remaining);
    rounds.push_back({root, length, emitted - 1});
    root += emitted;
    remaining -= emitted;
  }
  return rounds;
}

}  // namespace

traces::Recording clustered_recording(std::uint64_t seed, const ClusteredOptions& options) {
  SyntheticRecorder recorder(seed, synthetic_prices(), options.noise);
  std::vector<std::int32_t> lengths{synthetic_length};
  if (options.second_run) lengths.push_back(short_length);
  recorder.add_runs(lengths);
  lengths.insert(lengths.begin(), 0);
  std::vector<std::vector<std::int32_t>> accepted;  // [prompt][round]
  for (int i = 0; i < options.requests; ++i) {
    recorder.add_prompt(i % 2 == 0 ? "even" : "odd");
    accepted.emplace_back();
    for (const ClusterSums& round : synthetic_rounds(recorder.random()))
      accepted.back().push_back(static_cast<std::int32_t>(round.numerator) - 1);
  }
  for (int repeat = 0; repeat < options.repeats; ++repeat)
    for (std::size_t i = 0; i < accepted.size(); ++i)
      for (std::size_t run = 0; run < lengths.size(); ++run)
        recorder.decode(run, i, repeat, rounds_of(accepted[i], lengths[run]));
  return recorder.take();
}

void write_recording(const traces::Recording& recording, const std::filesystem::path& path) {
  auto created = traces::Writer::create(path, recording.meta, {.overwrite = true});
  ASSERT_TRUE(created) << created.error().message;
  traces::Writer& writer = **created;
  for (const traces::Run& run : recording.runs) ASSERT_EQ(writer.add(run), run.id);
  for (const traces::Prompt& prompt : recording.prompts) ASSERT_EQ(writer.add(prompt), prompt.id);
  for (const traces::LayerSet& set : recording.layer_sets) ASSERT_EQ(writer.add(set), set.id);
  auto round = recording.rounds.begin();
  auto token = recording.draft_tokens.begin();
  for (const traces::Request& request : recording.requests) {
    ASSERT_EQ(writer.next_request_id(), request.id);
    writer.begin(request);
    for (; round != recording.rounds.end() && round->request_id == request.id; ++round) {
      const auto first = token;
      while (token != recording.draft_tokens.end() && token->round_id == round->id) ++token;
      ASSERT_EQ(writer.next_round_id(), round->id);
      writer.add(*round, std::vector<traces::DraftToken>(first, token));
    }
    writer.finish(request);
  }
  const auto closed = writer.close();
  ASSERT_TRUE(closed) << closed.error().message;
}

}  // namespace draftscope::simulator
