// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace draftscope::ptx {

namespace {

struct MemoryRow {
  const char* name;
  const MemoryCount LaunchCounts::*count;
};

constexpr MemoryRow memory_rows[] = {
    {"global loads", &LaunchCounts::global_loads},     {"global stores", &LaunchCounts::global_stores},
    {"global atomics", &LaunchCounts::global_atomics}, {"shared loads", &LaunchCounts::shared_loads},
    {"shared stores", &LaunchCounts::shared_stores},   {"local loads", &LaunchCounts::local_loads},
    {"local stores", &LaunchCounts::local_stores},
};

}  // namespace

KindCount& kind_of(std::vector<KindCount>& kinds, std::span<const CountedRange> ranges,
                   std::uint64_t address) {
  for (const CountedRange& range : ranges)
    if (address - range.begin < range.bytes) return kinds[range.kind];
  return kinds.back();
}

std::string table_of(const LaunchCounts& counts, std::size_t max_instructions) {
  std::string text = fmt::format(
      "{}: {} blocks of {} threads, {} instructions of warps, {} branches ({} divergent), {} barriers\n",
      counts.kernel, counts.blocks, counts.threads, counts.warp_instructions, counts.branches,
      counts.divergent_branches, counts.barriers);
  auto out = std::back_inserter(text);
  fmt::format_to(out, "  {:<16}{:>10}{:>14}{:>14}{:>12}{:>10}{:>11}\n", "memory", "requests", "bytes",
                 "unique bytes", "sectors", "passes", "conflicts");
  for (const MemoryRow& row : memory_rows) {
    const MemoryCount& count = counts.*row.count;
    if (count.requests == 0) continue;
    fmt::format_to(out, "  {:<16}{:>10}{:>14}{:>14}{:>12}{:>10}{:>11}\n", row.name, count.requests,
                   count.bytes, count.unique_bytes, count.sectors, count.passes, count.conflicts);
  }
  fmt::format_to(out, "  {:<56}{:>12}{:>14}\n", "instruction", "warps", "lanes");
  const std::size_t shown = std::min(max_instructions, counts.instructions.size());
  for (std::size_t i = 0; i < shown; ++i)
    fmt::format_to(out, "  {:<56}{:>12}{:>14}\n", counts.instructions[i].spelling,
                   counts.instructions[i].warps, counts.instructions[i].lanes);
  return text;
}

}  // namespace draftscope::ptx
