// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_text.h"

#include <algorithm>
#include <array>

#include "answers/oracle/text_rounds.h"

namespace draftscope::simulator {

double uniform(std::mt19937& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

RoundStatistics fixed_setting(const ShadowTable& table, FixedSetting setting) {
  const std::array<const ShadowTable*, 1> tables{&table};
  // Without a draft any exit will do.
  const std::array<std::int32_t, 1> exits{std::max(setting.exit, 1)};
  const std::array<std::int32_t, 1> lengths{setting.length};
  return setting_matrix(tables, exits, lengths).value().statistics[0].back();
}

ShadowTable random_text(std::mt19937& random, const RandomTextShape& shape) {
  ShadowTable table;
  table.request_id = traces::RequestId::from(random() % 1000);
  table.n_layers = shape.layers;
  table.prompt_tokens = 1 + static_cast<std::int32_t>(random() % 20);
  table.first = table.prompt_tokens + 1;
  table.ended_at_eos = shape.ended_at_eos;
  for (std::int32_t i = 0; i < table.first + shape.positions; ++i)
    table.text.push_back(static_cast<std::int32_t>(random() % 50));
  double ease = uniform(random, 0.1, 0.9);
  for (std::int32_t position = table.first; position < table.end(); ++position) {
    if (random() % 5 == 0) ease = uniform(random, 0.1, 0.95);
    for (std::int32_t layer = 1; layer <= shape.layers; ++layer) {
      const double chance = layer == shape.layers ? 1.0 : ease * (0.5 + 0.5 * layer / shape.layers);
      const bool matches = uniform(random, 0.0, 1.0) < chance;
      const std::int32_t truth = table.text[static_cast<std::size_t>(position)];
      table.cells.push_back(
          {.token = matches ? truth : truth + 1,
           .true_rank = matches ? 0 : 1,
           .probability = static_cast<float>(std::clamp(chance + uniform(random, -0.2, 0.2), 0.01, 1.0)),
           .margin = 1.0F});
    }
  }
  return table;
}

Prices random_prices(std::mt19937& random, const RandomPriceShape& shape) {
  const auto time = [&](double low, double high) {
    return AffineTime{uniform(random, low, high), uniform(random, 0.0, 0.5)};
  };
  Prices prices;
  prices.target_step = time(80.0, 120.0);
  prices.round_ns = uniform(random, 0.0, 15.0);
  prices.step_round_ns = uniform(random, 0.0, 10.0);
  prices.drafts.resize(static_cast<std::size_t>(shape.layers));
  for (std::int32_t exit = 1; exit < shape.layers; ++exit) {
    DraftPrices& draft = prices.drafts[static_cast<std::size_t>(exit)];
    draft.verify.resize(static_cast<std::size_t>(shape.longest) + 2);
    if (shape.is_rough) {
      draft.step = time(0.0, 80.0);
      for (std::size_t rows = 2; rows < draft.verify.size(); ++rows) draft.verify[rows] = time(60.0, 200.0);
      continue;
    }
    const double depth = static_cast<double>(exit) / shape.layers;
    draft.step = {depth * prices.target_step.ns * uniform(random, 0.8, 1.2),
                  depth * prices.target_step.ns_per_context_row};
    AffineTime verify = prices.target_step;
    for (std::size_t rows = 2; rows < draft.verify.size(); ++rows) {
      verify.ns += uniform(random, 0.0, 5.0);
      draft.verify[rows] = verify;
    }
  }
  return prices;
}

}  // namespace draftscope::simulator
