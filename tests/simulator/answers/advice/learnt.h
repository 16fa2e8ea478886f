// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording that was read and used for training.

#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/reader.h>
#include <gtest/gtest.h>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "../../../temporary_folder.h"
#include "shadowed_recording.h"

namespace draftscope::simulator {

class Learnt {
 public:
  explicit Learnt(const ShadowedRecording& what) {
    const test::TemporaryFolder folder;
    write_shadowed_recording(what, folder / "trace.dstrace");
    *this = from_file(folder / "trace.dstrace");
  }
  [[nodiscard]] static Learnt from_file(const std::filesystem::path& file) {
    auto reader = traces::Reader::open(file).value();
    auto recording = std::make_unique<traces::Recording>(reader.recording().value());
    auto what_if = std::make_unique<WhatIf>(WhatIf::train(reader, *recording).value());
    return {std::move(recording), std::move(what_if)};
  }

  [[nodiscard]] const WhatIf& what_if() const { return *what_if_; }
  [[nodiscard]] const traces::Recording& recording() const { return *recording_; }
  [[nodiscard]] Machine machine() const { return {"as recorded", what_if_->recorded_scenario()}; }

 private:
  Learnt(std::unique_ptr<traces::Recording> recording, std::unique_ptr<WhatIf> what_if)
      : recording_(std::move(recording)), what_if_(std::move(what_if)) {}

  std::unique_ptr<traces::Recording> recording_;
  std::unique_ptr<WhatIf> what_if_;
};

// Predicted speedups of the tests' recordings.

inline double speedup(const Learnt& learnt, const StrategyRounds& rounds, const Machine& machine) {
  const auto answer = ask(learnt.what_if().costs().model, rounds, machine, {.draws = 200});
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? answer->speedup.min_drafted.value : 0.0;
}

inline double speedup(const Learnt& learnt, const std::string& strategy) {
  const auto rounds = learnt.what_if().rounds(strategy);
  EXPECT_TRUE(rounds) << rounds.error().message;
  return rounds ? speedup(learnt, *rounds, learnt.machine()) : 0.0;
}

}  // namespace draftscope::simulator
