// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What loads, stores, atomics and copies do, once their operands have places.

#include <cstddef>
#include <string_view>

#include "operations/lanes.h"

namespace draftscope::ptx {

/// Addresses of a step's lanes: a register, wide or not, and an offset. Throws Fault where one holds no
/// value.
Lanes<std::uint64_t> addresses_of(Warp& warp, const Step& step, Slot base, std::size_t base_bytes,
                                  Mask lanes);

/// Null if there is no such load: of elements of a type to registers of `register_bytes`.
[[nodiscard]] Execute load_step(Type type, std::size_t register_bytes);
[[nodiscard]] Execute store_step(Type type, std::size_t register_bytes);

/// An atomic operation by its name and type; null if there is none. `step.second` = 0 for red, which returns
/// nothing.
[[nodiscard]] Execute atomic_step(std::string_view operation, Type type);

/// cp.async: `step.size` bytes, of which a register (or all) say how many come from the source, the rest
/// zeros.
void start_copy(Warp& warp, const Step& step, Mask lanes);
/// cp.async.commit_group
void commit_copies(Warp& warp, const Step& step, Mask lanes);
/// cp.async.wait_group: all but the last `step.option` groups arrive; with `step.size` = 1 what is not
/// committed does, too.
void wait_for_copies(Warp& warp, const Step& step, Mask lanes);

/// prefetch.global: a hint, but of memory that is there.
void prefetch(Warp& warp, const Step& step, Mask lanes);

}  // namespace draftscope::ptx
