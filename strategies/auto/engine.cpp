// SPDX-License-Identifier: GPL-3.0-or-later
// auto: each round takes the draft from which the rule (rule.h) expects most.
#include <draftscope/speculation/policy_file.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "strategies/auto/rule.h"
#include "strategies/auto/rule_drafters.h"
#include "strategies/engine.h"

namespace draftscope::engine {

namespace {

using speculation::AutoChoice;
using speculation::AutoDrafter;
using speculation::AutoRule;

class Auto final : public Strategy {
 public:
  Auto(const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
       OpenedDraftModel layer)
      : specification_(specification),
        n_layers_(shape.n_layers),
        context_(static_cast<std::size_t>(shape.max_positions)),
        layer_(std::move(layer)),
        model_{.backend = layer_.backend.get(), .join = layer_.join.get()} {
    if (model_.join != nullptr) states_.push_back(shape.n_layers);
  }

  /// The formats that the backend makes in addition to the target's and that are narrower.
  std::vector<speculation::WeightFormat> draft_weights(const BackendDescription& target) override {
    if (!rule_) {
      speculation::HeldTarget held = speculation::held_target(target.device, target.weights);
      held.formats = target.draft_formats;
      begin(std::move(held));
    }
    std::vector<speculation::WeightFormat> held;
    for (const AutoDrafter& drafter : drafters_)
      if (drafter.weights) held.push_back(*drafter.weights);
    return held;
  }

  void begin_request(const RequestView& request) override {
    if (!rule_) begin({});
    began_ns_ = -1;
    const std::size_t longest = request.prompt.size() + static_cast<std::size_t>(request.max_new_tokens);
    rule_->begin_request(request.prompt, std::min(longest, std::max(context_, request.prompt.size())));
  }

  RoundPlan plan(const RoundView& round) override {
    if (began_ns_ >= 0) {
      times_.round_ns = round.now_ns - began_ns_;
      rule_->end_round(choice_, times_, emitted_);
    }
    began_ns_ = round.now_ns;
    choice_ = rule_->choose(round.text, round.remaining_tokens - 1);
    proposals_.clear();
    if (choice_.kind == AutoChoice::Kind::text) {
      for (const std::int32_t token : rule_->guess(round.text, choice_))
        proposals_.push_back({token, static_cast<std::int32_t>(proposals_.size()) - 1});
      return {.origin = "text", .proposals = proposals_, .states = states_};
    }
    if (choice_.kind == AutoChoice::Kind::vanilla) return {.origin = "vanilla", .states = states_};
    const AutoDrafter& drafter = drafters_[static_cast<std::size_t>(choice_.drafter)];
    if (drafter.is_next_token_layer())
      return {.draft_length = choice_.length,
              .threshold = choice_.threshold,
              .origin = drafter.name,
              .draft_model = &model_,
              .states = states_};
    return {.mask = &drafter.mask,
            .draft_length = choice_.length,
            .threshold = choice_.threshold,
            .weights = drafter.weights,
            .origin = drafter.name,
            .states = states_};
  }

  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    emitted_ = static_cast<std::int32_t>(outcome.emitted.size());
    times_ = {.rows = outcome.drafted() + 1,
              .steps = static_cast<std::int32_t>(outcome.steps.size()),
              .drafter = choice_.drafter,
              .draft_ns = outcome.draft_ns};
    judged_.clear();
    const auto tested = static_cast<std::size_t>(std::min(outcome.accepted() + 1, outcome.drafted()));
    for (std::size_t i = 0; i < tested && i < outcome.steps.size(); ++i)
      judged_.push_back({outcome.steps[i].confidence, static_cast<std::int32_t>(i) < outcome.accepted()});
    rule_->judge(choice_, judged_);
    if (log == nullptr) return;
    log->add({.kind = "draft choice",
              .score = choice_.rate(),
              .has_score = true,
              .adopted = choice_.kind != AutoChoice::Kind::vanilla,
              .detail = [&] { return detail(outcome.elapsed_ns); }});
  }

  const Backend* own_backend() const override { return layer_.backend.get(); }
  DraftModel* next_token_layer() override { return model_.join != nullptr ? &model_ : nullptr; }

 private:
  void begin(speculation::HeldTarget target) {
    target.has_next_token_layer = model_.join != nullptr;
    // make_auto() has checked that there are no errors.
    if (auto drafters = speculation::auto_drafters(specification_, n_layers_, target))
      drafters_ = *std::move(drafters);
    const speculation::AutoOptions options = speculation::auto_options(specification_, drafters_);
    proposals_.reserve(static_cast<std::size_t>(options.max_length));
    judged_.reserve(static_cast<std::size_t>(options.max_length));
    rule_.emplace(options);
  }

  [[nodiscard]] std::string detail(std::int64_t elapsed_ns) const {
    const std::string drafter =
        choice_.drafter < 0 ? std::string() : drafters_[static_cast<std::size_t>(choice_.drafter)].name;
    const std::string_view source = choice_.kind == AutoChoice::Kind::text
                                        ? speculation::text_source_name(choice_.source)
                                        : std::string_view();
    return fmt::format(
        R"({{"choice":"{}","reason":"{}","source":"{}","drafter":"{}","length":{},"threshold":{},)"
        R"("expected_tokens":{:.4f},"expected_cost":{:.4f},"tokens":{},"time_ns":{},"next_rate":{:.4f},)"
        R"("may_lose":{:.3f}}})",
        speculation::auto_kind_name(choice_.kind), speculation::auto_reason_name(choice_.reason), source,
        drafter, choice_.length, choice_.threshold, choice_.expected_tokens, choice_.expected_cost, emitted_,
        elapsed_ns, choice_.next_rate, choice_.balance);
  }

  speculation::StrategySpecification specification_;
  std::int32_t n_layers_;
  std::size_t context_;
  OpenedDraftModel layer_;
  DraftModel model_;
  std::vector<std::int32_t> states_;  // boundaries whose states the layer reads
  std::vector<AutoDrafter> drafters_;
  std::optional<AutoRule> rule_;
  AutoChoice choice_;
  speculation::RoundTimes times_;  // times of the current round
  std::int64_t began_ns_ = -1;     // begin of the current round; -1 = the request has had no round
  std::int32_t emitted_ = 0;
  std::vector<Proposal> proposals_;
  std::vector<speculation::JudgedToken> judged_;
};

Result<std::unique_ptr<Strategy>> make_auto(const speculation::StrategySpecification& specification,
                                            const speculation::ModelShape& shape,
                                            const StrategyResources& resources) {
  const speculation::HeldTarget checkpoint{.has_next_token_layer =
                                               resources.open_next_token_layer != nullptr};
  DRAFTSCOPE_TRY(speculation::auto_drafters(specification, shape.n_layers, checkpoint));
  OpenedDraftModel layer;
  if (resources.open_next_token_layer) {
    DRAFTSCOPE_TRY_ASSIGN(layer, resources.open_next_token_layer());
  }
  return std::make_unique<Auto>(specification, shape, std::move(layer));
}

/// Whether the policy that it begins with was made for another checkpoint.
std::string note_of_policy(const speculation::StrategySpecification& specification,
                           const StrategyResources& resources) {
  const std::string& file = specification.text("policy");
  if (file == "none") return {};
  const auto policy = speculation::read_policy(file);
  return policy ? speculation::other_checkpoint_note(*policy, resources.checkpoint_hash, file) : "";
}

}  // namespace

StrategyMakers engine_of_auto() {
  return {.strategies = {{.name = "auto",
                          .make = make_auto,
                          .completed = speculation::with_policy_read,
                          .note = note_of_policy}}};
}

}  // namespace draftscope::engine
