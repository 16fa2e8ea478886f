// SPDX-License-Identifier: GPL-3.0-or-later
// cascade: drafters of several strengths, all parts of the target, and guesses from the text take turns at
// building one tree (rule.h; page.md).
#include <draftscope/base/to_size.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "strategies/cascade/rule.h"
#include "strategies/engine.h"

namespace draftscope::engine {

namespace {

using speculation::CascadeLevel;
using speculation::CascadeRule;
using speculation::WeightFormat;

struct CascadeOptions {
  std::int32_t max_depth = 12;
  std::int32_t max_nodes = 32;
  std::int32_t max_length = 5;
  std::int32_t siblings = 2;
  double mass = 0.9;
  std::int32_t match = 4;  // maximum matched tokens of the text's end; 0 = no lookup
  bool is_measured = true;
  double decay = 0.7;
  std::int32_t memory = 20;
};

/// Weights that a level reads in a step, relative to those that the target reads.
double weights_share(const CascadeLevel& level, const speculation::ModelShape& shape, double target_bits) {
  const double attention = 2.0 * shape.d_model * (shape.q_width() + shape.kv_width());
  const double mlp = 1.0 * shape.mlp_matrices() * shape.d_model * shape.d_ff;
  const double head = 1.0 * shape.d_model * shape.vocab;
  double read = head;
  for (std::int32_t layer = 0; layer < shape.n_layers; ++layer)
    read += (level.mask.runs_attention(layer) ? attention : 0.0) + (level.mask.runs_mlp(layer) ? mlp : 0.0);
  const double bits = level.weights ? speculation::weight_format_row(*level.weights).bits : target_bits;
  return read / (head + shape.n_layers * (attention + mlp)) * bits / target_bits;
}

class Cascade final : public Strategy, private DraftStages {
 public:
  Cascade(std::vector<CascadeLevel> levels, const speculation::ModelShape& shape,
          const CascadeOptions& options)
      : levels_(std::move(levels)), shape_(shape), options_(options), rule_(rule_for(16.0)) {}

  std::vector<WeightFormat> draft_weights(const BackendDescription& target) override {
    if (!has_begun_) rule_ = CascadeRule(rule_for(speculation::leading_bits(target.weights).value_or(16.0)));
    std::vector<WeightFormat> held;
    for (const CascadeLevel& level : levels_)
      if (level.weights) held.push_back(*level.weights);
    return held;
  }

  void begin_request(const RequestView& request) override {
    has_begun_ = true;
    eos_.assign(request.eos_tokens.begin(), request.eos_tokens.end());
  }

  RoundPlan plan(const RoundView& /*round*/) override {
    drafted_.assign(1, {.stays = 1.0, .is_open = true});
    spent_ = {};
    left_ = 0;
    is_done_ = false;
    passes_.clear();
    // Rounds without a draft tell the time of a target step.
    constexpr std::int64_t between = 64;
    if (options_.is_measured && rounds_++ % between == 0) return {.origin = "cascade"};
    return {.draft_length = options_.max_depth, .origin = "cascade", .stages = this};
  }

  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    judged_.clear();
    std::size_t tested = 0;  // tokens of the path after which a first child was judged
    std::int32_t parent = -1;
    for (;; parent = outcome.accepted_nodes[tested++]) {
      const auto child = std::find_if(outcome.nodes.begin(), outcome.nodes.end(),
                                      [&](const DraftNode& node) { return node.parent == parent; });
      if (child != outcome.nodes.end()) {
        const auto node = static_cast<std::int32_t>(child - outcome.nodes.begin());
        const bool is_right =
            tested < outcome.accepted_nodes.size() && outcome.accepted_nodes[tested] == node;
        const Drafted& by = of(node);
        judged_.push_back({by.level, by.share, by.matched, is_right});
      }
      if (tested == outcome.accepted_nodes.size()) break;
    }
    rule_.judge(judged_);
    rule_.end_verification(outcome.drafted() + 1, outcome.verify_ns);
    if (log == nullptr || outcome.nodes.empty()) return;
    log->add({.kind = "cascade", .score = spent_.tokens, .has_score = true, .detail = [&] {
                return detail(outcome);
              }});
  }

 private:
  /// A node as the rule sees it; the first is the root.
  struct Drafted {
    double stays = 0.0;    // expected probability that the target keeps it
    bool is_open = false;  // whether it may be extended
    std::int32_t level = 0;
    double share = 1.0;
    std::int32_t matched = 0;
    std::int32_t depth = 0;
  };
  struct Pass {
    std::int32_t level = 0;
    std::int32_t rows = 0;
  };

  [[nodiscard]] CascadeRule::Options rule_for(double target_bits) const {
    CascadeRule::Options options{.costs = {},
                                 .is_measured = options_.is_measured,
                                 .max_length = options_.max_length,
                                 .decay = options_.decay,
                                 .memory = options_.memory};
    for (const CascadeLevel& level : levels_)
      options.costs.push_back(weights_share(level, shape_, target_bits));
    return options;
  }

  [[nodiscard]] Drafted& of(std::int32_t node) { return drafted_[to_size(node + 1)]; }

  /// The open token with the highest probability to stay; none if there is no open token.
  [[nodiscard]] std::optional<std::int32_t> best_leaf(std::int32_t max_depth) const {
    std::optional<std::int32_t> best;
    double stays = 0.0;
    for (std::size_t i = 0; i < drafted_.size(); ++i)
      if (drafted_[i].is_open && drafted_[i].depth < max_depth && drafted_[i].stays > stays) {
        best = static_cast<std::int32_t>(i) - 1;
        stays = drafted_[i].stays;
      }
    return best;
  }

  /// Tokens that followed the path to a node earlier in text and path.
  [[nodiscard]] speculation::LastFollowed followed(const StagedDraft& draft, std::int32_t leaf) {
    if (options_.match < 1) return {};
    const std::size_t root = draft.text.size();
    path_text_.assign(draft.text.begin(), draft.text.end());
    for (std::int32_t at = leaf; at >= 0; at = draft.nodes[static_cast<std::size_t>(at)].parent)
      path_text_.insert(path_text_.begin() + static_cast<std::ptrdiff_t>(root),
                        draft.nodes[static_cast<std::size_t>(at)].token);
    return speculation::last_followed(path_text_, options_.match, options_.max_depth);
  }

  /// Takes guesses of the continuation, as long as each adds more than a row of the verification costs.
  [[nodiscard]] bool take_guesses(const speculation::LastFollowed& found, double stays) {
    guesses_.clear();
    matched_ = found.matched;
    if (found.tokens.empty()) return false;
    const double rate = rule_.guess_acceptance(found.matched);
    for (const std::int32_t token : found.tokens) {
      if (std::find(eos_.begin(), eos_.end(), token) != eos_.end()) break;
      stays *= rate;
      if (stays * spent_.time <= rule_.row_cost() * spent_.tokens) break;
      guesses_.push_back(token);
    }
    return !guesses_.empty();
  }

  std::optional<DraftStage> next(const StagedDraft& draft) override {
    if (is_done_) return std::nullopt;
    if (static_cast<std::int32_t>(draft.nodes.size()) >= options_.max_nodes) return std::nullopt;
    if (left_ < 1) {
      const auto leaf = best_leaf(draft.max_depth);
      if (!leaf) return std::nullopt;
      leaf_ = *leaf;
      const CascadeRule::Step step = rule_.choose(of(leaf_).stays, spent_, draft.max_depth - of(leaf_).depth);
      const speculation::LastFollowed found = followed(draft, leaf_);
      // Guesses cost almost nothing, so they are taken where nothing else pays or where they are as good.
      const bool is_as_good =
          step.level < 0 || rule_.guess_acceptance(found.matched) >= rule_.rate(step.level);
      if (is_as_good && take_guesses(found, of(leaf_).stays)) {
        is_done_ = step.level < 0;
        return DraftStage{.parent = leaf_, .guesses = guesses_};
      }
      if (step.level < 0) return std::nullopt;
      level_ = step.level;
      left_ = step.length;
    }
    guesses_.clear();
    const speculation::LastFollowed found = followed(draft, leaf_);
    const auto checked = std::min(found.tokens.size(), static_cast<std::size_t>(left_ - 1));
    guesses_.assign(found.tokens.begin(), found.tokens.begin() + static_cast<std::ptrdiff_t>(checked));
    const CascadeLevel& level = levels_[static_cast<std::size_t>(level_)];
    return DraftStage{.drafter = level_,
                      .mask = &level.mask,
                      .weights = level.weights,
                      .parent = leaf_,
                      .guesses = guesses_,
                      .mass = options_.mass,
                      .max_width = options_.siblings + 1};
  }

  void end_stage(const StagedDraft& draft, const DraftStage& stage, const StageOutcome& outcome) override {
    of(stage.parent).is_open = false;
    std::int32_t decided = 0;  // tokens of the stage, without siblings
    std::int32_t parent_before = -2;
    for (std::size_t i = static_cast<std::size_t>(outcome.first_node); i < draft.nodes.size(); ++i) {
      const DraftNode& node = draft.nodes[i];
      of(node.parent).is_open = false;
      decided += node.parent != parent_before ? 1 : 0;
      parent_before = node.parent;
      Drafted made{.level = stage.drafter < 0 ? rule_.levels() : stage.drafter,
                   .share = draft.shares[i],
                   .matched = stage.drafter < 0 ? matched_ : 0,
                   .depth = node.depth};
      made.stays = of(node.parent).stays * (stage.drafter < 0 ? rule_.guess_acceptance(matched_)
                                                              : rule_.acceptance(stage.drafter, made.share));
      made.is_open = std::find(eos_.begin(), eos_.end(), node.token) == eos_.end();
      spent_.tokens += made.stays;
      spent_.time += rule_.row_cost();
      drafted_.push_back(made);
    }
    if (stage.drafter < 0) return;
    spent_.time += rule_.pass_cost(stage.drafter);
    rule_.end_pass(stage.drafter, decided, outcome.ns);
    passes_.push_back({stage.drafter, outcome.rows});
    left_ = outcome.last < 0 ? 0 : left_ - decided;
    leaf_ = outcome.last;
  }

  [[nodiscard]] std::string detail(const RoundOutcome& outcome) const {
    std::string passes;
    for (const Pass& pass : passes_) {
      const speculation::SublayerMask& mask = levels_[static_cast<std::size_t>(pass.level)].mask;
      std::int32_t attentions = 0;
      std::int32_t mlps = 0;
      for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer) {
        attentions += mask.runs_attention(layer) ? 1 : 0;
        mlps += mask.runs_mlp(layer) ? 1 : 0;
      }
      passes +=
          fmt::format("{}[{},{},{},{}]", passes.empty() ? "" : ",", pass.level, attentions, mlps, pass.rows);
    }
    return fmt::format(R"({{"passes":[{}],"expected_tokens":{:.4f},"expected_time":{:.4f},"tokens":{}}})",
                       passes, spent_.tokens, spent_.time, outcome.emitted.size());
  }

  std::vector<CascadeLevel> levels_;
  speculation::ModelShape shape_;
  CascadeOptions options_;
  CascadeRule rule_;
  bool has_begun_ = false;
  std::vector<std::int32_t> eos_;
  std::int64_t rounds_ = 0;
  // The members below belong to the present round.
  std::vector<Drafted> drafted_;  // the root's, then the nodes'
  CascadeRule::Spent spent_;
  std::int32_t leaf_ = -1;
  std::int32_t level_ = 0;  // level of the present step
  std::int32_t left_ = 0;   // tokens left of the present step
  bool is_done_ = false;
  std::int32_t matched_ = 0;
  std::vector<std::int32_t> guesses_;
  std::vector<std::int32_t> path_text_;
  std::vector<Pass> passes_;
  std::vector<CascadeRule::Judged> judged_;
};

Result<std::unique_ptr<Strategy>> make_cascade(const speculation::StrategySpecification& specification,
                                               const speculation::ModelShape& shape,
                                               const StrategyResources& /*resources*/) {
  DRAFTSCOPE_TRY_ASSIGN(auto levels,
                        speculation::cascade_levels(specification.text("levels"), shape.n_layers));
  return std::make_unique<Cascade>(std::move(levels), shape,
                                   CascadeOptions{.max_depth = specification.integer("gamma"),
                                                  .max_nodes = specification.integer("nodes"),
                                                  .max_length = specification.integer("step-length"),
                                                  .siblings = specification.integer("siblings"),
                                                  .mass = specification.number("mass"),
                                                  .match = specification.integer("match"),
                                                  .is_measured = specification.text("costs") == "measured",
                                                  .decay = specification.number("decay"),
                                                  .memory = specification.integer("memory")});
}

}  // namespace

StrategyMakers engine_of_cascade() {
  return {.strategies = {{.name = "cascade", .make = make_cascade}}};
}

}  // namespace draftscope::engine
