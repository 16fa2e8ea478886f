// SPDX-License-Identifier: GPL-3.0-or-later
// The gauges of a growing recording equal the figures of its rows, whenever they are read.
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/traces/writer.h>
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "record/live_reader.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

/// Reads until the trace has this many rounds.
LiveFigures read_rounds(LiveReader& reader, std::int64_t rounds) {
  for (int i = 0; i < 2000; ++i) {
    const auto figures = reader.read();
    if (figures && figures->rounds >= rounds) return *figures;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "expected " << rounds << " rounds";
  return {};
}

TEST(LiveReader, HasTheFiguresOfTheRowsWheneverItReads) {
  const traces::TestFolder folder;
  const auto path = folder / "growing.dstrace";
  auto writer = traces::Writer::create(path, {{"model", "demo"}});
  ASSERT_TRUE(writer);
  LiveReader reader(path);
  std::int64_t rounds = 0;
  for (std::uint32_t part = 1; part <= 3; ++part) {
    const traces::Sample sample =
        traces::write_sample(**writer, {.seed = part, .runs = 2, .requests_per_run = 4, .max_rounds = 20});
    rounds += static_cast<std::int64_t>(sample.recording.rounds.size());
    if (part == 3) {
      ASSERT_TRUE((*writer)->close());
    }
    const LiveFigures live = read_rounds(reader, rounds);
    auto whole = traces::Reader::open(path);
    ASSERT_TRUE(whole);
    const auto measured = simulator::read_measured(*whole);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(live.closed_cleanly, part == 3);
    EXPECT_EQ(live.rounds, static_cast<std::int64_t>(measured->recording->rounds.size()));
    ASSERT_EQ(live.runs.size(), measured->figures.runs.size());
    for (std::size_t run = 0; run < live.runs.size(); ++run) {
      const simulator::Figures& expected = measured->figures.runs[run].all;
      EXPECT_EQ(live.runs[run].requests, expected.throughput.requests);
      EXPECT_EQ(live.runs[run].tokens_per_second, expected.throughput.tokens_per_second);
      EXPECT_EQ(live.runs[run].acceptance_rate, expected.acceptance.acceptance_rate);
      EXPECT_EQ(live.runs[run].mean_accepted_length, expected.acceptance.mean_accepted_length);
      ASSERT_EQ(live.runs[run].speedup.has_value(), expected.speedup.has_value());
      if (expected.speedup) {
        EXPECT_EQ(live.runs[run].speedup->value, expected.speedup->value);
      }
    }
  }
}

TEST(LiveReader, GivesTheTextOfTheRequestAtHandAsItsRoundsCome) {
  const traces::TestFolder folder;
  const auto path = folder / "growing.dstrace";
  auto writer = traces::Writer::create(path, {});
  ASSERT_TRUE(writer);
  const traces::RunId run_id =
      (*writer)->add(traces::Run{.strategy = "layerskip", .specification = "layerskip:exit=2"});
  const traces::PromptId prompt_id =
      (*writer)->add(traces::Prompt{.question_id = 7, .category = "prose", .text = "Once", .tokens = {1}});
  (*writer)->add(traces::TokenText{10, " upon"});
  (*writer)->add(traces::TokenText{11, " a"});
  traces::Request request{
      .id = (*writer)->next_request_id(), .run_id = run_id, .prompt_id = prompt_id, .start_ns = 5};
  (*writer)->begin(request);
  LiveReader reader(path);
  const auto add_round = [&](std::int32_t index, std::vector<traces::DraftToken> drafts,
                             std::int32_t accepted, std::int32_t bonus) {
    traces::Round round{.id = (*writer)->next_round_id(),
                        .request_id = request.id,
                        .index = index,
                        .start_ns = 10 + 10 * index,
                        .end_ns = 20 + 10 * index,
                        .drafted = static_cast<std::int32_t>(drafts.size()),
                        .accepted = accepted,
                        .emitted = accepted + 1,
                        .bonus_token = bonus};
    for (traces::DraftToken& draft : drafts) draft.round_id = round.id;
    (*writer)->add(round, drafts);
  };
  add_round(
      0, {{.index = 0, .token = 10, .accepted = true, .tested = true}, {.index = 1, .parent = 0, .token = 3}},
      1, 11);
  LiveFigures live = read_rounds(reader, 1);
  ASSERT_TRUE(live.at_hand);
  EXPECT_EQ(live.at_hand->specification, "layerskip:exit=2");
  EXPECT_EQ(live.at_hand->question_id, 7);
  ASSERT_EQ(live.at_hand->tokens.size(), 2U);
  EXPECT_EQ(live.at_hand->tokens[0].text, " upon");
  EXPECT_EQ(live.at_hand->tokens[0].origin, TokenOrigin::accepted);
  EXPECT_EQ(live.at_hand->tokens[1].text, " a");
  EXPECT_EQ(live.at_hand->tokens[1].origin, TokenOrigin::bonus);
  // A token without a text yet still has its place.
  add_round(1, {}, 0, 12);
  live = read_rounds(reader, 2);
  ASSERT_TRUE(live.at_hand);
  ASSERT_EQ(live.at_hand->tokens.size(), 3U);
  EXPECT_EQ(live.at_hand->tokens[2].text, "");
  request.end_ns = 40;
  request.tokens = {10, 11, 12};
  (*writer)->finish(request);
  ASSERT_TRUE((*writer)->close());
  live = read_rounds(reader, 2);
  EXPECT_FALSE(live.at_hand);
  EXPECT_EQ(live.requests, 1);
}

TEST(LiveReader, SaysInOneLineThatThereIsNothing) {
  const traces::TestFolder folder;
  LiveReader reader(folder / "nowhere.dstrace");
  const auto figures = reader.read();
  ASSERT_FALSE(figures);
  EXPECT_THAT(figures.error().message, testing::HasSubstr("nowhere.dstrace"));
}

}  // namespace
}  // namespace draftscope::gui
