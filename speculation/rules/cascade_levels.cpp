// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/speculation/rules/cascade_levels.h>

#include <cmath>

namespace draftscope::speculation {

namespace {

/// Leaves out so many layers between the first and the last, evenly.
SublayerMask without_layers(std::int32_t left_out, std::int32_t n_layers) {
  SublayerMask mask(n_layers);
  const std::int32_t between = n_layers - 2;
  for (std::int32_t i = 0; i < left_out; ++i) {
    const std::int32_t layer = 1 + (2 * i + 1) * between / (2 * left_out);
    mask.skip_attention(layer).skip_mlp(layer);
  }
  return mask;
}

std::optional<SublayerMask> mask_of(std::string_view text, std::int32_t n_layers) {
  constexpr std::string_view exit = "exit-";
  if (text.starts_with(exit)) {
    const auto layers = parse_number<std::int32_t>(text.substr(exit.size()));
    if (!layers || *layers < 1 || *layers >= n_layers) return std::nullopt;
    return SublayerMask::early_exit(n_layers, *layers);
  }
  const auto share = parse_number<double>(text);
  if (!share || !(*share > 0.0 && *share < 1.0)) return std::nullopt;
  const auto left_out = static_cast<std::int32_t>(std::floor(*share * (n_layers - 2)));
  return without_layers(std::max(left_out, 0), n_layers);
}

std::optional<WeightFormat> made_format(std::string_view name) {
  const auto format = parse_weight_format(name);
  if (!format || weight_format_row(*format).made_by == MadeBy::none) return std::nullopt;
  return *format;
}

std::optional<CascadeLevel> level_of(std::string_view text, std::int32_t n_layers) {
  CascadeLevel level{.name = std::string(text), .mask = SublayerMask(n_layers), .weights = {}};
  const std::size_t slash = text.find('/');
  const bool has_slash = slash != std::string_view::npos;
  level.weights = made_format(has_slash ? text.substr(slash + 1) : text);
  if (has_slash != level.weights.has_value()) return has_slash ? std::nullopt : std::optional(level);
  const auto mask = mask_of(text.substr(0, slash), n_layers);
  if (!mask) return std::nullopt;
  level.mask = *mask;
  return level;
}

}  // namespace

Result<std::vector<CascadeLevel>> cascade_levels(std::string_view text, std::int32_t n_layers) {
  constexpr std::size_t most = 8;
  std::vector<CascadeLevel> levels;
  if (text.empty() || text == "none") return levels;
  while (true) {
    const std::size_t plus = std::min(text.find('+'), text.size());
    auto level = level_of(text.substr(0, plus), n_layers);
    if (!level)
      return fail(
          "strategy cascade: levels: found {}, expected a share of layers left out as 0.4, exit-1 to "
          "exit-{}, "
          "weights as q4_0, or 0.4/q4_0",
          quote(text.substr(0, plus)), n_layers - 1);
    levels.push_back(*std::move(level));
    if (levels.size() > most)
      return fail("strategy cascade: levels: found more than {}, expected at most that many", most);
    if (plus == text.size()) return levels;
    text.remove_prefix(plus + 1);
  }
}

}  // namespace draftscope::speculation
