// SPDX-License-Identifier: GPL-3.0-or-later
// cp.async (PTX ISA 9.0, Data Movement and Conversion Instructions: Asynchronous copy). Data arrive at the
// wait and not a step sooner; until then nothing else may touch the destination. The source is read at the
// wait, too, and must still be what it was.

#include <cstring>
#include <iterator>

#include "memory/access.h"
#include "memory/addresses.h"
#include "operations/memory_steps.h"
#include "run/fault.h"

namespace draftscope::ptx {

namespace {

LaneCopies& copies_of(Warp& warp, int lane) {
  if (warp.copies.empty()) warp.copies.resize(warp_lanes);
  return warp.copies[static_cast<std::size_t>(lane)];
}

/// Takes down what the source holds. Of a shorter one, only those bytes need exist; its address is aligned
/// nonetheless.
void copy_source(Warp& warp, PendingCopy& copy) {
  if (copy.from % copy.bytes != 0)
    raise(copy.lane, "reads {} bytes at address {:#x}, expected a multiple of {}", copy.bytes, copy.from,
          copy.bytes);
  const std::size_t piece = copy.source_bytes == copy.bytes ? copy.bytes : 1;
  for (std::size_t at = 0; at < copy.source_bytes; at += piece) {
    const Place place = place_of(warp, Space::global, copy.lane, copy.from + at, piece, Access::load);
    std::memcpy(copy.at_issue.data() + at, place.data, piece);
  }
}

void arrive(Warp& warp, const PendingCopy& copy) {
  Region* const region = warp.block->grid->memory->find(copy.from);
  if (copy.source_bytes > 0 &&
      (region == nullptr || std::memcmp(region->data() + (copy.from - region->begin()), copy.at_issue.data(),
                                        copy.source_bytes) != 0))
    raise(copy.lane, "cp.async reads {}, which changed before its wait, expected a source that stays",
          warp.block->grid->memory->describe(copy.from));
  warp.block->shared.receive(copy.to - window_begin, copy.bytes);
  const Place to = place_of(warp, Space::shared, copy.lane, copy.to, copy.bytes, Access::store);
  std::memset(to.data, 0, copy.bytes);
  std::memset(to.written, 1, copy.bytes);
  if (copy.source_bytes == 0) return;
  std::memcpy(to.data, copy.at_issue.data(), copy.source_bytes);
  std::memcpy(to.written, region->written() + (copy.from - region->begin()), copy.source_bytes);
}

}  // namespace

void start_copy(Warp& warp, const Step& step, Mask lanes) {
  Step destination = step;
  destination.offset = step.second_offset;
  const std::span<const Slot> slots = warp.block->grid->program->list(step);
  const Addresses to = addresses_of(warp, destination, slots[0], step.d_bytes, lanes);
  const Addresses from = addresses_of(warp, step, step.a, step.a_bytes, lanes);
  Mask reading = 0;
  for_each_lane(lanes, [&](int lane) {
    const auto at = static_cast<std::size_t>(lane);
    std::uint32_t source_bytes = step.size;
    if (step.b != 0) {
      if ((written_lanes(warp, step.b) >> lane & 1U) == 0)
        raise(lane, "cp.async's size from a value that nobody wrote, expected one that was written");
      source_bytes = load_lanes<std::uint32_t>(warp, step.b)[at];
    }
    if (source_bytes > step.size)
      raise(lane, "cp.async of {} bytes from a source of {}, expected at most as many", step.size,
            source_bytes);
    PendingCopy copy{lane, from[at], to[at], step.size, static_cast<std::uint8_t>(source_bytes), {}};
    if (source_bytes > 0) {
      copy_source(warp, copy);
      reading |= Mask{1} << lane;
    }
    const Place place = place_of(warp, Space::shared, lane, copy.to, copy.bytes, Access::store);
    std::memset(place.written, 0, copy.bytes);
    warp.block->shared.expect(copy.to - window_begin, copy.bytes);
    copies_of(warp, lane).groups.back().push_back(copy);
  });
  if (reading != 0) count_request(warp, Space::global, reading, from, step.size, Access::load);
  count_request(warp, Space::shared, lanes, to, step.size, Access::store);
}

void commit_copies(Warp& warp, const Step&, Mask lanes) {
  for_each_lane(lanes, [&](int lane) { copies_of(warp, lane).groups.emplace_back(); });
}

void wait_for_copies(Warp& warp, const Step& step, Mask lanes) {
  const bool waits_for_all = step.size == 1;
  for_each_lane(lanes, [&](int lane) {
    std::vector<std::vector<PendingCopy>>& groups = copies_of(warp, lane).groups;
    // The last one is open, and not counted.
    while (groups.size() > 1 && (waits_for_all || groups.size() - 1 > step.option)) {
      for (const PendingCopy& copy : groups.front()) arrive(warp, copy);
      groups.erase(groups.begin());
    }
    if (!waits_for_all) return;
    for (const PendingCopy& copy : groups.back()) arrive(warp, copy);
    groups.back().clear();
  });
}

void prefetch(Warp& warp, const Step& step, Mask lanes) {
  constexpr std::size_t sector_bytes = 32;
  Grid& grid = *warp.block->grid;
  const Addresses from = addresses_of(warp, step, step.a, step.a_bytes, lanes);
  for_each_lane(lanes, [&](int lane) {
    const std::uint64_t address = from[static_cast<std::size_t>(lane)];
    if (grid.memory->find(address) == nullptr)
      raise(lane, "prefetches {}, expected memory that is there", grid.memory->describe(address));
    if (grid.counts != nullptr) grid.counts->prefetched_sectors.push_back(address / sector_bytes);
  });
}

}  // namespace draftscope::ptx
