// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How a config.json describes the packing of a checkpoint's matrices: `quantization_config`, as Hugging
// Face's libraries write it.

#include <draftscope/base/result.h>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "row_layouts.h"

namespace draftscope::engine {

enum class PackedForm : std::uint8_t {
  awq,   ///< 4-bit numbers with a zero point, words along the outputs ("gemm")
  gptq,  ///< 4- or 8-bit numbers with a zero point, words along the inputs
  fp8,   ///< e4m3
  rows,  ///< codes output by output, in a layout of row_layouts.h
};

/// Numbers of outputs and inputs that share a scale.
struct ScaleBlock {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

struct QuantisationConfig {
  PackedForm form = PackedForm::awq;
  std::int32_t bits = 4;
  std::int64_t group = 0;             ///< inputs that share a scale; 0 = all (awq, gptq)
  std::int32_t zero_offset = 0;       ///< to be added to stored zero points (1 in GPTQ's first version)
  std::optional<ScaleBlock> block;    ///< fp8 only; none = one scale for the matrix or per output
  const RowLayout* layout = nullptr;  ///< rows only
  bool has_zeros = false;             ///< rows: whether zero points are stored
  bool has_group_order = false;       ///< rows: whether `weight_g_idx` says the group of each input
  /// MLX: bits and group of modules that differ, by name.
  std::map<std::string, std::pair<std::int32_t, std::int64_t>> modules;

  /// Name for display: "awq 4-bit", "fp8".
  [[nodiscard]] std::string name() const;
};

/// Parses a config.json; none if it has neither `quantization_config` nor MLX's `quantization`. Errors: a
/// method, a version or a width that is not supported, or a field that is not understood.
[[nodiscard]] Result<std::optional<QuantisationConfig>> parse_quantisation_config(std::string_view text,
                                                                                  std::string_view file);

/// Parses the `quantization` of a hf_quant_config.json, which ModelOpt writes beside a config.json without
/// one.
[[nodiscard]] Result<QuantisationConfig> parse_modelopt_config(std::string_view text, std::string_view file);

}  // namespace draftscope::engine
