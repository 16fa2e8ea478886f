// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/speculation/skip_set_text.h>

#include <optional>
#include <string_view>
#include <utility>

namespace draftscope::speculation {
namespace {

constexpr std::string_view no_layer = "none";

void append_layer(std::string& list, std::int32_t layer) {
  list += (list.empty() ? "" : "+") + std::to_string(layer);
}

std::string or_none(std::string list) {
  return list.empty() ? std::string(no_layer) : std::move(list);
}

std::optional<std::int32_t> to_layer(std::string_view text, std::int32_t n_layers) {
  const auto layer = parse_number<std::int32_t>(text);
  return layer && *layer >= 0 && *layer < n_layers ? layer : std::nullopt;
}

/// Calls `skip` with every layer of the list.
template <typename Skip>
Result<void> parse_layer_list(std::string_view name, std::string_view text, std::int32_t n_layers,
                              const Skip& skip) {
  if (text.empty() || text == no_layer) return {};
  std::string_view rest = text;
  while (true) {
    const std::size_t plus = rest.find('+');
    const auto layer = to_layer(rest.substr(0, plus), n_layers);
    if (!layer)
      return fail("{} is {}, expected layers from 0 to {} as in 3+5+8, or none", name, quote(text),
                  n_layers - 1);
    if (!skip(*layer)) return fail("{} has layer {} twice, expected each once", name, *layer);
    if (plus == std::string_view::npos) return {};
    rest.remove_prefix(plus + 1);
  }
}

}  // namespace

SkipSetText skip_set_text(const SublayerMask& set) {
  std::string attention;
  std::string mlp;
  for (std::int32_t layer = 0; layer < set.n_layers(); ++layer) {
    if (!set.runs_attention(layer)) append_layer(attention, layer);
    if (!set.runs_mlp(layer)) append_layer(mlp, layer);
  }
  return {or_none(std::move(attention)), or_none(std::move(mlp))};
}

Result<SublayerMask> parse_skip_set_text(const SkipSetText& text, std::int32_t n_layers) {
  SublayerMask set(n_layers);
  DRAFTSCOPE_TRY(parse_layer_list("skip-attention", text.attention, n_layers, [&](std::int32_t layer) {
    const bool fresh = set.runs_attention(layer);
    set.skip_attention(layer);
    return fresh;
  }));
  DRAFTSCOPE_TRY(parse_layer_list("skip-mlp", text.mlp, n_layers, [&](std::int32_t layer) {
    const bool fresh = set.runs_mlp(layer);
    set.skip_mlp(layer);
    return fresh;
  }));
  return set;
}

}  // namespace draftscope::speculation
