// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How bytes travel between the processes whose devices are emulated: by sockets of this machine, with rank 0
// in the middle.

#include <draftscope/base/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace draftscope::cuda_stand_in {

/// An open socket; -1 = none.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// Where ranks find rank 0, under a name that no other group of this machine has.
struct MeetingSocket {
  std::string name;
  Socket listening;
};
[[nodiscard]] Result<MeetingSocket> open_meeting();

class RankSockets {
 public:
  /// Rank 0's part, which `listening` is given to; waits until all others have come, for half a minute.
  [[nodiscard]] static Result<RankSockets> receive(Socket listening, std::int32_t size);
  /// Another rank's part.
  [[nodiscard]] static Result<RankSockets> join(const std::string& name, std::int32_t rank,
                                                std::int32_t size);

  /// All ranks' bytes to each, one rank's behind another's, this one's own among them. Fails if another rank
  /// has ended, or has another number of bytes to exchange.
  [[nodiscard]] Result<std::vector<std::byte>> exchange(std::span<const std::byte> own);

 private:
  std::int32_t rank_ = 0;
  std::int64_t exchanges_ = 0;
  std::vector<Socket> others_;  // of rank 0: by rank from 1 on; of others: rank 0's
};

}  // namespace draftscope::cuda_stand_in
