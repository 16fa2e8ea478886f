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

/// Recordings that were trained on and asked about, and how that went.
struct RecordingsValidation {
  std::vector<std::string> trained_on;  ///< names of files
  std::vector<std::string> asked;       ///< likewise; the learnt one where it was held out piece by piece
  std::vector<simulator::RunReplay> replays;
  std::vector<simulator::CheckedAnswer> answers;
  std::vector<ErrorBound> bounds;
};

/// `draftscope validate TRACE…`: asks a recording for what is held out of it, or one recording for the runs
/// of others, and prints how far the answers are off. Returns the exit code; an error where a bound is
/// missed, after printing.
[[nodiscard]] Result<int> validate_recordings(const ValidateRecordingsOptions& options);

}  // namespace draftscope::cli
