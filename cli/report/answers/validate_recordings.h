// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <cstdint>
#include <string>
#include <vector>

#include "report/answers/validate_answers.h"

namespace draftscope::cli {

struct ValidateRecordingsOptions {
  std::vector<std::string> files;
  std::vector<std::string> learn_from;
  std::vector<std::string> bounds;
  std::string recorded_gpu;
  std::int32_t draws = 1000;
  std::uint64_t seed = 20240301;
  bool json = false;
  bool quiet = false;
};

/// Recordings that were trained on and asked about, and the result.
struct RecordingsValidation {
  std::vector<std::string> trained_on;  ///< File names.
  std::vector<std::string> asked;       ///< File names; the trained recording if parts were held out.
  std::vector<simulator::RunReplay> replays;
  std::vector<simulator::CheckedAnswer> answers;
  std::vector<ErrorBound> bounds;
};

/// `draftscope validate TRACE…`: asks a recording about its held-out parts, or one recording about the runs
/// of others, and prints the errors of the answers. Returns the exit code; if a bound is missed, an error
/// after printing.
[[nodiscard]] Result<int> validate_recordings(const ValidateRecordingsOptions& options);

}  // namespace draftscope::cli
