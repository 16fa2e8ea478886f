// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/what_if.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "../../../temporary_folder.h"
#include "../../answers/advice/learnt.h"
#include "../fit/planted_trace.h"
#include "prices/fit/cost_parameters.h"

namespace draftscope::simulator {
namespace {

/// Measured times of a run, by its specification.
struct Measured {
  double all_ns = 0.0;
  double draft_ns = 0.0;
  double steps = 0.0;
  double verify_ns = 0.0;
  double verifications = 0.0;
};

std::map<std::string, Measured> measured_by_run(const traces::Recording& recording) {
  std::map<traces::RequestId, std::string> run_of_request;
  std::map<std::string, Measured> measured;
  for (const traces::Request& request : recording.requests)
    for (const traces::Run& run : recording.runs)
      if (run.id == request.run_id) {
        run_of_request[request.id] = run.specification;
        measured[run.specification].all_ns += static_cast<double>(request.end_ns - request.first_token_ns);
      }
  for (const traces::Round& round : recording.rounds) {
    Measured& of = measured[run_of_request[round.request_id]];
    of.draft_ns += static_cast<double>(round.draft_ns);
    of.steps += round.tree_depth;
    of.verify_ns += static_cast<double>(round.verify_ns);
    of.verifications += 1.0;
  }
  return measured;
}

TEST(WhatIfOfARecordedRun, GivesTheTimesThatWereMeasuredWhateverTheLawMissesAndHoweverBusyTheMachineWas) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "trace.dstrace";
  // Interruptions of most rounds make no round stand out.
  constexpr double seldom_ns = 100e6;
  for (const auto& [every_ns, interruption_ns] : {std::pair{0.0, 0.0}, {seldom_ns, 50e6}, {4e6, 8e6}}) {
    PlantedTrace planted{.truth = planted_cpu(),
                         .settings = {{0, 0}, {2, 2}, {4, 4}, {3, 5}, {6, 7}},
                         .with_operations = false,
                         .rounds_per_setting = 200};
    planted.of_rows = {{1, 1.1}, {3, 0.9}, {5, 1.3}, {6, 0.8}};
    planted.of_exit = {{2, 1.2}, {4, 0.85}};
    planted.truth.values[draft_start_parameter] = 0.02;
    planted.interrupted_every_ns = every_ns;
    planted.interruption_ns = interruption_ns;
    write_planted_trace(planted, path);
    const Learnt learnt = Learnt::from_file(path);
    const auto measured = measured_by_run(learnt.recording());
    const double vanilla_ns = measured.at("vanilla").all_ns;
    constexpr double rounding = 1e-6;
    for (const auto& [run, of] : measured) {
      const auto rounds = learnt.what_if().rounds(run);
      ASSERT_TRUE(rounds) << rounds.error().message;
      const auto answer = ask(learnt.what_if().costs().model, *rounds, learnt.machine(), {.draws = 200});
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_NEAR(1e9 * answer->tokens / answer->tokens_per_second / of.all_ns, 1.0, rounding) << run;
      EXPECT_NEAR(1e9 * answer->tokens / answer->vanilla_tokens_per_second / vanilla_ns, 1.0, rounding)
          << run;
      EXPECT_NEAR(answer->speedup.min_drafted.value / (vanilla_ns / of.all_ns), 1.0, rounding) << run;
      if (of.steps == 0.0) continue;
      EXPECT_NEAR(answer->c * answer->target_step_ns / (of.draft_ns / of.steps), 1.0, rounding) << run;
      EXPECT_NEAR(answer->v * answer->target_step_ns / (of.verify_ns / of.verifications), 1.0, rounding)
          << run;
      const bool has_note = std::ranges::any_of(answer->cost_notes, [](const CostNote& note) {
        return note.text.find("the machine was busy") != std::string::npos;
      });
      EXPECT_EQ(has_note, every_ns == seldom_ns) << run;
    }
  }
}

}  // namespace
}  // namespace draftscope::simulator
