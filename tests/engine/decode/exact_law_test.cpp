// SPDX-License-Identifier: GPL-3.0-or-later
// With a temperature, the law of the output equals the target's. The test does not sample: it walks every
// random choice that decode() can meet and adds up the probabilities.

#include <gtest/gtest.h>

#include <algorithm>

#include "exact_law.h"

namespace draftscope::engine {
namespace {

TEST(SampledDecoding, HasExactlyTheTargetsLawOverTheFirstThreeTokens) {
  const SamplingOptions samplings[] = {{.temperature = 1.0},
                                       {.temperature = 0.6, .top_k = 2},
                                       {.temperature = 1.7, .top_p = 0.8},
                                       {.temperature = 0.8, .top_k = 3, .top_p = 0.9},
                                       {.temperature = 1.1, .repetition_penalty = 1.5}};
  constexpr const char* two_levels =
      "cascade:costs=by-weights,levels=exit-1+exit-3,gamma=2,nodes=3,step-length=1,siblings=1,mass=1,match=0";
  const std::vector<std::int32_t> no_eos;
  const std::vector<std::int32_t> eos{2};
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const ToyBackend::Options options{.vocab = 3, .n_layers = 4, .seed = seed, .agreement = 0.3};
    for (const SamplingOptions& sampling : samplings) {
      for (const auto& ends : {no_eos, eos}) {
        const Law target = law_of(options, "vanilla", sampling, ends);
        ASSERT_GT(target.size(), 1U);
        for (const std::string specification :
             {"layerskip:exit=1,gamma=1",
              "layerskip:exit=2,gamma=2",
              "layerskip:exit=1,gamma=3",
              "layerskip:exit=1,gamma=2,verify=above-exit",
              "layerskip:exit=2,gamma=2,acceptance=block",
              "layerskip:exit=1,gamma=3,acceptance=block",
              "layerskip:exit=1,gamma=2,verify=above-exit,acceptance=block",
              "mix:mask=exit,exit=1,gamma=3,stop=threshold,threshold=0.5,acceptance=block",
              "fs:exit=1,gamma=2,acceptance=block",
              "cascade:costs=by-weights,levels=exit-2,gamma=2,nodes=3,siblings=1,mass=0.8,match=2",
              two_levels,
              "cascade:costs=by-weights,levels=0.5,gamma=3,nodes=3,siblings=0,match=1",
              "cascade:costs=by-weights,levels=none,gamma=2,match=2",
              "prompt-lookup:length=2",
              "prompt-lookup:length=3,reading=transformers",
              "prompt-lookup:length=2,match=latest,reading=transformers",
              "prompt-lookup:length=2,match=longest",
              "jacobi:block=1",
              "jacobi:block=3",
              "jacobi:block=2,rule=published",
              "jacobi:block=3,rule=published",
              "lookahead:window=2,ngram=3,guesses=2",
              "lookahead:window=2,ngram=3,pool-from-prompt=yes",
              "suffix-decoding:length=3",
              "suffix-decoding:alpha=2,length=3,shape=tree",
              "token-recycling:successors=2,nodes=3,depth=2"})
          EXPECT_LT(total_variation(law_of(options, specification, sampling, ends), target), 1e-9)
              << specification;
      }
    }
  }
}

TEST(SampledDecoding, HasTheTargetsLawWhereSearchesGoByTheText) {
  for (const std::uint32_t seed : {1U, 2U}) {
    const ToyBackend::Options options{.vocab = 2, .n_layers = 6, .seed = seed, .agreement = 0.3};
    const SamplingOptions sampling{.temperature = 1.2};
    const Law target = law_of(options, "vanilla", sampling, {}, 5);
    for (const char* specification : {"conflayers:window=1,interval=1,gamma=2",
                                      "conflayers:window=1,interval=1,ratio=0,gamma=1,threshold=0",
                                      "mix:mask=conflayers,window=2,interval=1,gamma=2,acceptance=block"})
      EXPECT_LT(total_variation(law_of(options, specification, sampling, {}, 5), target), 1e-9)
          << specification;
  }
}

/// Adds the probabilities of all texts after `text` by the definition of the penalty: a pass over the whole
/// text, and a search of the text for each token of the vocabulary.
void add_penalised_law(const ToyBackend::Options& options, std::vector<std::int32_t> text,
                       const SamplingOptions& sampling, std::size_t left, double probability,
                       std::vector<std::int32_t> output, Law& law) {
  if (left == 0) {
    law[output] += probability;
    return;
  }
  ToyBackend backend(options);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < text.size(); ++i)
    rows.push_back({.token = text[i], .hidden = -1, .position = static_cast<std::int32_t>(i)});
  Outputs outputs;
  ASSERT_TRUE(backend.forward({.rows = rows,
                               .layers = {0, options.n_layers},
                               .wanted = {.head_from = static_cast<std::int32_t>(rows.size()) - 1,
                                          .head = true,
                                          .logits = true,
                                          .top_k = 1}},
                              outputs));
  for (const TokenBias& of : sampling.logit_bias)
    outputs.logits[static_cast<std::size_t>(of.token)] += static_cast<float>(of.bias);
  for (std::int32_t token = 0; token < options.vocab; ++token) {
    if (std::find(text.begin(), text.end(), token) == text.end()) continue;
    float& logit = outputs.logits[static_cast<std::size_t>(token)];
    const auto penalty = static_cast<float>(sampling.repetition_penalty);
    logit = logit > 0.0F ? logit / penalty : logit * penalty;
    const auto times = static_cast<float>(std::count(output.begin(), output.end(), token));
    logit -= static_cast<float>(sampling.frequency_penalty) * times;
    if (times > 0.0F) logit -= static_cast<float>(sampling.presence_penalty);
  }
  Distribution next;
  warp(outputs.logits, sampling, next);
  for (std::size_t i = 0; i < next.tokens.size(); ++i) {
    std::vector<std::int32_t> longer = text;
    longer.push_back(next.tokens[i]);
    std::vector<std::int32_t> more = output;
    more.push_back(next.tokens[i]);
    add_penalised_law(options, longer, sampling, left - 1, probability * next.probabilities[i], more, law);
  }
}

TEST(PenalisedDecoding, HasExactlyTheLawOfTheDefinition) {
  const SamplingOptions samplings[] = {
      {.temperature = 1.0, .repetition_penalty = 1.8},
      {.temperature = 0.7, .top_k = 3, .repetition_penalty = 0.5},
      {.temperature = 1.3, .top_p = 0.8, .repetition_penalty = 3.0},
      {.temperature = 1.0, .frequency_penalty = 0.9, .presence_penalty = -0.6},
      {.temperature = 0.8, .repetition_penalty = 1.2, .min_p = 0.2, .logit_bias = {{2, 1.5}, {0, -0.7}}},
  };
  for (const std::uint32_t seed : {1U, 2U}) {
    const ToyBackend::Options options{.vocab = 4, .n_layers = 4, .seed = seed, .agreement = 0.4};
    for (const SamplingOptions& sampling : samplings) {
      Law defined;
      add_penalised_law(options, {0, 1, 1}, sampling, law_length, 1.0, {}, defined);
      const SamplingOptions without{
          .temperature = sampling.temperature, .top_k = sampling.top_k, .top_p = sampling.top_p};
      EXPECT_GT(total_variation(law_of(options, "vanilla", without, {}), defined), 0.01)
          << "the penalty must matter";
      for (const char* specification :
           {"vanilla", "layerskip:exit=2,gamma=2", "layerskip:exit=1,gamma=3,verify=above-exit",
            "mix:mask=exit,exit=1,gamma=2,shape=tree", "prompt-lookup:ngram=2,length=2", "jacobi:block=2"})
        EXPECT_LT(total_variation(law_of(options, specification, sampling, {}), defined), 1e-9)
            << specification;
    }
  }
}

/// A backend that runs whole rounds itself, and can't apply a penalty.
class RoundsOfItsOwn final : public ToyBackend {
 public:
  using ToyBackend::ToyBackend;
  bool has_chain_rounds() const override { return true; }
  Result<void> chain_round(const ChainRound& /*round*/, ChainRoundOutputs& /*outputs*/) override {
    ++rounds;
    return fail("rounds of its own: found one, expected none");
  }
  int rounds = 0;
};

TEST(PenalisedDecoding, BypassesRoundsOfTheDevice) {
  const std::vector<std::int32_t> prompt{0, 1, 1};
  for (const double temperature : {0.0, 1.0})
    for (const SamplingOptions& sampling :
         {SamplingOptions{}, SamplingOptions{.repetition_penalty = 1.5}, SamplingOptions{.min_p = 0.1},
          SamplingOptions{.frequency_penalty = 0.1}, SamplingOptions{.presence_penalty = 0.1},
          SamplingOptions{.logit_bias = {{1, 0.5}}}}) {
      // A greedy choice is the same with any min-p.
      const bool bypasses = sampling.penalises() || (sampling.min_p > 0.0 && temperature > 0.0);
      RoundsOfItsOwn backend({.vocab = 5});
      auto strategy = make_strategy("layerskip:exit=1,gamma=2", backend.shape());
      ASSERT_TRUE(strategy) << strategy.error().message;
      SeededChooser chooser(1, 1);
      DecodeListener nobody;
      DecodeRequest request{.prompt = prompt, .max_new_tokens = 5, .sampling = sampling};
      request.sampling.temperature = temperature;
      const auto result = decode(backend, *strategy->strategy, request, chooser, nobody);
      EXPECT_EQ(result.has_value(), bypasses);
      EXPECT_EQ(backend.rounds, bypasses ? 0 : 1);
    }
}

}  // namespace
}  // namespace draftscope::engine
