// SPDX-License-Identifier: GPL-3.0-or-later
#include "recording/run_memory.h"

#include <draftscope/base/number.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

namespace draftscope::engine {

std::size_t peak_memory_bytes() {
  constexpr std::string_view key = "VmHWM:";
  constexpr std::size_t bytes_per_kib = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_of("0123456789");
    if (begin == std::string::npos) return 0;
    const std::string number = line.substr(begin, line.find(' ', begin) - begin);
    return parse_number<std::size_t>(number).value_or(0) * bytes_per_kib;
  }
  return 0;
}

bool reset_peak_memory() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << "5" << std::flush;  // proc(5): the peak resident size becomes the present one
  return clear.good();
}

void RunMemories::begin_request() {
  static_cast<void>(reset_peak_memory());
}

void RunMemories::end_request(traces::RunId run, const Strategy& strategy) {
  const BackendDescription target = target_.describe();
  RunMemory& memory = by_run_[run];
  memory.weight_bytes = target.weight_bytes;
  memory.draft_weight_bytes = target.draft_weight_bytes;
  memory.kv_bytes = target.kv_bytes;
  memory.workspace_bytes = target.workspace_bytes;
  if (const Backend* const own = strategy.own_backend()) {
    const BackendDescription draft = own->describe();
    memory.draft_weight_bytes += draft.weight_bytes;
    memory.kv_bytes += draft.kv_bytes;
    memory.workspace_bytes += draft.workspace_bytes;
  }
  // A device's memory is allocated before the first request, and all of it is its backends'.
  const std::size_t allocated =
      memory.weight_bytes + memory.draft_weight_bytes + memory.kv_bytes + memory.workspace_bytes;
  memory.peak_bytes = std::max(memory.peak_bytes, target.device == "cpu" ? peak_memory_bytes() : allocated);
}

std::string RunMemories::json() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [run, memory] : by_run_) {
    nlohmann::ordered_json entry = nlohmann::ordered_json::object();
    entry["peak_bytes"] = memory.peak_bytes;
    entry["weight_bytes"] = memory.weight_bytes;
    entry["draft_weight_bytes"] = memory.draft_weight_bytes;
    entry["kv_bytes"] = memory.kv_bytes;
    entry["workspace_bytes"] = memory.workspace_bytes;
    json[std::to_string(run.value())] = std::move(entry);
  }
  return json.dump();
}

}  // namespace draftscope::engine
