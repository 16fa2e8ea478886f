// SPDX-License-Identifier: GPL-3.0-or-later
#include "toy_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "rounds/replay/policy.h"

namespace draftscope::simulator {

namespace {

std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31U);
}

double uniform(std::uint64_t value) {
  return static_cast<double>(mix(value) >> 11U) * 0x1.0p-53;
}

bool ends(const ReplayConditions& conditions, std::int32_t token) {
  return std::find(conditions.end_tokens.begin(), conditions.end_tokens.end(), token) !=
         conditions.end_tokens.end();
}

std::int32_t rank_of(std::int32_t token, const std::vector<std::int32_t>& ranking) {
  return static_cast<std::int32_t>(std::find(ranking.begin(), ranking.end(), token) - ranking.begin());
}

}  // namespace

ToyModel::Prediction ToyModel::predict(std::span<const std::int32_t> text, std::int32_t layer) const {
  std::uint64_t hash = mix(seed ^ text.size());
  for (const std::int32_t token : text.last(std::min<std::size_t>(text.size(), 4)))
    hash = mix(hash ^ static_cast<std::uint64_t>(token));
  const auto token_of = [&](std::uint64_t value) {
    return static_cast<std::int32_t>(mix(value) % static_cast<std::uint64_t>(vocab));
  };
  const std::int32_t own = token_of(hash);
  const std::uint64_t layered = mix(hash + static_cast<std::uint64_t>(layer) * 977);
  const double agrees = 0.3 + 0.65 * layer / n_layers;
  const bool is_own = layer == n_layers || uniform(layered) < agrees;
  // Confidences are whole millionths, as in a file, and never equal a threshold of the tests.
  const auto millionths = static_cast<std::int64_t>(uniform(layered + 1) * 499'999.0) * 2 + 1;
  return {is_own ? own : token_of(layered + 2), static_cast<double>(millionths) * 1e-6};
}

std::vector<std::int32_t> ToyModel::ranking(std::span<const std::int32_t> text, std::int32_t layer) const {
  const std::int32_t best = predict(text, layer).token;
  std::uint64_t hash = mix(seed ^ static_cast<std::uint64_t>(layer));
  for (const std::int32_t token : text.last(std::min<std::size_t>(text.size(), 4)))
    hash = mix(hash ^ static_cast<std::uint64_t>(token));
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(vocab));
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto place = [&](std::int32_t token) {
    return std::pair(token != best, mix(hash + static_cast<std::uint64_t>(token)));
  };
  std::sort(tokens.begin(), tokens.end(),
            [&](std::int32_t a, std::int32_t b) { return place(a) < place(b); });
  return tokens;
}

ToyDecoding decode(const ToyModel& model, std::span<const std::int32_t> prompt, Policy& policy,
                   const ReplayConditions& conditions) {
  ToyDecoding decoding;
  std::vector<std::int32_t>& text = decoding.text;
  text.assign(prompt.begin(), prompt.end());
  bool ended = false;
  std::int32_t emitted = 0;
  const auto emit = [&](std::int32_t token) {
    if (ended) return;
    if (ends(conditions, token)) {
      ended = decoding.ended_at_eos = true;
      return;
    }
    text.push_back(token);
    ended = ++emitted >= conditions.max_new_tokens;
  };
  emit(model.predict(text, model.n_layers).token);
  ShadowTable shape{.n_layers = model.n_layers};
  while (!ended && static_cast<std::int32_t>(text.size()) - 1 < conditions.context_rows) {
    const auto root = static_cast<std::int32_t>(text.size()) - 1;
    const RoundState state{&shape, root, conditions.max_new_tokens - emitted};
    PlannedRound plan;
    policy.plan(state, plan);
    const std::int32_t rows = std::min(conditions.context_rows - root, conditions.verify_rows) - 1;
    std::vector<std::vector<std::int32_t>> steps;
    std::vector<std::int32_t> path = text;
    DraftOutcome outcome;
    while (plan.exit > 0 && outcome.drafted < rows &&
           static_cast<std::int32_t>(steps.size()) < std::min({plan.length, state.remaining - 1, rows})) {
      const ToyModel::Prediction next = model.predict(path, plan.exit);
      const std::int32_t width = std::min(
          {speculation::width_at(plan.widths, next.confidence), rows - outcome.drafted, model.vocab});
      steps.push_back(model.ranking(path, plan.exit));
      steps.back().resize(static_cast<std::size_t>(width));
      outcome.drafted += width;
      outcome.siblings += width - 1;
      path.push_back(next.token);
      if (ends(conditions, next.token) || next.confidence < plan.threshold) break;
    }
    std::vector<std::int32_t> verified = text;
    std::int32_t own = model.predict(verified, model.n_layers).token;
    for (const std::vector<std::int32_t>& step : steps) {
      const auto found = std::find(step.begin(), step.end(), own);
      if (found == step.end()) break;
      ++outcome.accepted;
      verified.push_back(own);
      own = model.predict(verified, model.n_layers).token;
      if (found != step.begin()) break;
    }
    const std::int32_t before = emitted;
    const std::vector<std::int32_t> accepted(verified.begin() + std::ssize(text), verified.end());
    for (const std::int32_t token : accepted) emit(token);
    emit(own);
    decoding.rounds.push_back({root, plan.exit, outcome, emitted - before});
  }
  return decoding;
}

ShadowTable shadow_table(const ToyModel& model, std::span<const std::int32_t> prompt,
                         const ReplayConditions& conditions, bool with_end) {
  NoDraft vanilla;
  const ToyDecoding decoding = decode(model, prompt, vanilla, conditions);
  ShadowTable table{.request_id = 1,
                    .n_layers = model.n_layers,
                    .prompt_tokens = static_cast<std::int32_t>(prompt.size()),
                    .first = static_cast<std::int32_t>(prompt.size()) + 1,
                    .text = decoding.text,
                    .ended_at_eos = decoding.ended_at_eos,
                    .cells = {},
                    .prompt_cells = {},
                    .end_cells = {}};
  const bool has_end = with_end && table.ended_at_eos;
  for (std::int32_t position = table.first; position < table.end() + (has_end ? 1 : 0); ++position) {
    const auto before = std::span(table.text).first(static_cast<std::size_t>(position));
    const std::int32_t own = model.predict(before, model.n_layers).token;
    for (std::int32_t layer = 1; layer <= model.n_layers; ++layer) {
      const ToyModel::Prediction next = model.predict(before, layer);
      (position < table.end() ? table.cells : table.end_cells)
          .push_back({next.token, rank_of(own, model.ranking(before, layer)),
                      static_cast<float>(next.confidence), static_cast<float>(next.confidence)});
    }
  }
  return table;
}

std::vector<std::int32_t> run_lengths(const ShadowTable& table, std::int32_t exit) {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(std::max(table.end() - table.first, 0)));
  std::int32_t length = 0;
  for (std::size_t i = lengths.size(); i-- > 0;) {
    const ShadowCell& cell = table.cell(table.first + static_cast<std::int32_t>(i), exit);
    length = cell.true_rank == 0 ? length + 1 : 0;
    lengths[i] = length;
  }
  return lengths;
}

}  // namespace draftscope::simulator
