// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/run_rows.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "../../../cli/trace_files.h"
#include "rounds/replay/replay_lookup.h"
#include "strategies/prompt-lookup/rule.h"
#include "strategies/suffix-decoding/rule.h"

namespace draftscope::simulator {
namespace {

constexpr std::int32_t vocab = 4096;

speculation::LookupOptions options_of(const std::string& specification) {
  const auto parsed = speculation::parse_strategy(specification, 8);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? speculation::lookup_options(*parsed) : speculation::LookupOptions();
}

speculation::SuffixOptions suffix_options_of(const std::string& specification) {
  const auto parsed = speculation::parse_strategy(specification, 8);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? speculation::suffix_options(*parsed) : speculation::SuffixOptions();
}

/// The texts of a run's requests, in the order in which they were decoded.
std::vector<ShadowTable> tables_of(const RunRows& run, const std::vector<ShadowTable>& texts) {
  std::vector<ShadowTable> tables;
  for (const RequestRows& rows : run.requests)
    for (const ShadowTable& table : texts)
      if (table.request_id == rows.request->id) tables.push_back(table);
  return tables;
}

/// Compares with the engine's rounds, one by one, on the shipped prompts.
TEST(ReplayedLookup, HasTheRoundsThatWereRecorded) {
  const std::vector<std::string> strategies{
      "prompt-lookup",
      "prompt-lookup:match=latest,length=4",
      "prompt-lookup:match=longest,length=6",
      "prompt-lookup:match=longest,smallest-ngram=2,reading=transformers",
      "prompt-lookup:reading=transformers,ngram=2",
      "prompt-lookup:length=63,reading=transformers,match=latest",
      "suffix-decoding",
      "suffix-decoding:alpha=2.5,length=40,min-probability=0,shape=tree,depth=64",
      "suffix-decoding:across=no,length=4"};
  const cli::TemporaryFolder folder;
  const std::filesystem::path file = folder / "run.dstrace";
  std::vector<std::string> arguments = cli::record_arguments(file, "--max-tokens 60 --repeats 1 --quiet");
  for (const std::string& strategy : strategies) arguments.insert(arguments.end(), {"--strategy", strategy});
  const cli::CommandResult result = cli::run_command(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  auto reader = traces::Reader::open(file);
  ASSERT_TRUE(reader);
  const traces::Recording recording = *reader->recording();
  const auto conditions = replay_conditions(recording);
  ASSERT_TRUE(conditions);
  const std::vector<ShadowTable> texts = text_tables(recording);
  std::int64_t accepted = 0;
  for (const RunRows& run : rows_by_run(recording)) {
    const bool is_lookup = run.run->strategy == "prompt-lookup";
    const std::vector<std::vector<LookupRound>> suffixes =
        is_lookup
            ? std::vector<std::vector<LookupRound>>()
            : replay_suffixes(tables_of(run, texts), suffix_options_of(run.run->specification), *conditions);
    for (std::size_t request = 0; request < run.requests.size(); ++request) {
      const RequestRows& rows = run.requests[request];
      const auto text = std::find_if(texts.begin(), texts.end(), [&](const ShadowTable& table) {
        return table.request_id == rows.request->id;
      });
      ASSERT_NE(text, texts.end());
      const std::vector<LookupRound> replayed =
          is_lookup ? replay_lookup(*text, options_of(run.run->specification), *conditions, vocab)
                    : suffixes[request];
      ASSERT_EQ(replayed.size(), rows.rounds.size()) << run.run->specification;
      for (std::size_t i = 0; i < replayed.size(); ++i) {
        const traces::Round& round = rows.rounds[i];
        const KnownRound known = known_round(*text, replayed[i], static_cast<std::int32_t>(i));
        const std::string where = fmt::format("{}, round {}", run.run->specification, round.id);
        EXPECT_EQ(known.round.root_position, round.root_position) << where;
        EXPECT_EQ(known.round.planned, round.planned) << where;
        EXPECT_EQ(known.round.drafted, round.drafted) << where;
        EXPECT_EQ(known.round.accepted, round.accepted) << where;
        EXPECT_EQ(known.round.emitted, round.emitted) << where;
        EXPECT_EQ(known.round.tree_depth, round.tree_depth) << where;
        EXPECT_EQ(known.round.verify_rows, round.verify_rows) << where;
        EXPECT_EQ(known.round.draft_stop, round.draft_stop) << where;
        std::vector<std::tuple<std::int32_t, std::int32_t, bool, bool>> of_replay;
        std::vector<std::tuple<std::int32_t, std::int32_t, bool, bool>> of_round;
        for (const traces::DraftToken& token : known.draft_tokens)
          of_replay.emplace_back(token.token, token.parent, token.accepted, token.tested);
        for (const traces::DraftToken& token : recording.draft_tokens)
          if (token.round_id == round.id)
            of_round.emplace_back(token.token, token.parent, token.accepted, token.tested);
        EXPECT_EQ(of_replay, of_round) << where;
        accepted += round.accepted;
      }
      const RoundStatistics statistics = lookup_statistics(replayed);
      EXPECT_EQ(statistics.rounds, static_cast<std::int64_t>(rows.rounds.size()));
      for (const DraftStatistics& draft : statistics.drafts) EXPECT_EQ(draft.steps.passes, 0);
    }
  }
  EXPECT_GT(accepted, 100);
}

/// Guesses only depend on the text up to the root; later tokens do not change a round's guesses.
TEST(ReplayedLookup, EndsWithTheText) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    ShadowTable table{.prompt_tokens = 3, .first = 4, .text = {}, .ended_at_eos = i % 2 == 0};
    const std::size_t tokens = 5 + random() % 60;
    for (std::size_t k = 0; k < tokens; ++k) table.text.push_back(static_cast<std::int32_t>(random() % 4));
    const ReplayConditions conditions{.max_new_tokens = 100, .context_rows = 200, .end_tokens = {9}};
    const speculation::LookupOptions options = options_of("prompt-lookup:length=3,match=latest");
    std::int64_t emitted = 0;
    for (const LookupRound& round : replay_lookup(table, options, conditions, vocab)) {
      EXPECT_LE(round.outcome.accepted, round.outcome.drafted);
      emitted += round.emitted;
    }
    EXPECT_EQ(emitted, static_cast<std::int64_t>(tokens) - 4);
  }
}

TEST(ReplayedGuesses, LeaveRowsForTheWindowUnlessItLeavesNoneForTheRoot) {
  std::mt19937 random(11);
  const std::vector<speculation::TextGuess> chain{{8, -1}, {8, 0}, {8, 1}, {8, 2}, {8, 3}, {8, 4}};
  const ShadowTable table{
      .prompt_tokens = 3, .first = 4, .text = std::vector<std::int32_t>(20, 1), .ended_at_eos = true};
  for (int i = 0; i < 200; ++i) {
    const auto extra_rows = static_cast<std::int32_t>(random() % 16);
    const auto context_rows = static_cast<std::int32_t>(20 + random() % 20);
    ReplayConditions conditions{.max_new_tokens = 100, .context_rows = context_rows};
    conditions.verify_rows = static_cast<std::int32_t>(1 + random() % 20);
    const auto rounds = replay_guesses(table, conditions, nullptr, [&](const auto&, const auto&) {
      return RoundGuesses{chain, extra_rows};
    });
    for (const LookupRound& round : rounds) {
      const std::int32_t room = std::min(conditions.verify_rows, context_rows - round.root_position);
      EXPECT_EQ(round.extra_rows, extra_rows < room ? extra_rows : 0);
      EXPECT_EQ(round.outcome.drafted, std::min(6, room - 1 - round.extra_rows));
    }
  }
}

/// A recorded tree shows what was kept for the first root, which the request itself has not verified yet.
TEST(ReplayedRecycling, GuessesWhatEarlierRequestsKeptOnlyIfThatGoesOn) {
  const ReplayConditions conditions{.max_new_tokens = 20, .context_rows = 64};
  const std::vector<ShadowTable> tables{
      ShadowTable{.prompt_tokens = 2, .first = 3, .text = {5, 6, 7, 8, 1, 7, 8, 2, 7, 8, 3}}};
  const std::vector<std::vector<KeptSuccessors>> kept{{{.root_position = 2, .token = 7, .successors = {8}},
                                                       {.root_position = 5, .token = 8, .successors = {2}}}};
  for (const bool across : {true, false}) {
    const auto rounds =
        replay_recycling(tables, kept, {.successors = 2, .nodes = 4, .depth = 2, .across_requests = across},
                         conditions, vocab)
            .front();
    EXPECT_EQ(rounds.front().outcome.accepted, across ? 1 : 0);
    // By now the request has verified 7 and 8 either way.
    const auto later = std::ranges::find(rounds, 5, &LookupRound::root_position);
    ASSERT_NE(later, rounds.end());
    EXPECT_EQ(later->outcome.accepted, 2);
  }
}

}  // namespace
}  // namespace draftscope::simulator
