// SPDX-License-Identifier: GPL-3.0-or-later
#include "catalogue/named_layers.h"

#include <draftscope/base/counter_random.h>
#include <draftscope/base/number.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace draftscope::speculation {

namespace {

using Layers = std::vector<std::int32_t>;

std::string listed(const Layers& layers) {
  std::string text;
  for (const std::int32_t layer : layers) (text += text.empty() ? "" : "+") += std::to_string(layer);
  return text.empty() ? "none" : text;
}

Layers run_of(std::int32_t first, std::int32_t count) {
  Layers layers(static_cast<std::size_t>(count));
  std::iota(layers.begin(), layers.end(), first);
  return layers;
}

/// Layers at equal distances, up to rounding.
Layers uniform(std::int32_t count, std::int32_t n_layers) {
  Layers layers;
  for (std::int64_t i = 0; i < count; ++i)
    layers.push_back(static_cast<std::int32_t>((2 * i + 1) * n_layers / (2 * std::int64_t{count})));
  return layers;
}

/// Draws the layers one by one with SplitMix64 from the seed.
Layers random_layers(std::int32_t count, std::int32_t n_layers, std::uint64_t seed) {
  Layers all = run_of(0, n_layers);
  for (std::int32_t drawn = 0; drawn < count; ++drawn) {
    const auto left = static_cast<std::uint64_t>(n_layers - drawn);
    const std::uint64_t number =
        splitmix(seed + 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(drawn + 1));
    std::swap(all[static_cast<std::size_t>(drawn)],
              all[static_cast<std::size_t>(drawn) + static_cast<std::size_t>(number % left)]);
  }
  all.resize(static_cast<std::size_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

/// Layers of "3+5+8" with ranges as "4-7"; nothing where a piece is neither.
std::optional<Layers> ranges(std::string_view text, std::int32_t n_layers) {
  std::set<std::int32_t> layers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('+'), text.size());
    const std::string_view piece = text.substr(0, end);
    const std::size_t dash = std::min(piece.find('-'), piece.size());
    const auto from = parse_number<std::int32_t>(piece.substr(0, dash));
    const auto to = dash == piece.size() ? from : parse_number<std::int32_t>(piece.substr(dash + 1));
    if (!from || !to || *from < 0 || *to < *from || *to >= n_layers) return std::nullopt;
    for (std::int32_t layer = *from; layer <= *to; ++layer) layers.insert(layer);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Layers(layers.begin(), layers.end());
}

}  // namespace

std::optional<std::string> named_layers(std::string_view text, std::int32_t n_layers) {
  const std::size_t dash = text.find('-');
  if (text == "uniform") {
    Layers layers;
    for (std::int32_t layer = 1; layer < n_layers - 1; layer += 2) layers.push_back(layer);
    return listed(layers);
  }
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, dash);
  std::string_view rest = text.substr(dash + 1);
  if (parse_number<std::int32_t>(name) || name.find('+') != std::string_view::npos) {
    const auto layers = ranges(text, n_layers);
    return layers ? listed(*layers) : std::string();
  }
  std::uint64_t seed = 1;
  if (name == "random" && rest.find('-') != std::string_view::npos) {
    const auto given = parse_number<std::uint64_t>(rest.substr(rest.find('-') + 1));
    if (!given) return std::string();
    seed = *given;
    rest = rest.substr(0, rest.find('-'));
  }
  const auto number = parse_number<std::int32_t>(rest);
  if (!number || *number < 0 || (name != "every" && *number > n_layers)) return std::string();
  if (name == "every") {
    if (*number < 1) return std::string();
    Layers layers;
    for (std::int64_t layer = *number - 1; layer < n_layers; layer += *number)
      layers.push_back(static_cast<std::int32_t>(layer));
    return listed(layers);
  }
  if (name == "first") return listed(run_of(0, *number));
  if (name == "middle") return listed(run_of((n_layers - *number) / 2, *number));
  if (name == "last") return listed(run_of(n_layers - *number, *number));
  if (name == "uniform") return listed(uniform(*number, n_layers));
  if (name == "random") return listed(random_layers(*number, n_layers, seed));
  return std::string();
}

}  // namespace draftscope::speculation
