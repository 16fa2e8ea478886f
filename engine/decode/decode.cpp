// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/decode.h>

#include <algorithm>
#include <array>

#include "decode/acceptance.h"
#include "decode/drafter.h"
#include "decode/round_clock.h"

namespace draftscope::engine {

namespace {

using traces::DraftStop;
using traces::Phase;
using traces::RequestStop;

bool contains(std::span<const std::int32_t> tokens, std::int32_t token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

Result<void> check_request(const Backend& backend, const DecodeRequest& request, const Chooser& chooser) {
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
  if (request.sampling.coupled && !chooser.counter_key())
    return fail("sampling: coupled choices need counter-based random numbers, which this chooser has not");
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
        drafter_(backend, request, chooser, recorder),
        probe_(backend, 0) {
    const auto most = static_cast<std::size_t>(std::min(request.max_new_tokens, backend.cache_rows()));
    text_.reserve(request.prompt.size() + most);
    result_.tokens.reserve(most);
    // What a round may hold: none is wider than this.
    const auto widest = static_cast<std::size_t>(backend.max_invariant_rows());
    rows_.reserve(widest);
    moves_.reserve(widest);
    verdict_.path.reserve(widest);
    verdict_.tested.reserve(widest);
    draft_rows_.reserve(widest);
    text_.assign(request.prompt.begin(), request.prompt.end());
  }

  Result<DecodeResult> run() {
    RoundClock clock(recorder_);
    result_.start_ns = clock.now_ns();
    strategy_.begin_request({.prompt = request_.prompt,
                             .max_new_tokens = request_.max_new_tokens,
                             .eos_tokens = request_.eos_tokens,
                             .greedy = request_.sampling.greedy()});
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
      DRAFTSCOPE_TRY(backend_.forward(chain(done, {0, n_layers_}, wanted), outputs_));
      done += count;
    }
    std::int32_t first = outputs_.top[0].token;
    if (!request_.sampling.greedy()) {
      warp(outputs_.logits, request_.sampling, target_);
      first = request_.sampling.coupled ? coupled_token(target_, *chooser_.counter_key(), length)
                                        : draw_token(target_, {DrawPurpose::target, length}, chooser_);
    }
    result_.first_token_ns = clock.end();
    root_position_ = length;
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
    clock.begin_round(row.id);
    row.index = round_index_++;
    row.root_position = root_position_;
    row.start_ns = clock.begin(Phase::control);
    const std::int32_t remaining = remaining_tokens();
    RoundPlan plan = strategy_.plan({row.index, root_position_, remaining, text_});
    DRAFTSCOPE_TRY(check_plan(plan));
    if (static_cast<std::int32_t>(plan.extra_rows.size()) >= max_rows()) plan.extra_rows = {};
    const DraftLimits limits = limits_of(plan, remaining, row);
    const std::int64_t planned_ns = clock.begin(limits.steps > 0 ? Phase::draft : Phase::verify);
    std::int64_t drafted_ns = planned_ns;
    drafter_.clear();
    ran_on_device_ = can_run_alone(plan, limits.steps);
    if (ran_on_device_) {
      DRAFTSCOPE_TRY(run_on_device(plan, limits.steps, row.draft_stop));
      if (limits.steps > 0) drafted_ns = clock.begin_before_now(Phase::verify, alone_.verify_ns);
    } else {
      if (plan.mask != nullptr || plan.draft_model != nullptr) {
        DRAFTSCOPE_TRY(drafter_.draft(plan, text_, limits, row.draft_stop));
      } else {
        drafter_.take(plan.proposals, limits);
      }
      if (limits.steps > 0) drafted_ns = clock.begin(Phase::verify);
      DRAFTSCOPE_TRY(verify(plan));
    }
    row.drafted = static_cast<std::int32_t>(drafter_.nodes().size());
    for (const DraftNode& node : drafter_.nodes()) row.tree_depth = std::max(row.tree_depth, node.depth);
    row.verify_rows = row.drafted + 1 + static_cast<std::int32_t>(plan.extra_rows.size());
    const std::int64_t verified_ns = clock.begin(Phase::accept);
    judge();
    DRAFTSCOPE_TRY(commit(plan, row));
    const std::int64_t accepted_ns = clock.begin(Phase::control);
    // Before the strategy goes on: the plan's mask is its own, and the next search writes over it.
    describe_draft(plan, row);
    observe(plan, limits, row);
    std::int64_t optimise_ns = -1;
    if (!ended_ && strategy_.wants_to_optimise()) {
      optimise_ns = clock.begin(Phase::optimise);
      DRAFTSCOPE_TRY(optimise(row.index));
    }
    row.end_ns = clock.end_round();
    row.optimise_ns = optimise_ns < 0 ? 0 : row.end_ns - optimise_ns;
    row.draft_ns = drafted_ns - planned_ns;
    row.verify_ns = verified_ns - drafted_ns;
    row.accept_ns = accepted_ns - verified_ns;
    row.control_ns = (row.end_ns - row.start_ns) - (accepted_ns - planned_ns) - row.optimise_ns;

    listener_.on_round(report_);
    if (recorder_ != nullptr) recorder_->flush();
    return {};
  }

  /// Of a verification now.
  [[nodiscard]] std::int32_t max_rows() const {
    return std::min(backend_.max_invariant_rows(), backend_.cache_rows() - root_position_);
  }

  [[nodiscard]] std::int32_t remaining_tokens() const {
    return request_.max_new_tokens - static_cast<std::int32_t>(result_.tokens.size());
  }

  Result<void> check_plan(const RoundPlan& plan) const {
    const std::size_t sources = (plan.mask != nullptr ? 1U : 0U) + (plan.draft_model != nullptr ? 1U : 0U) +
                                (plan.proposals.empty() ? 0U : 1U);
    if (sources > 1)
      return fail("round plan: found {} sources of a draft, expected a mask, a draft model or guesses",
                  sources);
    for (std::size_t i = 0; i < plan.proposals.size(); ++i) {
      const Proposal& proposal = plan.proposals[i];
      if (proposal.parent < -1 || proposal.parent >= static_cast<std::int32_t>(i))
        return fail("round plan: guess {} extends {}, expected -1 to {}", i, proposal.parent, i - 1);
      if (proposal.token < 0 || proposal.token >= backend_.shape().vocab)
        return fail("round plan: guess {} is token {}, expected 0 to {}", i, proposal.token,
                    backend_.shape().vocab - 1);
    }
    if (plan.draft_model != nullptr && plan.draft_model->backend->shape().vocab != backend_.shape().vocab)
      return fail("draft model: found a vocabulary of {}, expected the target's {}",
                  plan.draft_model->backend->shape().vocab, backend_.shape().vocab);
    if (plan.verification == Verification::above_exit &&
        (!plan.branches.empty() || !plan.extra_rows.empty() || !plan.states.empty()))
      return fail("verification above the exit: found a tree, riders or states, expected a chain alone");
    if (!plan.states.empty() && !plan.extra_rows.empty())
      return fail("round plan: found states and riders, expected one of them at most");
    if (plan.mask == nullptr) return {};
    if (plan.mask->n_layers() != n_layers_)
      return fail("sublayer mask: found {} layers, expected {}", plan.mask->n_layers(), n_layers_);
    if (plan.verification == Verification::above_exit && !plan.mask->is_early_exit())
      return fail(
          "verification above the exit: found a mask that skips sublayers below layer {}, expected an early "
          "exit",
          plan.mask->exit_layer());
    return {};
  }

  /// What fits: the round may emit one token more than its draft is deep, and the root, each draft token and
  /// each extra row take a cache row and a row of the verification.
  DraftLimits limits_of(const RoundPlan& plan, std::int32_t remaining, traces::Round& row) {
    const auto extra_rows = static_cast<std::int32_t>(plan.extra_rows.size());
    const bool has_model = plan.mask != nullptr || plan.draft_model != nullptr;
    if (has_model)
      row.planned = plan.draft_length;
    else
      for (std::size_t i = 0; i < plan.proposals.size(); ++i)
        row.planned = std::max(row.planned, depth_of(plan.proposals, i));
    row.threshold = plan.threshold;
    std::int32_t steps = std::min({row.planned, remaining - 1, backend_.cache_rows() - root_position_ - 1});
    const std::int32_t nodes = max_rows() - 1 - extra_rows;
    if (plan.draft_model != nullptr)
      steps = std::min(steps, plan.draft_model->backend->cache_rows() - root_position_);
    steps = std::clamp(steps, 0, std::max(nodes, 0));
    row.draft_stop = row.planned == 0      ? DraftStop::no_draft
                     : steps < row.planned ? DraftStop::budget
                                           : DraftStop::length;
    return {steps, std::max(nodes, 0)};
  }

  static std::int32_t depth_of(std::span<const Proposal> proposals, std::size_t i) {
    std::int32_t depth = 1;
    for (std::int32_t at = proposals[i].parent; at >= 0; at = proposals[static_cast<std::size_t>(at)].parent)
      ++depth;
    return depth;
  }

  /// Whether the backend can do draft and verification of this round in one go.
  [[nodiscard]] bool can_run_alone(const RoundPlan& plan, std::int32_t length) const {
    if (!backend_.has_chain_rounds() || (length > 0 && plan.verification != Verification::all_layers) ||
        !plan.branches.empty() || !plan.proposals.empty() || !plan.extra_rows.empty() ||
        !plan.states.empty() || plan.draft_model != nullptr)
      return false;
    // Without a draft a greedy round is one pass either way; a sampled one would bring its logits to the
    // host.
    if (request_.sampling.greedy()) return length > 0;
    return chooser_.counter_key().has_value();
  }

  /// Draft and verification by the backend itself.
  Result<void> run_on_device(const RoundPlan& plan, std::int32_t length, DraftStop& stop) {
    DRAFTSCOPE_TRY(backend_.chain_round({.root = text_.back(),
                                         .root_position = root_position_,
                                         .draft_length = length,
                                         .mask = length > 0 ? plan.mask : nullptr,
                                         .layers = {0, length > 0 ? plan.mask->exit_layer() : 0},
                                         .threshold = plan.threshold,
                                         .stops = request_.eos_tokens,
                                         .sampling = &request_.sampling,
                                         .key = chooser_.counter_key().value_or(CounterKey{})},
                                        alone_));
    drafter_.take(alone_);
    outputs_.top = alone_.verified;
    if (drafter_.steps().empty()) return {};
    const DraftStep& last = drafter_.steps().back();
    if (contains(request_.eos_tokens, last.token))
      stop = DraftStop::eos;
    else if (last.index + 1 < length)
      stop = DraftStop::threshold;
    return {};
  }

  /// Leaves the target's outputs for the root, every draft token and every extra row in outputs_.
  Result<void> verify(const RoundPlan& plan) {
    const std::vector<DraftNode>& nodes = drafter_.nodes();
    if (!nodes.empty() && plan.verification == Verification::above_exit)
      return verify_above(plan.mask->exit_layer());
    rows_.assign(1, {.token = text_.back(), .hidden = -1, .position = root_position_});
    for (const DraftNode& node : nodes)
      rows_.push_back({.token = node.token, .hidden = -1, .position = root_position_ + node.depth});
    for (const ExtraRow& extra_row : plan.extra_rows)
      rows_.push_back(
          {.token = extra_row.token, .hidden = -1, .position = root_position_ + extra_row.offset});
    Wanted wanted = head_wanted(0);
    wanted.hidden_after = plan.states;
    Batch batch = chain(root_position_, {0, n_layers_}, wanted);
    if (!drafter_.is_chain() || !plan.extra_rows.empty()) {
      build_ancestors(plan);
      batch.ancestors = ancestors_;
    }
    return backend_.forward(batch, outputs_);
  }

  /// A word a row: no verification is wider than the 64 rows that are batch-invariant.
  void build_ancestors(const RoundPlan& plan) {
    const std::vector<DraftNode>& nodes = drafter_.nodes();
    constexpr std::size_t bits = 64;
    const std::size_t words = (rows_.size() + bits - 1) / bits;
    ancestors_.assign(rows_.size() * words, 0);
    const auto see = [&](std::size_t row, std::size_t other) {
      ancestors_[row * words + other / bits] |= std::uint64_t{1} << (other % bits);
    };
    const auto see_as = [&](std::size_t row, std::size_t other) {
      for (std::size_t word = 0; word < words; ++word)
        ancestors_[row * words + word] |= ancestors_[other * words + word];
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::int32_t parent_row = nodes[i].parent + 1;
      const auto parent = static_cast<std::size_t>(parent_row);
      see_as(i + 1, parent);
      see(i + 1, parent);
    }
    const std::size_t first = nodes.size() + 1;
    for (std::size_t i = 0; i < plan.extra_rows.size(); ++i) {
      see(first + i, 0);
      for (const std::int32_t other : plan.extra_rows[i].sees)
        see(first + i, first + static_cast<std::size_t>(other));
    }
  }

  Result<void> verify_above(std::int32_t exit) {
    // Every row but the last went through the layers below the exit while drafting, with the target's own
    // weights.
    const auto last = static_cast<std::int32_t>(drafter_.nodes().size());
    const std::array<std::int32_t, 1> boundary{exit};
    rows_.assign(1,
                 {.token = drafter_.nodes().back().token, .hidden = -1, .position = root_position_ + last});
    Wanted states;
    states.hidden_after = boundary;
    DRAFTSCOPE_TRY(backend_.forward(chain(root_position_ + last, {0, exit}, states), outputs_));
    exit_states_ = drafter_.exit_states();
    exit_states_.insert(exit_states_.end(), outputs_.hidden.begin(), outputs_.hidden.end());
    rows_.clear();
    for (std::int32_t k = 0; k <= last; ++k)
      rows_.push_back({.token = -1, .hidden = k, .position = root_position_ + k});
    Batch above = chain(root_position_, {exit, n_layers_}, head_wanted(0));
    above.hidden = exit_states_;
    return backend_.forward(above, outputs_);
  }

  void judge() {
    const std::vector<DraftNode>& nodes = drafter_.nodes();
    if (request_.sampling.greedy()) return judge_greedily(nodes, outputs_.top, verdict_);
    if (ran_on_device_) {
      verdict_.path.clear();
      verdict_.tested.assign(nodes.size(), 0);
      for (std::int32_t i = 0; i < alone_.accepted; ++i) verdict_.path.push_back(i);
      for (std::size_t i = 0; i < nodes.size(); ++i)
        verdict_.tested[i] = static_cast<std::int32_t>(i) <= alone_.accepted ? 1 : 0;
      verdict_.own = alone_.own_token;
      return;
    }
    const auto vocab = static_cast<std::size_t>(backend_.shape().vocab);
    const TargetAt target_at = [&](std::int32_t row) -> const Distribution& {
      warp(std::span(outputs_.logits).subspan(static_cast<std::size_t>(row) * vocab, vocab),
           request_.sampling, target_);
      return target_;
    };
    if (request_.sampling.coupled)
      return judge_coupled(nodes, target_at, root_position_, *chooser_.counter_key(), verdict_);
    judge_.judge({nodes, drafter_.distributions()}, target_at, root_position_, chooser_, verdict_);
  }

  /// Makes the accepted path the text's continuation.
  Result<void> commit(const RoundPlan& plan, traces::Round& row) {
    const std::vector<DraftNode>& nodes = drafter_.nodes();
    const auto accepted = static_cast<std::int32_t>(verdict_.path.size());
    row.accepted = accepted;
    row.bonus_token = verdict_.own;
    // Node i was verified in cache row root + 1 + i; its place on the path is never behind that.
    moves_.clear();
    for (std::int32_t depth = 0; depth < accepted; ++depth) {
      const std::int32_t node = verdict_.path[static_cast<std::size_t>(depth)];
      if (node != depth) moves_.push_back({root_position_ + 1 + node, root_position_ + 1 + depth});
    }
    if (!moves_.empty()) DRAFTSCOPE_TRY(backend_.move_cache_rows(moves_));

    const std::size_t before = result_.tokens.size();
    for (std::int32_t k = 0; k < accepted && !ended_; ++k)
      emit(nodes[static_cast<std::size_t>(verdict_.path[static_cast<std::size_t>(k)])].token);
    if (!ended_) emit(verdict_.own);
    row.emitted = static_cast<std::int32_t>(result_.tokens.size() - before);
    report_.emitted = std::span(result_.tokens).subspan(before);
    if (plan.draft_model != nullptr) {
      std::int32_t kept = 0;
      const auto spine = drafter_.spine();
      while (kept < accepted && static_cast<std::size_t>(kept) < spine.size() &&
             verdict_.path[static_cast<std::size_t>(kept)] == spine[static_cast<std::size_t>(kept)])
        ++kept;
      plan.draft_model->valid = std::min(plan.draft_model->valid, root_position_ + 1 + kept);
    }
    root_position_ += accepted + 1;
    return {};
  }

  void observe(const RoundPlan& plan, const DraftLimits& limits, const traces::Round& row) {
    const std::size_t rows = drafter_.nodes().size() + 1;
    const std::span<const TopToken> best = outputs_.top;
    strategy_.observe({.steps = drafter_.steps(),
                       .nodes = drafter_.nodes(),
                       .accepted_nodes = verdict_.path,
                       .emitted = report_.emitted,
                       .stop = row.draft_stop,
                       .planned = row.planned,
                       .longest = limits.steps,
                       .verified = best.first(rows),
                       .extra_rows = best.subspan(rows),
                       .states = plan.states.empty() ? std::span<const float>() : outputs_.hidden},
                      listener_.decisions());
  }

  Result<void> optimise(std::int32_t round) {
    probe_.set_committed(root_position_);
    return strategy_.optimise({round, root_position_, remaining_tokens(), text_}, probe_,
                              listener_.decisions());
  }

  /// Appends to the text unless the token ends it; returns whether it was appended.
  bool emit(std::int32_t token) {
    if (contains(request_.eos_tokens, token)) {
      (void)end(RequestStop::eos);
      return false;
    }
    result_.tokens.push_back(token);
    text_.push_back(token);
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
    traces::LayerSet& set = report_.layer_set;
    set.n_layers = set.exit_layer = 0;
    set.skipped.clear();
    set.origin.clear();
    if (row.drafted > 0 && plan.mask != nullptr) {
      set.n_layers = n_layers_;
      set.exit_layer = row.exit_layer = plan.mask->exit_layer();
      plan.mask->pack(set.skipped);
      set.origin = plan.origin;
    }
    const std::vector<DraftNode>& nodes = drafter_.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i)
      draft_rows_.push_back({.round = row.id,
                             .index = static_cast<std::int32_t>(i),
                             .parent = nodes[i].parent,
                             .token = nodes[i].token,
                             .confidence = nodes[i].confidence,
                             .probability = nodes[i].probability,
                             .accepted = false,
                             .tested = verdict_.tested[i] != 0});
    for (const std::int32_t node : verdict_.path) draft_rows_[static_cast<std::size_t>(node)].accepted = true;
    report_.draft_tokens = draft_rows_;
  }

  [[nodiscard]] Wanted head_wanted(std::int32_t from) const {
    return {.hidden_after = {},
            .head_from = from,
            .head = true,
            .logits = !request_.sampling.greedy(),
            .top_k = 1};
  }

  [[nodiscard]] Batch chain(std::int32_t first_row, LayerRange layers, const Wanted& wanted) const {
    return {.rows = rows_,
            .hidden = {},
            .committed = first_row,
            .first_row = first_row,
            .ancestors = {},
            .mask = nullptr,
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
  Drafter drafter_;
  Probe probe_;

  std::vector<std::int32_t> text_;  // prompt and output; the root is the last
  std::int32_t root_position_ = 0;
  std::int32_t round_index_ = 0;
  bool ended_ = false;
  bool ran_on_device_ = false;  // the round at hand was the backend's
  DecodeResult result_;

  std::vector<Row> rows_;
  std::vector<std::uint64_t> ancestors_;
  std::vector<CacheMove> moves_;
  std::vector<float> exit_states_;  // [rows drafted][d_model]
  SampledJudge judge_;
  Verdict verdict_;
  Distribution target_;
  std::vector<traces::DraftToken> draft_rows_;
  RoundReport report_;
  Outputs outputs_;
  ChainRoundOutputs alone_;
};

}  // namespace

Result<DecodeResult> decode(Backend& backend, Strategy& strategy, const DecodeRequest& request,
                            Chooser& chooser, DecodeListener& listener, profiler::SpanRecorder* recorder) {
  DRAFTSCOPE_TRY(check_request(backend, request, chooser));
  return Decoder(backend, strategy, request, chooser, listener, recorder).run();
}

}  // namespace draftscope::engine
