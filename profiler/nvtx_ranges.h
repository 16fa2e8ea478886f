// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Shows host spans as NVTX ranges in tools such as Nsight Systems: domain "draftscope", phases as categories,
// the round (phases) or layer (deeper spans) as payload. It only emits and reads nothing back. Without a tool
// attached there are no ranges, and a span costs a comparison with null.

#include <draftscope/traces/records.h>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace draftscope::profiler {

class NvtxRanges {
 public:
  /// Null if no tool is attached to the process, or the build has no NVTX.
  [[nodiscard]] static std::unique_ptr<NvtxRanges> attach();

  /// Registers the text of a name id with the tool; call it once per id.
  void register_name(traces::StringId name_id, std::string_view text);

  // Call these on the thread that opens and closes spans. Ranges nest.
  void push(const traces::Span& span) const;
  void pop() const;

 private:
  explicit NvtxRanges(void* domain) : domain_(domain) {}

  [[maybe_unused]] void* domain_;  // Unused without the NVTX headers.
  std::unordered_map<traces::StringId, void*> names_;
};

}  // namespace draftscope::profiler
