// SPDX-License-Identifier: GPL-3.0-or-later
// KnapSpec's knapsack is compared with its recurrence written out over sets, each of which is run anew from
// the text.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "decode/state_cosine.h"
#include "decoded.h"
#include "narrow_backend.h"
#include "small_model.h"
#include "strategies/knapspec/engine.h"

namespace draftscope::engine {
namespace {

using Set = std::vector<std::int32_t>;  // skipped sublayers, ascending

/// A model that has processed a text.
struct ReadText {
  ReadText(const SmallModel& options, std::mt19937& random)
      : checkpoint(small_model(options)),
        backend(cpu_backend(checkpoint, 1, 200)),
        text(random_tokens(random, 12, options.vocab)) {
    (void)run_target(*backend, text, 0);
  }

  [[nodiscard]] LastTokens last(std::int32_t tokens) const {
    const auto first = static_cast<std::int32_t>(text.size()) - tokens;
    return {std::span(text).subspan(static_cast<std::size_t>(first)), first};
  }

  /// Outputs of the last tokens after sublayers [0, end) without those of the set.
  [[nodiscard]] Outputs run(const Set& set, std::int32_t end, std::int32_t tokens) const {
    const std::int32_t n_layers = checkpoint.shape.n_layers;
    speculation::SublayerMask mask(n_layers);
    const auto leave_out = [&](std::int32_t sublayer) {
      sublayer % 2 == 0 ? mask.skip_attention(sublayer / 2) : mask.skip_mlp(sublayer / 2);
    };
    for (const std::int32_t sublayer : set) leave_out(sublayer);
    if (end % 2 == 1) leave_out(end);
    const std::int32_t layers = (end + 1) / 2;
    const LastTokens tail = last(tokens);
    std::vector<Row> rows;
    for (std::int32_t i = 0; i < tokens; ++i)
      rows.push_back({.token = tail.tokens[static_cast<std::size_t>(i)], .position = tail.position + i});
    const std::vector<std::int32_t> after{layers};
    Probe probe(*backend, static_cast<std::int32_t>(text.size()));
    Outputs outputs;
    const bool is_all = layers == n_layers;
    const auto done = probe.run({.rows = rows,
                                 .context = tail.position,
                                 .mask = &mask,
                                 .layers = {0, layers},
                                 .wanted = {.hidden_after = after, .head = is_all, .top_k = is_all ? 1 : 0}},
                                outputs);
    EXPECT_TRUE(done) << done.error().message;
    return outputs;
  }

  [[nodiscard]] double similarity(const Set& set, std::int32_t end, std::int32_t tokens) const {
    const Outputs found = run(set, end, tokens);
    const Outputs target = run({}, end, tokens);
    const auto width = static_cast<std::size_t>(checkpoint.shape.d_model);
    double sum = 0.0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(tokens); ++i)
      sum += state_cosine(std::span(found.hidden).subspan(i * width, width),
                          std::span(target.hidden).subspan(i * width, width));
    return sum / tokens;
  }

  Checkpoint checkpoint;
  std::unique_ptr<Backend> backend;
  std::vector<std::int32_t> text;
};

std::int32_t weight_of(std::int32_t sublayer, const SublayerTimes& times) {
  const double own = sublayer % 2 == 0 ? times.attention_ns : times.mlp_ns;
  const double least = std::min(times.attention_ns, times.mlp_ns);
  return std::clamp(static_cast<std::int32_t>(std::lround(own / least)), 1, 5);
}

/// The sets that are left at the end, by the weight that each saves.
std::map<std::int32_t, Set> sets_left(const ReadText& net, const SublayerTimes& times, std::int32_t tokens,
                                      double min_similarity) {
  const std::int32_t n_layers = net.checkpoint.shape.n_layers;
  const std::int32_t budget = (weight_of(0, times) + weight_of(1, times)) * n_layers / 2;
  std::map<std::int32_t, Set> left{{0, {}}};
  for (std::int32_t sublayer = 2; sublayer < 2 * n_layers; ++sublayer) {
    std::map<std::int32_t, std::pair<double, Set>> next{{0, {1.0, {}}}};
    const auto offer = [&](std::int32_t saved, const Set& set) {
      const double similarity = net.similarity(set, sublayer + 1, tokens);
      if (saved == 0 || saved > budget || similarity < min_similarity) return;
      const auto known = next.find(saved);
      if (known == next.end() || similarity > known->second.first) next[saved] = {similarity, set};
    };
    for (const auto& [saved, set] : left) offer(saved, set);
    if (sublayer < 2 * n_layers - 2)
      for (const auto& [saved, set] : left) {
        Set longer = set;
        longer.push_back(sublayer);
        offer(saved + weight_of(sublayer, times), longer);
      }
    left.clear();
    for (const auto& [saved, best] : next) left[saved] = best.second;
  }
  return left;
}

struct Choice {
  Set set;
  double rate = -1.0;
};

Choice choice_of(const ReadText& net, const SublayerTimes& times, std::int32_t tokens, double min_similarity,
                 std::int32_t max_draft) {
  const std::int32_t n_layers = net.checkpoint.shape.n_layers;
  Choice best;
  const Outputs target = net.run({}, 2 * n_layers, tokens);
  for (const auto& [saved, set] : sets_left(net, times, tokens, min_similarity)) {
    if (saved == 0) continue;
    const Outputs found = net.run(set, 2 * n_layers, tokens);
    double right = 0.0;
    for (std::size_t i = 0; i < found.top.size(); ++i)
      right += found.top[i].token == target.top[i].token ? 1 : 0;
    const double alpha = right / tokens;
    double step = 0.0;
    double whole = 0.0;
    for (std::int32_t sublayer = 0; sublayer < 2 * n_layers; ++sublayer) {
      const double own = sublayer % 2 == 0 ? times.attention_ns : times.mlp_ns;
      whole += own;
      if (std::find(set.begin(), set.end(), sublayer) == set.end()) step += own;
    }
    for (std::int32_t length = 0; length < max_draft; ++length) {
      const double yields = alpha == 1.0 ? length + 1.0 : (std::pow(alpha, length + 1) - 1.0) / (alpha - 1.0);
      const double rate = yields / (length * step + whole);
      if (rate > best.rate * (1.0 + 1e-12)) best = {set, rate};
    }
  }
  return best;
}

Set set_of(const speculation::SublayerMask& mask) {
  Set set;
  for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer) {
    if (!mask.runs_attention(layer)) set.push_back(2 * layer);
    if (!mask.runs_mlp(layer)) set.push_back(2 * layer + 1);
  }
  return set;
}

TEST(Knapspec, FindsWhatItsRecurrenceSays) {
  std::mt19937 random(61);
  int found = 0;
  for (int trial = 0; trial < 12; ++trial) {
    const ReadText net({.n_layers = 3 + trial % 3, .redundancy = 0.6, .seed = random()}, random);
    const auto tokens = static_cast<std::int32_t>(1 + random() % 5);
    const SublayerTimes times{static_cast<double>(1 + random() % 40), static_cast<double>(1 + random() % 40)};
    const double min_similarity = trial % 4 == 0 ? 0.97 : 0.5;
    const std::int32_t max_draft = trial % 2 == 0 ? 18 : 3;
    KnapsackSearch search({.max_draft = max_draft, .min_similarity = min_similarity});
    Probe probe(*net.backend, static_cast<std::int32_t>(net.text.size()));
    const auto done = search.run(net.last(tokens), times, probe);
    ASSERT_TRUE(done) << done.error().message;
    const Choice expected = choice_of(net, times, tokens, min_similarity, max_draft);
    ASSERT_EQ(search.has_found(), expected.rate > 0.0) << trial;
    if (!search.has_found()) continue;
    EXPECT_NEAR(search.tokens_per_ns() / expected.rate, 1.0, 1e-9) << trial;
    EXPECT_EQ(set_of(search.mask()), expected.set) << trial;
    ++found;
  }
  EXPECT_GT(found, 6);
}

TEST(Knapspec, OneBranchAPassIsTheSameToTheBit) {
  std::mt19937 random(62);
  const ReadText net({.n_layers = 6, .redundancy = 0.6, .seed = 7}, random);
  const auto searched = [&](Backend& backend) {
    KnapsackSearch search({});
    Probe probe(backend, static_cast<std::int32_t>(net.text.size()));
    EXPECT_TRUE(search.run(net.last(4), {30.0, 10.0}, probe));
    return std::pair(set_of(search.mask()), search.tokens_per_ns());
  };
  NarrowBackend narrow(*net.backend, 5);
  EXPECT_EQ(searched(narrow), searched(*net.backend));
}

}  // namespace
}  // namespace draftscope::engine
