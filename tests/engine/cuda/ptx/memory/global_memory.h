// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Device memory by its allocations: which bytes there are, which hold a value, and which kernels touched
// them.
//
// Kernels are numbered from 1 in the order of their launches, and run one after another; but one that may
// start early (by programmatic dependent launch) may on a device run beside those before it. So each four
// bytes remember the last kernel that wrote them, and the last that read them as constant (ld.global.nc): a
// conflict is found although none happened.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace draftscope::ptx {

/// The kernel that an access is part of.
struct GridNumber {
  std::uint32_t number = 1;
  std::uint32_t first_unfinished = 1;  ///< all before it have ended when this one starts
};

class Region {
 public:
  /// Memory of the region itself, at its address, aligned to 256 bytes; holds no value yet.
  Region(std::string name, std::size_t bytes, bool is_constant);

  [[nodiscard]] std::uint64_t begin() const { return reinterpret_cast<std::uintptr_t>(data_.get()); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_constant() const { return is_constant_; }
  [[nodiscard]] std::byte* data() const { return data_.get(); }
  /// One byte a byte: 1 if it holds a value.
  [[nodiscard]] std::uint8_t* written() const { return written_.get(); }

  struct Marks {
    std::uint32_t writer;  ///< 0 = no kernel
    std::uint32_t constant_reader;
  };
  /// Marks of the four bytes that hold `offset`.
  [[nodiscard]] Marks& marks(std::size_t offset) const { return marks_[offset / 4]; }

 private:
  struct Freed {
    void operator()(void* memory) const;
  };
  std::string name_;
  std::size_t bytes_;
  bool is_constant_;
  std::unique_ptr<std::byte, Freed> data_;
  std::unique_ptr<std::uint8_t[]> written_;
  std::unique_ptr<Marks[]> marks_;
};

class GlobalMemory {
 public:
  /// Null if the host has no such memory. The region lives until release().
  Region* allocate(std::string name, std::size_t bytes, bool is_constant = false);
  /// False if no allocation begins there.
  bool release(const void* data);
  /// The allocation that holds an address, or null.
  [[nodiscard]] Region* find(std::uint64_t address) const;
  /// An address in words: "logits + 12 of 400 bytes", or "no allocation".
  [[nodiscard]] std::string describe(std::uint64_t address) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Region>>& regions() const { return regions_; }

 private:
  std::vector<std::unique_ptr<Region>> regions_;  // by address
};

}  // namespace draftscope::ptx
