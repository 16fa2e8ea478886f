// SPDX-License-Identifier: GPL-3.0-or-later
#include "layer_lists.h"

namespace draftscope::profiler::cupti {

std::uint64_t LayerLists::id_of(std::span<const std::int32_t> layers) {
  const auto [entry, added] =
      ids_.try_emplace(std::vector<std::int32_t>(layers.begin(), layers.end()), lists_.size() + 1);
  if (added) lists_.push_back(&entry->first);
  return entry->second;
}

std::span<const std::int32_t> LayerLists::of(std::uint64_t id) const {
  if (id == 0 || id > lists_.size()) return {};
  return *lists_[id - 1];
}

}  // namespace draftscope::profiler::cupti
