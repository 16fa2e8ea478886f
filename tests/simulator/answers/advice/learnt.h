// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording of the tests that was written, read and used for training.

#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/reader.h>
#include <gtest/gtest.h>

#include <memory>

#include "shadowed_recording.h"

namespace draftscope::simulator {

class Learnt {
 public:
  explicit Learnt(const ShadowedRecording& what) {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() /
        (std::string("advice-") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".dstrace");
    write_shadowed_recording(what, path);
    auto reader = traces::Reader::open(path).value();
    recording_ = std::make_unique<traces::Recording>(reader.recording().value());
    what_if_ = std::make_unique<WhatIf>(WhatIf::train(reader, *recording_).value());
    std::filesystem::remove(path);
  }

  [[nodiscard]] const WhatIf& what_if() const { return *what_if_; }
  [[nodiscard]] const traces::Recording& recording() const { return *recording_; }
  [[nodiscard]] Machine machine() const { return {"as recorded", what_if_->recorded_scenario()}; }

 private:
  std::unique_ptr<traces::Recording> recording_;
  std::unique_ptr<WhatIf> what_if_;
};

}  // namespace draftscope::simulator
