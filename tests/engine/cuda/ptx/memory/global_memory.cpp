// SPDX-License-Identifier: GPL-3.0-or-later
#include "memory/global_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

namespace draftscope::ptx {

namespace {

constexpr std::size_t region_alignment = 256;  // cudaMalloc's

std::byte* aligned_memory(std::size_t bytes) {
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + region_alignment - 1) / region_alignment * region_alignment;
  void* memory = std::aligned_alloc(region_alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

}  // namespace

Region::Region(std::string name, std::size_t bytes, bool is_constant)
    : name_(std::move(name)),
      bytes_(bytes),
      is_constant_(is_constant),
      data_(aligned_memory(bytes)),
      written_(std::make_unique<std::uint8_t[]>(bytes)),
      marks_(std::make_unique<Marks[]>(bytes / 4 + 1)) {
  std::fill_n(data_.get(), bytes, std::byte{0xff});  // a NaN in every format
}

void Region::Freed::operator()(void* memory) const {
  std::free(memory);
}

Region* GlobalMemory::allocate(std::string name, std::size_t bytes, bool is_constant) {
  std::unique_ptr<Region> made;
  try {
    made = std::make_unique<Region>(std::move(name), bytes, is_constant);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  const auto place = std::upper_bound(
      regions_.begin(), regions_.end(), made->begin(),
      [](std::uint64_t begin, const std::unique_ptr<Region>& region) { return begin < region->begin(); });
  return regions_.insert(place, std::move(made))->get();
}

bool GlobalMemory::release(const void* data) {
  Region* const found = find(reinterpret_cast<std::uintptr_t>(data));
  if (found == nullptr || found->data() != data) return false;
  std::erase_if(regions_, [&](const std::unique_ptr<Region>& region) { return region.get() == found; });
  return true;
}

Region* GlobalMemory::find(std::uint64_t address) const {
  const auto behind = std::upper_bound(
      regions_.begin(), regions_.end(), address,
      [](std::uint64_t begin, const std::unique_ptr<Region>& region) { return begin < region->begin(); });
  if (behind == regions_.begin()) return nullptr;
  Region* const region = std::prev(behind)->get();
  // One of no bytes is at its address nonetheless.
  return address - region->begin() < std::max<std::size_t>(region->bytes(), 1) ? region : nullptr;
}

std::string GlobalMemory::describe(std::uint64_t address) const {
  const auto behind = std::upper_bound(
      regions_.begin(), regions_.end(), address,
      [](std::uint64_t begin, const std::unique_ptr<Region>& region) { return begin < region->begin(); });
  constexpr std::uint64_t near = std::uint64_t{1} << 20U;
  if (behind == regions_.begin()) return fmt::format("address {:#x}, no allocation", address);
  const Region& region = **std::prev(behind);
  if (address - region.begin() >= region.bytes() + near)
    return fmt::format("address {:#x}, no allocation", address);
  return fmt::format("{} + {} of {} bytes", region.name(), address - region.begin(), region.bytes());
}

}  // namespace draftscope::ptx
