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
/// Beginnings of what a model of several kinds of input has beside its decoder, after "model.".
constexpr std::array<std::string_view, 5> parts_beside{"vision", "visual", "multi_modal", "audio", "mm_"};
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
  if (name.starts_with(layer_prefix)) {
    const auto digits =
        name.substr(layer_prefix.size(), name.find('.', layer_prefix.size()) - layer_prefix.size());
    const auto layer = parse_number<std::int32_t>(digits);
    return layer && *layer >= shape.n_layers ? std::optional(LeftOut::further_tokens) : std::nullopt;
  }
  // A head that is the embedding again, packed or not, needs no tensors; a bias would change the logits.
  if (name.starts_with("lm_head."))
    return shape.tied_embeddings && !name.ends_with(".bias") ? std::optional(LeftOut::other_parts)
                                                             : std::nullopt;
  constexpr std::string_view model = "model.";
  const auto is_beside = [&](std::string_view part) {
    return name.substr(std::min(model.size(), name.size())).starts_with(part);
  };
  const bool is_of_decoder = name.starts_with(model) && std::ranges::none_of(parts_beside, is_beside);
  return is_of_decoder ? std::nullopt : std::optional(LeftOut::other_parts);
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
