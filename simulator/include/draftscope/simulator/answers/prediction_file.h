// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A prediction as a file, written before anything is measured (keys: cli/OUTPUT.md). It says what was
// learnt from, what was asked, what was answered and when, and carries a digest of all that, so that a later
// edit shows.

#include <draftscope/base/result.h>
#include <draftscope/base/utc_time.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// One strategy on one machine.
struct PredictedQuestion {
  QuestionKind kind = QuestionKind::recorded_again;  ///< against the recording
  std::string strategy;
  std::string machine;  ///< its name in tables
  std::string gpu;      ///< empty: the recorded machine
  ModelShape shape;
  std::string weights;
  std::string regime;
  std::int32_t batch = 1;
  std::int32_t tensor_parallel = 1;
  PredictedDecoding decoding;
  std::vector<PredictedRequest> requests;  ///< empty where there are no rounds to compare
  std::vector<std::string> notes;
};

/// A text that the prediction was learnt from, by its digest.
struct LearntPrompt {
  std::int64_t question_id = 0;
  std::int32_t turn = 0;
  std::string sha256;
};

struct PredictionFile {
  std::string tool_version;
  std::string command_line;
  std::int64_t created_realtime_ns = 0;  ///< since 1970, UTC
  std::string recording;                 ///< name of the file
  std::string recording_sha256;
  traces::Meta recording_meta;
  std::vector<LearntPrompt> prompts;
  std::int32_t draws = 0;
  std::uint64_t seed = 0;
  std::vector<PredictedQuestion> questions;
  std::string digest;  ///< of everything above; set by reading
};

/// The predicted figures under their keys, as prediction files and `validate --json` have them.
[[nodiscard]] nlohmann::ordered_json predicted_json(const PredictedDecoding& predicted);

/// The file's text with its digest, which is that of the rest as compact JSON with sorted keys.
[[nodiscard]] std::string prediction_text(const PredictionFile& prediction);

/// Errors: no such file, not a prediction, a field that is missing or of another type, a digest that is not
/// that of the content.
[[nodiscard]] Result<PredictionFile> read_prediction(const std::filesystem::path& path);
/// Parses a prediction's text; errors call it `name`.
[[nodiscard]] Result<PredictionFile> parse_prediction(std::string_view text, const std::string& name);

// A prediction against the recording that was made to check it.

/// A prediction that this recording says nothing about.
struct Unmeasured {
  std::string strategy;
  std::string machine;
  std::string reason;
};

struct PredictionScore {
  std::int64_t measured_realtime_ns = 0;  ///< when the recording began
  bool recorded_for_it = false;           ///< the trace names this prediction
  std::vector<std::string> differences;   ///< in what the experiment is not the predicted one, a line each
  std::vector<CheckedAnswer> answers;     ///< `held_out` is the machine's name
  std::vector<Unmeasured> unmeasured;
};

/// Errors: a recording without a start time, begun before the prediction was written, or made for another
/// one; without a vanilla run; nothing of what was predicted.
[[nodiscard]] Result<PredictionScore> score_prediction(const PredictionFile& prediction,
                                                       const traces::Recording& measured);

}  // namespace draftscope::simulator
