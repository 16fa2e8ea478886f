// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Checks model folders whose layers may stay packed for the CUDA backend.

#include <draftscope/engine/checkpoint.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/element_bits.h"
#include "tiny_checkpoint.h"

namespace draftscope::engine {

/// The numbers of a tensor, whether it is packed or not.
inline std::vector<std::byte> numbers_of(const TensorView& tensor) {
  if (!tensor.is_plain()) return widened_rows(tensor, 0, tensor.rows);
  return {tensor.data, tensor.data + tensor.bytes()};
}

/// The tensors of a model of one layer and 16 tokens.
class OneLayer {
 public:
  /// `plain`: the type of the tensors that are not packed, F16 or BF16.
  OneLayer(std::uint64_t width, std::uint64_t inner, std::string plain)
      : width_(width), inner_(inner), plain_(std::move(plain)) {}

  /// Random bytes.
  [[nodiscard]] std::string bytes(std::size_t n);
  /// Small numbers of either sign that fp16 and bf16 both represent exactly, as F32, F16 or BF16.
  [[nodiscard]] std::string numbers(std::size_t n, std::string_view dtype);

  void add(tiny::StoredTensor tensor) { tensors_.push_back(std::move(tensor)); }
  void add_plain(const std::string& name, std::vector<std::uint64_t> shape);

  /// Writes the folder. The embedding and the norms are plain; `matrix(module, outputs, inputs)` adds the
  /// tensors of the head and of each of the layer's matrices.
  void write(const std::filesystem::path& folder, nlohmann::json quantisation,
             const std::function<void(const std::string&, std::uint64_t, std::uint64_t)>& matrix);

 private:
  std::uint64_t width_;
  std::uint64_t inner_;
  std::string plain_;
  std::mt19937 random_{7};
  std::vector<tiny::StoredTensor> tensors_;
};

/// Opens a folder, or throws with the error.
[[nodiscard]] Checkpoint opened(const std::filesystem::path& folder, BlockMatrices blocks);

/// Opens the folder both widened and as stored, and expects equal numbers. Expects all or none of the layers'
/// matrices to stay packed, with the head as `packs_head` says. Returns whether they stay packed.
[[nodiscard]] bool keeps_layers(const std::filesystem::path& folder, bool packs_head);

/// Expects that a view of some rows of a tensor has the numbers of these rows.
void expect_views_of_rows(const TensorView& tensor);

/// Expects that a CPU backend refuses the folder as stored.
void expect_none_for_the_cpu(const std::filesystem::path& folder);

}  // namespace draftscope::engine
