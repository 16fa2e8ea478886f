// SPDX-License-Identifier: GPL-3.0-or-later
#include "shadow_ranks.h"

#include <algorithm>
#include <limits>

namespace draftscope::gui {

namespace {

constexpr std::int64_t rows_per_question = 1 << 14;
/// More layers than any model has; a damaged file may claim more.
constexpr std::size_t max_layers = 1024;

}  // namespace

std::span<const std::int16_t> ShadowRanks::of_token(std::size_t token_index) const {
  if ((token_index + 1) * layers.size() > ranks.size()) return {};
  return std::span(ranks).subspan(token_index * layers.size(), layers.size());
}

Result<ShadowRanks> read_shadow_ranks(traces::Reader& reader, const OpenedRecording& opened,
                                      std::size_t request_index,
                                      const std::function<bool()>& should_continue) {
  const traces::Request& row = opened.recording().requests[request_index];
  const traces::Prompt* prompt = opened.prompt_of(row);
  const auto first = static_cast<std::int64_t>(prompt == nullptr ? 0 : prompt->tokens.size());
  const std::size_t tokens = row.tokens.size();
  ShadowRanks read;
  if (tokens == 0) return read;
  std::vector<std::vector<std::int16_t>> by_layer;  // [layer][token]
  std::int64_t rows = 0;
  bool cancelled = false;
  DRAFTSCOPE_TRY(reader.shadow_tokens([&](const traces::ShadowToken& shadow) {
    if (++rows % rows_per_question == 0) cancelled = !should_continue();
    if (cancelled || shadow.request_id > row.id) return false;
    if (shadow.request_id < row.id) return true;
    if (read.layers.empty() || read.layers.back() != shadow.layer) {
      if (read.layers.size() == max_layers) return false;
      read.layers.push_back(shadow.layer);
      by_layer.emplace_back(tokens, ShadowRanks::missing);
    }
    const std::int64_t token = shadow.position - first;
    if (token >= 0 && token < static_cast<std::int64_t>(tokens))
      by_layer.back()[static_cast<std::size_t>(token)] = static_cast<std::int16_t>(
          std::clamp<std::int32_t>(shadow.true_rank, -1, std::numeric_limits<std::int16_t>::max()));
    return true;
  }));
  if (cancelled) return fail("cancelled");
  read.ranks.reserve(tokens * read.layers.size());
  for (std::size_t token = 0; token < tokens; ++token)
    for (const std::vector<std::int16_t>& layer : by_layer) read.ranks.push_back(layer[token]);
  return read;
}

std::vector<RankedLayers> ranked_layers(const ShadowRanks& ranks, std::size_t token_index) {
  std::vector<RankedLayers> groups;
  const std::span<const std::int16_t> of = ranks.of_token(token_index);
  bool goes_on = false;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const bool is_missing = of[i] == ShadowRanks::missing;
    if (!is_missing && goes_on && groups.back().rank == of[i])
      groups.back().last = ranks.layers[i];
    else if (!is_missing)
      groups.push_back({ranks.layers[i], ranks.layers[i], of[i]});
    goes_on = !is_missing;
  }
  return groups;
}

}  // namespace draftscope::gui
