// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/recording/recorder.h>

#include <draftscope/base/result.h>
#include <draftscope/base/to_size.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/sampling.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "decode/shadow.h"

namespace draftscope::engine {

namespace {

/// The target's probability of each token of the chain, given the text up to the root and the earlier tokens,
/// warped as for draws. The result ends early at logits that form no distribution. The cache has the K/V of
/// the text before the root; rows from the root on are overwritten. For sampling without a repetition
/// penalty. Errors: as Backend::forward().
Result<std::vector<double>> target_probabilities(Backend& backend, std::span<const std::int32_t> text,
                                                 const DrawnChain& chain, const SamplingOptions& sampling) {
  const auto length = static_cast<std::int32_t>(chain.tokens.size());
  const auto vocab = static_cast<std::size_t>(backend.shape().vocab);
  std::vector<double> probabilities;
  std::vector<Row> rows;
  Outputs outputs;
  Distribution distribution;
  const auto input = [&](std::int32_t i) {
    return i == 0 ? text[static_cast<std::size_t>(chain.root_position)]
                  : chain.tokens[static_cast<std::size_t>(i - 1)];
  };
  for (std::int32_t done = 0; done < length;) {
    const std::int32_t count = std::min(backend.max_invariant_rows(), length - done);
    const std::int32_t first = chain.root_position + done;
    rows.clear();
    for (std::int32_t i = done; i < done + count; ++i)
      rows.push_back({.token = input(i), .hidden = -1, .position = chain.root_position + i});
    DRAFTSCOPE_TRY(backend.forward({.rows = rows,
                                    .committed = first,
                                    .first_row = first,
                                    .layers = {0, backend.shape().n_layers},
                                    .wanted = {.head = true, .logits = true, .top_k = 1}},
                                   outputs));
    for (std::int32_t i = 0; i < count; ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (!has_distribution(outputs.top[row])) return probabilities;
      warp(std::span(outputs.logits).subspan(row * vocab, vocab), sampling, distribution);
      probabilities.push_back(distribution.probability(chain.tokens[to_size(done + i)]));
    }
    done += count;
  }
  return probabilities;
}

/// The round's first token that did not reach the output.
std::int32_t token_behind(const RoundReport& report) {
  std::int32_t before = 0;
  for (const traces::DraftToken& token : report.draft_tokens)
    if (token.accepted && before++ == report.round.emitted) return token.token;
  return report.round.bonus_token;
}

}  // namespace

traces::RunId Recorder::add_run(const ConfiguredStrategy& strategy) {
  return writer_.add(traces::Run{.strategy = strategy.name,
                                 .specification = strategy.specification,
                                 .parameters = strategy.parameters,
                                 .is_baseline = strategy.is_vanilla});
}

traces::PromptId Recorder::prompt_id(const RecordedPrompt& prompt) {
  // A later turn contains earlier answers, which under sampling differ from request to request. The text is
  // therefore part of the key.
  const auto key = std::tuple{prompt.question_id, prompt.turn, prompt.text};
  if (const auto known = prompt_ids_.find(key); known != prompt_ids_.end()) return known->second;
  const traces::PromptId id = writer_.add(traces::Prompt{.question_id = prompt.question_id,
                                                         .category = prompt.category,
                                                         .turn = prompt.turn,
                                                         .text = prompt.text,
                                                         .tokens = prompt.tokens});
  prompt_ids_.emplace(key, id);
  return id;
}

Result<traces::Request> Recorder::request(traces::RunId run_id, Strategy& strategy,
                                          const RecordedPrompt& prompt, std::int32_t repeat,
                                          const DecodeRequest& request, std::uint64_t seed,
                                          const StopStrings& stop_strings) {
  traces::Request row{.id = writer_.next_request_id(),
                      .run_id = run_id,
                      .prompt_id = prompt_id(prompt),
                      .repeat = repeat,
                      .seed = seed};
  row.start_ns = now_ns();
  writer_.begin(row);
  request_id_ = row.id;
  round_id_ = 0;
  spans_.set_request(row.id);
  // Guesses are point masses, which every acceptance rule treats alike.
  const SamplingOptions& sampling = request.sampling;
  keeps_drawn_chains_ = shadow_ && !sampling.greedy() && !sampling.coupled && !sampling.penalises();
  has_draft_model_ = strategy.own_backend() != nullptr;
  drawn_.clear();

  const std::uint64_t stream = (static_cast<std::uint64_t>(prompt.question_id) << 24U) ^
                               (static_cast<std::uint64_t>(prompt.turn) << 16U) ^
                               static_cast<std::uint64_t>(repeat);
  SeededChooser chooser(seed, prompt.stream.value_or(stream));
  auto result = decode(backend_, strategy, request, chooser, *this, &spans_);
  spans_.flush();
  spans_.set_request(0);
  if (!result) {
    row.stop = traces::RequestStop::error;
    row.end_ns = now_ns();
    writer_.finish(row);
    return tl::unexpected(result.error());
  }
  row.start_ns = result->start_ns;
  row.first_token_ns = result->first_token_ns;
  row.end_ns = result->end_ns;
  row.stop = result->stop;
  row.text = before_stop(tokenizer_.decode(result->tokens), stop_strings);
  row.tokens = std::move(result->tokens);
  // Texts are looked up after the request, when nothing is measured.
  for (const std::int32_t token : row.tokens) add_token_text(token);
  for (const std::int32_t token : drafted_tokens_) add_token_text(token);
  drafted_tokens_.clear();
  writer_.finish(row);
  if (shadow_ && row.stop != traces::RequestStop::cancelled) DRAFTSCOPE_TRY(record_shadow(request, row));
  return row;
}

Result<void> Recorder::record_shadow(const DecodeRequest& request, const traces::Request& row) {
  if (row.tokens.empty()) return {};
  std::vector<std::int32_t> text(request.prompt.begin(), request.prompt.end());
  text.insert(text.end(), row.tokens.begin(), row.tokens.end());
  if (row.stop == traces::RequestStop::eos) text.push_back(end_token_);
  // This runs outside every measured phase, so its layers must not be recorded as spans.
  backend_.set_recorder(nullptr);
  std::vector<traces::ShadowToken> rows;
  Result<void> done = record_drawn_chains(request, text);
  if (done) done = shadow_rows(text, static_cast<std::int32_t>(request.prompt.size()), rows);
  backend_.set_recorder(&spans_);
  DRAFTSCOPE_TRY(done);
  writer_.add(std::span<const traces::ShadowToken>(rows));
  return {};
}

void Recorder::keep_drawn_chain(const RoundReport& report) {
  const auto& tokens = report.draft_tokens;
  const bool is_drawn = !tokens.empty() && (report.layer_set.n_layers > 0 || has_draft_model_);
  if (!is_drawn) return;
  DrawnChain chain{.round_id = report.round.id,
                   .end_ns = report.round.end_ns,
                   .root_position = report.round.root_position};
  for (const traces::DraftToken& token : tokens) {
    if (token.parent + 1 != token.index) return;  // The draft is a tree.
    chain.tokens.push_back(token.token);
  }
  drawn_.push_back(std::move(chain));
}

Result<void> Recorder::record_drawn_chains(const DecodeRequest& request, std::span<const std::int32_t> text) {
  std::vector<std::string> details(drawn_.size());
  // The last round comes first: each one overwrites the rows after its root.
  for (std::size_t i = drawn_.size(); i-- > 0;) {
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<double> probabilities,
                          target_probabilities(backend_, text, drawn_[i], request.sampling));
    details[i] = fmt::format(R"({{"probabilities":[{:.9g}]}})", fmt::join(probabilities, ","));
  }
  for (std::size_t i = 0; i < drawn_.size(); ++i)
    writer_.add(traces::Decision{.request_id = request_id_,
                                 .round_id = drawn_[i].round_id,
                                 .kind_id = writer_.intern("target probabilities"),
                                 .start_ns = drawn_[i].end_ns,
                                 .end_ns = drawn_[i].end_ns,
                                 .detail = std::move(details[i])});
  return {};
}

Result<void> Recorder::shadow_rows(std::span<const std::int32_t> text, std::int32_t prompt_tokens,
                                   std::vector<traces::ShadowToken>& rows) {
  const auto add = [&](traces::ShadowToken shadow) {
    shadow.request_id = request_id_;
    rows.push_back(shadow);
  };
  // The output comes first: it attends to the K/V that the prefill left, and the prompt's rows overwrite
  // those bits.
  const std::int32_t first_drafted = prompt_tokens + 1;  // The prefill predicts the token before.
  if (static_cast<std::size_t>(first_drafted) < text.size())
    DRAFTSCOPE_TRY(shadow_tokens(backend_, text, first_drafted, add));
  constexpr std::int32_t prompt_window = 32;  // predictions used by DEL's first statistics
  return shadow_tokens(backend_, text.first(static_cast<std::size_t>(first_drafted)),
                       std::max(1, first_drafted - prompt_window), add);
}

void Recorder::add(const Decision& decision) {
  const std::int64_t now_ns = draftscope::now_ns();
  traces::Decision row{.request_id = request_id_,
                       .round_id = round_id_,
                       .kind_id = writer_.intern(decision.kind),
                       .start_ns = decision.end_ns > 0 ? decision.start_ns : now_ns,
                       .end_ns = decision.end_ns > 0 ? decision.end_ns : now_ns,
                       .adopted = decision.adopted};
  if (decision.has_score) row.score = decision.score;
  if (decision.detail) row.detail = decision.detail();
  writer_.add(std::move(row));
}

void Recorder::on_round(const RoundReport& report) {
  traces::Round round = report.round;
  round.request_id = request_id_;
  if (round.emitted <= round.accepted) end_token_ = token_behind(report);
  if (report.layer_set.n_layers > 0) round.layer_set_id = writer_.add(report.layer_set);
  writer_.add(round, report.draft_tokens);
  if (keeps_drawn_chains_) keep_drawn_chain(report);
  for (const traces::DraftToken& draft : report.draft_tokens) drafted_tokens_.push_back(draft.token);
  if (listener_ != nullptr) listener_->on_round(report);
}

void Recorder::add_token_text(std::int32_t token) {
  if (tokens_with_text_.insert(token).second)
    writer_.add(traces::TokenText{token, tokenizer_.text_of(token)});
}

}  // namespace draftscope::engine
