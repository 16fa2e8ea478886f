// SPDX-License-Identifier: GPL-3.0-or-later
#include "loop_condition.h"

#include <map>

namespace draftscope::engine::cuda::emulation {

namespace {

/// More than a draft has steps.
constexpr int max_runs = 1000;

std::map<LoopHandle, LoopCondition*>& conditions() {
  static std::map<LoopHandle, LoopCondition*> all;
  return all;
}

}  // namespace

LoopCondition::LoopCondition() {
  conditions()[handle()] = this;
}

LoopCondition::~LoopCondition() {
  conditions().erase(handle());
}

LoopHandle LoopCondition::handle() const {
  return reinterpret_cast<std::uintptr_t>(this);
}

void LoopCondition::set(bool goes_on) {
  goes_on_ = goes_on;
  was_set_ = true;
}

Result<void> LoopCondition::run(const std::function<Result<void>()>& body) {
  goes_on_ = true;
  for (int runs = 0; goes_on_; ++runs) {
    if (runs == max_runs) return fail("a graph's loop has run {} times, expected an end", runs);
    was_set_ = false;
    DRAFTSCOPE_TRY(body());
    if (!was_set_) return fail("no kernel of a graph's loop says whether it goes on, expected one that does");
  }
  return {};
}

LoopCondition* find_loop_condition(LoopHandle handle) {
  const auto found = conditions().find(handle);
  return found == conditions().end() ? nullptr : found->second;
}

}  // namespace draftscope::engine::cuda::emulation
