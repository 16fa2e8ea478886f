// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Finds the tensors of a checkpoint that form a packed matrix, and checks their extents and types against the
// format.

#include <draftscope/base/result.h>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/shards.h"
#include "checkpoint/tensor_slots.h"
#include "quantised_matrix.h"

namespace draftscope::engine {

/// The packed matrix that a slot is, or is a part of; none if the checkpoint has it as plain numbers. Errors
/// name the tensor.
[[nodiscard]] Result<std::optional<QuantisedMatrix>> find_quantised(const TensorSlot& slot,
                                                                    const Shards& shards,
                                                                    const FileTensors& tensors,
                                                                    const QuantisationConfig& config);

/// Names that the tensors of a packed matrix may have besides the slot's name.
[[nodiscard]] std::vector<std::string> quantised_names(const TensorSlot& slot,
                                                       const QuantisationConfig& config);

/// Whether a tensor is a bias of zeros, which GPTQ's packer writes for each of a model's linear modules.
[[nodiscard]] bool is_bias_of_zeros(const std::string& name, const FileTensor& tensor);

}  // namespace draftscope::engine
