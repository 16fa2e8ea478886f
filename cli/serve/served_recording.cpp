// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/served_recording.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/number.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace draftscope::cli {

ServedRecording::ServedRecording(Parts parts, const engine::ConfiguredStrategy& strategy)
    : parts_(std::move(parts)),
      spans_(parts_.level, parts_.writer.get()),
      recorder_(*parts_.writer, spans_, parts_.backend, parts_.tokenizer, parts_.shadow),
      run_id_(recorder_.add_run(strategy)) {
  parts_.backend.set_recorder(&spans_);
  parts_.device.begin(*parts_.writer, spans_);
}

void ServedRecording::note(traces::Meta settings) {
  constexpr std::string_view limit = "max_tokens";
  const bool is_first = !std::exchange(has_requests_, true);
  // A row that one of both lacks is empty there.
  for (const auto& [key, stored] : parts_.meta) settings.try_emplace(key);
  for (const auto& [key, asked] : settings) {
    std::string& stored = parts_.meta[key];
    // A request does not repeat the rows of the recording itself.
    if (asked == stored || key.starts_with("clock_") || key == "draft_model_shapes") continue;
    if (!is_first) varying_.insert(key);
    const bool is_adopted =
        is_first || (key == limit ? parse_number<std::int32_t>(asked) > parse_number<std::int32_t>(stored)
                                  : stored == parts_.neutral[key]);
    if (!is_adopted) continue;
    stored = asked;
    parts_.writer->set_meta(key, asked);
  }
  if (!varying_.empty())
    parts_.writer->set_meta("varying_settings", fmt::format("{}", fmt::join(varying_, ",")));
}

Result<traces::Request> ServedRecording::record(const Completion& completion, engine::Strategy& strategy,
                                                const engine::DecodeRequest& request, traces::Meta settings,
                                                engine::DecodeListener& listener) {
  note(std::move(settings));
  const engine::DecodingOptions& decoding = completion.request.decoding;
  recorder_.set_listener(&listener);
  Result<traces::Request> recorded =
      recorder_.request(run_id_, strategy,
                        {.question_id = completion.number,
                         .category = completion.request.kind == CompletionKind::chat ? "chat" : "completions",
                         .text = completion.prompt_text,
                         .tokens = completion.prompt,
                         .stream = 0},
                        0, request, decoding.seed, decoding.stop_strings);
  recorder_.set_listener(nullptr);
  parts_.device.end_request();
  return recorded;
}

Result<void> ServedRecording::end() {
  parts_.device.end();
  parts_.backend.set_recorder(nullptr);
  const ClockPair clock = read_clock_pair();
  parts_.writer->set_meta("clock_end_monotonic_ns", std::to_string(clock.monotonic_ns));
  parts_.writer->set_meta("clock_end_realtime_ns", std::to_string(clock.realtime_ns));
  return parts_.writer->close();
}

}  // namespace draftscope::cli
