// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A model whose matrices are in blocks as a GGUF file has them, and the same numbers widened.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/weight_format.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace draftscope::engine::test {

/// The layers' matrices of a model of plain numbers, and its head if that is not the embedding, rounded by
/// the CPU backend's quantiser and written as a file's blocks. Widths are multiples of the format's block.
class InBlocks {
 public:
  InBlocks(const Checkpoint& plain, speculation::WeightFormat format);

  [[nodiscard]] Checkpoint& packed() { return packed_; }
  [[nodiscard]] const Checkpoint& widened() const { return widened_; }
  /// Bytes of the tensor that was packed last: the last layer's down, or the head.
  [[nodiscard]] std::vector<std::byte>& last_blocks() { return *blocks_.back(); }

 private:
  void pack(TensorView& packed, TensorView& widened, speculation::WeightFormat format);

  Checkpoint packed_;
  Checkpoint widened_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> blocks_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> numbers_;
};

}  // namespace draftscope::engine::test
