// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A graph as the tests' devices keep it: launches, and perhaps a loop before them.

#include <draftscope/base/result.h>

#include <functional>
#include <memory>
#include <vector>

#include "cuda/launch.h"
#include "loop_condition.h"

namespace draftscope::engine::cuda::emulation {

struct KeptLaunch {
  Launch launch;
  KernelParams params;
};

class CapturedGraph {
 public:
  void keep(const Launch& launch, const KernelParams& params);
  /// Launches kept from here to end_loop() are the loop's body. Fails behind other launches.
  [[nodiscard]] Result<LoopHandle> begin_loop();
  void end_loop() { is_in_loop_ = false; }

  /// Calls `launch` for each kernel in order, and `finish` where all must have ended: behind each run of the
  /// loop.
  [[nodiscard]] Result<void> run(const std::function<Result<void>(const KeptLaunch&)>& launch,
                                 const std::function<Result<void>()>& finish) const;

 private:
  bool is_in_loop_ = false;
  std::unique_ptr<LoopCondition> loop_;
  std::vector<KeptLaunch> body_, behind_;
};

}  // namespace draftscope::engine::cuda::emulation
