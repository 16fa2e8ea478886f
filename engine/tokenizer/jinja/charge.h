// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Counts the bytes that the values of a rendering use.

#include <cstddef>
#include <utility>

namespace draftscope::engine::jinja {

/// Bytes that count as in use during the lifetime of this object. Their counter must outlive it.
class Charge {
 public:
  /// Charges nothing: for values that existed before the rendering began.
  Charge() = default;
  Charge(std::size_t bytes, std::size_t& held) : bytes_(bytes), held_(&held) { held += bytes; }
  Charge(Charge&& other) noexcept : bytes_(other.bytes_), held_(std::exchange(other.held_, nullptr)) {}
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  Charge& operator=(Charge&&) = delete;
  ~Charge() {
    if (held_ != nullptr) *held_ -= bytes_;
  }

 private:
  std::size_t bytes_ = 0;
  std::size_t* held_ = nullptr;
};

}  // namespace draftscope::engine::jinja
