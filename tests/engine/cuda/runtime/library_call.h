// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Calls of libraries that stand beside the runtime and have errors of their own.

#include <string>
#include <utility>

#include "state.h"

namespace draftscope::cuda_stand_in {

/// Outcomes of a library's calls that no call decides itself.
template <typename Status>
struct LibraryErrors {
  Status success;
  Status failed;  ///< where a call is made to fail, or has no place in a capture
};

/// The same as call(), in a library's errors.
template <typename Status, typename Run>
Status library_call(const LibraryErrors<Status>& errors, const char* name, InCapture in_capture,
                    bool gives_back, Run run) {
  Status status = errors.success;
  const cudaError_t error = call(name, in_capture, gives_back, [&](State& s) {
    status = run(s);
    return cudaSuccess;
  });
  return error == cudaSuccess ? status : errors.failed;
}

/// Keeps why a call is refused, for who asks.
template <typename Status>
Status refuse(State& s, Status status, std::string why) {
  s.detail = std::move(why);
  return status;
}

}  // namespace draftscope::cuda_stand_in
