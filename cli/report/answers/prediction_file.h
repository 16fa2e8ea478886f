// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The file that `simulate -o` writes: the document of its answers, with a `prediction` that states their
// time, their recording, and a digest of everything, which reveals later edits (keys: cli/OUTPUT.md). Whoever
// stores the digest elsewhere can prove that the prediction came before the measurement.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/answers/simulate_text.h"

namespace draftscope::cli {

/// Answer to one question, as it was written.
struct WrittenAnswer {
  std::string strategy;
  std::string machine;  ///< Name of the machine in tables.
  std::string gpu;      ///< Empty = the recorded machine.
  speculation::ModelShape shape;
  std::string weights;
  std::int32_t batch = 1;
  std::int32_t tensor_parallel = 1;
  double speedup = 0.0;  ///< For a bounded answer, the middle between both bounds.
  std::optional<simulator::Interval> interval_80, interval_95;
  double tokens_per_round = 0.0;
};

struct PredictionFile {
  std::string tool_version;
  std::string command_line;
  std::int64_t created_realtime_ns = 0;  ///< Nanoseconds since 1970, UTC.
  std::string recording;                 ///< File name of the recording that was trained on.
  std::string recording_sha256;
  traces::Meta recording_meta;
  std::vector<std::string> prompts;  ///< SHA-256 of each text that was trained on.
  std::vector<WrittenAnswer> answers;
  std::vector<Refusal> refusals;
  std::string digest;  ///< SHA-256 of the file's content without this field.
};

/// Text of the file with the answers, dated now. Errors: the recording can't be read.
[[nodiscard]] Result<std::string> prediction_text(const Simulation& simulation,
                                                  const std::string& command_line);

/// Errors: no such file; not a prediction; a field that is missing or of another type; a digest that does not
/// match the content.
[[nodiscard]] Result<PredictionFile> read_prediction(const std::filesystem::path& path);
/// Parses a prediction's text; errors use `name` for it.
[[nodiscard]] Result<PredictionFile> parse_prediction(std::string_view text, const std::string& name);

}  // namespace draftscope::cli
