// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One backend of several ranks, all in this process: each call is every rank's, on a thread of its own.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>
#include <draftscope/engine/ranks/collective.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace draftscope::engine::test {

/// Makes a rank's own backend, of its part of the model.
using MakeRank = std::function<Result<std::unique_ptr<Backend>>(const Checkpoint&, Collective&)>;

/// Throws with a rank's error.
[[nodiscard]] std::unique_ptr<Backend> make_shared_backend(const Checkpoint& checkpoint, std::int32_t size,
                                                           const MakeRank& make);

/// The same of CPU backends. `options` are every rank's, its place aside.
[[nodiscard]] MakeRank make_cpu_rank(const CpuOptions& options);
[[nodiscard]] std::unique_ptr<Backend> make_shared_backend(const Checkpoint& checkpoint, std::int32_t size,
                                                           const CpuOptions& options);

}  // namespace draftscope::engine::test
