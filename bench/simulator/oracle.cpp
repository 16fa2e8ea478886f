// SPDX-License-Identifier: GPL-3.0-or-later
// Time of the clairvoyant bound and of the levels below it, on made-up texts.

#include <draftscope/simulator/answers/oracle.h>
#include <draftscope/simulator/answers/waterfall.h>
#include <draftscope/traces/ids.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <numeric>
#include <random>
#include <vector>

#include "answers/oracle/price_of_time.h"
#include "answers/oracle/waterfall_settings.h"
#include "rounds/replay/shadow_table.h"

namespace {

using namespace draftscope::simulator;

/// Layers predict the text more often the deeper they are, in easy and hard stretches.
ShadowTable made_up_text(std::mt19937& random, std::int32_t tokens, std::int32_t layers) {
  std::uniform_real_distribution<float> chance(0.0F, 1.0F);
  ShadowTable table;
  table.n_layers = layers;
  table.prompt_tokens = 200;
  table.first = 201;
  table.text.assign(static_cast<std::size_t>(table.first) + static_cast<std::size_t>(tokens), 7);
  float ease = 0.5F;
  for (std::int32_t position = 0; position < tokens; ++position) {
    if (random() % 8 == 0) ease = chance(random);
    for (std::int32_t layer = 1; layer <= layers; ++layer) {
      const float likely = ease * (0.4F + 0.6F * static_cast<float>(layer) / static_cast<float>(layers));
      const bool matches = chance(random) < likely;
      table.cells.push_back({.token = matches ? 7 : 8,
                             .true_rank = matches ? 0 : 1,
                             .probability = std::clamp(likely + 0.3F * (chance(random) - 0.5F), 0.0F, 1.0F),
                             .margin = 1.0F});
    }
  }
  return table;
}

/// Layers of 0.1 ms, a head of two layers' time.
Prices layered_prices(std::int32_t layers, std::int32_t longest) {
  Prices prices;
  prices.target_step = {1e5 * (layers + 2), 2.0 * layers};
  prices.round_ns = 5e4;
  prices.drafts.resize(static_cast<std::size_t>(layers));
  for (std::int32_t exit = 1; exit < layers; ++exit)
    prices.drafts[static_cast<std::size_t>(exit)] = {
        .step = {1e5 * (exit + 2), 2.0 * exit},
        .verify = std::vector<AffineTime>(static_cast<std::size_t>(longest) + 2, prices.target_step)};
  return prices;
}

/// Median and range of processor time: one thread does it all, and others may want the machine.
template <typename Work>
bool print_time(const char* name, int repeats, Work work) {
  std::vector<double> times;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const std::clock_t begin = std::clock();
    const auto result = work();
    times.push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    if (!result) {
      fmt::print(stderr, "{}\n", result.error().message);
      return false;
    }
  }
  std::sort(times.begin(), times.end());
  fmt::print("{:<34} {:>9.2f} ({:.2f} to {:.2f}) ms\n", name, times[times.size() / 2], times.front(),
             times.back());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Time of the clairvoyant bound and of the levels below it");
  std::int32_t layers = 32;
  std::int32_t tokens = 1000;
  std::int32_t longest = 18;
  std::int32_t requests = 10;
  int repeats = 7;
  app.add_option("--layers", layers, "of the model; one exit less")->capture_default_str();
  app.add_option("--tokens", tokens, "of a request")->capture_default_str();
  app.add_option("--longest", longest, "speculation length")->capture_default_str();
  app.add_option("--requests", requests, "of the waterfall")->capture_default_str();
  app.add_option("--repeats", repeats, "of which the median and the range are shown")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  std::mt19937 random(1);
  std::vector<ShadowTable> tables;
  tables.reserve(static_cast<std::size_t>(requests));
  for (std::int32_t i = 0; i < requests; ++i) tables.push_back(made_up_text(random, tokens, layers));
  std::vector<WaterfallRequest> rows;
  rows.reserve(tables.size());
  for (const ShadowTable& table : tables)
    rows.push_back(
        {.table = &table, .category = "", .prompt_id = draftscope::traces::PromptId::from(rows.size() + 1)});
  const Prices prices = layered_prices(layers, longest);
  std::vector<std::int32_t> exits(static_cast<std::size_t>(layers) - 1);
  std::iota(exits.begin(), exits.end(), 1);
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(longest));
  std::iota(lengths.begin(), lengths.end(), 1);
  const std::vector<const ShadowTable*> one{&tables.front()};

  WaterfallOptions options;
  options.longest = longest;
  bool is_done = print_time("oracle, 1 request", repeats,
                            [&] { return oracle_plan(tables.front(), prices, {.longest = longest}); });
  is_done = is_done && print_time("myopic oracle, 1 request", repeats,
                                  [&] { return myopic_plan(tables.front(), prices, {.longest = longest}); });
  is_done = is_done && print_time("every fixed setting, 1 request", repeats,
                                  [&] { return setting_matrix(one, exits, lengths); });
  is_done = is_done && print_time("causal rule of every exit", repeats, [&] {
              return fit_prefix_rule(one, prices, {.exits = exits, .longest = longest});
            });
  is_done = is_done && print_time("waterfall, all requests", 1,
                                  [&] { return waterfall(rows, prices, nullptr, options); });
  return is_done ? 0 : 1;
}
