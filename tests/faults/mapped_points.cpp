// SPDX-License-Identifier: GPL-3.0-or-later
#include "mapped_points.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace draftscope::test {

MappedPoints::MappedPoints(std::filesystem::path path, const AllocationFailure& wanted)
    : path_(std::move(path)), points_(nullptr) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const bool made = file >= 0 && ::ftruncate(file, sizeof(AllocationPoints)) == 0;
  void* const mapped =
      made ? ::mmap(nullptr, sizeof(AllocationPoints), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
           : MAP_FAILED;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (mapped == MAP_FAILED) throw std::system_error(error, std::generic_category(), path_.string());
  // A new file is zero throughout, which is what an AllocationPoints begins as but for this.
  points_ = static_cast<AllocationPoints*>(mapped);
  points_->wanted = wanted;
}

MappedPoints::~MappedPoints() {
  ::munmap(points_, sizeof(AllocationPoints));
  ::unlink(path_.c_str());
}

}  // namespace draftscope::test
