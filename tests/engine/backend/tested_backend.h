// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Describes the backends on which the properties of every backend are tested. Each test program lists its
// backends.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "random_model.h"

namespace draftscope::engine::test {

struct TestedBackend {
  std::string name;  ///< letters, digits and _
  DType dtype = DType::bf16;
  /// Draws a random shape that the backend can run.
  speculation::ModelShape (*shape)(Random&) = nullptr;
  /// Succeeds if the backend supports the traits of a shape; returns its error otherwise.
  bool (*computes)(const speculation::ModelFamily&) = nullptr;
  /// Makes the backend, or throws with its error. The results must not depend on `shares`, the number of
  /// threads or multiprocessors.
  std::function<std::unique_ptr<Backend>(const Checkpoint&, std::int32_t shares, std::int32_t cache_rows)>
      make;
};

inline void PrintTo(const TestedBackend& tested, std::ostream* out) {
  *out << tested.name;
}

[[nodiscard]] std::vector<TestedBackend> tested_backends();

}  // namespace draftscope::engine::test
