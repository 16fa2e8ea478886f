// SPDX-License-Identifier: GPL-3.0-or-later
#include "operations.h"

#include <vector>

namespace draftscope::profiler::cupti {
namespace {

thread_local std::vector<std::optional<traces::Phase>> open_phases;

}  // namespace

std::uint64_t Operations::enter(std::string_view op, std::int32_t layer, std::optional<traces::Phase> phase) {
  if (!phase && !open_phases.empty()) phase = open_phases.back();
  open_phases.push_back(phase);
  const std::lock_guard lock(mutex_);
  auto& numbers = numbers_[{layer, phase}];
  if (const auto found = numbers.find(op); found != numbers.end()) return found->second;
  operations_.push_back({std::string(op), layer, phase});
  numbers.emplace(op, operations_.size());
  return operations_.size();
}

void Operations::leave() {
  if (!open_phases.empty()) open_phases.pop_back();
}

const Operation* Operations::of(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return number != 0 && number <= operations_.size() ? &operations_[number - 1] : nullptr;
}

}  // namespace draftscope::profiler::cupti
