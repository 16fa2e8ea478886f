// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ranks that are processes of an MPI job, as mpirun or srun starts them.

#include <draftscope/base/result.h>
#include <draftscope/engine/ranks/collective.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace draftscope::engine {

/// When a rank counts as one that hangs: a process that was stopped, a node that is gone, a disk that does
/// not answer. From then on the job is ended. A rank may compute as long as it likes, and rank 0 may wait for
/// its user.
struct HangLimit {
  std::int32_t seconds = 6;  ///< without a sign of life; 0 = nobody watches
  std::function<void(const std::string&)>
      on_hang;  ///< called before the end, on a thread of its own, with one line
};

/// This process's rank among all of its job, of which there must be `expected`. To be called once, and used
/// on the calling thread. A rank that is destroyed before it has concluded ends the job, and so do one that
/// leaves otherwise, by its launcher, and one that hangs. Errors: this build has no MPI, the job has another
/// number of processes, MPI lets no second thread send (MPI_THREAD_MULTIPLE) and `limit` asks for a watch.
[[nodiscard]] Result<std::unique_ptr<Collective>> join_mpi_ranks(std::int32_t expected,
                                                                 const HangLimit& limit);

}  // namespace draftscope::engine
