// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The trace of what a server decodes.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/recording/device_recording.h>
#include <draftscope/engine/recording/recorder.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tokenizer.h>
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/traces/writer.h>
#include <memory>
#include <set>
#include <string>

#include "serve/exchange.h"

namespace draftscope::cli {

/// A recording to which requests with settings of their own are added. Its `meta` describes the settings of
/// all. Where they differ, it has those that change the text and the largest limit, names what differs as
/// `varying_settings`, and has each request's own as `question_settings`. Thread-safety: none.
class ServedRecording {
 public:
  struct Parts {
    std::unique_ptr<traces::Writer> writer;
    engine::Backend& backend;
    const engine::Tokenizer& tokenizer;
    engine::DeviceRecording& device;
    profiler::Level level = profiler::Level::phases;
    bool shadow = false;
    traces::Meta meta;     ///< Rows that the writer has: of the settings that requests leave open.
    traces::Meta neutral;  ///< Rows of settings that change no text.
  };
  /// Begins the run of the strategy. Owns the writer; all else must outlive it.
  ServedRecording(Parts parts, const engine::ConfiguredStrategy& strategy);

  /// Decodes and records one completion; `listener` hears it too. `settings` has the rows of its decoding.
  /// Errors: those of decode().
  [[nodiscard]] Result<traces::Request> record(const Completion& completion, engine::Strategy& strategy,
                                               const engine::DecodeRequest& request, traces::Meta settings,
                                               engine::DecodeListener& listener);
  [[nodiscard]] bool failed() const { return parts_.writer->failed(); }
  /// Writes what is left and closes the trace. Returns its first error.
  [[nodiscard]] Result<void> end();

 private:
  void note(traces::Meta settings);
  /// Adds what a request set to `question_settings`, which is written when it has grown by an eighth.
  void note_own(const Completion& completion, const traces::Meta& settings);

  Parts parts_;
  profiler::SpanRecorder spans_;
  engine::Recorder recorder_;
  traces::RunId run_id_;
  std::set<std::string> varying_;
  bool has_requests_ = false;
  std::string own_settings_;  // JSON object by question id, still open.
  std::size_t written_own_bytes_ = 0;
};

}  // namespace draftscope::cli
