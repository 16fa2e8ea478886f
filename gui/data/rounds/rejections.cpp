// SPDX-License-Identifier: GPL-3.0-or-later
#include "rejections.h"

#include <algorithm>
#include <span>

namespace draftscope::gui {

namespace {

std::optional<std::int32_t> tokens_that(const OpenedRecording& opened, std::uint32_t round_index,
                                        bool (*counts)(const traces::DraftToken& token)) {
  const std::span<const traces::DraftToken> tokens = opened.draft_tokens(round_index);
  if (tokens.empty() && opened.round(round_index).drafted > 0) return std::nullopt;
  return static_cast<std::int32_t>(std::ranges::count_if(tokens, counts));
}

}  // namespace

std::optional<std::int32_t> tested_tokens(const OpenedRecording& opened, std::uint32_t round_index) {
  return tokens_that(opened, round_index, [](const traces::DraftToken& token) { return token.tested; });
}

std::optional<std::int32_t> rejected_tokens(const OpenedRecording& opened, std::uint32_t round_index) {
  return tokens_that(opened, round_index,
                     [](const traces::DraftToken& token) { return token.tested && !token.accepted; });
}

std::optional<Rejection> next_rejection(const OpenedRecording& opened, std::size_t run_index,
                                        std::uint32_t from, bool forward) {
  std::vector<std::uint32_t> rejections;
  for (const std::uint32_t round_index : opened.runs()[run_index].rounds)
    if (rejected_tokens(opened, round_index).value_or(0) > 0) rejections.push_back(round_index);
  if (rejections.empty()) return std::nullopt;
  std::size_t next = forward ? 0 : rejections.size() - 1;
  if (from != no_index) {
    // A round that the filter leaves out still has a number.
    const std::uint32_t at = opened.number_in_run(from);
    const auto place = std::ranges::partition_point(rejections, [&](std::uint32_t round_index) {
      const std::uint32_t number = opened.number_in_run(round_index);
      return forward ? number <= at : number < at;
    });
    const auto index = static_cast<std::size_t>(place - rejections.begin());
    next = forward ? index % rejections.size() : (index + rejections.size() - 1) % rejections.size();
  }
  return Rejection{rejections[next], next + 1, rejections.size()};
}

}  // namespace draftscope::gui
