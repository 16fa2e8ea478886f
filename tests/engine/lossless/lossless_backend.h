// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>

#include <cstdint>
#include <memory>

namespace draftscope::engine {

/// The backend that the shipped models decode on; each test program has its own.
[[nodiscard]] std::unique_ptr<Backend> lossless_backend(const Checkpoint& checkpoint,
                                                        std::int32_t cache_rows);

}  // namespace draftscope::engine
