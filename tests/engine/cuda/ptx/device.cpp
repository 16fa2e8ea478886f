// SPDX-License-Identifier: GPL-3.0-or-later
#include "device.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "module/parser.h"
#include "run/decoder.h"
#include "run/readable_name.h"

namespace draftscope::ptx {

Result<void> Device::load(std::string_view name, std::string text) {
  if (!module_.entries.empty()) return fail("{}: the device has a module, expected one a device", name);
  DRAFTSCOPE_TRY_ASSIGN(module_, parse_module(name, std::move(text)));
  for (const Variable& variable : module_.variables) {
    if (variable.space == Space::shared) {
      variable_addresses_.push_back(0);
      continue;
    }
    Region* const region =
        memory_.allocate(std::string(variable.name), variable.bytes, variable.space == Space::constant);
    if (region == nullptr)
      return fail("{}: {} bytes for {}: out of memory", name, variable.bytes, variable.name);
    // Variables without initial values are zeros.
    std::memset(region->data(), 0, variable.bytes);
    if (!variable.initial.empty()) std::memcpy(region->data(), variable.initial.data(), variable.bytes);
    std::memset(region->written(), 1, variable.bytes);
    variable_addresses_.push_back(region->begin());
  }
  return {};
}

Result<void> Device::decode_all() {
  for (const Entry& entry : module_.entries) DRAFTSCOPE_TRY(program_of(entry.name));
  return {};
}

Result<std::byte*> Device::allocate(std::string name, std::size_t bytes) {
  Region* const region = memory_.allocate(name, bytes);
  if (region == nullptr) return fail("PTX device: {} bytes for {}: out of memory", bytes, name);
  return region->data();
}

void Device::release(const void* memory) {
  (void)memory_.release(memory);
}

Result<Device::Range> Device::range_of(const void* memory, std::size_t bytes, std::string_view what) const {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(memory));
  Region* const region = memory_.find(address);
  if (region == nullptr || address - region->begin() + bytes > region->bytes())
    return fail("PTX device: {} of {} bytes at {}, expected to stay within an allocation", what, bytes,
                memory_.describe(address));
  return Range{region, address - region->begin()};
}

Result<void> Device::upload(void* to, const void* from, std::size_t bytes) {
  all_ended_ = true;
  if (bytes == 0) return {};
  DRAFTSCOPE_TRY_ASSIGN(const Range range, range_of(to, bytes, "an upload"));
  std::memcpy(to, from, bytes);
  std::memset(range.region->written() + range.offset, 1, bytes);
  return {};
}

Result<void> Device::clear(void* memory, std::size_t bytes) {
  all_ended_ = true;
  if (bytes == 0) return {};
  DRAFTSCOPE_TRY_ASSIGN(const Range range, range_of(memory, bytes, "a clearing"));
  std::memset(memory, 0, bytes);
  std::memset(range.region->written() + range.offset, 1, bytes);
  return {};
}

Result<void> Device::copy(void* to, const void* from, std::size_t bytes) {
  all_ended_ = true;
  if (bytes == 0) return {};
  DRAFTSCOPE_TRY_ASSIGN(const Range source, range_of(from, bytes, "a copy"));
  DRAFTSCOPE_TRY_ASSIGN(const Range target, range_of(to, bytes, "a copy"));
  std::memmove(to, from, bytes);
  std::memmove(target.region->written() + target.offset, source.region->written() + source.offset, bytes);
  return {};
}

Result<void> Device::download(void* to, const void* from, std::size_t bytes) {
  all_ended_ = true;
  if (bytes == 0) return {};
  DRAFTSCOPE_TRY_ASSIGN(const Range range, range_of(from, bytes, "a download"));
  const std::uint8_t* const written = range.region->written() + range.offset;
  const std::uint8_t* const missing = std::find(written, written + bytes, 0);
  if (missing != written + bytes)
    return fail("PTX device: a download of {} + {}, which nobody wrote, expected a value",
                range.region->name(), range.offset + static_cast<std::size_t>(missing - written));
  std::memcpy(to, from, bytes);
  return {};
}

Result<void> Device::peek(void* to, const void* from, std::size_t bytes) {
  all_ended_ = true;
  if (bytes == 0) return {};
  DRAFTSCOPE_TRY(range_of(from, bytes, "a download"));
  std::memcpy(to, from, bytes);
  return {};
}

Result<void> Device::note_written_by_library(const void* memory, std::size_t bytes) {
  DRAFTSCOPE_TRY_ASSIGN(const Range range, range_of(memory, bytes, "a library's store"));
  std::memset(range.region->written() + range.offset, 1, bytes);
  for (std::size_t at = 0; at < bytes; at += 4) range.region->marks(range.offset + at).writer = launched_;
  return {};
}

Result<const Program*> Device::program_of(std::string_view name) {
  const auto found = std::find_if(module_.entries.begin(), module_.entries.end(), [&](const Entry& entry) {
    return entry.name == name || readable_name(entry.name) == name;
  });
  if (found == module_.entries.end()) return fail("{}: no such kernel in the module", name);
  const auto known = programs_.find(&*found);
  if (known != programs_.end()) return &known->second;
  DRAFTSCOPE_TRY_ASSIGN(Program program, decode(module_, *found, variable_addresses_));
  return &programs_.emplace(&*found, std::move(program)).first->second;
}

GridNumber Device::next_number(bool may_start_early) {
  ++launched_;
  if (all_ended_ || !may_start_early) first_unfinished_ = launched_;
  all_ended_ = false;
  return {launched_, first_unfinished_};
}

Result<LaunchCounts> Device::launch(const LaunchRequest& request) {
  DRAFTSCOPE_TRY_ASSIGN(const Program* const program, program_of(request.entry));
  const Entry& entry = *program->entry;
  constexpr std::uint64_t max_threads = 1024;
  const std::uint64_t allowed = entry.max_threads != 0 ? entry.max_threads : max_threads;
  const std::uint64_t threads = request.threads.count();
  if (threads == 0 || threads > allowed || (entry.required_threads != 0 && threads != entry.required_threads))
    return fail("{}: launched with {} threads a block, expected {} {}", program->name, threads,
                entry.required_threads != 0 ? "" : "1 to",
                entry.required_threads != 0 ? entry.required_threads : allowed);
  const std::size_t shared_bytes = program->static_shared_bytes + request.shared_bytes;
  if (shared_bytes > options_.max_shared_bytes)
    return fail("{}: launched with {} bytes of shared memory, expected at most {}", program->name,
                shared_bytes, options_.max_shared_bytes);
  if (request.parameters.size() != entry.n_parameters)
    return fail("{}: launched with {} parameters, expected {}", program->name, request.parameters.size(),
                entry.n_parameters);

  Grid grid;
  grid.program = program;
  grid.memory = &memory_;
  grid.blocks = request.blocks;
  grid.threads = request.threads;
  grid.shared_bytes = shared_bytes;
  grid.may_start_early = request.may_start_early;
  grid.clock_ns = clock_ns_;
  grid.set_condition = options_.set_condition;
  grid.parameters.resize(program->parameter_bytes);
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    const std::span<const std::byte> value = request.parameters[i];
    if (value.size() != entry.variables[i].bytes)
      return fail("{}: launched with {} bytes as parameter {}, expected {}", program->name, value.size(), i,
                  entry.variables[i].bytes);
    std::copy(value.begin(), value.end(),
              grid.parameters.begin() + static_cast<std::ptrdiff_t>(program->parameter_offsets[i]));
  }
  RunningCounts counts;
  if (request.counts) {
    counts.warps.resize(program->steps.size());
    counts.lanes.resize(program->steps.size());
    counts.ranges = request.ranges;
    for (const CountedRange& range : request.ranges)
      counts.totals.kinds.resize(std::max(counts.totals.kinds.size(), range.kind + 2));
    grid.counts = &counts;
  }
  grid.number = next_number(request.may_start_early);
  const Result<void> ran = run_grid(grid, {options_.seed + launched_, options_.max_steps});
  clock_ns_ = grid.clock_ns;
  if (!ran) return tl::unexpected(ran.error());
  if (!request.counts) return LaunchCounts{};
  counts.totals.blocks = request.blocks.count();
  counts.totals.threads = threads;
  return finished(*program, counts);
}

namespace {

/// Adds a region's touched bytes, a bit each, to the count of all and to that of the kind they are of.
void add_unique(const Region& region, const std::vector<std::uint64_t>& touched,
                MemoryCount KindCount::*which, MemoryCount& all, std::vector<KindCount>& kinds,
                std::span<const CountedRange> ranges) {
  constexpr std::size_t sector_bytes = 32;
  for (std::size_t sector = 0; sector < 2 * touched.size(); ++sector) {
    const auto bits = static_cast<std::uint32_t>(touched[sector / 2] >> (sector % 2 * sector_bytes));
    if (bits == 0) continue;
    const auto bytes = static_cast<std::uint64_t>(std::popcount(bits));
    const auto add = [&](MemoryCount& count) {
      count.unique_bytes += bytes;
      ++count.unique_sectors;
    };
    add(all);
    if (!kinds.empty()) add(kind_of(kinds, ranges, region.begin() + sector * sector_bytes).*which);
  }
}

/// Prefetched sectors that a launch loads nothing of, and those that were prefetched before.
std::uint64_t useless_prefetches(RunningCounts& counts) {
  constexpr std::size_t sector_bytes = 32;
  std::vector<std::uint64_t>& sectors = counts.prefetched_sectors;
  std::sort(sectors.begin(), sectors.end());
  const auto end = std::unique(sectors.begin(), sectors.end());
  const auto is_loaded = [&](std::uint64_t sector) {
    const std::uint64_t address = sector * sector_bytes;
    return std::any_of(counts.touched.begin(), counts.touched.end(), [&](const auto& touched) {
      const auto& [region, bytes] = touched;
      const std::uint64_t offset = address - region->begin();
      if (offset >= region->bytes() || bytes.loaded.empty()) return false;
      return static_cast<std::uint32_t>(bytes.loaded[offset / 64] >> (offset % 64)) != 0;
    });
  };
  return static_cast<std::uint64_t>(sectors.end() - end + (end - sectors.begin()) -
                                    std::count_if(sectors.begin(), end, is_loaded));
}

}  // namespace

LaunchCounts Device::finished(const Program& program, RunningCounts& counts) {
  LaunchCounts made = std::move(counts.totals);
  made.kernel = program.name;
  std::unordered_map<std::string_view, InstructionCount> by_spelling;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (counts.warps[i] == 0) continue;
    const std::string_view spelling = program.entry->instructions[i].spelling;
    InstructionCount& count = by_spelling[spelling];
    count.spelling = spelling;
    count.warps += counts.warps[i];
    count.lanes += counts.lanes[i];
    made.warp_instructions += counts.warps[i];
  }
  for (auto& [spelling, count] : by_spelling) made.instructions.push_back(std::move(count));
  std::sort(made.instructions.begin(), made.instructions.end(),
            [](const InstructionCount& a, const InstructionCount& b) {
              return a.warps != b.warps ? a.warps > b.warps : a.spelling < b.spelling;
            });
  made.prefetched_sectors = counts.prefetched_sectors.size();
  made.useless_prefetches = useless_prefetches(counts);
  for (const auto& [region, touched] : counts.touched) {
    add_unique(*region, touched.loaded, &KindCount::loads, made.global_loads, made.kinds, counts.ranges);
    add_unique(*region, touched.stored, &KindCount::stores, made.global_stores, made.kinds, counts.ranges);
  }
  return made;
}

}  // namespace draftscope::ptx
