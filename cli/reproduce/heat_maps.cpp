// SPDX-License-Identifier: GPL-3.0-or-later
#include "reproduce/heat_maps.h"

#include <draftscope/base/number.h>
#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/simulator/analysis/stretches.h>
#include <draftscope/speculation/strategy_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::StretchFigures;
using ExitAndLength = std::pair<std::int32_t, std::int32_t>;

/// Speedups of one prompt, or of all, in one stretch.
struct HeatMap {
  const traces::Prompt* prompt = nullptr;  ///< Null = all prompts.
  std::int32_t first_token = 0;
  std::map<ExitAndLength, double> speedups;
};

std::optional<ExitAndLength> setting_of(const traces::Run& run) {
  const auto exit = speculation::parameter_of(run.specification, "exit");
  const auto gamma = speculation::parameter_of(run.specification, "gamma");
  if (!exit || !gamma) return std::nullopt;
  const auto layers = parse_number<std::int32_t>(*exit);
  const auto tokens = parse_number<std::int32_t>(*gamma);
  if (!layers || !tokens) return std::nullopt;
  return ExitAndLength{*layers, *tokens};
}

/// Maps of all prompts, then of the first ones, each in order of the output.
std::vector<HeatMap> heat_maps(const traces::Recording& recording) {
  constexpr std::size_t shown_prompts = 2;
  const std::vector<StretchFigures> stretches = simulator::stretches_of(recording);
  std::vector<HeatMap> maps;
  for (std::size_t i = 0; i <= std::min(shown_prompts, recording.prompts.size()); ++i) {
    const traces::Prompt* prompt = i == 0 ? nullptr : &recording.prompts[i - 1];
    std::map<std::int32_t, HeatMap> by_stretch;
    for (const StretchFigures& figures : stretches) {
      const auto setting = setting_of(*figures.run);
      if (figures.prompt != prompt || !figures.speedup || !setting) continue;
      HeatMap& map = by_stretch[figures.first_token];
      map.speedups[*setting] = *figures.speedup;
    }
    for (auto& [first_token, map] : by_stretch)
      maps.push_back({prompt, first_token, std::move(map.speedups)});
  }
  return maps;
}

ExitAndLength fastest(const HeatMap& map) {
  return std::max_element(map.speedups.begin(), map.speedups.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::string map_text(const HeatMap& map, const Glyphs& glyphs) {
  const ExitAndLength best = fastest(map);
  std::set<std::int32_t> lengths;
  for (const auto& [setting, speedup] : map.speedups) lengths.insert(setting.second);
  Table table({{"exit", Align::left}});
  for (const std::int32_t length : lengths) table.add_column(fmt::format("{} tokens", length));
  std::set<std::int32_t> exits;
  for (const auto& [setting, speedup] : map.speedups) exits.insert(setting.first);
  for (const std::int32_t exit : exits) {
    table.add_row({fmt::format("{}", exit)});
    for (const std::int32_t length : lengths) {
      const auto found = map.speedups.find({exit, length});
      const bool is_best = ExitAndLength{exit, length} == best;
      table.add_cell(found == map.speedups.end() ? std::string(glyphs.absent())
                                                 : factor(found->second, glyphs) + (is_best ? "*" : " "));
    }
  }
  const std::string whose = map.prompt == nullptr
                                ? "all prompts"
                                : fmt::format("prompt {}, {}", map.prompt->question_id,
                                              printable(simulator::category_name(map.prompt->category)));
  return fmt::format("\n{}, output tokens {}{}{}\n", whose, map.first_token, glyphs.range(),
                     map.first_token + simulator::published_stretch_tokens - 1) +
         table.text(2, glyphs.columns);
}

}  // namespace

std::string heat_maps_text(const traces::Recording& recording, const Glyphs& glyphs) {
  const std::vector<HeatMap> maps = heat_maps(recording);
  std::string text;
  std::map<std::int32_t, ExitAndLength> of_all;
  std::size_t parts = 0;
  std::size_t others = 0;
  for (const HeatMap& map : maps) {
    text += map_text(map, glyphs);
    if (map.prompt == nullptr) {
      of_all[map.first_token] = fastest(map);
    } else {
      ++parts;
      others += static_cast<std::size_t>(of_all[map.first_token] != fastest(map));
    }
  }
  return text + fmt::format(
                    "\nspeedup over vanilla in the same stretch, prefill left out; * the fastest\n"
                    "{} of {} stretches of these prompts have another fastest setting than all prompts\n",
                    others, parts);
}

}  // namespace draftscope::cli
