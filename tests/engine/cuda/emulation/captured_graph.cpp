// SPDX-License-Identifier: GPL-3.0-or-later
#include "captured_graph.h"

namespace draftscope::engine::cuda::emulation {

void CapturedGraph::keep(const Launch& launch, const KernelParams& params) {
  (is_in_loop_ ? body_ : behind_).push_back({launch, params});
}

Result<LoopHandle> CapturedGraph::begin_loop() {
  if (loop_ != nullptr || !behind_.empty())
    return fail("a loop behind other launches of a graph, expected one loop, and first");
  loop_ = std::make_unique<LoopCondition>();
  is_in_loop_ = true;
  return loop_->handle();
}

Result<void> CapturedGraph::run(const std::function<Result<void>(const KeptLaunch&)>& launch,
                                const std::function<Result<void>()>& finish) const {
  const auto launch_all = [&](const std::vector<KeptLaunch>& launches) -> Result<void> {
    for (const KeptLaunch& kept : launches) DRAFTSCOPE_TRY(launch(kept));
    return {};
  };
  const auto run_body = [&]() -> Result<void> {
    DRAFTSCOPE_TRY(launch_all(body_));
    return finish();
  };
  if (loop_ != nullptr) DRAFTSCOPE_TRY(loop_->run(run_body));
  return launch_all(behind_);
}

}  // namespace draftscope::engine::cuda::emulation
