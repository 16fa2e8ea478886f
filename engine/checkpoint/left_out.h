// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tensors of safetensors files that a model is computed without, by their names. Whatever reads such a tensor
// takes its kind out of this list.

#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

enum class LeftOut : std::uint8_t {
  cache_scales,       ///< scales of keys and values in a K/V cache of fewer bits, which this engine has not
  activation_scales,  ///< scales of inputs, which are not rounded
  further_tokens,     ///< layers after the decoder's, which predict further tokens: "model.mtp_layers.0.…"
  other_parts,        ///< other parts of a larger model: "visual.…"
};

/// Kind of a tensor that no slot has; none if it means another architecture than config.json says. `name` is
/// that in a file which contains only the decoder.
[[nodiscard]] std::optional<LeftOut> left_out(std::string_view name, const speculation::ModelShape& shape);

/// The line about tensors of a kind: how many, and the name of the first.
[[nodiscard]] std::string left_out_line(LeftOut kind, std::size_t count, std::string_view first);

/// One line for each kind of the tensors in `names`, which left_out() has.
[[nodiscard]] std::vector<std::string> left_out_lines(std::vector<std::string> names,
                                                      const speculation::ModelShape& shape);

}  // namespace draftscope::engine
