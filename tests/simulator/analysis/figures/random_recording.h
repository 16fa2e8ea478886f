// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recordings for tests: consistent like real ones, random in everything that figures depend on.

#include <draftscope/traces/reader.h>
#include <cstdint>
#include <vector>

namespace draftscope::simulator {

struct RandomRecording {
  traces::Recording recording;
  std::vector<traces::Span> phase_spans;
};

struct RandomOptions {
  int prompts = 7;
  int repeats = 2;
  int drafting_runs = 2;  ///< In addition to the baseline.
  bool equal_outputs = true;
  bool with_spans = true;
};

/// Returns a recording, deterministic in the seed. The first run is the vanilla baseline.
[[nodiscard]] RandomRecording random_recording(unsigned seed, const RandomOptions& options = {});

}  // namespace draftscope::simulator
