// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lists of the layers that stood at the places of a graph when it was launched: numbered, so that a
// correlation can carry the number.
//
// Thread-safety: one thread.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace draftscope::profiler::cupti {

class LayerLists {
 public:
  /// Equal lists have one id; ids are positive.
  std::uint64_t id_of(std::span<const std::int32_t> layers);

  /// Empty for an id that was never given.
  [[nodiscard]] std::span<const std::int32_t> of(std::uint64_t id) const;

 private:
  std::map<std::vector<std::int32_t>, std::uint64_t> ids_;
  std::vector<const std::vector<std::int32_t>*> lists_;  // by id - 1; a map's keys stay where they are
};

}  // namespace draftscope::profiler::cupti
