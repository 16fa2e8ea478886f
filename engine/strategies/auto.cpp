// SPDX-License-Identifier: GPL-3.0-or-later
// auto: each round the draft that the rule (draftscope/speculation/auto/auto_rule.h) expects most of.
#include <draftscope/engine/skip_set.h>
#include <draftscope/speculation/auto/auto_rule.h>
#include <draftscope/speculation/rules/rules_of.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "strategies/strategies.h"

namespace draftscope::engine {

namespace {

using speculation::AutoChoice;
using speculation::AutoRule;
using speculation::MadeBy;
using speculation::SublayerMask;
using speculation::WeightFormat;

/// A part of the model that may draft.
struct ModelDrafter {
  std::string name;
  SublayerMask mask;
  std::optional<WeightFormat> weights;
  speculation::ExpectedDrafter expected;
};

/// Share of best tokens that rounding keeps, before a token was judged: a little below what models trained in
/// bf16 show.
double expected_acceptance(double bits) {
  return bits >= 8.0 ? 0.95 : bits >= 5.0 ? 0.88 : bits >= 4.0 ? 0.8 : 0.6;
}

/// Bits of what most of the target's weights are held in; 16 where its name says nothing.
double bits_of(const BackendDescription& target) {
  const auto format = speculation::parse_weight_format(target.weights.substr(0, target.weights.find(',')));
  return format ? speculation::weight_format_row(*format).bits : 16.0;
}

class Auto final : public Strategy {
 public:
  Auto(std::vector<WeightFormat> formats, std::vector<ModelDrafter> drafters, std::int32_t n_layers,
       std::int32_t max_positions, speculation::AutoOptions options)
      : formats_(std::move(formats)),
        drafters_(std::move(drafters)),
        full_(n_layers),
        context_(static_cast<std::size_t>(max_positions)),
        options_(std::move(options)) {}

  /// The formats that the backend makes and that are narrower than the target's.
  std::vector<WeightFormat> draft_weights(const BackendDescription& target) override {
    const MadeBy maker = target.device == "cuda"  ? MadeBy::cuda
                         : target.device == "cpu" ? MadeBy::cpu
                                                  : MadeBy::none;
    const double target_bits = bits_of(target);
    std::vector<WeightFormat> held;
    for (const WeightFormat format : formats_) {
      const speculation::WeightFormatRow& row = speculation::weight_format_row(format);
      if (maker != MadeBy::none && row.made_by == maker && row.bits < target_bits) held.push_back(format);
    }
    if (!rule_) begin(held, target_bits);
    return held;
  }

  void begin_request(const RequestView& request) override {
    if (!rule_) begin({}, 16.0);
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
      return {.origin = "text", .proposals = proposals_};
    }
    if (choice_.kind == AutoChoice::Kind::vanilla) return {.origin = "vanilla"};
    const ModelDrafter& drafter = drafters_[static_cast<std::size_t>(choice_.drafter)];
    return {.mask = &drafter.mask,
            .draft_length = choice_.length,
            .threshold = choice_.threshold,
            .weights = drafter.weights,
            .origin = drafter.name};
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

 private:
  void begin(const std::vector<WeightFormat>& held, double target_bits) {
    for (const WeightFormat format : held) {
      const speculation::WeightFormatRow& row = speculation::weight_format_row(format);
      drafters_.push_back(
          {std::string(row.name), full_, format, {row.bits / target_bits, expected_acceptance(row.bits)}});
    }
    for (const ModelDrafter& drafter : drafters_) options_.drafters.push_back(drafter.expected);
    rule_.emplace(options_);
    proposals_.reserve(static_cast<std::size_t>(options_.max_length));
    judged_.reserve(static_cast<std::size_t>(options_.max_length));
  }

  [[nodiscard]] std::string detail(std::int64_t elapsed_ns) const {
    const std::string drafter =
        choice_.drafter < 0 ? std::string() : drafters_[static_cast<std::size_t>(choice_.drafter)].name;
    return fmt::format(
        R"({{"choice":"{}","reason":"{}","drafter":"{}","length":{},"threshold":{},"expected_tokens":{:.4f},)"
        R"("expected_cost":{:.4f},"tokens":{},"time_ns":{},"next_rate":{:.4f},"may_lose":{:.3f}}})",
        speculation::auto_kind_name(choice_.kind), speculation::auto_reason_name(choice_.reason), drafter,
        choice_.length, choice_.threshold, choice_.expected_tokens, choice_.expected_cost, emitted_,
        elapsed_ns, choice_.next_rate, choice_.balance);
  }

  std::vector<WeightFormat> formats_;  // that may draft, if the target's are wider
  std::vector<ModelDrafter> drafters_;
  SublayerMask full_;
  std::size_t context_;
  speculation::AutoOptions options_;
  std::optional<AutoRule> rule_;
  AutoChoice choice_;
  speculation::RoundTimes times_;  // of the round at hand
  std::int64_t began_ns_ = -1;     // -1 = the request has had no round
  std::int32_t emitted_ = 0;
  std::vector<Proposal> proposals_;
  std::vector<speculation::JudgedToken> judged_;
};

Result<std::vector<WeightFormat>> listed_formats(std::string_view text) {
  std::vector<WeightFormat> formats;
  if (text.empty() || text == "none") return formats;
  while (true) {
    const std::size_t plus = text.find('+');
    const auto format = speculation::parse_weight_format(text.substr(0, plus));
    if (!format || speculation::weight_format_row(*format).made_by == MadeBy::none)
      return fail("strategy auto: formats: found {}, expected one of {}, {}", text.substr(0, plus),
                  speculation::made_weight_formats(MadeBy::cpu),
                  speculation::made_weight_formats(MadeBy::cuda));
    if (std::find(formats.begin(), formats.end(), *format) == formats.end()) formats.push_back(*format);
    if (plus == std::string_view::npos) return formats;
    text.remove_prefix(plus + 1);
  }
}

}  // namespace

Result<std::unique_ptr<Strategy>> make_auto(const speculation::StrategySpecification& specification,
                                            const speculation::ModelShape& shape,
                                            const StrategyResources& /*resources*/) {
  DRAFTSCOPE_TRY_ASSIGN(auto formats, listed_formats(specification.text("formats")));
  std::vector<ModelDrafter> drafters;
  for (const std::int32_t exit : speculation::listed_layers(specification.text("exits"))) {
    if (exit < 1 || exit >= shape.n_layers)
      return fail("strategy auto: exits: found {}, expected 1 to {}", exit, shape.n_layers - 1);
    drafters.push_back({fmt::format("exit {}", exit),
                        SublayerMask::early_exit(shape.n_layers, exit),
                        std::nullopt,
                        {static_cast<double>(exit) / shape.n_layers, 0.5}});
  }
  const SkipSetText skipped{specification.text("skip-attention"), specification.text("skip-mlp")};
  if (!skipped.attention.empty() || !skipped.mlp.empty()) {
    auto mask = parse_skip_set_text(skipped, shape.n_layers);
    if (!mask) return fail("strategy auto: {}", mask.error().message);
    drafters.push_back({"skip set", *std::move(mask), std::nullopt, {0.8, 0.7}});
  }
  speculation::AutoOptions options{.drafters = {},
                                   .max_length = specification.integer("max-gamma"),
                                   .account = {.share = specification.number("loss")}};
  return std::make_unique<Auto>(std::move(formats), std::move(drafters), shape.n_layers,
                                static_cast<std::int32_t>(shape.max_positions), std::move(options));
}

}  // namespace draftscope::engine
