// SPDX-License-Identifier: GPL-3.0-or-later
// Contexts that notes count as measured: those that the recording's texts reach.
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "advice/learnt.h"

namespace draftscope::simulator {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

double longest_context(const traces::Recording& recording) {
  std::int32_t longest = 0;
  for (const traces::Round& round : recording.rounds)
    longest = std::max(longest, round.root_position + round.tree_depth);
  return longest;
}

std::vector<std::string> notes_of(const WhatIf& what_if, const StrategyRounds& rounds,
                                  const Machine& machine) {
  std::vector<std::string> notes;
  const Answer answer = ask(what_if.costs().model, rounds, machine, {.draws = 200}).value();
  for (const CostNote& note : answer.cost_notes) notes.push_back(note.text);
  return notes;
}

TEST(RecordedContext, IsTheLongestOfTheRecordedTexts) {
  const Learnt learnt({});
  EXPECT_EQ(learnt.what_if().recorded_scenario().context, longest_context(learnt.recording()));
}

TEST(RecordedContext, IsNotHeldToBeExtrapolated) {
  const Learnt learnt({});
  for (const char* strategy : {"layerskip:exit=3,gamma=4", "layerskip:exit=2,gamma=7"}) {
    const StrategyRounds rounds = learnt.what_if().rounds(strategy).value();
    EXPECT_THAT(notes_of(learnt.what_if(), rounds, learnt.machine()),
                Not(Contains(HasSubstr("contexts beyond"))))
        << strategy;
  }
}

TEST(RecordedContext, ReachesAsFarAsItIsLengthened) {
  const Learnt learnt({});
  StrategyRounds rounds = learnt.what_if().rounds("layerskip:exit=3,gamma=4").value();
  lengthen_context(rounds, 512);
  const double longest = longest_context(learnt.recording());
  EXPECT_THAT(notes_of(learnt.what_if(), rounds, learnt.machine()),
              Contains(fmt::format("contexts beyond {:.0f} rows are extrapolated, up to {:.0f}", longest,
                                   longest + 512)));
}

}  // namespace
}  // namespace draftscope::simulator
