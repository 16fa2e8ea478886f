// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/prediction.h>
#include <string>
#include <vector>

namespace draftscope::cli {

struct ValidateRecordingsOptions {
  std::vector<std::string> files;
  std::vector<std::string> learn_from;
  std::string recorded_gpu;
  simulator::PredictionOptions draws;  ///< Draws that the intervals come from.
  bool json = false;
  bool quiet = false;
};

/// `draftscope validate TRACE…`: asks a recording about its held-out parts, or one recording about the runs
/// of others, and prints the errors of the answers. Returns the exit code.
[[nodiscard]] Result<int> validate_recordings(const ValidateRecordingsOptions& options);

}  // namespace draftscope::cli
