// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the properties that every backend must have are tested on. Each test program lists its own.

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
  /// A random shape that it can run.
  speculation::ModelShape (*shape)(Random&) = nullptr;
  /// Whether it computes what a shape's traits say; its error otherwise.
  bool (*computes)(const speculation::ModelFamily&) = nullptr;
  /// A backend that must come to be; throws with its error otherwise. `shares` is what its results must not
  /// depend on: threads, or multiprocessors.
  std::function<std::unique_ptr<Backend>(const Checkpoint&, std::int32_t shares, std::int32_t cache_rows)>
      make;
};

inline void PrintTo(const TestedBackend& tested, std::ostream* out) {
  *out << tested.name;
}

[[nodiscard]] std::vector<TestedBackend> tested_backends();

}  // namespace draftscope::engine::test
