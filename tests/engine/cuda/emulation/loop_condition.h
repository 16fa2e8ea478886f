// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Whether the body of a graph's loop runs once more: what a kernel says by a handle, and who runs the loop
// reads.
//
// Thread-safety: none; devices of the tests have one thread.

#include <draftscope/base/result.h>

#include <cstdint>
#include <functional>

#include "cuda/kernels/params.h"

namespace draftscope::engine::cuda::emulation {

class LoopCondition {
 public:
  LoopCondition();
  LoopCondition(const LoopCondition&) = delete;
  LoopCondition& operator=(const LoopCondition&) = delete;
  ~LoopCondition();

  [[nodiscard]] LoopHandle handle() const;
  void set(bool goes_on);

  /// Runs a loop: `body` to its end, at least once. Fails as the body does, if no kernel of it says whether
  /// it goes on, and if it goes on for ever.
  [[nodiscard]] Result<void> run(const std::function<Result<void>()>& body);

 private:
  bool goes_on_ = false;
  bool was_set_ = false;
};

/// The condition of a handle; null if there is none.
[[nodiscard]] LoopCondition* find_loop_condition(LoopHandle handle);

}  // namespace draftscope::engine::cuda::emulation
