// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Hears of the graphs that a backend captures, and counts them by their names.

#include <draftscope/profiler/device_trace.h>

#include <map>
#include <string>

namespace draftscope::engine::test {

class CountedCaptures final : public profiler::DeviceTrace {
 public:
  [[nodiscard]] profiler::DeviceTraceMode mode() const override {
    return profiler::DeviceTraceMode::launches;
  }
  void record_into(traces::Writer& /*writer*/) override {}
  void push_span(const traces::Span& /*span*/) override {}
  void pop_span() override {}
  /// A graph's own part holds those of its kernels; a kernel outside a graph has nothing around it.
  void enter_operation(std::string_view op, std::int32_t /*layer*/,
                       std::optional<traces::Phase> /*phase*/) override {
    if (depth_++ == 0) outermost_ = op;
    if (depth_ == 2 && !has_kernels_) ++captures_[outermost_];
    has_kernels_ = depth_ > 1;
  }
  void leave_operation() override {
    if (--depth_ == 0) has_kernels_ = false;
  }
  void flush() override {}
  void collect() override {}
  void stop() override {}
  [[nodiscard]] profiler::DeviceTraceCounts counts() const override { return {}; }

  [[nodiscard]] int of(const std::string& graph) const {
    const auto found = captures_.find(graph);
    return found == captures_.end() ? 0 : found->second;
  }
  [[nodiscard]] int all() const {
    int sum = 0;
    for (const auto& [graph, count] : captures_) sum += count;
    return sum;
  }

 private:
  std::map<std::string, int> captures_;
  std::string outermost_;
  int depth_ = 0;
  bool has_kernels_ = false;
};

}  // namespace draftscope::engine::test
