// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "block_emulation.h"

namespace draftscope::engine::cuda::emulation {

namespace {

constexpr std::size_t unit = 2;

DeviceAccesses* active = nullptr;

}  // namespace

void DeviceAccesses::Freed::operator()(void* memory) const {
  std::free(memory);
}

/// Memory from calloc(), so that a large allocation uses only the pages that are touched.
template <typename Value>
DeviceAccesses::Array<Value> DeviceAccesses::zeros(std::size_t bytes) {
  auto* values = static_cast<Value*>(std::calloc(bytes / unit + 1, sizeof(Value)));
  if (values == nullptr) throw std::bad_alloc();
  return Array<Value>(values);
}

void DeviceAccesses::add(const void* memory, std::size_t bytes, std::string what) {
  regions_.push_back({static_cast<const std::byte*>(memory), bytes, std::move(what), nullptr});
  find_bounds();
}

void DeviceAccesses::remove(const void* memory) {
  std::erase_if(regions_, [&](const Region& region) { return region.begin == memory; });
  find_bounds();
}

void DeviceAccesses::find_bounds() {
  bounds_ = {};
  for (const Region& region : regions_) {
    const auto begin = reinterpret_cast<std::uintptr_t>(region.begin);
    const std::uintptr_t old_end = bounds_.begin + bounds_.bytes;
    if (bounds_.bytes == 0 || begin < bounds_.begin) bounds_.begin = begin;
    bounds_.bytes = std::max(old_end, begin + region.bytes) - bounds_.begin;
  }
}

void DeviceAccesses::begin(int blocks) {
  active = this;
  if (order_.begin(blocks)) return;
  for (Region& region : regions_) region.of_blocks.reset();
}

void DeviceAccesses::end() {
  active = nullptr;
}

Result<void> DeviceAccesses::take_conflict(std::string_view kernel,
                                           const std::function<std::string(const std::byte*)>& name) {
  const std::optional<BlockConflict> conflict = std::exchange(conflict_, std::nullopt);
  if (!conflict) return {};
  std::string where = place(conflict->address);
  if (name) where = fmt::format("{} ({})", name(conflict->address), where);
  return fail(
      "emulated GPU: {}: block {} {} {} after block {} {} it, and nothing orders the two ({}-after-{})",
      kernel, conflict->second_block, conflict->second_writes ? "writes" : "reads", where,
      conflict->first_block, conflict->first_writes ? "wrote" : "read",
      conflict->second_writes ? "write" : "read", conflict->first_writes ? "write" : "read");
}

std::string DeviceAccesses::place(const std::byte* address) const {
  for (const Region& region : regions_)
    if (address >= region.begin && address < region.begin + region.bytes)
      return fmt::format("{} + {}", region.what, address - region.begin);
  return "memory given back";
}

DeviceAccesses::Units DeviceAccesses::units_of(const std::byte* address, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) - bounds_.begin >= bounds_.bytes) return {};
  for (Region& region : regions_) {
    const auto offset = static_cast<std::size_t>(address - region.begin);  // Huge if it lies before.
    if (offset < region.bytes)
      return {&region, offset / unit, (std::min(offset + bytes, region.bytes) - 1) / unit + 1};
  }
  return {};
}

DeviceAccesses::BlockAccesses* DeviceAccesses::of_blocks(const Units& units) {
  Region& region = *units.region;
  if (region.of_blocks == nullptr) region.of_blocks = zeros<BlockAccesses>(region.bytes);
  return region.of_blocks.get();
}

/// Records a conflict if nothing orders `first` and the current access of the running block.
void DeviceAccesses::check_order(Moment first, bool first_writes, bool second_writes,
                                 const std::byte* address) {
  if (conflict_ || order_.is_before(first, cooperative_block)) return;
  conflict_ = {BlockOrder::block_of(first), cooperative_block, first_writes, second_writes, address};
}

void DeviceAccesses::on_read(const std::byte* address, std::size_t bytes) {
  const Units units = units_of(address, bytes);
  if (units.region == nullptr) return;
  BlockAccesses* const all = of_blocks(units);
  const Moment now = order_.now(cooperative_block);
  const auto is_mine = [](Moment read) { return BlockOrder::block_of(read) == cooperative_block; };
  for (std::size_t i = units.begin; i < units.end; ++i) {
    auto& [write, reads] = all[i];
    check_order(write, true, false, units.region->begin + i * unit);
    // A block's own read is replaced first, then one that comes before this read.
    const bool is_first =
        is_mine(reads[0]) || (!is_mine(reads[1]) && order_.is_before(reads[0], cooperative_block));
    reads[is_first ? 0 : 1] = now;
  }
}

void DeviceAccesses::on_write(const std::byte* address, std::size_t bytes) {
  const Units units = units_of(address, bytes);
  if (units.region == nullptr) return;
  BlockAccesses* const all = of_blocks(units);
  const Moment now = order_.now(cooperative_block);
  for (std::size_t i = units.begin; i < units.end; ++i) {
    const std::byte* const place = units.region->begin + i * unit;
    check_order(all[i].write, true, true, place);
    for (const Moment read : all[i].reads) check_order(read, false, true, place);
    all[i].write = now;
  }
}

void DeviceAccesses::on_arrival(const unsigned* counter, unsigned n) {
  order_.arrive(cooperative_block, counter, *counter, n);
}

void DeviceAccesses::on_arrivals_seen(const unsigned* counter, unsigned n) {
  order_.see_arrivals(cooperative_block, counter, n);
}

bool sees_accesses() {
  return DRAFTSCOPE_SEES_ACCESSES != 0;
}

void note_device_write(const void* address, std::size_t bytes) {
  if (active != nullptr) active->on_write(static_cast<const std::byte*>(address), bytes);
}

void note_device_read(const void* address, std::size_t bytes) {
  if (active != nullptr) active->on_read(static_cast<const std::byte*>(address), bytes);
}

void note_device_arrival(const unsigned* counter, unsigned n) {
  if (active != nullptr) active->on_arrival(counter, n);
}

void note_arrivals_seen(const unsigned* counter, unsigned n) {
  if (active != nullptr) active->on_arrivals_seen(counter, n);
}

}  // namespace draftscope::engine::cuda::emulation

// Code compiled with -fsanitize=thread by gcc or clang calls these functions.
// NOLINTBEGIN(bugprone-reserved-identifier)
namespace device = draftscope::engine::cuda::emulation;

#define DRAFTSCOPE_ACCESS(size)                      \
  void __tsan_read##size(void* address) {            \
    device::note_device_read(address, size);         \
  }                                                  \
  void __tsan_unaligned_read##size(void* address) {  \
    device::note_device_read(address, size);         \
  }                                                  \
  void __tsan_write##size(void* address) {           \
    device::note_device_write(address, size);        \
  }                                                  \
  void __tsan_unaligned_write##size(void* address) { \
    device::note_device_write(address, size);        \
  }

extern "C" {
DRAFTSCOPE_ACCESS(1)
DRAFTSCOPE_ACCESS(2)
DRAFTSCOPE_ACCESS(4)
DRAFTSCOPE_ACCESS(8)
DRAFTSCOPE_ACCESS(16)

void __tsan_read_range(void* address, unsigned long bytes) {
  device::note_device_read(address, bytes);
}
void __tsan_write_range(void* address, unsigned long bytes) {
  device::note_device_write(address, bytes);
}
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  device::note_device_read(from, bytes);
  device::note_device_write(to, bytes);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  device::note_device_read(from, bytes);
  device::note_device_write(to, bytes);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  device::note_device_write(to, bytes);
  return std::memset(to, value, bytes);
}
void __tsan_vptr_read(void** /*object*/) {}
void __tsan_vptr_update(void** /*object*/, void* /*table*/) {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
// NOLINTEND(bugprone-reserved-identifier)
#undef DRAFTSCOPE_ACCESS
