// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>

#include <cstdint>
#include <memory>

namespace draftscope::engine {

/// Makes the backend on which the shipped models decode. Each test program defines it.
[[nodiscard]] std::unique_ptr<Backend> lossless_backend(const Checkpoint& checkpoint,
                                                        std::int32_t cache_rows);

}  // namespace draftscope::engine
