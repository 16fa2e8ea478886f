// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording of the tests that was written, read and used for training.

#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/reader.h>
#include <gtest/gtest.h>

#include <memory>

#include "../../../temporary_folder.h"
#include "shadowed_recording.h"

namespace draftscope::simulator {

class Learnt {
 public:
  explicit Learnt(const ShadowedRecording& what) {
    const test::TemporaryFolder folder;
    write_shadowed_recording(what, folder / "trace.dstrace");
    auto reader = traces::Reader::open(folder / "trace.dstrace").value();
    recording_ = std::make_unique<traces::Recording>(reader.recording().value());
    what_if_ = std::make_unique<WhatIf>(WhatIf::train(reader, *recording_).value());
  }

  [[nodiscard]] const WhatIf& what_if() const { return *what_if_; }
  [[nodiscard]] const traces::Recording& recording() const { return *recording_; }
  [[nodiscard]] Machine machine() const { return {"as recorded", what_if_->recorded_scenario()}; }

 private:
  std::unique_ptr<traces::Recording> recording_;
  std::unique_ptr<WhatIf> what_if_;
};

}  // namespace draftscope::simulator
