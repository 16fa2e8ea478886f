// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recordings whose texts and times follow a rule (shadowed_recording.h), opened and learnt from.

#include <gtest/gtest.h>

#include <filesystem>

#include "../simulator/advice/shadowed_recording.h"
#include "sample.h"
#include "what_if/learnt_recording.h"

namespace draftscope::gui {

class WhatIfRecordings : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path write(const simulator::ShadowedRecording& what = {},
                                            const std::string& name = "run.dstrace") const {
    write_shadowed_recording(what, folder_ / name);
    return folder_ / name;
  }
  [[nodiscard]] static LearntPointer learn(const std::filesystem::path& path) {
    return LearntRecording::learn(OpenedRecording::open(path).value()).value();
  }

  traces::TestFolder folder_;
};

}  // namespace draftscope::gui
