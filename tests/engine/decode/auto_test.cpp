// SPDX-License-Identifier: GPL-3.0-or-later
// Tests auto on a toy model, with times given by a rule. Its choices must not change the law of the text.
#include <draftscope/engine/strategy.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <set>
#include <utility>

#include "exact_law.h"

namespace draftscope::engine {
namespace {

/// A strategy that observes times given by a rule instead of the machine's clock, so that decisions by time
/// are the same in every run.
class ClockedStrategy final : public Strategy {
 public:
  explicit ClockedStrategy(std::unique_ptr<Strategy> inner) : inner_(std::move(inner)) {}

  std::vector<speculation::WeightFormat> draft_weights(const BackendDescription& target) override {
    return inner_->draft_weights(target);
  }
  void begin_request(const RequestView& request) override { inner_->begin_request(request); }
  RoundPlan plan(const RoundView& round) override {
    RoundView own = round;
    own.now_ns = now_ns_;
    RoundPlan plan = inner_->plan(own);
    ++(plan.mask != nullptr ? drafted : plan.proposals.empty() ? plain : guessed);
    return plan;
  }
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    RoundOutcome own = outcome;
    own.draft_ns = step_ns * static_cast<std::int64_t>(outcome.steps.size());
    own.elapsed_ns = own.draft_ns + vanilla_ns + row_ns * outcome.drafted();
    now_ns_ += own.elapsed_ns;
    inner_->observe(own, log);
  }

  std::int64_t vanilla_ns = 1'000'000;
  std::int64_t row_ns = 10'000;    ///< per row beyond the first
  std::int64_t step_ns = 100'000;  ///< per draft step
  // Counts of rounds by what drafted.
  int drafted = 0;
  int guessed = 0;
  int plain = 0;

 private:
  std::unique_ptr<Strategy> inner_;
  std::int64_t now_ns_ = 0;
};

using testing::HasSubstr;

/// auto with drafters of a given cost, after requests from which it learnt.
struct Case {
  const char* specification;
  std::int64_t step_ns;
  int requests;
};
constexpr Case cases[] = {{"auto:exits=1+2,max-gamma=3", 50'000, 2},
                          {"auto:exits=1,max-gamma=2", 300'000, 0},
                          {"auto:max-gamma=3", 0, 3},
                          {"layerskip:exit=1,gamma=2,guard=0.9", 900'000, 0},
                          {"layerskip:exit=1,gamma=2,guard=0.9", 900'000, 4}};

std::unique_ptr<ClockedStrategy> taught(const ToyBackend::Options& options, const Case& taught_case) {
  ToyBackend backend(options);
  auto strategy =
      std::make_unique<ClockedStrategy>(expect_strategy(taught_case.specification, backend.shape()));
  strategy->step_ns = taught_case.step_ns;
  for (int i = 0; i < taught_case.requests; ++i) {
    const std::vector<std::int32_t> prompt{i % 3, 1, 1};
    expect_decoded(backend, *strategy, {.prompt = prompt, .max_new_tokens = 40},
                   static_cast<std::uint64_t>(i));
  }
  strategy->drafted = strategy->guessed = strategy->plain = 0;
  return strategy;
}

TEST(AutoDecoding, HasExactlyTheTargetsLaw) {
  for (const std::uint32_t seed : {1U, 2U})
    for (const SamplingOptions& sampling :
         {SamplingOptions{.temperature = 1.0}, SamplingOptions{.temperature = 0.6, .top_k = 2}}) {
      const ToyBackend::Options options{.vocab = 3, .n_layers = 3, .seed = seed, .agreement = 0.6};
      const Law target = law_of(options, "vanilla", sampling, {});
      for (const Case& one : cases) {
        const auto make = [&](const speculation::ModelShape& /*shape*/) { return taught(options, one); };
        EXPECT_LT(total_variation(law_of(options, make, sampling, {}), target), 1e-9) << one.specification;
      }
    }
}

struct Decisions final : DecodeListener, DecisionLog {
  DecisionLog* decisions() override { return this; }
  void add(const Decision& decision) override {
    if (decision.kind == "draft choice") details.push_back(decision.detail());
  }
  void on_round(const RoundReport& report) override { emitted.push_back(report.round.emitted); }
  std::vector<std::string> details;
  std::vector<std::int32_t> emitted;
};

TEST(AutoDecoding, RecordsEveryDecisionWithWhatWasExpectedAndWhatCame) {
  const ToyBackend::Options options{.vocab = 4, .n_layers = 4, .seed = 5, .agreement = 0.9};
  ToyBackend backend(options);
  ClockedStrategy strategy(expect_strategy(cases[0].specification, backend.shape()));
  const std::vector<std::int32_t> prompt{0, 1, 2, 3};
  Decisions heard;
  expect_decoded(backend, strategy, {.prompt = prompt, .max_new_tokens = 40}, heard);
  ASSERT_EQ(heard.details.size(), heard.emitted.size());
  for (std::size_t i = 0; i < heard.details.size(); ++i) {
    const auto detail = nlohmann::json::parse(heard.details[i]);
    EXPECT_EQ(detail.at("tokens"), heard.emitted[i]);
    EXPECT_GE(detail.at("expected_tokens").get<double>(), 1.0);
    EXPECT_GE(detail.at("expected_cost").get<double>(), 1.0);
  }
  EXPECT_THAT(heard.details.front(), HasSubstr(R"("choice":"vanilla","reason":"measure")"));
}

// The law of these cases is enumerated by HasExactlyTheTargetsLaw.
TEST(AutoDecoding, MeetsEveryKindOfRoundAndBothSourcesInTheCasesOfItsLaw) {
  std::set<std::string> sources;
  int drafted = 0;
  int guessed = 0;
  int plain = 0;
  for (const std::uint32_t seed : {1U, 2U})
    for (const Case& one : cases) {
      const ToyBackend::Options options{.vocab = 3, .n_layers = 3, .seed = seed, .agreement = 0.6};
      ToyBackend backend(options);
      const auto strategy = taught(options, one);
      for (std::uint64_t draw = 0; draw < 8; ++draw) {
        Decisions heard;
        const std::vector<std::int32_t> prompt{0, 1, 1};
        expect_decoded(backend, *strategy,
                       {.prompt = prompt, .max_new_tokens = 6, .sampling = {.temperature = 1.0}}, heard,
                       draw);
        for (const std::string& detail : heard.details)
          sources.insert(nlohmann::json::parse(detail).value("source", ""));
      }
      drafted += strategy->drafted;
      guessed += strategy->guessed;
      plain += strategy->plain;
    }
  EXPECT_TRUE(sources.contains("lookup"));
  EXPECT_TRUE(sources.contains("suffix"));
  EXPECT_GT(drafted, 0);
  EXPECT_GT(guessed, 0);
  EXPECT_GT(plain, 0);
}

TEST(AutoDecoding, RefusesWhatCannotDraft) {
  ToyBackend backend({});
  const auto error = [&](const std::string& specification) {
    const auto made = make_strategy(specification, backend.shape());
    return made ? "" : made.error().message;
  };
  EXPECT_THAT(error("auto:formats=q9"), HasSubstr("strategy auto: formats: "));
  EXPECT_THAT(error("auto:formats=bf16"),
              HasSubstr("strategy auto: formats: found bf16, expected one of q8_0"));
  EXPECT_THAT(error("auto:formats=q8_0+"), HasSubstr("strategy auto: formats: "));
  EXPECT_THAT(error("auto:exits=9"), HasSubstr("exits"));
  EXPECT_THAT(error("auto:max-gamma=0"), HasSubstr("max-gamma"));
  EXPECT_EQ(error("auto:formats=none"), "");
}

}  // namespace
}  // namespace draftscope::engine
