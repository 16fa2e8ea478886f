// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The identity of a checkpoint: XXH3-128 (canonical, big-endian hex) over length-prefixed parts. It is the
// same on every machine and, since matrices are sampled, costs milliseconds for any size. Two checkpoints
// that differ only in weights between the samples hash alike; training never produces such a pair.

#include <draftscope/engine/checkpoint.h>
#include <xxhash.h>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace draftscope::engine {

/// The bytes of a tensor, as plain numbers, that add_sample() reads: up to 4096 bytes from its middle.
struct HashSample {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};
[[nodiscard]] HashSample hash_sample(const TensorView& tensor);

class CheckpointHash {
 public:
  CheckpointHash();
  void add_bytes(std::span<const std::byte> bytes);
  void add_text(std::string_view text);
  /// Adds size and type of a tensor, and its sample.
  void add_sample(const TensorView& tensor);
  [[nodiscard]] std::string hex() const;

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace draftscope::engine
