// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace draftscope::simulator {

namespace {

/// A plausible size; absent for one that only a damaged file can have.
std::optional<std::int64_t> bytes_at(const nlohmann::json& sizes, std::string_view key) {
  constexpr std::int64_t max_bytes = std::int64_t{1} << 62;
  const auto found = sizes.find(key);
  if (found == sizes.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{max_bytes})
    return std::nullopt;
  const auto bytes = found->get<std::int64_t>();
  if (bytes < 0 || bytes > max_bytes) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<std::int64_t> RunMemory::other_bytes() const {
  if (!peak_bytes) return std::nullopt;
  // Subtracts one after another, since their sum could overflow.
  std::int64_t rest = *peak_bytes;
  for (const std::int64_t part : {weight_bytes, draft_weight_bytes, kv_bytes, workspace_bytes})
    rest = std::max<std::int64_t>(rest - part, 0);
  return rest;
}

std::optional<RunMemory> run_memory(const traces::Meta& meta, traces::RunId run) {
  const auto text = meta.find("run_memory");
  if (text == meta.end()) return std::nullopt;
  const nlohmann::json runs = nlohmann::json::parse(text->second, nullptr, false);
  if (!runs.is_object()) return std::nullopt;
  const auto sizes = runs.find(std::to_string(run.value()));
  if (sizes == runs.end() || !sizes->is_object()) return std::nullopt;
  const auto weights = bytes_at(*sizes, "weight_bytes");
  const auto draft_weights = bytes_at(*sizes, "draft_weight_bytes");
  const auto kv = bytes_at(*sizes, "kv_bytes");
  const auto workspace = bytes_at(*sizes, "workspace_bytes");
  if (!weights || !draft_weights || !kv || !workspace) return std::nullopt;
  RunMemory memory{bytes_at(*sizes, "peak_bytes"), *weights, *draft_weights, *kv, *workspace};
  if (memory.peak_bytes == 0) memory.peak_bytes.reset();
  return memory;
}

}  // namespace draftscope::simulator
