// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The file that a test and the program under it share (allocation_points.h), from the test's side.

#include <filesystem>
#include <string>

#include "allocation_points.h"

namespace draftscope::test {

/// Made with what is to fail, and removed at the end. Throws std::system_error where it can't be made.
class MappedPoints {
 public:
  MappedPoints(std::filesystem::path path, const AllocationFailure& wanted);
  MappedPoints(const MappedPoints&) = delete;
  MappedPoints& operator=(const MappedPoints&) = delete;
  ~MappedPoints();

  [[nodiscard]] const AllocationPoints& operator*() const { return *points_; }
  [[nodiscard]] const AllocationPoints* operator->() const { return points_; }

 private:
  std::filesystem::path path_;
  AllocationPoints* points_;
};

}  // namespace draftscope::test
