// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/speedup.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

#include "random_recording.h"

namespace draftscope::simulator {
namespace {

static_assert(!std::is_invocable_v<decltype(pair_requests), Comparison<RunRows>, Baseline<RunRows>>,
              "baseline and comparison can't be swapped");

TEST(Pairing, MatchesPromptsByTextWhateverTheirIds) {
  RandomRecording first = random_recording(1);
  RandomRecording second = random_recording(1);
  for (traces::Prompt& prompt : second.recording.prompts)
    prompt.id = traces::PromptId::from(prompt.id.value() + 500);
  for (traces::Request& request : second.recording.requests)
    request.prompt_id = traces::PromptId::from(request.prompt_id.value() + 500);
  std::reverse(second.recording.prompts.begin(), second.recording.prompts.end());
  const std::vector<RunRows> first_runs = rows_by_run(first.recording);
  const std::vector<RunRows> second_runs = rows_by_run(second.recording);
  const Pairing pairing = pair_requests(Baseline(first_runs[1]), Comparison(second_runs[1]));
  EXPECT_EQ(pairing.prompts, 7U);
  EXPECT_EQ(pairing.pairs.size(), 14U);
  EXPECT_EQ(pairing.unpaired, 0U);
  for (const RequestPair& pair : pairing.pairs)
    EXPECT_EQ(pair.baseline->prompt_id.value() + 500, pair.comparison->prompt_id.value());
  const Speedup same = *speedup(pairing);
  EXPECT_EQ(same.value, 1.0);
  EXPECT_EQ(*same.p_value, 1.0);
}

TEST(Pairing, LeavesOutAndCountsWhatOnlyOneSideDecoded) {
  RandomRecording sample = random_recording(2);
  auto& requests = sample.recording.requests;
  requests.erase(std::find_if(requests.begin(), requests.end(), [](const auto& r) { return r.run_id == 2; }));
  const std::vector<RunRows> runs = rows_by_run(sample.recording);
  const Pairing pairing = pair_requests(Baseline(runs[0]), Comparison(runs[1]));
  EXPECT_EQ(pairing.pairs.size(), 13U);
  EXPECT_EQ(pairing.unpaired, 1U);
}

TEST(Pairing, OfDisjointPromptsIsEmptyAndHasNoSpeedup) {
  const RandomRecording first = random_recording(1);
  RandomRecording second = random_recording(1);
  for (traces::Prompt& prompt : second.recording.prompts) prompt.text += " otherwise";
  const std::vector<RunRows> first_runs = rows_by_run(first.recording);
  const std::vector<RunRows> second_runs = rows_by_run(second.recording);
  const Pairing pairing = pair_requests(Baseline(first_runs[0]), Comparison(second_runs[0]));
  EXPECT_TRUE(pairing.pairs.empty());
  EXPECT_EQ(pairing.unpaired, 28U);
  EXPECT_FALSE(speedup(pairing).has_value());
}

TEST(OutputIdentity, NamesTheFirstDifferingTokenOfEachRequest) {
  RandomRecording sample = random_recording(3);
  int changed = 0;
  for (traces::Request& request : sample.recording.requests) {
    if (request.run_id != 2 || request.prompt_id != 4) continue;
    if (changed++ == 0)
      request.tokens[2] = -7;
    else
      request.tokens.pop_back();
  }
  const std::vector<RunRows> runs = rows_by_run(sample.recording);
  const Pairing pairing = pair_requests(Baseline(runs[0]), Comparison(runs[1]));
  const OutputIdentity identity = output_identity(pairing);
  EXPECT_EQ(identity.compared_prompts, 7U);
  EXPECT_EQ(identity.differing_prompts, 1U);
  ASSERT_EQ(identity.differences.size(), 2U);
  EXPECT_EQ(identity.differences[0].position, 2U);
  EXPECT_EQ(identity.differences[1].position,
            pairing.pairs[identity.differences[1].pair].comparison->tokens.size());
}

TEST(Speedup, NeedsSixPromptsForAnInterval) {
  for (const int prompts : {5, 6}) {
    RandomOptions options;
    options.prompts = prompts;
    const RandomRecording sample = random_recording(1, options);
    const std::vector<RunRows> runs = rows_by_run(sample.recording);
    const Speedup found = *speedup(pair_requests(Baseline(runs[0]), Comparison(runs[1])));
    EXPECT_EQ(found.interval.has_value(), prompts == 6);
    EXPECT_EQ(found.p_value.has_value(), prompts == 6);
    EXPECT_EQ(found.decode_interval.has_value(), prompts == 6);
  }
}

TEST(Speedup, OfARunThatIsTwiceAsFastEverywhereIsTwoWithoutSpread) {
  RandomRecording sample = random_recording(6);
  std::vector<std::int64_t> vanilla_ns;
  for (traces::Request& request : sample.recording.requests) {
    request.first_token_ns = request.start_ns + 10;
    request.end_ns = request.start_ns + (request.run_id == 1 ? 2 : 1) * 1000 * request.prompt_id.value() + 10;
    if (request.run_id == 1) request.first_token_ns += 10, request.end_ns += 10;
  }
  const std::vector<RunRows> runs = rows_by_run(sample.recording);
  const Speedup found = *speedup(pair_requests(Baseline(runs[0]), Comparison(runs[1])));
  EXPECT_NEAR(found.value, 2.0, 1e-12);
  EXPECT_NEAR(*found.decode_value, 2.0, 1e-12);
  EXPECT_NEAR(found.interval->low, 2.0, 1e-9);
  EXPECT_NEAR(found.interval->high, 2.0, 1e-9);
  EXPECT_NEAR(found.decode_interval->low, 2.0, 1e-9);
  EXPECT_NEAR(found.decode_interval->high, 2.0, 1e-9);
  EXPECT_EQ(found.repeat_minimum, found.repeat_maximum);
  EXPECT_NEAR(*found.p_value, 2.0 / 128, 1e-12);  // seven prompts, all on one side
}

}  // namespace
}  // namespace draftscope::simulator
