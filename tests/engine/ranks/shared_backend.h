// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One backend of several ranks, all in this process: each call is every rank's, on a thread of its own.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>

#include <cstdint>
#include <memory>

namespace draftscope::engine::test {

/// Throws with a rank's error. `options` are every rank's, its place aside.
[[nodiscard]] std::unique_ptr<Backend> make_shared_backend(const Checkpoint& checkpoint, std::int32_t size,
                                                           const CpuOptions& options);

}  // namespace draftscope::engine::test
