// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <cstdint>
#include <memory>

#include "rank_watch.h"

namespace draftscope::engine {

/// Beats over a communicator of their own. Every rank calls it at once, and returns once all have; MPI must
/// let several threads call it (MPI_THREAD_MULTIPLE). Errors: MPI's.
[[nodiscard]] Result<std::unique_ptr<BeatCarrier>> make_mpi_beats(std::int32_t rank, std::int32_t size);

}  // namespace draftscope::engine
