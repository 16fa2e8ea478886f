// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ranks that are processes of an MPI job, as mpirun or srun starts them.

#include <draftscope/base/result.h>
#include <draftscope/engine/ranks/collective.h>
#include <cstdint>
#include <memory>

namespace draftscope::engine {

/// This process's rank among all of its job, of which there must be `expected`. To be called once, and used
/// on the calling thread. A rank that is destroyed before it has concluded ends the job, and so does one that
/// leaves otherwise, by its launcher. Errors: this build has no MPI, the job has another number of processes.
[[nodiscard]] Result<std::unique_ptr<Collective>> join_mpi_ranks(std::int32_t expected);

}  // namespace draftscope::engine
