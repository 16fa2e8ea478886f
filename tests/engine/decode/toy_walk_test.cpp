// SPDX-License-Identifier: GPL-3.0-or-later
// Any strategy of the catalogue, with any parameters, decodes what vanilla decodes, whatever an earlier
// request left in the cache. Toy states hash what they attend to, so that a single wrong row changes the
// text.

#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/speculation/strategy_text.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../backend/counted_drafts.h"
#include "../lossless/random_strategy.h"
#include "../strategies/followed.h"

namespace draftscope::engine {
namespace {

/// Drafts, stops and cached tokens of the walks.
struct Met {
  std::map<std::string, test::CountedDrafts, std::less<>> drafts;  ///< by strategy
  std::map<traces::RequestStop, int> stops;
  std::int64_t cached_tokens = 0;
};

/// A strategy that decodes on the toy, which holds no weights in other formats and has no next-token layer.
struct Drawn {
  std::string specification;
  std::unique_ptr<Strategy> strategy;
  std::vector<bool> shared;  ///< by id, the tokens that both models name; empty = all
};

Drawn draw_strategy(const ToyBackend::Options& options, Backend& backend, Random& random) {
  Random of_draft(options.seed);
  ToyBackend::Options draft = options;
  draft.n_layers = 1;
  draft.cache_rows = pick(of_draft, 4, 100);
  draft.max_rows = pick(of_draft, 1, 16);
  // Every other draft has a table of its own height, and tokens that the target does not name so.
  std::vector<bool> shared;
  if (pick(of_draft, 0, 1) == 0) {
    draft.vocab = std::max(2, options.vocab + pick(of_draft, -3, 3));
    for (int token = 0; token < std::min(draft.vocab, options.vocab); ++token)
      shared.push_back(token == 0 || pick(of_draft, 0, 9) > 0);
  }
  const StrategyResources resources{[&](const std::string& /*model*/) -> Result<OpenedDraftModel> {
    return OpenedDraftModel(std::make_shared<ToyBackend>(draft),
                            shared.empty() ? nullptr : std::make_shared<std::vector<bool>>(shared));
  }};
  while (true) {
    const std::string specification = random_strategy(options.n_layers, random, {});
    auto made = make_strategy(specification, backend.shape(), resources);
    if (!made || !made->strategy->draft_weights(backend.describe()).empty()) continue;
    const bool has_draft = made->strategy->own_backend() != nullptr;
    return {specification, std::move(made->strategy), has_draft ? shared : std::vector<bool>()};
  }
}

/// Counts drafts, and expects tokens that both models name.
struct SharedDrafts final : DecodeListener {
  SharedDrafts(test::CountedDrafts& sum, const std::vector<bool>& of) : counts(sum), shared(of) {}
  void on_round(const RoundReport& report) override {
    counts.on_round(report);
    for (const traces::DraftToken& node : report.draft_tokens)
      EXPECT_TRUE(shared.empty() || shared.at(static_cast<std::size_t>(node.token)));
  }
  test::CountedDrafts& counts;
  const std::vector<bool>& shared;
};

/// Decodes three requests on one backend, each of which goes on from the text before.
void walk(Random& random, Met& met) {
  const std::int32_t cache_rows = pick(random, 12, 150);
  const ToyBackend::Options options{.vocab = pick(random, 2, 20),
                                    .n_layers = pick(random, 3, 8),
                                    .cache_rows = cache_rows,
                                    .max_rows = pick(random, 2, std::min(64, cache_rows)),
                                    .seed = static_cast<std::uint32_t>(random()),
                                    .agreement = 0.1 * pick(random, 0, 10)};
  ToyBackend backend(options);
  Tokens prompt = random_text(random, pick(random, 1, options.cache_rows), options.vocab);
  const Tokens eos = random_text(random, pick(random, 0, 1), options.vocab);
  Drawn drawn;
  std::int32_t cached = 0;
  for (int turn = 0; turn < 3 && static_cast<std::int32_t>(prompt.size()) <= options.cache_rows; ++turn) {
    if (turn == 0 || pick(random, 0, 1) == 0) drawn = draw_strategy(options, backend, random);
    SCOPED_TRACE(drawn.specification);
    DecodeRequest request{.prompt = prompt, .max_new_tokens = pick(random, 1, 60), .eos_tokens = eos};
    if (pick(random, 0, 3) == 0) request.sampling = {.temperature = 0.8, .top_p = 0.95, .coupled = true};
    const std::uint64_t seed = random();
    ToyBackend alone(options);
    const auto vanilla = expect_strategy("vanilla", alone.shape());
    const DecodeResult expected = expect_decoded(alone, *vanilla, request, seed);
    request.cached_tokens = cached;
    SharedDrafts drafts(met.drafts[std::string(speculation::strategy_name(drawn.specification))],
                        drawn.shared);
    const DecodeResult found = expect_decoded(backend, *drawn.strategy, request, drafts, seed);
    ASSERT_EQ(found.tokens, expected.tokens);
    ASSERT_EQ(found.stop, expected.stop);
    ++met.stops[found.stop];
    met.cached_tokens += cached;
    prompt.insert(prompt.end(), found.tokens.begin(), found.tokens.end());
    cached = found.cached_tokens;
    ASSERT_EQ(cached, static_cast<std::int32_t>(prompt.size()) - 1);
    // The last token of a reply has no K/V, and further tokens follow it.
    const Tokens more = random_text(random, 2, options.vocab);
    prompt.insert(prompt.end(), more.begin(), more.end());
  }
}

TEST(ToyWalk, HasTheTextOfVanillaInEveryRequestOfASequence) {
  Random random(2026);
  Met met;
  for (int trial = 0; trial < 4000; ++trial) {
    SCOPED_TRACE(trial);
    walk(random, met);
    if (HasFatalFailure()) return;
  }
  // The walks must have met every way in which a text can end, and drafts of every strategy that is the
  // toy's.
  EXPECT_GT(met.stops[traces::RequestStop::eos], 100);
  EXPECT_GT(met.stops[traces::RequestStop::context], 100);
  EXPECT_GT(met.cached_tokens, 1000);
  const std::set<std::string_view> others{"vanilla", "quantised", "mtp", "tuned", "auto"};
  for (const speculation::StrategyRow& row : speculation::strategy_catalogue().strategies()) {
    if (others.contains(row.name)) continue;
    EXPECT_GT(met.drafts[row.name].accepted, 200) << row.name;
    EXPECT_GT(met.drafts[row.name].drafted - met.drafts[row.name].accepted, 200) << row.name;
  }
}

}  // namespace
}  // namespace draftscope::engine
