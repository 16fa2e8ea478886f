// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How a config.json describes the packing of a checkpoint's matrices: `quantization_config`, as Hugging
// Face's libraries write it.

#include <draftscope/base/result.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace draftscope::engine {

enum class PackedForm : std::uint8_t {
  awq,   ///< 4-bit numbers with a zero point, words along the outputs ("gemm")
  gptq,  ///< 4- or 8-bit numbers with a zero point, words along the inputs
  fp8,   ///< e4m3
};

/// Numbers of outputs and inputs that share a scale.
struct ScaleBlock {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

struct QuantisationConfig {
  PackedForm form = PackedForm::awq;
  std::int32_t bits = 4;
  std::int64_t group = 0;           ///< inputs that share a scale; 0 = all (awq, gptq)
  std::int32_t zero_offset = 0;     ///< to be added to stored zero points (1 in GPTQ's first version)
  std::optional<ScaleBlock> block;  ///< fp8 only; none = one scale for the matrix or per output

  /// Name for display: "awq 4-bit", "fp8".
  [[nodiscard]] std::string name() const;
};

/// Parses a config.json; none if it has no `quantization_config`. Errors: a method, a version or a width that
/// is not supported.
[[nodiscard]] Result<std::optional<QuantisationConfig>> parse_quantisation_config(std::string_view text,
                                                                                  std::string_view file);

}  // namespace draftscope::engine
