// SPDX-License-Identifier: GPL-3.0-or-later
#include "recorder.h"

namespace draftscope::cli {

std::int64_t Recorder::add_run(const engine::ConfiguredStrategy& strategy) {
  return writer_.add(traces::Run{.strategy = strategy.name,
                                 .specification = strategy.specification,
                                 .parameters = strategy.parameters,
                                 .is_baseline = strategy.is_vanilla});
}

std::int64_t Recorder::prompt_id(const RecordedPrompt& prompt) {
  // A later turn holds earlier answers, which under sampling differ from request to request: the text is part
  // of the key.
  const auto key = std::tuple{prompt.question_id, prompt.turn, prompt.text};
  if (const auto known = prompt_ids_.find(key); known != prompt_ids_.end()) return known->second;
  const std::int64_t id = writer_.add(traces::Prompt{.question_id = prompt.question_id,
                                                     .category = prompt.category,
                                                     .turn = prompt.turn,
                                                     .text = prompt.text,
                                                     .tokens = prompt.tokens});
  prompt_ids_.emplace(key, id);
  return id;
}

Result<traces::Request> Recorder::request(std::int64_t run, engine::Strategy& strategy,
                                          const RecordedPrompt& prompt, std::int32_t repeat,
                                          const engine::DecodeRequest& request, std::uint64_t seed) {
  traces::Request row{.id = writer_.next_request_id(),
                      .run = run,
                      .prompt = prompt_id(prompt),
                      .repeat = repeat,
                      .seed = seed};
  row.start_ns = profiler::now_ns();
  writer_.begin(row);
  request_id_ = row.id;
  spans_.set_request(row.id);

  const std::uint64_t stream = (static_cast<std::uint64_t>(prompt.question_id) << 24U) ^
                               (static_cast<std::uint64_t>(prompt.turn) << 16U) ^
                               static_cast<std::uint64_t>(repeat);
  engine::SeededChooser chooser(seed, stream);
  auto result = engine::decode(backend_, strategy, request, chooser, *this, &spans_);
  spans_.flush();
  spans_.set_request(0);
  if (!result) {
    row.stop = traces::RequestStop::error;
    row.end_ns = profiler::now_ns();
    writer_.finish(row);
    return tl::unexpected(result.error());
  }
  row.start_ns = result->start_ns;
  row.first_token_ns = result->first_token_ns;
  row.end_ns = result->end_ns;
  row.stop = result->stop;
  row.text = tokenizer_.decode(result->tokens);
  row.tokens = std::move(result->tokens);
  writer_.finish(row);
  return row;
}

void Recorder::on_round(const engine::RoundReport& report) {
  traces::Round round = report.round;
  round.request = request_id_;
  if (report.layer_set.n_layers > 0) round.layer_set = writer_.add(report.layer_set);
  writer_.add(round, report.draft_tokens);
}

}  // namespace draftscope::cli
