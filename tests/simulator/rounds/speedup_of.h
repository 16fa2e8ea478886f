// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predicted speedups of the tests' recordings.

#include <draftscope/simulator/answers/what_if.h>
#include <gtest/gtest.h>

#include <string>

#include "../answers/advice/learnt.h"

namespace draftscope::simulator {

inline double speedup(const Learnt& learnt, const StrategyRounds& rounds, const Machine& machine) {
  const auto answer = ask(learnt.what_if().costs().model, rounds, machine, {.draws = 200});
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? answer->speedup.min_drafted.total.value : 0.0;
}

inline double speedup(const Learnt& learnt, const std::string& strategy) {
  const auto rounds = learnt.what_if().rounds(strategy);
  EXPECT_TRUE(rounds) << rounds.error().message;
  return rounds ? speedup(learnt, *rounds, learnt.machine()) : 0.0;
}

}  // namespace draftscope::simulator
