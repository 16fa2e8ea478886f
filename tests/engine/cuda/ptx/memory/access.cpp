// SPDX-License-Identifier: GPL-3.0-or-later
#include "memory/access.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "memory/addresses.h"
#include "run/fault.h"

namespace draftscope::ptx {

namespace {

std::string_view verb(Access access) {
  switch (access) {
    case Access::store:
      return "writes";
    case Access::atomic:
      return "changes";
    default:
      return "reads";
  }
}

bool changes_memory(Access access) {
  return access == Access::store || access == Access::atomic;
}

void check_order(const Warp& warp, const Region& region, int lane, std::size_t offset, std::size_t bytes,
                 Access access) {
  const Grid& grid = *warp.block->grid;
  const bool is_early = grid.may_start_early && (warp.has_waited >> lane & 1U) == 0;
  if (is_early && changes_memory(access))
    raise(lane, "{} {} + {} before griddepcontrol.wait, expected none of device memory", verb(access),
          region.name(), offset);
  const GridNumber& me = grid.number;
  for (std::size_t at = offset; at < offset + bytes; at = at / 4 * 4 + 4) {
    Region::Marks& marks = region.marks(at);
    if (changes_memory(access)) {
      if (marks.constant_reader == me.number)
        raise(
            lane,
            "{} {} + {}, which ld.global.nc reads in the same grid, expected memory that the grid only reads",
            verb(access), region.name(), at);
      marks.writer = me.number;
      continue;
    }
    const bool may_change = marks.writer >= me.first_unfinished;
    if (access == Access::constant_load) {
      if (may_change && marks.writer != 0)
        raise(lane,
              "reads {} + {} by ld.global.nc, which a kernel {} launches before writes, expected memory that "
              "nothing "
              "writes meanwhile",
              region.name(), at, me.number - marks.writer);
      marks.constant_reader = me.number;
    }
    if (is_early && may_change && marks.writer != 0)
      raise(lane,
            "reads {} + {} before griddepcontrol.wait, which a kernel {} launches before writes, expected to "
            "wait first",
            region.name(), at, me.number - marks.writer);
  }
}

Place global_place(Warp& warp, int lane, std::uint64_t address, std::size_t bytes, Access access) {
  Grid& grid = *warp.block->grid;
  Region* region = grid.last_region;
  if (region == nullptr || address - region->begin() >= region->bytes()) region = grid.memory->find(address);
  if (region == nullptr || address - region->begin() + bytes > region->bytes())
    raise(lane, "{} {} bytes at {}, expected to stay within an allocation", verb(access), bytes,
          grid.memory->describe(address));
  grid.last_region = region;
  const std::size_t offset = address - region->begin();
  if (region->is_constant() && changes_memory(access))
    raise(lane, "{} {} + {}, expected constant memory to be read only", verb(access), region->name(), offset);
  check_order(warp, *region, lane, offset, bytes, access);
  return {region->data() + offset, region->written() + offset};
}

Place shared_place(Warp& warp, int lane, std::uint64_t address, std::size_t bytes, Access access) {
  SharedMemory& shared = warp.block->shared;
  const std::uint64_t offset = address - window_begin;
  if (address < window_begin || offset + bytes > shared.bytes())
    raise(lane, "{} {} bytes at {} of shared memory, expected within its {} bytes", verb(access), bytes,
          static_cast<std::int64_t>(offset), shared.bytes());
  if (shared.awaits(offset, bytes))
    raise(lane,
          "{} {} bytes at {} of shared memory, which a cp.async is on its way to, expected a wait for its "
          "group first",
          verb(access), bytes, offset);
  const Touch touch = access == Access::store    ? Touch::write
                      : access == Access::atomic ? Touch::atomic
                                                 : Touch::read;
  if (const auto other = shared.touch(offset, bytes, warp.index, touch))
    raise(lane,
          "{} {} bytes at {} of shared memory, which {} uses between the same barriers, expected a barrier "
          "between them",
          verb(access), bytes, offset,
          *other < 64 ? "warp " + std::to_string(*other) : std::string("more than one warp"));
  return {shared.data() + offset, shared.written() + offset};
}

Place local_place(Warp& warp, int lane, std::uint64_t address, std::size_t bytes, Access access) {
  Block& block = *warp.block;
  const std::size_t local_bytes = block.grid->program->local_bytes;
  const std::uint64_t offset = address - window_begin;
  if (address < window_begin || offset + bytes > local_bytes)
    raise(lane, "{} {} bytes at {} of local memory, expected within its {} bytes", verb(access), bytes,
          static_cast<std::int64_t>(offset), local_bytes);
  const std::size_t thread = static_cast<std::size_t>(warp.index * warp_lanes + lane);
  return {block.local.data() + thread * local_bytes + offset,
          block.local_written.data() + thread * local_bytes + offset};
}

Place parameter_place(Warp& warp, int lane, std::uint64_t address, std::size_t bytes, Access access) {
  Grid& grid = *warp.block->grid;
  if (changes_memory(access))
    raise(lane, "{} the kernel's parameters, expected only to read them", verb(access));
  if (address > grid.parameters.size() || bytes > grid.parameters.size() - address)
    raise(lane, "reads {} bytes at {} of the parameters, expected within their {} bytes", bytes,
          static_cast<std::int64_t>(address), grid.parameters.size());
  static std::array<std::uint8_t, 64> all_written = [] {
    std::array<std::uint8_t, 64> ones{};
    ones.fill(1);
    return ones;
  }();
  return {grid.parameters.data() + address, all_written.data()};
}

}  // namespace

Place place_of(Warp& warp, Space space, int lane, std::uint64_t address, std::size_t bytes, Access access) {
  if (address % bytes != 0)
    raise(lane, "{} {} bytes at address {:#x}, expected a multiple of {}", verb(access), bytes, address,
          bytes);
  if (space == Space::generic) {
    space = space_of_address(address);
    address -= window_of(space);
  }
  switch (space) {
    case Space::shared:
      return shared_place(warp, lane, address, bytes, access);
    case Space::local:
      return local_place(warp, lane, address, bytes, access);
    case Space::param:
      return parameter_place(warp, lane, address, bytes, access);
    default:
      return global_place(warp, lane, address, bytes, access);
  }
}

namespace {

void count_global(Warp& warp, Mask lanes, const Addresses& addresses, std::size_t bytes, Access access,
                  MemoryCount& count) {
  constexpr std::size_t sector_bytes = 32;
  Grid& grid = *warp.block->grid;
  std::array<std::uint64_t, warp_lanes> sectors{};
  std::size_t n = 0;
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(__builtin_ctz(left))];
    sectors[n++] = address / sector_bytes;
    Region* region = grid.last_region;
    if (address - region->begin() >= region->bytes()) region = grid.memory->find(address);
    TouchedBytes& touched = grid.counts->touched[region];
    std::vector<std::uint64_t>& bits = access == Access::store ? touched.stored : touched.loaded;
    if (bits.empty()) bits.resize(region->bytes() / 64 + 1);
    const std::size_t offset = address - region->begin();
    // An access is aligned to its own size, and so does not straddle 64 bytes.
    bits[offset / 64] |= ((std::uint64_t{1} << bytes) - 1) << (offset % 64);
  }
  const auto begin = sectors.begin();
  std::sort(begin, begin + static_cast<std::ptrdiff_t>(n));
  const auto end = std::unique(begin, begin + static_cast<std::ptrdiff_t>(n));
  count.sectors += static_cast<std::uint64_t>(end - begin);
  if (grid.counts->totals.kinds.empty()) return;
  const auto of_kind = [&](std::uint64_t address) -> MemoryCount& {
    KindCount& kind = kind_of(grid.counts->totals.kinds, grid.counts->ranges, address);
    return access == Access::atomic ? kind.atomics : access == Access::store ? kind.stores : kind.loads;
  };
  for (auto sector = begin; sector != end; ++sector) ++of_kind(*sector * sector_bytes).sectors;
  for (Mask left = lanes; left != 0; left &= left - 1)
    of_kind(addresses[static_cast<std::size_t>(__builtin_ctz(left))]).bytes += bytes;
}

void count_shared(Mask lanes, const Addresses& addresses, std::size_t bytes, MemoryCount& count) {
  constexpr std::size_t banks = 32;
  const std::size_t words = std::max<std::size_t>(bytes / 4, 1);
  const std::size_t lanes_together = warp_lanes / words;
  for (std::size_t first = 0; first < warp_lanes; first += lanes_together) {
    std::array<std::uint64_t, warp_lanes> touched{};
    std::size_t n = 0;
    for (std::size_t lane = first; lane < first + lanes_together; ++lane)
      if ((lanes >> lane & 1U) != 0)
        for (std::size_t i = 0; i < words; ++i) touched[n++] = addresses[lane] / 4 + i;
    if (n == 0) continue;
    std::sort(touched.begin(), touched.begin() + static_cast<std::ptrdiff_t>(n));
    const auto end = std::unique(touched.begin(), touched.begin() + static_cast<std::ptrdiff_t>(n));
    std::array<std::uint64_t, banks> of_bank{};
    for (auto word = touched.begin(); word != end; ++word) ++of_bank[*word % banks];
    const std::uint64_t passes = *std::max_element(of_bank.begin(), of_bank.end());
    count.passes += passes;
    count.conflicts += passes - 1;
  }
}

}  // namespace

void count_request(Warp& warp, Space space, Mask lanes, const Addresses& addresses, std::size_t bytes,
                   Access access) {
  RunningCounts* const counts = warp.block->grid->counts;
  if (counts == nullptr) return;
  const auto first = static_cast<std::size_t>(__builtin_ctz(lanes));
  if (space == Space::generic) space = space_of_address(addresses[first]);
  const bool stores = access == Access::store;
  LaunchCounts& totals = counts->totals;
  MemoryCount* count = nullptr;
  switch (space) {
    case Space::param:
    case Space::constant:
      return;
    case Space::shared:
      count = stores ? &totals.shared_stores : &totals.shared_loads;
      break;
    case Space::local:
      count = stores ? &totals.local_stores : &totals.local_loads;
      break;
    default:
      count = access == Access::atomic ? &totals.global_atomics
              : stores                 ? &totals.global_stores
                                       : &totals.global_loads;
      break;
  }
  ++count->requests;
  count->bytes += bytes * static_cast<std::uint64_t>(__builtin_popcount(lanes));
  if (space == Space::shared) count_shared(lanes, addresses, bytes, *count);
  if (space == Space::global) count_global(warp, lanes, addresses, bytes, access, *count);
}

}  // namespace draftscope::ptx
