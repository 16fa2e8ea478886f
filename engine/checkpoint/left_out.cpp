// SPDX-License-Identifier: GPL-3.0-or-later
#include "left_out.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>

namespace draftscope::engine {
namespace {

constexpr std::array<std::string_view, 7> cache_scale_names{
    "k_scale", "v_scale", "kv_scale", "q_scale", "prob_scale", "k_zero_point", "v_zero_point"};
constexpr std::array<std::string_view, 4> activation_scale_names{"input_scale", "input_global_scale",
                                                                 "activation_scale", "input_zero_point"};
constexpr std::array<std::string_view, 2> next_token_prefixes{"mtp.", "model.mtp"};
constexpr std::string_view layer_prefix = "model.layers.";

/// Text for each kind, in the order of LeftOut.
constexpr std::array<std::string_view, 4> descriptions{
    "scales of a K/V cache in fewer bits", "scales of activations, which are not rounded",
    "layers that predict further tokens", "parts that are not the decoder's"};

template <std::size_t count>
bool is_one_of(std::string_view name, const std::array<std::string_view, count>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::optional<LeftOut> left_out(std::string_view name, const speculation::ModelShape& shape) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (is_one_of(last, cache_scale_names)) return LeftOut::cache_scales;
  if (is_one_of(last, activation_scale_names)) return LeftOut::activation_scales;
  if (name.starts_with(next_token_prefixes[0]) || name.starts_with(next_token_prefixes[1]))
    return LeftOut::further_tokens;
  if (!name.starts_with(layer_prefix)) return LeftOut::other_parts;
  const auto digits =
      name.substr(layer_prefix.size(), name.find('.', layer_prefix.size()) - layer_prefix.size());
  const auto layer = parse_number<std::int32_t>(digits);
  if (!layer || *layer < 0) return LeftOut::other_parts;
  if (*layer >= shape.n_layers) return LeftOut::further_tokens;
  return std::nullopt;
}

std::string left_out_line(LeftOut kind, std::size_t count, std::string_view first) {
  const bool is_one = count == 1;
  return fmt::format("left out {} tensor{} ({}{}): {}", count, is_one ? "" : "s", quote(first),
                     is_one ? "" : ", …", descriptions[static_cast<std::size_t>(kind)]);
}

std::vector<std::string> left_out_lines(std::vector<std::string> names,
                                        const speculation::ModelShape& shape) {
  std::sort(names.begin(), names.end());
  std::array<std::string_view, descriptions.size()> first{};
  std::array<std::size_t, descriptions.size()> count{};
  for (const std::string& name : names) {
    const auto kind = left_out(name, shape);
    if (!kind) continue;
    const auto place = static_cast<std::size_t>(*kind);
    if (count[place]++ == 0) first[place] = name;
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < descriptions.size(); ++i)
    if (count[i] > 0) lines.push_back(left_out_line(static_cast<LeftOut>(i), count[i], first[i]));
  return lines;
}

}  // namespace draftscope::engine
