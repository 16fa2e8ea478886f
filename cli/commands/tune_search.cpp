// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/tune_search.h"

#include <draftscope/base/quote.h>
#include <draftscope/engine/skip_set.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tuning/grid_settings.h>
#include <draftscope/engine/tuning/grid_source.h>
#include <draftscope/engine/tuning/skip_set_source.h>
#include <draftscope/engine/tuning/teacher_forced.h>
#include <draftscope/speculation/skip_set_text.h>

#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

namespace draftscope::cli {

namespace {

/// The published sets were searched with these: γ 8 and an initial threshold of 0.8.
constexpr const char* searched_with = "draft-verify:gamma=8,threshold=0.8";
constexpr std::int32_t default_trials = 200;

Result<std::vector<speculation::SublayerMask>> read_probes(const TuneOptions& options,
                                                           std::int32_t n_layers) {
  if (options.probe.empty()) return engine::draft_verify_probes(n_layers);
  DRAFTSCOPE_TRY_ASSIGN(const auto sets, engine::read_skip_sets(options.probe, n_layers));
  std::vector<speculation::SublayerMask> probes;
  probes.reserve(sets.size());
  for (const auto& [name, set] : sets) probes.push_back(set);
  return probes;
}

Result<TuneSearch> make_skip_set_search(const TuneOptions& options, const speculation::ModelShape& shape,
                                        std::int32_t prompts, engine::Facts settings) {
  if (options.strategies.size() > 1)
    return fail("strategy: {} are given for --search skip-set, expected one", options.strategies.size());
  engine::SkipSetSearch search{
      .base = options.strategies.empty() ? searched_with : options.strategies.front(),
      .probes = {},
      .trials = options.trials > 0 ? options.trials : default_trials,
      .prompts = prompts,
      .seed = options.seed,
      .scored_by = options.teacher_forced() ? engine::ScoredBy::teacher_forced : engine::ScoredBy::decoded,
      .ranks_sublayers = options.teacher_forced() && options.probe.empty()};
  DRAFTSCOPE_TRY_ASSIGN(search.probes, read_probes(options, shape.n_layers));
  const std::string example = engine::with_skip_set(search.base, speculation::SublayerMask(shape.n_layers));
  if (const auto made = engine::make_strategy(example, shape); !made)
    return fail("{} (--search skip-set adds skip-attention and skip-mlp to {})", made.error().message,
                quote(search.base));
  if (options.teacher_forced()) DRAFTSCOPE_TRY(engine::TeacherForced::submodel_of(example, shape));
  std::vector<std::string> probes;
  probes.reserve(search.probes.size());
  for (const speculation::SublayerMask& probe : search.probes) {
    const speculation::SkipSetText text = speculation::skip_set_text(probe);
    probes.push_back(text.attention + "," + text.mlp);
  }
  settings["strategy"] = search.base;
  settings["probes"] = fmt::format("{}", fmt::join(probes, " "));
  settings["trials"] = std::to_string(search.trials);
  settings["ranked_sublayers"] = std::to_string(search.ranks_sublayers ? 2 * shape.n_layers : 0);
  DRAFTSCOPE_TRY_ASSIGN(engine::SkipSetSource source,
                        engine::SkipSetSource::create(std::move(search), shape.n_layers));
  return TuneSearch{std::make_unique<engine::SkipSetSource>(std::move(source)), std::move(settings)};
}

/// Fails if an axis that the command line names is open in none of the grid's strategies.
Result<void> check_axes(const TuneOptions& options, const engine::Grid& grid,
                        const speculation::ModelShape& shape) {
  struct GivenAxis {
    const char* option;
    const char* parameter;
    bool is_given;
  };
  for (const GivenAxis& axis : {GivenAxis{"--exits", "exit", !options.exits.empty()},
                                {"--gammas", "gamma", !options.gammas.empty()},
                                {"--thresholds", "threshold", !options.thresholds.empty()}}) {
    if (!axis.is_given) continue;
    bool is_open = false;
    for (const std::string& base : grid.bases) {
      DRAFTSCOPE_TRY_ASSIGN(const auto open, engine::open_parameters(base, shape));
      is_open = is_open || open.contains(axis.parameter);
    }
    if (!is_open)
      return fail("found {} with {}, expected a strategy that has {} and does not set it", axis.option,
                  fmt::join(grid.bases, " and "), axis.parameter);
  }
  return {};
}

Result<TuneSearch> make_grid_search(const TuneOptions& options, const engine::Backend& backend,
                                    std::int32_t prompts, engine::Facts settings) {
  const speculation::ModelShape& shape = backend.shape();
  engine::Grid grid = engine::default_grid(shape.n_layers, backend.describe().draft_formats);
  if (!options.strategies.empty()) grid.bases = options.strategies;
  if (!options.exits.empty()) grid.exits = options.exits;
  if (!options.gammas.empty()) grid.gammas = options.gammas;
  if (!options.thresholds.empty()) grid.thresholds = options.thresholds;
  DRAFTSCOPE_TRY(check_axes(options, grid, shape));
  DRAFTSCOPE_TRY_ASSIGN(auto all, engine::grid_settings(grid, shape));
  const std::size_t count = options.trials > 0 ? static_cast<std::size_t>(options.trials) : all.size();
  all = engine::sample_settings(std::move(all), count, options.seed);
  settings["strategy"] = fmt::format("{}", fmt::join(grid.bases, " "));
  settings["exits"] = fmt::format("{}", fmt::join(grid.exits, ","));
  settings["gammas"] = fmt::format("{}", fmt::join(grid.gammas, ","));
  settings["thresholds"] = fmt::format("{}", fmt::join(grid.thresholds, ","));
  settings["grid"] = std::to_string(all.size());
  settings["rungs"] = std::to_string(options.rungs);
  if (options.shard.shard) {
    const traces::Shard& shard = *options.shard.shard;
    std::vector<std::string> own;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (shard.has(i)) own.push_back(std::move(all[i]));
    if (own.empty())
      return fail("grid: found {} settings, expected at least {} for shard {}", all.size(), shard.index,
                  traces::shard_text(shard));
    settings[engine::policy_shard] = traces::shard_text(shard);
    all = std::move(own);
  }
  return TuneSearch{std::make_unique<engine::GridSource>(std::move(all), prompts, options.rungs),
                    std::move(settings)};
}

}  // namespace

Result<TuneSearch> make_tune_search(const TuneOptions& options, const engine::Backend& backend,
                                    std::int32_t prompts) {
  engine::Facts settings{
      {"search", options.search},
      {"objective", options.objective},
      {"scored_by",
       std::string(engine::scored_by_name(options.teacher_forced() ? engine::ScoredBy::teacher_forced
                                                                   : engine::ScoredBy::decoded))},
      {"seed", std::to_string(options.seed)},
      {"weights", options.model.weights},
      {"max_tokens", std::to_string(options.max_tokens)}};
  return options.skip_set() ? make_skip_set_search(options, backend.shape(), prompts, std::move(settings))
                            : make_grid_search(options, backend, prompts, std::move(settings));
}

}  // namespace draftscope::cli
