// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/ranks/mpi_ranks.h>

namespace draftscope::engine {

Result<std::unique_ptr<Collective>> join_mpi_ranks(std::int32_t expected, const HangLimit& /*limit*/) {
  return fail(
      "ranks: found a build without MPI, expected one that CMake found MPI for, to share a model among {}",
      expected);
}

}  // namespace draftscope::engine
