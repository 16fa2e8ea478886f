// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How each return code of MPI is looked at. Its communicators return their errors (MPI_ERRORS_RETURN).

#include <draftscope/base/result.h>
#include <draftscope/base/to_size.h>
#include <mpi.h>
#include <array>
#include <string_view>

namespace draftscope::engine {

/// The error that a call of MPI returned, if it is one.
[[nodiscard]] inline Result<void> checked(int code, std::string_view operation) {
  if (code == MPI_SUCCESS) return {};
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return fail("MPI {}: found \"{}\", expected every rank to take part", operation,
              std::string_view(text.data(), to_size(length)));
}

}  // namespace draftscope::engine
