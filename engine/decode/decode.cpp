// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/decode.h>

#include <algorithm>
#include <array>

#include "decode/round_clock.h"

namespace draftscope::engine {

namespace {

using traces::DraftStop;
using traces::Phase;
using traces::RequestStop;

bool contains(std::span<const std::int32_t> tokens, std::int32_t token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

Result<void> check_request(const Backend& backend, const DecodeRequest& request) {
  const std::int32_t vocab = backend.shape().vocab;
  if (request.prompt.empty()) return fail("prompt: found 0 tokens, expected at least 1");
  if (request.max_new_tokens < 1)
    return fail("max-tokens: found {}, expected at least 1", request.max_new_tokens);
  for (std::size_t i = 0; i < request.prompt.size(); ++i)
    if (request.prompt[i] < 0 || request.prompt[i] >= vocab)
      return fail("prompt: token {} is {}, expected 0 to {}", i, request.prompt[i], vocab - 1);
  if (request.prompt.size() > static_cast<std::size_t>(backend.cache_rows()))
    return fail("prompt: found {} tokens, expected at most {} (the context)", request.prompt.size(),
                backend.cache_rows());
  return check(request.sampling);
}

/// One request's state and buffers, allocated once and reused by every round.
class Decoder {
 public:
  Decoder(Backend& backend, Strategy& strategy, const DecodeRequest& request, Chooser& chooser,
          DecodeListener& listener, profiler::SpanRecorder* recorder)
      : backend_(backend),
        strategy_(strategy),
        request_(request),
        chooser_(chooser),
        listener_(listener),
        recorder_(recorder),
        n_layers_(backend.shape().n_layers),
        step_name_(recorder != nullptr ? recorder->name_id("draft step") : 0) {}

  Result<DecodeResult> run() {
    RoundClock clock(recorder_);
    result_.start_ns = clock.now_ns();
    strategy_.begin_request();
    DRAFTSCOPE_TRY(prefill(clock));
    while (!ended_) DRAFTSCOPE_TRY(round(clock));
    result_.end_ns = clock.now_ns();
    return std::move(result_);
  }

 private:
  Result<void> prefill(RoundClock& clock) {
    clock.begin(Phase::prefill);
    const auto length = static_cast<std::int32_t>(request_.prompt.size());
    for (std::int32_t done = 0; done < length;) {
      const std::int32_t count = std::min(backend_.max_rows(), length - done);
      rows_.clear();
      for (std::int32_t i = done; i < done + count; ++i)
        rows_.push_back({.token = request_.prompt[static_cast<std::size_t>(i)], .hidden = -1, .position = i});
      const Wanted wanted = done + count == length ? head_wanted(count - 1) : Wanted{};
      DRAFTSCOPE_TRY(backend_.forward(batch(done, {0, n_layers_}, nullptr, wanted), outputs_));
      done += count;
    }
    std::int32_t first = outputs_.top[0].token;
    if (!request_.sampling.greedy()) {
      warp(outputs_.logits, request_.sampling, residual_);
      first = draw_token(residual_, {DrawPurpose::target, length}, chooser_);
    }
    result_.first_token_ns = clock.end();
    root_position_ = length;
    if (emit(first)) listener_.on_first_token(first);
    return {};
  }

  Result<void> round(RoundClock& clock) {
    if (request_.cancelled != nullptr && request_.cancelled->load(std::memory_order_relaxed))
      return end(RequestStop::cancelled);
    if (root_position_ >= backend_.cache_rows()) return end(RequestStop::context);

    traces::Round& row = report_.round = {};
    row.id = listener_.next_round_id();
    clock.begin_round(row.id);
    row.index = round_index_++;
    row.root_position = root_position_;
    row.start_ns = clock.begin(Phase::control);
    const std::int32_t remaining = request_.max_new_tokens - static_cast<std::int32_t>(result_.tokens.size());
    const RoundPlan plan = strategy_.plan({row.index, root_position_, remaining});
    DRAFTSCOPE_TRY(check_plan(plan));
    row.planned = plan.mask != nullptr ? plan.draft_length : 0;
    row.threshold = plan.threshold;
    // The round may emit one token more than it drafts, and the root and each draft token take a cache row.
    const std::int32_t room = std::min(remaining - 1, backend_.cache_rows() - root_position_ - 1);
    const std::int32_t length = std::clamp(row.planned, 0, std::min(room, backend_.max_invariant_rows() - 1));
    row.draft_stop = row.planned == 0       ? DraftStop::no_draft
                     : length < row.planned ? DraftStop::budget
                                            : DraftStop::length;
    const std::int64_t planned_ns = clock.begin(length > 0 ? Phase::draft : Phase::verify);
    std::int64_t drafted_ns = planned_ns;
    ran_alone_ = can_run_alone(plan, length);
    if (ran_alone_) {
      DRAFTSCOPE_TRY(run_alone(plan, length, row.draft_stop));
      if (length > 0) drafted_ns = clock.begin_before_now(Phase::verify, alone_.verify_ns);
    } else {
      DRAFTSCOPE_TRY(draft(plan, length, row.draft_stop));
      if (length > 0) drafted_ns = clock.begin(Phase::verify);
      DRAFTSCOPE_TRY(verify(plan));
    }
    row.drafted = static_cast<std::int32_t>(drafted_.size());
    row.tree_depth = row.drafted;
    row.verify_rows = row.drafted + 1;
    const std::int64_t verified_ns = clock.begin(Phase::accept);
    accept(row);
    const std::int64_t accepted_ns = clock.begin(Phase::control);
    strategy_.observe({row.drafted, row.accepted, steps_});
    row.end_ns = clock.end_round();
    row.draft_ns = drafted_ns - planned_ns;
    row.verify_ns = verified_ns - drafted_ns;
    row.accept_ns = accepted_ns - verified_ns;
    row.control_ns = (row.end_ns - row.start_ns) - (accepted_ns - planned_ns);

    describe_draft(plan, row);
    listener_.on_round(report_);
    if (recorder_ != nullptr) recorder_->flush();
    return {};
  }

  Result<void> check_plan(const RoundPlan& plan) const {
    if (plan.mask == nullptr) return {};
    if (plan.mask->n_layers() != n_layers_)
      return fail("sublayer mask: found {} layers, expected {}", plan.mask->n_layers(), n_layers_);
    if (plan.verification == Verification::above_exit &&
        *plan.mask != SublayerMask::early_exit(n_layers_, plan.mask->exit_layer()))
      return fail(
          "verification above the exit: found a mask that skips sublayers below layer {}, expected an early "
          "exit",
          plan.mask->exit_layer());
    return {};
  }

  Result<void> draft(const RoundPlan& plan, std::int32_t length, DraftStop& stop) {
    drafted_.clear();
    steps_.clear();
    exit_states_.clear();
    const std::int32_t exit = plan.mask != nullptr ? plan.mask->exit_layer() : 0;
    const bool keep_states = plan.verification == Verification::above_exit;
    if (draft_distributions_.size() < static_cast<std::size_t>(length))
      draft_distributions_.resize(static_cast<std::size_t>(length));
    for (std::int32_t k = 0; k < length; ++k) {
      const profiler::ScopedSpan span(recorder_, profiler::Level::layers, step_name_);
      rows_.assign(1,
                   {.token = k == 0 ? root_ : drafted_.back(), .hidden = -1, .position = root_position_ + k});
      Wanted wanted = head_wanted(0);
      const std::array<std::int32_t, 1> boundary{exit};
      if (keep_states) wanted.hidden_after = boundary;
      DRAFTSCOPE_TRY(backend_.forward(batch(root_position_ + k, {0, exit}, plan.mask, wanted), outputs_));
      if (keep_states)
        exit_states_.insert(exit_states_.end(), outputs_.hidden.begin(), outputs_.hidden.end());

      DraftStep step{.index = k,
                     .token = outputs_.top[0].token,
                     .confidence = static_cast<double>(outputs_.top[0].probability)};
      if (!request_.sampling.greedy()) {
        Distribution& distribution = draft_distributions_[static_cast<std::size_t>(k)];
        warp(outputs_.logits, request_.sampling, distribution);
        step.token = draw_token(distribution, {DrawPurpose::draft, root_position_ + k + 1}, chooser_);
      }
      drafted_.push_back(step.token);
      steps_.push_back(step);
      if (contains(request_.eos_tokens, step.token)) {
        stop = DraftStop::eos;
        break;
      }
      // In the precision of the confidence, so that a device decides alike.
      if (static_cast<float>(step.confidence) < static_cast<float>(plan.threshold)) {
        if (k + 1 < length) stop = DraftStop::threshold;
        break;
      }
    }
    return {};
  }

  /// Whether the backend can do draft and verification of this round in one go.
  [[nodiscard]] bool can_run_alone(const RoundPlan& plan, std::int32_t length) const {
    if (!backend_.has_chain_rounds() || (length > 0 && plan.verification != Verification::all_layers))
      return false;
    // Without a draft a greedy round is one pass either way; a sampled one would bring its logits to the
    // host.
    return request_.sampling.greedy() ? length > 0 : chooser_.counter_key().has_value();
  }

  /// draft() and verify() by the backend itself.
  Result<void> run_alone(const RoundPlan& plan, std::int32_t length, DraftStop& stop) {
    DRAFTSCOPE_TRY(backend_.chain_round({.root = root_,
                                         .root_position = root_position_,
                                         .draft_length = length,
                                         .mask = length > 0 ? plan.mask : nullptr,
                                         .layers = {0, length > 0 ? plan.mask->exit_layer() : 0},
                                         .threshold = plan.threshold,
                                         .stops = request_.eos_tokens,
                                         .sampling = &request_.sampling,
                                         .key = chooser_.counter_key().value_or(CounterKey{})},
                                        alone_));
    drafted_.clear();
    steps_.clear();
    for (const TopToken& token : alone_.drafted) {
      steps_.push_back({.index = static_cast<std::int32_t>(steps_.size()),
                        .token = token.token,
                        .confidence = static_cast<double>(token.probability)});
      drafted_.push_back(token.token);
    }
    outputs_.top = alone_.verified;
    if (steps_.empty()) return {};
    const DraftStep& last = steps_.back();
    if (contains(request_.eos_tokens, last.token))
      stop = DraftStop::eos;
    else if (last.index + 1 < length)
      stop = DraftStop::threshold;
    return {};
  }

  /// Leaves the target's outputs for the root and every draft token in outputs_.
  Result<void> verify(const RoundPlan& plan) {
    const auto count = static_cast<std::int32_t>(drafted_.size()) + 1;
    if (count > 1 && plan.verification == Verification::above_exit)
      return verify_above(plan.mask->exit_layer(), count);
    rows_.clear();
    for (std::int32_t k = 0; k < count; ++k)
      rows_.push_back({.token = k == 0 ? root_ : drafted_[static_cast<std::size_t>(k - 1)],
                       .hidden = -1,
                       .position = root_position_ + k});
    return backend_.forward(batch(root_position_, {0, n_layers_}, nullptr, head_wanted(0)), outputs_);
  }

  Result<void> verify_above(std::int32_t exit, std::int32_t count) {
    // Every row but the last went through the layers below the exit while drafting, with the target's own
    // weights.
    const std::int32_t last = count - 1;
    const std::array<std::int32_t, 1> boundary{exit};
    rows_.assign(1, {.token = drafted_.back(), .hidden = -1, .position = root_position_ + last});
    Wanted states;
    states.hidden_after = boundary;
    DRAFTSCOPE_TRY(backend_.forward(batch(root_position_ + last, {0, exit}, nullptr, states), outputs_));
    exit_states_.insert(exit_states_.end(), outputs_.hidden.begin(), outputs_.hidden.end());
    rows_.clear();
    for (std::int32_t k = 0; k < count; ++k)
      rows_.push_back({.token = -1, .hidden = k, .position = root_position_ + k});
    Batch above = batch(root_position_, {exit, n_layers_}, nullptr, head_wanted(0));
    above.hidden = exit_states_;
    return backend_.forward(above, outputs_);
  }

  void accept(traces::Round& row) {
    const std::int32_t drafted = row.drafted;
    std::int32_t accepted = 0;
    std::int32_t own = -1;  // the target's token after the accepted ones
    if (request_.sampling.greedy()) {
      while (accepted < drafted && drafted_[static_cast<std::size_t>(accepted)] ==
                                       outputs_.top[static_cast<std::size_t>(accepted)].token)
        ++accepted;
      own = outputs_.top[static_cast<std::size_t>(accepted)].token;
    } else if (ran_alone_) {
      accepted = alone_.accepted;
      own = alone_.own_token;
    } else {
      const auto vocab = static_cast<std::size_t>(backend_.shape().vocab);
      const auto target_at = [&](std::int32_t k) {
        warp(std::span(outputs_.logits).subspan(static_cast<std::size_t>(k) * vocab, vocab),
             request_.sampling, target_);
      };
      for (target_at(0); accepted < drafted; target_at(++accepted)) {
        const Distribution& draft = draft_distributions_[static_cast<std::size_t>(accepted)];
        const std::int32_t position = root_position_ + accepted + 1;
        if (accept_token(target_, draft, drafted_[static_cast<std::size_t>(accepted)], position, chooser_))
          continue;
        residual(target_, draft, residual_);
        target_.tokens.swap(residual_.tokens);
        target_.probabilities.swap(residual_.probabilities);
        break;
      }
      own = draw_token(target_, {DrawPurpose::target, root_position_ + accepted + 1}, chooser_);
    }

    row.accepted = accepted;
    row.bonus_token = own;
    const std::size_t before = result_.tokens.size();
    for (std::int32_t k = 0; k < accepted && !ended_; ++k) emit(drafted_[static_cast<std::size_t>(k)]);
    if (!ended_) emit(own);
    row.emitted = static_cast<std::int32_t>(result_.tokens.size() - before);
    report_.emitted = std::span(result_.tokens).subspan(before);
    root_position_ += accepted + 1;
  }

  /// Appends to the text unless the token ends it; returns whether it was appended.
  bool emit(std::int32_t token) {
    if (contains(request_.eos_tokens, token)) {
      (void)end(RequestStop::eos);
      return false;
    }
    result_.tokens.push_back(token);
    root_ = token;
    if (result_.tokens.size() >= static_cast<std::size_t>(request_.max_new_tokens))
      (void)end(RequestStop::length);
    return true;
  }

  Result<void> end(RequestStop stop) {
    ended_ = true;
    result_.stop = stop;
    return {};
  }

  void describe_draft(const RoundPlan& plan, traces::Round& row) {
    draft_rows_.clear();
    report_.layer_set = {};
    if (row.drafted > 0) {
      row.exit_layer = plan.mask->exit_layer();
      report_.layer_set = {0, n_layers_, row.exit_layer, plan.mask->packed(), std::string(plan.origin)};
    }
    for (const DraftStep& step : steps_) {
      traces::DraftToken token{.round = row.id,
                               .index = step.index,
                               .parent = step.index - 1,
                               .token = step.token,
                               .confidence = step.confidence,
                               .probability = 1.0};
      if (!request_.sampling.greedy())
        token.probability =
            ran_alone_ ? alone_.drawn_probabilities[static_cast<std::size_t>(step.index)]
                       : draft_distributions_[static_cast<std::size_t>(step.index)].probability(step.token);
      token.accepted = step.index < row.accepted;
      token.tested = step.index <= row.accepted;
      draft_rows_.push_back(token);
    }
    report_.draft_tokens = draft_rows_;
  }

  [[nodiscard]] Wanted head_wanted(std::int32_t from) const {
    return {.hidden_after = {},
            .head_from = from,
            .head = true,
            .logits = !request_.sampling.greedy(),
            .top_k = 1};
  }

  [[nodiscard]] Batch batch(std::int32_t first_row, LayerRange layers, const SublayerMask* mask,
                            const Wanted& wanted) const {
    return {.rows = rows_,
            .hidden = {},
            .committed = first_row,
            .first_row = first_row,
            .ancestors = {},
            .mask = mask,
            .layers = layers,
            .wanted = wanted};
  }

  Backend& backend_;
  Strategy& strategy_;
  const DecodeRequest& request_;
  Chooser& chooser_;
  DecodeListener& listener_;
  profiler::SpanRecorder* recorder_;
  std::int32_t n_layers_;
  std::int64_t step_name_;

  std::int32_t root_ = -1;
  std::int32_t root_position_ = 0;
  std::int32_t round_index_ = 0;
  bool ended_ = false;
  DecodeResult result_;

  std::vector<Row> rows_;
  std::vector<std::int32_t> drafted_;
  std::vector<DraftStep> steps_;
  std::vector<float> exit_states_;  // [rows drafted][d_model]
  std::vector<Distribution> draft_distributions_;
  Distribution target_;
  Distribution residual_;
  std::vector<traces::DraftToken> draft_rows_;
  RoundReport report_;
  Outputs outputs_;
  ChainRoundOutputs alone_;
  bool ran_alone_ = false;  // the round at hand was the backend's
};

}  // namespace

Result<DecodeResult> decode(Backend& backend, Strategy& strategy, const DecodeRequest& request,
                            Chooser& chooser, DecodeListener& listener, profiler::SpanRecorder* recorder) {
  DRAFTSCOPE_TRY(check_request(backend, request));
  return Decoder(backend, strategy, request, chooser, listener, recorder).run();
}

}  // namespace draftscope::engine
