// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Plain numbers of safetensors files, and their copies where the kernels cannot read the files': numbers that
// are not aligned to their size, or whose type is not the matrices'.
//
// All matrices have one type: the one that most weights of the layers' plain matrices have, or else that of
// the embedding and the head. The first of two such types counts; fp64 counts as fp32. A matrix of another
// type is converted, each number rounded once to nearest, ties to even. Norms and biases keep their types,
// but fp64 becomes fp32.

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shards.h"
#include "tensor_slots.h"

namespace draftscope::engine {

/// The numbers of a slot as its file has them.
struct PlainTensor {
  const TensorSlot* slot = nullptr;
  const std::byte* data = nullptr;
  DType dtype = DType::bf16;  ///< type of the copy, if the file has fp64
  bool is_fp64 = false;
  std::string_view file;

  /// Name of the type in the file: "fp64".
  [[nodiscard]] std::string_view type_name() const { return is_fp64 ? "fp64" : dtype_name(dtype); }
  /// Whether backends can read the file's own numbers as numbers of this type.
  [[nodiscard]] bool is_usable_as(DType wanted) const;
};

/// Shape of the tensor that contains a slot: "[12, 8]".
[[nodiscard]] std::string expected_extents(const TensorSlot& slot);

/// Finds the numbers of a slot. Errors: another shape, or a type that is not plain.
[[nodiscard]] Result<PlainTensor> plain_tensor(const TensorSlot& slot, const FileTensor& place);

/// The type of all matrices, as described above; bf16 if none of them is plain.
[[nodiscard]] DType matrix_type(const std::vector<PlainTensor>& tensors);

/// A copy of a tensor's numbers, of the type of `tensor.slot->view`.
struct PlainCopy {
  PlainTensor tensor;
  std::byte* out = nullptr;
};

/// Writes all copies on all processors. Errors: a number that the wanted type does not hold.
[[nodiscard]] Result<void> write_copies(const std::vector<PlainCopy>& copies);

/// Lines that say what was copied, and what was converted to which type.
[[nodiscard]] std::vector<std::string> copy_lines(const std::vector<PlainCopy>& copies);

}  // namespace draftscope::engine
