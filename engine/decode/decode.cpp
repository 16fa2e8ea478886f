// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/decode.h>

#include <draftscope/base/to_size.h>
#include <algorithm>
#include <cstddef>

#include "decode/acceptance.h"
#include "decode/device_round.h"
#include "decode/draft_limits.h"
#include "decode/drafter.h"
#include "decode/non_finite.h"
#include "decode/plan_checks.h"
#include "decode/round_clock.h"
#include "decode/round_row.h"
#include "decode/target.h"

namespace draftscope::engine {

namespace {

using traces::Phase;
using traces::RequestStop;

bool contains(std::span<const std::int32_t> tokens, std::int32_t token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

/// One request's state and buffers, allocated once and reused by every round.
class Decoder {
 public:
  Decoder(Backend& backend, Strategy& strategy, const DecodeRequest& request, Chooser& chooser,
          DecodeListener& listener, profiler::SpanRecorder* recorder)
      : backend_(backend),
        strategy_(strategy),
        request_(request),
        listener_(listener),
        recorder_(recorder),
        drafter_(backend, request, chooser, recorder),
        target_(backend, request, chooser),
        device_round_(backend, request, chooser),
        text_ahead_(backend, request),
        probe_(backend, 0) {
    const auto longest = static_cast<std::size_t>(std::min(request.max_new_tokens, backend.cache_rows()));
    text_.reserve(request.prompt.size() + longest);
    result_.tokens.reserve(longest);
    const auto widest = static_cast<std::size_t>(backend.max_verified_rows());
    moves_.reserve(widest);
    verdict_.path.reserve(widest);
    verdict_.tested.reserve(widest);
    draft_tokens_.reserve(widest);
    text_.assign(request.prompt.begin(), request.prompt.end());
  }

  Result<DecodeResult> run() {
    RoundClock clock(recorder_);
    result_.start_ns = clock.now_ns();
    if (request_.text_end != nullptr) request_.text_end->begin();
    strategy_.begin_request({.prompt = request_.prompt,
                             .max_new_tokens = request_.max_new_tokens,
                             .eos_tokens = request_.eos_tokens,
                             .greedy = request_.sampling.greedy()});
    DRAFTSCOPE_TRY(prefill(clock));
    while (!ended_) DRAFTSCOPE_TRY(round(clock));
    result_.end_ns = clock.now_ns();
    // A last round may have verified more rows; this many are valid whatever drafted.
    result_.cached_tokens = static_cast<std::int32_t>(text_.size()) - 1;
    DRAFTSCOPE_TRY(backend_.check_weights_unchanged());
    return std::move(result_);
  }

 private:
  Result<void> prefill(RoundClock& clock) {
    clock.begin(Phase::prefill);
    DRAFTSCOPE_TRY_ASSIGN(const std::int32_t first, target_.prefill(strategy_.next_token_layer(), drafter_));
    DRAFTSCOPE_TRY(backend_.check_weights());
    result_.first_token_ns = clock.end();
    root_position_ = static_cast<std::int32_t>(request_.prompt.size());
    if (emit(first)) listener_.on_first_token(first);
    if (!ended_ && strategy_.wants_to_optimise()) {
      clock.begin(Phase::optimise);
      DRAFTSCOPE_TRY(optimise(-1));
      clock.end();
    }
    return {};
  }

  Result<void> round(RoundClock& clock) {
    if (request_.cancelled != nullptr && request_.cancelled->load(std::memory_order_relaxed))
      return end(RequestStop::cancelled);
    if (root_position_ >= backend_.cache_rows()) return end(RequestStop::context);

    traces::Round& row = report_.round = {};
    row.id = listener_.next_round_id();
    row.index = round_index_++;
    row.root_position = root_position_;
    clock.begin_round(row.id);
    RoundTimes times;
    times.plan_ns = round_begin_ns_ = clock.begin(Phase::control);
    DRAFTSCOPE_TRY_ASSIGN(const RoundPlan plan, make_plan(row));
    const DraftLimits limits = draft_limits(plan, row.planned, room());
    row.draft_stop = stop_at_limit(row.planned, limits);
    DRAFTSCOPE_TRY(draft_and_verify(plan, limits, clock, times, row));
    set_draft_size(drafter_.nodes(), plan.extra_rows.size(), row);
    times.accept_ns = clock.begin(Phase::accept);
    DRAFTSCOPE_TRY(judge(plan.acceptance));
    DRAFTSCOPE_TRY(commit(plan, row));
    if (ended_) clock.set_lead(0);  // Rounds that ran beyond the text's end have taken device time.
    times.observe_ns = clock.begin(Phase::control);
    // Done before the strategy continues: it owns the plan's mask, and the next search overwrites it.
    describe_layers(plan, report_.layer_set, row);
    describe_draft(drafter_.nodes(), verdict_, row.id, draft_tokens_);
    report_.draft_tokens = draft_tokens_;
    observe(plan, limits, times, row);
    if (!ended_ && strategy_.wants_to_optimise()) {
      times.optimise_ns = clock.begin(Phase::optimise);
      DRAFTSCOPE_TRY(optimise(row.index));
    }
    times.end_ns = clock.end_round();
    set_durations(times, row);
    listener_.on_round(report_);
    if (recorder_ != nullptr) recorder_->flush();
    return {};
  }

  Result<RoundPlan> make_plan(traces::Round& row) {
    RoundPlan plan = strategy_.plan(view(row.index));
    DRAFTSCOPE_TRY(check_plan(plan, backend_.shape(), strategy_.next_token_layer() != nullptr));
    if (static_cast<std::int32_t>(plan.extra_rows.size()) >= room().verify_rows) plan.extra_rows = {};
    row.planned = planned_depth(plan);
    row.threshold = plan.threshold;
    return plan;
  }

  Result<void> draft_and_verify(const RoundPlan& plan, const DraftLimits& limits, RoundClock& clock,
                                RoundTimes& times, traces::Round& row) {
    const bool has_draft = limits.steps > 0;
    times.draft_ns = times.verify_ns = clock.begin(has_draft ? Phase::draft : Phase::verify);
    drafter_.clear();
    ran_on_device_ = false;
    ran_ahead_ = !has_draft && text_ahead_.can_run(plan, room());
    if (ran_ahead_) {
      DRAFTSCOPE_TRY(text_ahead_.run(plan, text_, room()));
      clock.set_lead(text_ahead_.lead_ns());
      return {};
    }
    ran_on_device_ = device_round_.can_run(plan, limits.steps);
    if (ran_on_device_) {
      DRAFTSCOPE_TRY(device_round_.run(plan, limits.steps, text_, drafter_, row.draft_stop));
      if (has_draft) times.verify_ns = clock.begin_before_now(Phase::verify, device_round_.verify_ns());
      return {};
    }
    if (plan.stages != nullptr)
      DRAFTSCOPE_TRY(drafter_.draft_in_stages(*plan.stages, text_, limits, row.draft_stop));
    else if (plan.mask != nullptr || plan.draft_model != nullptr)
      DRAFTSCOPE_TRY(drafter_.draft(plan, text_, limits, row.draft_stop));
    else
      drafter_.take(plan.proposals, limits);
    if (has_draft) times.verify_ns = clock.begin(Phase::verify);
    return target_.verify(plan, drafter_, text_);
  }

  Result<void> judge(Acceptance acceptance) {
    if (ran_ahead_)
      judge_greedily(drafter_.nodes(), text_ahead_.best(), verdict_);
    else if (ran_on_device_)
      device_round_.judge(drafter_.nodes(), verdict_);
    else
      target_.judge(drafter_, acceptance, root_position_, verdict_);
    if (verdict_.undefined_row < 0) return {};
    std::vector<std::int32_t> tokens{text_.back()};
    for (const std::int32_t node : verdict_.path)
      tokens.push_back(drafter_.nodes()[static_cast<std::size_t>(node)].token);
    return tl::unexpected(
        non_finite(backend_, {.tokens = tokens, .first = root_position_, .row = verdict_.undefined_row}));
  }

  /// Appends the accepted path to the text.
  Result<void> commit(const RoundPlan& plan, traces::Round& row) {
    DRAFTSCOPE_TRY(backend_.check_weights());
    const std::vector<DraftNode>& nodes = drafter_.nodes();
    row.accepted = static_cast<std::int32_t>(verdict_.path.size());
    row.bonus_token = verdict_.bonus_token;
    DRAFTSCOPE_TRY(move_accepted_rows());
    const std::size_t before = result_.tokens.size();
    for (std::size_t k = 0; k < verdict_.path.size() && !ended_; ++k)
      emit(nodes[static_cast<std::size_t>(verdict_.path[k])].token);
    if (!ended_) emit(verdict_.bonus_token);
    row.emitted = static_cast<std::int32_t>(result_.tokens.size() - before);
    report_.emitted = std::span(result_.tokens).subspan(before);
    if (DraftModel* const layer = strategy_.next_token_layer())
      keep_states(*layer, states(plan));
    else if (plan.draft_model != nullptr)
      keep_draft_model_rows(*plan.draft_model);
    root_position_ += row.accepted + 1;
    return {};
  }

  /// Makes the K/V of the accepted path contiguous. Node i was verified in cache row root + 1 + i; its place
  /// on the path is never beyond that.
  Result<void> move_accepted_rows() {
    moves_.clear();
    const auto accepted = static_cast<std::int32_t>(verdict_.path.size());
    for (std::int32_t depth = 0; depth < accepted; ++depth) {
      const std::int32_t node = verdict_.path[static_cast<std::size_t>(depth)];
      if (node != depth) moves_.push_back({root_position_ + 1 + node, root_position_ + 1 + depth});
    }
    if (moves_.empty()) return {};
    return backend_.move_cache_rows(moves_);
  }

  /// Updates the rows that the draft model has. It has the K/V of the tokens that it drafted from: those of
  /// the spine.
  void keep_draft_model_rows(DraftModel& model) const {
    const std::span<const std::int32_t> spine = drafter_.spine();
    const auto path = verdict_.path.begin();
    const auto kept = static_cast<std::int32_t>(
        std::mismatch(path, verdict_.path.end(), spine.begin(), spine.end()).first - path);
    model.valid = std::min(model.valid, root_position_ + 1 + kept);
  }

  /// Keeps the target's states of the root and of the accepted path for a next-token layer to read.
  void keep_states(DraftModel& layer, std::span<const float> states) const {
    const std::size_t d_model = to_size(backend_.shape().d_model);
    const auto keep = [&](std::int32_t row) {
      const auto state = states.subspan(to_size(row) * d_model, d_model);
      layer.states.insert(layer.states.end(), state.begin(), state.end());
    };
    keep(0);
    for (const std::int32_t node : verdict_.path) keep(node + 1);
  }

  void observe(const RoundPlan& plan, const DraftLimits& limits, const RoundTimes& times,
               const traces::Round& row) {
    const std::size_t rows = drafter_.nodes().size() + 1;
    const std::span<const TopToken> best = ran_ahead_       ? text_ahead_.best()
                                           : ran_on_device_ ? device_round_.verified()
                                                            : target_.best();
    strategy_.observe({.steps = drafter_.steps(),
                       .nodes = drafter_.nodes(),
                       .accepted_nodes = verdict_.path,
                       .emitted = report_.emitted,
                       .stop = row.draft_stop,
                       .planned = row.planned,
                       .longest = limits.steps,
                       .draft_ns = times.verify_ns - times.draft_ns,
                       .verify_ns = times.accept_ns - times.verify_ns,
                       .elapsed_ns = times.observe_ns - times.plan_ns,
                       .verified = best.first(rows),
                       .extra_rows = best.subspan(rows),
                       .top = plan.top > 0 ? target_.top().first(rows * static_cast<std::size_t>(plan.top))
                                           : std::span<const TopToken>(),
                       .states = states(plan)},
                      listener_.decisions());
  }

  [[nodiscard]] std::span<const float> states(const RoundPlan& plan) const {
    if (plan.states.empty()) return {};
    return ran_on_device_ ? device_round_.states() : target_.states();
  }

  Result<void> optimise(std::int32_t round) {
    probe_.set_committed(root_position_);
    return strategy_.optimise(view(round), probe_, listener_.decisions());
  }

  /// Appends to the text unless the token ends it; returns whether it was appended.
  bool emit(std::int32_t token) {
    if (contains(request_.eos_tokens, token)) {
      (void)end(RequestStop::eos);
      return false;
    }
    result_.tokens.push_back(token);
    text_.push_back(token);
    if (request_.text_end != nullptr && request_.text_end->add(token))
      (void)end(RequestStop::stop_string);
    else if (result_.tokens.size() >= static_cast<std::size_t>(request_.max_new_tokens))
      (void)end(RequestStop::length);
    return true;
  }

  Result<void> end(RequestStop stop) {
    ended_ = true;
    result_.stop = stop;
    return {};
  }

  [[nodiscard]] std::int32_t remaining_tokens() const {
    return request_.max_new_tokens - static_cast<std::int32_t>(result_.tokens.size());
  }

  [[nodiscard]] RoundRoom room() const {
    return {.remaining_tokens = remaining_tokens(),
            .root_position = root_position_,
            .cache_rows = backend_.cache_rows(),
            .verify_rows = std::min(backend_.max_verified_rows(), backend_.cache_rows() - root_position_)};
  }

  [[nodiscard]] RoundView view(std::int32_t round) const {
    return {round, root_position_, remaining_tokens(), text_, round_begin_ns_};
  }

  Backend& backend_;
  Strategy& strategy_;
  const DecodeRequest& request_;
  DecodeListener& listener_;
  profiler::SpanRecorder* recorder_;
  Drafter drafter_;
  Target target_;
  DeviceRound device_round_;
  TextAhead text_ahead_;
  Probe probe_;

  std::vector<std::int32_t> text_;  // prompt and output; the root is the last
  std::int32_t root_position_ = 0;
  std::int32_t round_index_ = 0;
  std::int64_t round_begin_ns_ = 0;
  bool ended_ = false;
  bool ran_on_device_ = false;  // whether the current round ran on the device
  bool ran_ahead_ = false;      // likewise, perhaps together with earlier rounds
  DecodeResult result_;

  Verdict verdict_;
  std::vector<CacheMove> moves_;
  std::vector<traces::DraftToken> draft_tokens_;
  RoundReport report_;
};

}  // namespace

Result<DecodeResult> decode(Backend& backend, Strategy& strategy, const DecodeRequest& request,
                            Chooser& chooser, DecodeListener& listener, profiler::SpanRecorder* recorder) {
  DRAFTSCOPE_TRY(check_request(backend, request, chooser));
  // Done before the request's time begins: making a copy takes as long as loading a model.
  for (const speculation::WeightFormat weights : strategy.draft_weights(backend.describe()))
    DRAFTSCOPE_TRY(backend.prepare_draft_weights(weights));
  return Decoder(backend, strategy, request, chooser, listener, recorder).run();
}

}  // namespace draftscope::engine
