// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/served_recording.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/number.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace draftscope::cli {

namespace {

constexpr std::string_view limit_key = "max_tokens";

/// Whether a row describes the recording itself, which no request changes.
bool is_of_the_recording(std::string_view key) {
  return key.starts_with("clock_") || key == "draft_model_shapes" || key == "template_arguments";
}

}  // namespace

ServedRecording::ServedRecording(Parts parts, const engine::ConfiguredStrategy& strategy)
    : parts_(std::move(parts)),
      spans_(parts_.level, parts_.writer.get()),
      recorder_(*parts_.writer, spans_, parts_.backend, parts_.tokenizer, parts_.shadow),
      run_id_(recorder_.add_run(strategy)) {
  parts_.backend.set_recorder(&spans_);
  parts_.device.begin(*parts_.writer, spans_);
}

void ServedRecording::note(traces::Meta settings) {
  const bool is_first = !std::exchange(has_requests_, true);
  // A row that one of both lacks is empty there.
  for (const auto& [key, stored] : parts_.meta) settings.try_emplace(key);
  for (const auto& [key, asked] : settings) {
    std::string& stored = parts_.meta[key];
    if (asked == stored || is_of_the_recording(key)) continue;
    if (!is_first) varying_.insert(key);
    const bool is_adopted =
        is_first || (key == limit_key ? parse_number<std::int32_t>(asked) > parse_number<std::int32_t>(stored)
                                      : stored == parts_.neutral[key]);
    if (!is_adopted) continue;
    stored = asked;
    parts_.writer->set_meta(key, asked);
  }
  if (!varying_.empty())
    parts_.writer->set_meta("varying_settings", fmt::format("{}", fmt::join(varying_, ",")));
}

void ServedRecording::note_own(const Completion& completion, const traces::Meta& settings) {
  nlohmann::ordered_json own = nlohmann::ordered_json::object();
  for (const auto& [key, asked] : settings) {
    const auto neutral = parts_.neutral.find(key);
    const bool changes_text = neutral == parts_.neutral.end() || neutral->second != asked;
    // The table of requests has the seed.
    if (key == limit_key || (changes_text && key != "seed" && !is_of_the_recording(key))) own[key] = asked;
  }
  if (completion.request.ignores_end) own["ignore_eos"] = "1";
  if (const std::string& set = completion.request.template_arguments; !set.empty())
    own["template_arguments"] = set;
  own_settings_ += fmt::format("{}\"{}\":{}", own_settings_.empty() ? "{" : ",", completion.number,
                               own.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  if (own_settings_.size() < written_own_bytes_ + written_own_bytes_ / 8) return;
  written_own_bytes_ = own_settings_.size();
  parts_.writer->set_meta("question_settings", own_settings_ + "}");
}

Result<traces::Request> ServedRecording::record(const Completion& completion, engine::Strategy& strategy,
                                                const engine::DecodeRequest& request, traces::Meta settings,
                                                engine::DecodeListener& listener) {
  note_own(completion, settings);
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
  if (has_requests_) parts_.writer->set_meta("question_settings", own_settings_ + "}");
  const ClockPair clock = read_clock_pair();
  parts_.writer->set_meta("clock_end_monotonic_ns", std::to_string(clock.monotonic_ns));
  parts_.writer->set_meta("clock_end_realtime_ns", std::to_string(clock.realtime_ns));
  return parts_.writer->close();
}

}  // namespace draftscope::cli
