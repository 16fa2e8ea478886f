// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Turns decoding into rows of a trace: one object a recording, one call a request.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tokenizer.h>
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/traces/writer.h>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace draftscope::cli {

struct RecordedPrompt {
  std::int64_t question_id = 0;
  std::string category;
  std::int32_t turn = 0;
  std::string text;
  std::vector<std::int32_t> tokens;
};

class Recorder final : public engine::DecodeListener {
 public:
  Recorder(traces::Writer& writer, profiler::SpanRecorder& spans, engine::Backend& backend,
           const engine::Tokenizer& tokenizer)
      : writer_(writer), spans_(spans), backend_(backend), tokenizer_(tokenizer) {}

  /// Adds the row of a strategy; its id is what request() takes.
  [[nodiscard]] std::int64_t add_run(const engine::ConfiguredStrategy& strategy);

  /// Decodes one prompt and writes its request, rounds, draft tokens and spans. The stream of random numbers
  /// depends on the question, the turn and the repeat, not on the strategy. Returns the request's row.
  [[nodiscard]] Result<traces::Request> request(std::int64_t run, engine::Strategy& strategy,
                                                const RecordedPrompt& prompt, std::int32_t repeat,
                                                const engine::DecodeRequest& request, std::uint64_t seed);

  std::int64_t next_round_id() override { return writer_.next_round_id(); }
  void on_round(const engine::RoundReport& report) override;

 private:
  [[nodiscard]] std::int64_t prompt_id(const RecordedPrompt& prompt);

  traces::Writer& writer_;
  profiler::SpanRecorder& spans_;
  engine::Backend& backend_;
  const engine::Tokenizer& tokenizer_;
  std::int64_t request_id_ = 0;
  std::map<std::tuple<std::int64_t, std::int32_t, std::string>, std::int64_t> prompt_ids_;
};

}  // namespace draftscope::cli
