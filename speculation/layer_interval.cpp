// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/layer_interval.h>

#include <algorithm>
#include <iterator>

namespace draftscope::speculation {

std::optional<std::int32_t> interval_of(const std::vector<bool>& marked) {
  const auto first = std::find(marked.begin(), marked.end(), true);
  if (first == marked.end()) return 0;
  const auto interval = first - marked.begin() + 1;
  for (std::ptrdiff_t i = 0; i < std::ssize(marked); ++i)
    if (marked[static_cast<std::size_t>(i)] != ((i + 1) % interval == 0)) return std::nullopt;
  return static_cast<std::int32_t>(interval);
}

}  // namespace draftscope::speculation
