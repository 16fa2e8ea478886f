// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <vector>

#include "mapped_file.h"

namespace draftscope::engine {

/// Points views at new memory, one after the other. Each begins at a multiple of a cache line, which is also
/// the widest vector that a kernel loads.
[[nodiscard]] inline Result<Mapping> memory_for(const std::vector<TensorView*>& views,
                                                Result<Mapping> (*make)(std::size_t) = Mapping::allocate) {
  constexpr std::size_t alignment = 64;
  const auto bytes_of = [](const TensorView& view) {
    return (view.bytes() + alignment - 1) / alignment * alignment;
  };
  std::size_t bytes = 0;
  for (const TensorView* view : views) bytes += bytes_of(*view);
  DRAFTSCOPE_TRY_ASSIGN(Mapping memory, make(bytes));
  const std::byte* place = memory.bytes().data();
  for (TensorView* view : views) {
    view->data = place;
    place += bytes_of(*view);
  }
  return memory;
}

/// The bytes of a view into this memory.
[[nodiscard]] inline std::byte* writable(const TensorView& view, Mapping& memory) {
  return memory.writable_bytes().data() + (view.data - memory.bytes().data());
}

}  // namespace draftscope::engine
