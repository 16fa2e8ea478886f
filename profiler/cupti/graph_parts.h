// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The layer and operation that each node of a CUDA graph computes. Nodes are named while they are captured,
// on the capturing thread; making a graph executable clones them, and the clones' ids are what kernels
// report. Entries stay when a graph is destroyed: records of its last launches may still be on their way.
//
// Thread-safety: all of it.

#include <draftscope/traces/records.h>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace draftscope::profiler::cupti {

struct GraphPart {
  std::string op;
  std::int32_t layer = -1;
  std::optional<traces::Phase> phase;  ///< none = that of the span which launches the graph
};

class GraphParts {
 public:
  // The calling thread captures `op` of `layer` from here to leave(). Scopes nest, the innermost counts; a
  // phase holds for the scopes inside, too.
  void enter(std::string_view op, std::int32_t layer, std::optional<traces::Phase> phase = {});
  static void leave();

  // From CUPTI's resource callbacks, on the thread that captures or instantiates.
  void node_created(std::uint64_t node);
  void node_cloned(std::uint64_t node, std::uint64_t original);
  void executable_created(std::uint32_t graph);

  /// Null if nothing was said. Addresses stay valid, and equal parts share one.
  [[nodiscard]] const GraphPart* of_node(std::uint64_t node) const;
  [[nodiscard]] const GraphPart* of_executable(std::uint32_t graph) const;

 private:
  mutable std::mutex mutex_;  // guards all below
  std::deque<GraphPart> parts_;
  std::unordered_map<std::string, const GraphPart*> known_;  // by layer, phase and op
  std::unordered_map<std::uint64_t, const GraphPart*> nodes_;
  std::unordered_map<std::uint32_t, const GraphPart*> executables_;
};

}  // namespace draftscope::profiler::cupti
