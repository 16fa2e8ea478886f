// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An open file of the system, which its owner closes on destruction.

#include <unistd.h>
#include <utility>

namespace draftscope {

class Descriptor {
 public:
  /// Takes ownership of the result of ::open(); a negative number is no file.
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int number() const { return number_; }
  /// Releases the file to the caller, who closes it.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace draftscope
