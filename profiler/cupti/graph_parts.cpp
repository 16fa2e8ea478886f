// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph_parts.h"

#include <vector>

namespace draftscope::profiler::cupti {
namespace {

thread_local std::vector<const GraphPart*> open_parts;

template <typename Id>
const GraphPart* part_of(const std::unordered_map<Id, const GraphPart*>& parts, Id id) {
  const auto found = parts.find(id);
  return found != parts.end() ? found->second : nullptr;
}

// An id that comes again, outside any scope, must not keep what it meant before.
template <typename Id>
void set(std::unordered_map<Id, const GraphPart*>& parts, Id id, const GraphPart* part) {
  if (part != nullptr)
    parts.insert_or_assign(id, part);
  else
    parts.erase(id);
}

}  // namespace

void GraphParts::enter(std::string_view op, std::int32_t layer, std::optional<traces::Phase> phase) {
  if (!phase && !open_parts.empty()) phase = open_parts.back()->phase;
  const std::lock_guard lock(mutex_);
  const int phase_key = phase ? static_cast<int>(*phase) : -1;
  const GraphPart*& part =
      known_[std::to_string(layer) + "/" + std::to_string(phase_key) + "/" + std::string(op)];
  if (part == nullptr) part = &parts_.emplace_back(GraphPart{std::string(op), layer, phase});
  open_parts.push_back(part);
}

void GraphParts::leave() {
  if (!open_parts.empty()) open_parts.pop_back();
}

void GraphParts::node_created(std::uint64_t node) {
  const std::lock_guard lock(mutex_);
  set(nodes_, node, open_parts.empty() ? nullptr : open_parts.back());
}

void GraphParts::node_cloned(std::uint64_t node, std::uint64_t original) {
  const std::lock_guard lock(mutex_);
  set(nodes_, node, part_of(nodes_, original));
}

void GraphParts::executable_created(std::uint32_t graph) {
  const std::lock_guard lock(mutex_);
  set(executables_, graph, open_parts.empty() ? nullptr : open_parts.back());
}

const GraphPart* GraphParts::of_node(std::uint64_t node) const {
  const std::lock_guard lock(mutex_);
  return part_of(nodes_, node);
}

const GraphPart* GraphParts::of_executable(std::uint32_t graph) const {
  const std::lock_guard lock(mutex_);
  return part_of(executables_, graph);
}

}  // namespace draftscope::profiler::cupti
