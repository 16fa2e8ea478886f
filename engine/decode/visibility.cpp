// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/visibility.h"

#include <cstddef>

namespace draftscope::engine {

void list_ancestors(std::span<const DraftNode> nodes, std::span<const ExtraRow> extra_rows,
                    std::vector<std::uint64_t>& words) {
  constexpr std::size_t bits = 64;
  const std::size_t rows = 1 + nodes.size() + extra_rows.size();
  const std::size_t row_words = (rows + bits - 1) / bits;
  words.assign(rows * row_words, 0);
  const auto see = [&](std::size_t row, std::size_t other) {
    words[row * row_words + other / bits] |= std::uint64_t{1} << (other % bits);
  };
  const auto see_what_is_seen_by = [&](std::size_t row, std::size_t other) {
    for (std::size_t word = 0; word < row_words; ++word)
      words[row * row_words + word] |= words[other * row_words + word];
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int32_t parent_row = nodes[i].parent + 1;
    const auto parent = static_cast<std::size_t>(parent_row);
    see_what_is_seen_by(i + 1, parent);
    see(i + 1, parent);
  }
  const std::size_t first = nodes.size() + 1;
  for (std::size_t i = 0; i < extra_rows.size(); ++i) {
    see(first + i, 0);
    for (const std::int32_t other : extra_rows[i].sees)
      see(first + i, first + static_cast<std::size_t>(other));
  }
}

}  // namespace draftscope::engine
