// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A sample recording as it was written, and as the app has it.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "data/lanes/load_recording.h"
#include "sample.h"

namespace draftscope::gui {

class OfSample : public testing::Test {
 protected:
  /// Writes a sample, changes it with SQL, and reads it.
  void open(const traces::SampleOptions& options, const std::string& change = {}) {
    sample_ = traces::make_sample_file(path_, options);
    if (!change.empty()) traces::change(path_, change);
    auto opened = OpenedRecording::open(path_);
    ASSERT_TRUE(opened) << opened.error().message;
    opened_ = *opened;
  }
  /// Reads it with its timeline, too.
  void load(const traces::SampleOptions& options) {
    sample_ = traces::make_sample_file(path_, options);
    auto loaded = load_recording(path_);
    ASSERT_TRUE(loaded) << loaded.error().message;
    opened_ = loaded->recording;
    timeline_ = loaded->timeline;
  }

  traces::TestFolder folder_;
  std::filesystem::path path_ = folder_ / "sample.dstrace";
  traces::Sample sample_;
  RecordingPointer opened_;
  std::shared_ptr<const Timeline> timeline_;
};

}  // namespace draftscope::gui
