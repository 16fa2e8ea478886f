// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/device_rows.h"

#include <algorithm>
#include <tuple>

namespace draftscope::traces {

void Launches::sort() {
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return std::tie(a.process, a.number) < std::tie(b.process, b.number);
  });
}

std::optional<std::uint32_t> Launches::find(std::uint32_t process, std::uint32_t number) const {
  const auto found = std::lower_bound(
      rows_.begin(), rows_.end(), std::tuple(process, number),
      [](const Row& row, const auto& key) { return std::tuple(row.process, row.number) < key; });
  if (found == rows_.end() || found->process != process || found->number != number) return std::nullopt;
  return found->range;
}

}  // namespace draftscope::traces
