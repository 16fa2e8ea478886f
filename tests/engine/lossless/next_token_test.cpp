// SPDX-License-Identifier: GPL-3.0-or-later
// A next-token layer drafts: the text is vanilla's, and each draft begins with what the layer computes from
// the whole text at once.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "../backend/counted_drafts.h"
#include "../backend/next_token_layer.h"
#include "decoded.h"

namespace draftscope::engine {
namespace {

constexpr std::int32_t cache_rows = 200;

StrategyResources resources_of(const Checkpoint& model) {
  return test::with_next_token_layer(
      model, [](const Checkpoint& layer) { return cpu_backend(layer, 1, cache_rows); });
}

/// The strategy of a specification on a model, ready to decode several requests.
struct Decoding {
  Checkpoint model;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Strategy> strategy;
  test::CountedDrafts counts;

  Decoding(const Checkpoint& checkpoint, const std::string& specification)
      : model(checkpoint),
        backend(cpu_backend(checkpoint, 2, cache_rows)),
        strategy(expect_strategy(specification, model.shape, resources_of(model))) {}
  DecodeResult decode(const DecodeRequest& request, std::uint64_t seed) {
    return expect_decoded(*backend, *strategy, request, counts, seed);
  }
};

Checkpoint model_of(std::mt19937& random) {
  Checkpoint model = random_checkpoint(random);
  while (model.shape.n_layers < 3 || model.redundancy < 0.5) model = random_checkpoint(random);
  return model;
}

/// Decodes three requests, each of which goes on from the K/V of the one before, or from a part of it.
void expect_texts_of_vanilla(std::mt19937& random, const std::string& specification,
                             const SamplingOptions& sampling, test::CountedDrafts& all) {
  const Checkpoint model = model_of(random);
  Decoding speculative(model, specification);
  Decoding vanilla(model, "vanilla");
  auto prompt = random_tokens(random, 1 + random() % 40, model.shape.vocab);
  std::int32_t cached = 0;
  const std::uint64_t seed = random();
  for (int turn = 0; turn < 3; ++turn) {
    const DecodeRequest request{
        .prompt = prompt, .cached_tokens = cached, .max_new_tokens = 25, .sampling = sampling};
    const DecodeResult found = speculative.decode(request, seed);
    const DecodeResult expected = vanilla.decode(request, seed);
    ASSERT_EQ(found.tokens, expected.tokens) << specification << " turn " << turn;
    cached = std::min(found.cached_tokens, expected.cached_tokens);
    prompt.insert(prompt.end(), found.tokens.begin(), found.tokens.end());
    if (turn == 1 && prompt.size() > 10) prompt.resize(prompt.size() - random() % 10);
    cached = std::min(cached, static_cast<std::int32_t>(prompt.size()) - 1);
  }
  all.drafted += speculative.counts.drafted;
  all.accepted += speculative.counts.accepted;
}

const SamplingOptions sampled{.temperature = 0.7, .top_p = 0.95, .coupled = true};

TEST(NextTokenLayer, TextsEqualVanillaWhateverWasCachedBefore) {
  std::mt19937 random(41);
  test::CountedDrafts all;
  for (int trial = 0; trial < 30; ++trial)
    expect_texts_of_vanilla(random, fmt::format("mtp:gamma={},threshold=0.{}", random() % 6, random() % 3),
                            trial % 2 == 1 ? sampled : SamplingOptions(), all);
  EXPECT_GT(all.accepted, 200);
  EXPECT_GT(all.drafted - all.accepted, 200);
}

// A guard's first rounds measure vanilla decoding, whatever they take.
TEST(NextTokenLayer, TextsEqualVanillaUnderAGuard) {
  std::mt19937 random(44);
  test::CountedDrafts all;
  for (int trial = 0; trial < 8; ++trial)
    expect_texts_of_vanilla(random, "mtp:gamma=3,guard=0.9", trial % 2 == 1 ? sampled : SamplingOptions(),
                            all);
  EXPECT_GT(all.drafted, 0);
}

/// One pass of target and layer over a whole text.
struct LayerPass {
  const Checkpoint& model;
  Backend& target;
  Backend& layer;
  const StateJoin& join;

  /// The layer's best token for each row from `first` on; row i reads the token at i + 1.
  [[nodiscard]] Outputs over(const std::vector<std::int32_t>& tokens, std::int32_t first) const {
    std::vector<Row> rows;
    const auto n = static_cast<std::int32_t>(tokens.size()) - 1;
    for (std::int32_t i = 0; i < n; ++i)
      rows.push_back({.token = tokens[static_cast<std::size_t>(i)], .hidden = -1, .position = i});
    const std::vector<std::int32_t> boundary{model.shape.n_layers};
    Outputs states;
    EXPECT_TRUE(target.forward(
        {.rows = rows, .layers = {0, model.shape.n_layers}, .wanted = {.hidden_after = boundary}}, states));
    std::vector<float> inputs;
    join.join(std::span(tokens).subspan(1), states.hidden, StateFrom::target, inputs);
    for (std::int32_t i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)] = {-1, i, i};
    Outputs outputs;
    EXPECT_TRUE(layer.forward({.rows = rows,
                               .hidden = inputs,
                               .layers = {0, 1},
                               .wanted = {.head_from = first, .head = true, .top_k = 1}},
                              outputs));
    return outputs;
  }
};

/// Checks each draft's first token against a pass of the layer over all of the text.
struct CheckFirstTokens final : DecodeListener {
  const Checkpoint& model;
  std::vector<std::int32_t> text;
  std::unique_ptr<Backend> target, layer;
  StateJoin join;
  int checked = 0;

  CheckFirstTokens(const Checkpoint& checkpoint, std::vector<std::int32_t> prompt)
      : model(checkpoint),
        text(std::move(prompt)),
        target(cpu_backend(checkpoint, 1, cache_rows)),
        layer(cpu_backend(test::next_token_layer_of(checkpoint), 1, cache_rows)),
        join(StateJoin::make(checkpoint, test::next_token_layer_of(checkpoint)).value()) {}

  void on_first_token(std::int32_t token) override { text.push_back(token); }
  void on_round(const RoundReport& report) override {
    if (!report.draft_tokens.empty()) {
      const LayerPass pass{model, *target, *layer, join};
      const auto last = static_cast<std::int32_t>(text.size()) - 2;
      EXPECT_EQ(report.draft_tokens.front().token, pass.over(text, last).top.front().token);
      ++checked;
    }
    text.insert(text.end(), report.emitted.begin(), report.emitted.end());
  }
};

TEST(NextTokenLayer, DraftsBeginWithWhatTheLayerMakesOfTheWholeText) {
  std::mt19937 random(42);
  int checked = 0;
  for (int trial = 0; trial < 8; ++trial) {
    const Checkpoint model = model_of(random);
    Decoding decoding(model, "mtp:gamma=3");
    const auto prompt = random_tokens(random, 1 + random() % 20, model.shape.vocab);
    CheckFirstTokens check(model, prompt);
    expect_decoded(*decoding.backend, *decoding.strategy, {.prompt = prompt, .max_new_tokens = 20}, check);
    checked += check.checked;
  }
  EXPECT_GT(checked, 40);
}

// The layer's form is that of an implementation in PyTorch (make_next_token_golden.py).
TEST(NextTokenLayer, PredictsWhatPyTorchComputesFromTheSameTensors) {
  const auto model = load_checkpoint(DRAFTSCOPE_SOURCE_DIR "/models/demo-mtp");
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_TRUE(model->has_next_token_layer);
  const auto layer = open_next_token_layer(*model);
  ASSERT_TRUE(layer) << layer.error().message;
  const auto join = StateJoin::make(*model, *layer);
  ASSERT_TRUE(join) << join.error().message;
  std::ifstream file(DRAFTSCOPE_SOURCE_DIR "/tests/engine/lossless/next_token_golden.json");
  const auto golden = nlohmann::json::parse(file);
  const auto tokens = golden["tokens"].get<std::vector<std::int32_t>>();
  const auto target_backend = cpu_backend(*model, 1, cache_rows);
  const auto layer_backend = cpu_backend(*layer, 1, cache_rows);
  const LayerPass pass{*model, *target_backend, *layer_backend, *join};
  const Outputs outputs = pass.over(tokens, 0);
  ASSERT_GT(golden["rows"].size(), 10U);
  for (const auto& row : golden["rows"]) {
    const TopToken& found = outputs.top.at(row["row"].get<std::size_t>());
    EXPECT_EQ(found.token, row["token"]) << row;
    EXPECT_NEAR(found.logit, row["logit"].get<float>(), 0.15) << row;
  }
}

TEST(NextTokenLayer, IsRefusedWhereThereIsNone) {
  std::mt19937 random(43);
  const Checkpoint model = model_of(random);
  const auto made = make_strategy("mtp", model.shape);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "strategy mtp: next-token layer is missing, expected a checkpoint with a dense one");
}

}  // namespace
}  // namespace draftscope::engine
