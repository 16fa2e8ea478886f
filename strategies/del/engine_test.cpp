// SPDX-License-Identifier: GPL-3.0-or-later
// DEL's decisions after every round are compared with a slow second computation. The target alone runs over
// the text, every layer's head tells the token that it would have drafted, and the published rules are
// written out once more.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "decoded.h"
#include "kept_decode.h"
#include "small_model.h"
#include "strategies/del/engine.h"
#include "strategies/parts/engine.h"

namespace draftscope::engine {
namespace {

using Mode = speculation::DelRule::Mode;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct DelState {
  std::vector<speculation::ExitStatistics> statistics;
  speculation::ExitChoice choice;
  double threshold = 0.0;
};

/// DEL in all parts, with its knowledge before the first round and after every one.
class WatchedDel final : public Strategy {
 public:
  /// `mask`: null = DEL's own.
  WatchedDel(const speculation::ModelShape& shape, const speculation::DelRule::Options& options,
             std::shared_ptr<MaskChoice> mask = nullptr)
      : del_(std::make_shared<Del>(shape, options)),
        mixed_(make_mixed({.mask = mask != nullptr ? std::move(mask) : del_,
                           .length = del_,
                           .threshold = del_,
                           .learners = {del_}})) {}

  struct Round {
    RoundPlan plan;
    speculation::SublayerMask mask;
    std::vector<std::int32_t> text;  ///< Text up to the root.
    std::vector<std::int32_t> drafted;
    std::int32_t accepted = 0;
    DelState before;
    DelState after;
  };

  void begin_request(const RequestView& request) override { mixed_->begin_request(request); }
  RoundPlan plan(const RoundView& round) override {
    const RoundPlan plan = mixed_->plan(round);
    rounds.push_back({.plan = plan, .text = {round.text.begin(), round.text.end()}, .before = state()});
    if (plan.mask != nullptr) rounds.back().mask = *plan.mask;
    return plan;
  }
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    mixed_->observe(outcome, log);
    for (const DraftNode& node : outcome.nodes) rounds.back().drafted.push_back(node.token);
    rounds.back().accepted = outcome.accepted();
    ended_early_ = true;
  }
  bool wants_to_optimise() const override { return mixed_->wants_to_optimise(); }
  Result<void> optimise(const RoundView& view, Probe& probe, DecisionLog* log) override {
    auto done = mixed_->optimise(view, probe, log);
    if (view.index >= 0) rounds.back().after = state();
    ended_early_ = false;
    return done;
  }
  /// All rounds but the last, after which the text had ended and nothing was learnt.
  std::span<const Round> learnt() const {
    return std::span(rounds).first(rounds.size() - static_cast<std::size_t>(ended_early_));
  }

  std::vector<Round> rounds;

 private:
  DelState state() {
    const speculation::DelRule& rule = del_->rule();
    return {{rule.statistics().begin(), rule.statistics().end()}, rule.choice(), del_->threshold({})};
  }
  std::shared_ptr<Del> del_;
  std::unique_ptr<Strategy> mixed_;
  bool ended_early_ = false;
};

/// The rules, exit by exit; NaN where the divisor is zero.
struct SlowDel {
  SlowDel(std::int32_t n_layers, const speculation::DelRule::Options& chosen, double head)
      : options(chosen), layers(n_layers), head_cost(head), counts(static_cast<std::size_t>(n_layers)) {}

  struct Counts {
    double m = 0.0, w = 0.0, s_plus = 0.0, s_minus = 0.0;
    double alpha() const { return m + w > 0.0 ? m / (m + w) : nan; }
    double tau() const { return m > 0.0 && w > 0.0 ? (s_plus / m + s_minus / w) / 2.0 : nan; }
  };
  struct Shadow {
    std::int32_t token;
    double confidence;
  };
  struct Position {
    std::int32_t target;
    std::vector<Shadow> by_exit;  ///< [exit]; exit 0 is unused.
  };

  void learn(const std::vector<Position>& prompt, const std::vector<Position>& round) {
    std::vector<Position> all = prompt;
    all.insert(all.end(), round.begin(), round.end());
    for (std::size_t e = 1; e < counts.size(); ++e) {
      Counts add;
      for (const Position& position : all) {
        const Shadow& shadow = position.by_exit[e];
        const bool match = shadow.token == position.target;
        (match ? add.m : add.w) += 1.0;
        (match ? add.s_plus : add.s_minus) += shadow.confidence;
      }
      Counts& c = counts[e];
      c = {options.omega * c.m + add.m, options.omega * c.w + add.w, options.omega * c.s_plus + add.s_plus,
           options.omega * c.s_minus + add.s_minus};
    }
    choose();
  }

  double tpl(double alpha, std::int32_t e, std::int32_t d) const {
    double tokens = 0.0;
    for (std::int32_t k = 0; k <= d; ++k) tokens += std::pow(alpha, k);
    return tokens / (layers + head_cost + d * (e + head_cost));
  }

  void choose() {
    best = 0.0;
    const std::int32_t most = options.mode == Mode::code ? options.max - 1 : options.max;
    for (std::int32_t e = 1; e < layers; ++e)
      for (std::int32_t d = 0; d <= most; ++d) {
        const double value = tpl(counts[static_cast<std::size_t>(e)].alpha(), e, d);
        // Two ways to add up powers differ in the last bits, and equal values are decided by order.
        if (!std::isnan(value) && value > best * (1.0 + 1e-13)) best = value, exit = e, gamma = d;
      }
  }

  speculation::DelRule::Options options;
  std::int32_t layers;
  double head_cost;
  std::vector<Counts> counts;
  std::int32_t exit = 1;
  std::int32_t gamma = 1;
  double best = 0.0;
};

/// Predictions of every exit, and of the target, at `count` positions of the text from `first` on.
std::vector<SlowDel::Position> positions_of(Backend& backend, std::span<const std::int32_t> text,
                                            std::int32_t first, std::int32_t count) {
  TargetRows rows;
  for (std::int32_t done = 0; done < first + count;) {
    // The wanted positions share one pass, and the text before them takes others.
    const std::int32_t n = done < first ? std::min(first - done, backend.max_invariant_rows()) : count;
    rows =
        run_target(backend, text.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(n)), done);
    done += n;
  }
  std::vector<SlowDel::Position> positions;
  for (std::int32_t i = 0; i < count; ++i) {
    SlowDel::Position position{rows.outputs.top[static_cast<std::size_t>(i)].token, {{-1, 0.0}}};
    for (std::int32_t exit = 1; exit < backend.shape().n_layers; ++exit) {
      const TopToken top = head_of(backend, rows.state(exit, i));
      position.by_exit.push_back({top.token, static_cast<double>(top.probability)});
    }
    positions.push_back(std::move(position));
  }
  return positions;
}

void expect_equal(const DelState& found, const SlowDel& expected) {
  for (std::size_t e = 1; e < expected.counts.size(); ++e) {
    const speculation::ExitStatistics& one = found.statistics[e - 1];
    const SlowDel::Counts& other = expected.counts[e];
    EXPECT_NEAR(one.matches, other.m, 1e-12);
    EXPECT_NEAR(one.mismatches, other.w, 1e-12);
    EXPECT_NEAR(one.confidence_of_matches, other.s_plus, 1e-12);
    EXPECT_NEAR(one.confidence_of_mismatches, other.s_minus, 1e-12);
    EXPECT_EQ(std::isnan(one.acceptance()), std::isnan(other.alpha()));
    if (!std::isnan(other.alpha())) {
      EXPECT_NEAR(one.acceptance(), other.alpha(), 1e-12);
    }
    EXPECT_NEAR(one.threshold(), std::isnan(other.tau()) ? -1.0 : other.tau(), 1e-12);
  }
  EXPECT_EQ(found.choice.exit, expected.exit);
  EXPECT_EQ(found.choice.gamma, expected.gamma);
  EXPECT_NEAR(found.choice.tpl, expected.best, 1e-12);
  EXPECT_EQ(found.threshold, found.statistics[static_cast<std::size_t>(expected.exit) - 1].threshold());
}

/// Counts the cases that the runs met, so that a test can require each of them.
struct Met {
  std::int32_t rounds = 0, no_threshold = 0, certain = 0, zero = 0, deepest = 0, unclipped = 0, clipped = 0;
  /// Rounds whose first rejected token is not where DEL's own exit was first wrong, by its argmax.
  std::int32_t parted = 0;
};

/// Checks a decoding round by round.
void follow(const WatchedDel& watched, const speculation::DelRule::Options& options, Backend& fresh,
            double head, std::size_t prompt_size, bool greedy, Met& met) {
  SlowDel slow(fresh.shape().n_layers, options, head);
  const bool code = options.mode == Mode::code;
  const bool honours = options.honours_length || options.mode == Mode::repaired;
  const auto window = std::min(options.prompt_window, static_cast<std::int32_t>(prompt_size));
  bool first = true;
  for (const WatchedDel::Round& round : watched.learnt()) {
    std::vector<SlowDel::Position> prompt;
    if (first && window > 0)
      prompt = positions_of(fresh, std::span(round.text).first(prompt_size),
                            static_cast<std::int32_t>(prompt_size) - window, window);
    if (first && !code && window > 0) {
      slow.learn(prompt, {});
      expect_equal(round.before, slow);
      prompt.clear();
    }

    // The plan must follow from the statistics.
    const double tau = slow.counts[static_cast<std::size_t>(slow.exit)].tau();
    if (honours && slow.gamma == 0) {
      EXPECT_EQ(round.plan.mask != nullptr, !options.exits_draft);
      EXPECT_TRUE(round.drafted.empty());
    } else {
      if (options.exits_draft) {
        EXPECT_EQ(round.mask, speculation::SublayerMask::early_exit(slow.layers, slow.exit));
      }
      const bool nothing_known = first && (code || window == 0);
      const std::int32_t length = honours ? slow.gamma : nothing_known ? 1 : options.max;
      EXPECT_EQ(round.plan.draft_length, length);
      EXPECT_NEAR(round.plan.threshold, std::isnan(tau) ? -1.0 : tau, 1e-12);
      met.no_threshold += static_cast<std::int32_t>(std::isnan(tau));
    }
    met.zero += static_cast<std::int32_t>(slow.gamma == 0);
    met.deepest += static_cast<std::int32_t>(slow.exit == slow.layers - 1);
    met.certain += static_cast<std::int32_t>(slow.counts[static_cast<std::size_t>(slow.exit)].alpha() == 1.0);

    std::vector<std::int32_t> text = round.text;
    text.insert(text.end(), round.drafted.begin(), round.drafted.end());
    auto positions = positions_of(fresh, text, static_cast<std::int32_t>(round.text.size()) - 1,
                                  static_cast<std::int32_t>(round.drafted.size()) + 1);
    const auto exit = static_cast<std::size_t>(slow.exit);
    // DEL's own exit drafts its shadow tokens.
    if (options.exits_draft && greedy) {
      for (std::size_t i = 0; i < round.drafted.size(); ++i)
        EXPECT_EQ(round.drafted[i], positions[i].by_exit[exit].token);
    }
    // A greedy draft is rejected where the target's argmax is another token; a drawn token may be accepted
    // there, and rejected elsewhere.
    std::size_t right = 0;
    while (right < round.drafted.size() && round.drafted[right] == positions[right].target) ++right;
    if (greedy) {
      EXPECT_EQ(static_cast<std::size_t>(round.accepted), right);
    }
    const auto wrong = std::find_if(positions.begin(), positions.end(), [&](const SlowDel::Position& one) {
      return one.by_exit[exit].token != one.target;
    });
    const auto kept = static_cast<std::size_t>(round.accepted) + 1;
    const auto own = static_cast<std::size_t>(wrong - positions.begin()) + 1;
    met.parted += static_cast<std::int32_t>(std::min(own, positions.size()) != kept);
    const bool counts_all = options.exits_draft && code && slow.gamma == 0;
    if (positions.size() > kept) ++(counts_all ? met.unclipped : met.clipped);
    if (!counts_all) positions.resize(kept);
    slow.learn(prompt, positions);
    expect_equal(round.after, slow);
    first = false;
    ++met.rounds;
  }
}

constexpr Mode all_modes[] = {Mode::paper, Mode::code, Mode::repaired};
const SamplingOptions del_samplings[] = {{}, {.temperature = 1.0}, {.temperature = 0.7, .top_p = 0.9}};

/// Decodes with DEL in all parts, or with drafts of another `mask`, and follows it round by round.
void decode_and_follow(const SmallModel& model, const speculation::DelRule::Options& options,
                       std::shared_ptr<MaskChoice> mask, std::mt19937& random, Met& met) {
  const Checkpoint checkpoint = small_model(model);
  const auto prompt = random_tokens(random, 1 + random() % 40, checkpoint.shape.vocab);
  const SamplingOptions& sampling = del_samplings[random() % 3];
  const auto backend = cpu_backend(checkpoint, 1, 160);
  WatchedDel del(checkpoint.shape, options, std::move(mask));
  KeptDecode kept(prompt);
  expect_decoded(*backend, del, {.prompt = prompt, .max_new_tokens = 40, .sampling = sampling}, kept,
                 random());
  const auto fresh = cpu_backend(checkpoint, 1, 160);
  const double head = options.mode != Mode::repaired
                          ? 0.0
                          : 32.0 * checkpoint.shape.vocab / (32.0 * (2 * 32 + 2 * 16) + 3.0 * 32 * 48);
  follow(del, options, *fresh, head, prompt.size(), sampling.greedy(), met);
}

TEST(Del, KnowsAndChoosesWhatTheTargetsStatesSay) {
  for (const Mode mode : all_modes) {
    std::mt19937 random(1);
    Met met;
    for (int trial = 0; trial < 24 && !HasFailure(); ++trial) {
      SCOPED_TRACE(trial);
      // Deep redundant models agree from the first layers on, and others hardly ever.
      const SmallModel model{.n_layers = static_cast<std::int32_t>(2 + random() % 6),
                             .vocab = static_cast<std::int32_t>(8 + random() % 60),
                             .redundancy = std::vector<double>{0.0, 0.5, 0.8, 0.95}[random() % 4],
                             .seed = random()};
      const speculation::DelRule::Options options{
          .mode = mode,
          .max = static_cast<std::int32_t>(1 + random() % 18),
          .omega = random() % 2 == 0 ? 0.95 : 0.5,
          .prompt_window = static_cast<std::int32_t>(random() % 3 * 16),
          .honours_length = trial % 2 == 0};
      decode_and_follow(model, options, nullptr, random, met);
    }
    EXPECT_GT(met.rounds, 200);
    EXPECT_GT(met.no_threshold, 0);
    EXPECT_GT(met.certain, 0);
    EXPECT_GT(met.zero, 0);
    EXPECT_GT(met.deepest, 0);
    EXPECT_GT(met.clipped, 0);
    EXPECT_GT(met.parted, 0);
    EXPECT_EQ(met.unclipped > 0, mode == Mode::code);
  }
}

TEST(Del, LearnsUpToTheFirstRejectedTokenWhereAnotherMaskDrafts) {
  for (const Mode mode : all_modes) {
    std::mt19937 random(3);
    Met met;
    for (int trial = 0; trial < 16 && !HasFailure(); ++trial) {
      SCOPED_TRACE(trial);
      const auto n_layers = static_cast<std::int32_t>(3 + random() % 5);
      const SmallModel model{.n_layers = n_layers,
                             .vocab = static_cast<std::int32_t>(8 + random() % 60),
                             .redundancy = random() % 2 == 0 ? 0.6 : 0.9,
                             .seed = random()};
      const speculation::DelRule::Options options{
          .mode = mode,
          .max = static_cast<std::int32_t>(1 + random() % 18),
          .prompt_window = static_cast<std::int32_t>(random() % 3 * 16),
          .exits_draft = false};
      // The mask is an exit deeper than DEL tends to choose, or a set of sublayers unlike any exit.
      speculation::SublayerMask mask = speculation::SublayerMask::early_exit(n_layers, n_layers - 1);
      if (random() % 2 == 0)
        mask = speculation::SublayerMask(n_layers).skip_attention(0).skip_mlp(n_layers - 1);
      decode_and_follow(model, options, std::make_shared<FixedMask>(mask, "fixed"), random, met);
    }
    EXPECT_GT(met.rounds, 100);
    EXPECT_GT(met.parted, 20);
  }
}

KeptDecode decoded_by(std::string_view specification, const Checkpoint& checkpoint,
                      std::span<const std::int32_t> prompt) {
  const auto backend = cpu_backend(checkpoint, 1, 160);
  KeptDecode kept(prompt);
  expect_decoded(*backend, specification, {.prompt = prompt, .max_new_tokens = 60}, kept);
  return kept;
}

// The layers below the exit run only once, for drafts, and DEL learns the same from them.
TEST(Del, KnowsTheSameWhereTheLayersAboveTheExitVerify) {
  std::mt19937 random(5);
  std::size_t rounds = 0;
  for (const char* specification :
       {"del:d-max=6", "del:mode=code,d-max=6", "del:mode=repaired", "mix:mask=exit,exit=3,stop=del,gamma=5",
        "mix:mask=exit,exit=2,length=del,stop=del,mode=repaired", "del:exits=2-4,d-max=5"}) {
    SCOPED_TRACE(specification);
    const Checkpoint checkpoint = small_model({.n_layers = 6, .redundancy = 0.8, .seed = random()});
    const auto prompt = random_tokens(random, 20, checkpoint.shape.vocab);
    std::vector<KeptDecode> both;
    for (const char* verify : {"all-layers", "above-exit"})
      both.push_back(decoded_by(fmt::format("{},verify={}", specification, verify), checkpoint, prompt));
    EXPECT_EQ(both[0].text, both[1].text);
    ASSERT_EQ(both[0].taken.size(), both[1].taken.size());
    for (std::size_t i = 0; i < both[0].taken.size(); ++i)
      EXPECT_EQ(both[0].taken[i].detail, both[1].taken[i].detail) << i;
    rounds += both[0].rounds.size();
  }
  EXPECT_GT(rounds, 60U);
}

// §4.2, Eq. 2 and 3: acceptance and threshold follow from the counts and means that each decision records.
TEST(Del, RecordsWhatItsChoiceFollowsFrom) {
  std::mt19937 random(7);
  const Checkpoint checkpoint = small_model({.n_layers = 6, .redundancy = 0.8, .seed = 4});
  const auto prompt = random_tokens(random, 20, checkpoint.shape.vocab);
  const KeptDecode kept = decoded_by("del:omega=0.75", checkpoint, prompt);
  ASSERT_GT(kept.taken.size(), 10U);
  double positions = 0.0;
  std::vector<double> matches(5, 0.0);
  std::size_t with_threshold = 0;
  for (const KeptDecision& decision : kept.taken) {
    const bool after_prefill = &decision == kept.taken.data();
    const std::int32_t counted =
        after_prefill ? 20 : kept.rounds[static_cast<std::size_t>(decision.round)].round.accepted + 1;
    EXPECT_EQ(decision.detail["positions"], counted);
    positions = 0.75 * positions + counted;
    for (std::size_t i = 0; i < matches.size(); ++i) {
      matches[i] = 0.75 * matches[i] + decision.detail["matches"][i].get<double>();
      EXPECT_NEAR(decision.detail["acceptance_rates"][i].get<double>(), matches[i] / positions, 1e-12);
      const double threshold = decision.detail["thresholds"][i].get<double>();
      if (threshold < 0.0) continue;
      EXPECT_NEAR(threshold,
                  (decision.detail["right_confidences"][i].get<double>() +
                   decision.detail["wrong_confidences"][i].get<double>()) /
                      2.0,
                  1e-5);
      ++with_threshold;
    }
  }
  EXPECT_GT(with_threshold, 20U);
}

// With another part that chooses the exit, DEL's threshold is that exit's own.
TEST(Del, TakesTheThresholdOfTheExitThatDrafts) {
  std::mt19937 random(6);
  const Checkpoint checkpoint = small_model({.n_layers = 6, .redundancy = 0.8, .seed = 4});
  const auto prompt = random_tokens(random, 20, checkpoint.shape.vocab);
  const KeptDecode kept = decoded_by("mix:mask=exit,exit=4,stop=del,gamma=6", checkpoint, prompt);
  ASSERT_GT(kept.taken.size(), 10U);
  for (std::size_t i = 0; i < kept.taken.size(); ++i) {
    const KeptDecision& decision = kept.taken[i];
    EXPECT_EQ(decision.detail["exit"], 4);
    // The other exits are not evaluated.
    EXPECT_TRUE(decision.detail["acceptance_rates"][1].is_null());
    EXPECT_FALSE(decision.detail["acceptance_rates"][3].is_null());
    const std::size_t next = i == 0 ? 0 : static_cast<std::size_t>(decision.round) + 1;
    ASSERT_LT(next, kept.rounds.size());
    EXPECT_EQ(kept.rounds[next].round.threshold, decision.detail["thresholds"][3].get<double>());
  }
}

}  // namespace
}  // namespace draftscope::engine
