// SPDX-License-Identifier: GPL-3.0-or-later
#include "quantisation_config.h"

#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <algorithm>
#include <cctype>

namespace draftscope::engine {
namespace {

constexpr Range<std::int64_t> extent_range{1, 1 << 20};

/// Fails on a field that is neither absent, null nor false.
Result<void> expect_unset(const JsonField& field, std::string_view expected) {
  if (field.is_null() || (field.value().is_boolean() && !field.value().get<bool>())) return {};
  return field.wrong(expected);
}

/// Parses the number of inputs per group; −1 in the file stands for all.
Result<std::int64_t> parse_group(const JsonField& field) {
  if (field.value() == -1) return 0;
  return field.integer(extent_range);
}

Result<QuantisationConfig> parse_awq(const JsonField& config) {
  QuantisationConfig own{.form = PackedForm::awq};
  DRAFTSCOPE_TRY_ASSIGN(own.bits, config["bits"].integer<std::int32_t>({}));
  if (own.bits != 4) return config["bits"].wrong("4");
  DRAFTSCOPE_TRY_ASSIGN(std::string version, config["version"].text_or("gemm"));
  std::transform(version.begin(), version.end(), version.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (version != "gemm") return config["version"].wrong("'gemm'");
  DRAFTSCOPE_TRY_ASSIGN(const bool zero_point, config["zero_point"].boolean_or(true));
  if (!zero_point) return config["zero_point"].wrong("true");
  DRAFTSCOPE_TRY_ASSIGN(own.group, parse_group(config["group_size"]));
  return own;
}

Result<QuantisationConfig> parse_gptq(const JsonField& config) {
  QuantisationConfig own{.form = PackedForm::gptq};
  DRAFTSCOPE_TRY_ASSIGN(own.bits, config["bits"].integer<std::int32_t>({}));
  if (own.bits != 4 && own.bits != 8) return config["bits"].wrong("4 or 8");
  DRAFTSCOPE_TRY_ASSIGN(const std::string version, config["checkpoint_format"].text_or("gptq"));
  if (version != "gptq" && version != "gptq_v2")
    return config["checkpoint_format"].wrong("'gptq' or 'gptq_v2'");
  own.zero_offset = version == "gptq" ? 1 : 0;
  DRAFTSCOPE_TRY_ASSIGN(const std::string words, config["pack_dtype"].text_or("int32"));
  if (words != "int32") return config["pack_dtype"].wrong("'int32'");
  DRAFTSCOPE_TRY(expect_unset(config["is_marlin_format"], "false: only GPTQ's own order is read"));
  DRAFTSCOPE_TRY(expect_unset(config["dynamic"], "none: all matrices are packed alike"));
  DRAFTSCOPE_TRY_ASSIGN(own.group, parse_group(config["group_size"]));
  return own;
}

Result<std::optional<ScaleBlock>> parse_block(const JsonField& field) {
  if (field.is_null()) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const auto extents, field.list());
  if (extents.size() != 2) return field.wrong("two sizes, of outputs and inputs");
  ScaleBlock block;
  DRAFTSCOPE_TRY_ASSIGN(block.rows, extents[0].integer(extent_range));
  DRAFTSCOPE_TRY_ASSIGN(block.columns, extents[1].integer(extent_range));
  return block;
}

Result<QuantisationConfig> parse_fp8(const JsonField& config) {
  QuantisationConfig own{.form = PackedForm::fp8, .bits = 8};
  DRAFTSCOPE_TRY_ASSIGN(const std::string format, config["fmt"].text_or("e4m3"));
  if (format != "e4m3") return config["fmt"].wrong("'e4m3'");
  DRAFTSCOPE_TRY_ASSIGN(own.block, parse_block(config["weight_block_size"]));
  return own;
}

/// Reads the weights of a group of modules: fp8, with one scale for the matrix, per output or per block.
Result<void> read_group(const JsonField& weights, QuantisationConfig& own) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string type, weights["type"].text());
  if (type != "float") return weights["type"].wrong("'float'");
  DRAFTSCOPE_TRY_ASSIGN(own.bits, weights["num_bits"].integer<std::int32_t>({}));
  if (own.bits != 8) return weights["num_bits"].wrong("8");
  DRAFTSCOPE_TRY_ASSIGN(const bool symmetric, weights["symmetric"].boolean_or(true));
  if (!symmetric) return weights["symmetric"].wrong("true");
  DRAFTSCOPE_TRY_ASSIGN(const std::string strategy, weights["strategy"].text());
  if (strategy == "tensor" || strategy == "channel") return {};
  if (strategy != "block") return weights["strategy"].wrong("'tensor', 'channel' or 'block'");
  DRAFTSCOPE_TRY_ASSIGN(own.block, parse_block(weights["block_structure"]));
  if (!own.block) return weights["block_structure"].wrong("two sizes, of outputs and inputs");
  return {};
}

Result<QuantisationConfig> parse_compressed(const JsonField& config) {
  QuantisationConfig own{.form = PackedForm::fp8, .bits = 8};
  DRAFTSCOPE_TRY_ASSIGN(const std::string format, config["format"].text());
  if (format != "float-quantized") return config["format"].wrong("'float-quantized'");
  DRAFTSCOPE_TRY_ASSIGN(const auto groups, config["config_groups"].members());
  if (groups.size() != 1) return config["config_groups"].wrong("one group of modules");
  DRAFTSCOPE_TRY(read_group(groups.front().second["weights"], own));
  return own;
}

}  // namespace

std::string QuantisationConfig::name() const {
  if (form == PackedForm::fp8) return "fp8";
  return fmt::format("{} {}-bit", form == PackedForm::awq ? "awq" : "gptq", bits);
}

Result<std::optional<QuantisationConfig>> parse_quantisation_config(std::string_view text,
                                                                    std::string_view file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(text, file));
  const JsonField whole(parsed, file);
  const JsonField own = whole["quantization_config"];
  const JsonField config = own.is_null() ? whole["text_config"]["quantization_config"] : own;
  if (config.is_null()) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const std::string method, config["quant_method"].text());
  if (method == "awq") return parse_awq(config);
  if (method == "gptq") return parse_gptq(config);
  if (method == "fp8") return parse_fp8(config);
  if (method == "compressed-tensors") return parse_compressed(config);
  return config["quant_method"].wrong("'awq', 'compressed-tensors', 'fp8' or 'gptq'");
}

}  // namespace draftscope::engine
