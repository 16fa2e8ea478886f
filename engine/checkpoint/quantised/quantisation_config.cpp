// SPDX-License-Identifier: GPL-3.0-or-later
#include "quantisation_config.h"

#include <draftscope/base/ascii.h>
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <algorithm>
#include <array>
#include <initializer_list>
#include <tuple>

#include "checkpoint/tensor_slots.h"

namespace draftscope::engine {
namespace {

constexpr Range<std::int64_t> extent_range{1, 1 << 20};

/// Whether a field is neither absent, null, false nor empty.
bool is_set(const JsonField& field) {
  const nlohmann::json& value = field.value();
  return !field.is_null() && value != false && !(value.is_structured() && value.empty());
}

Result<void> expect_unset(const JsonField& field, std::string_view expected) {
  if (!is_set(field)) return {};
  return field.wrong(expected);
}

/// Fields that say how weights were found, which modules were left plain (the tensors say so, too), how
/// activations or a cache are rounded (here they are not), or how other programs run the model. They are
/// those of transformers 5.24, compressed-tensors 0.20, AutoAWQ, GPTQModel, and AutoRound's
/// SERIALIZATION_KEYS, with a space before and after each.
constexpr std::string_view told_otherwise =
    " quant_method provider producer version quantization_status global_compression_ratio ignore "
    "ignored_layers modules_to_not_convert modules_to_convert expert_dtype exclude_modules targets "
    "lm_head kv_cache_scheme kv_cache_quant_algo activation_scheme activation_scale_ub "
    "input_activations output_activations observer observer_kwargs scale_dtype zp_dtype sym desc_act "
    "static_groups true_sequential damp_percent damp_auto_increment model_name_or_path "
    "model_file_base_name meta dataset tokenizer batch_size block_name_to_quantize "
    "to_quant_block_names quant_block_list supported_types static_attention_dtype static_kv_dtype "
    "train_bs n_samples cache_block_outputs module_name_preceding_first_block "
    "modules_in_block_to_quantize pad_token_id use_cuda_fp16 use_exllama disable_exllama "
    "exllama_config max_input_length model_seqlen backend do_fuse fuse_max_seq_len modules_to_fuse "
    "quantizer inference_mode autoround_version iters lr minmax_lr nsamples seqlen "
    "enable_quanted_input enable_minmax_tuning enable_norm_bias_tuning low_gpu_mem_usage "
    "gradient_accumulate_steps amp act_bits act_data_type act_dynamic act_group_size act_sym "
    "super_bits super_group_size act_group_aware mse dequantize hyb_act ";

bool is_told_otherwise(std::string_view key) {
  return key.find(' ') == std::string_view::npos &&
         told_otherwise.find(fmt::format(" {} ", key)) != std::string_view::npos;
}

/// Fails on a set field that is neither one of `read` nor told otherwise.
Result<void> expect_known(const JsonField& config, std::initializer_list<std::string_view> read) {
  DRAFTSCOPE_TRY_ASSIGN(const auto members, config.members());
  for (const auto& [key, field] : members) {
    const bool is_known = std::find(read.begin(), read.end(), key) != read.end() || is_told_otherwise(key);
    if (is_set(field) && !is_known) return field.wrong("none: it is not understood");
  }
  return {};
}

/// Parses the number of inputs per group; −1 in the file stands for all.
Result<std::int64_t> parse_group(const JsonField& field) {
  if (field.value() == -1) return 0;
  return field.integer(extent_range);
}

Result<QuantisationConfig> parse_awq(const JsonField& config) {
  QuantisationConfig own{.form = PackedForm::awq};
  DRAFTSCOPE_TRY(expect_known(config, {"bits", "zero_point", "group_size", "format"}));
  DRAFTSCOPE_TRY_ASSIGN(own.bits, config["bits"].integer<std::int32_t>({}));
  if (own.bits != 4) return config["bits"].wrong("4");
  // Newer writers name it twice.
  DRAFTSCOPE_TRY_ASSIGN(const std::string format, config["format"].text_or("gemm"));
  if (format != "gemm") return config["format"].wrong("'gemm'");
  DRAFTSCOPE_TRY_ASSIGN(const std::string version, config["version"].text_or(format));
  if (in_lower_case(version) != "gemm") return config["version"].wrong("'gemm'");
  DRAFTSCOPE_TRY_ASSIGN(const bool zero_point, config["zero_point"].boolean_or(true));
  if (!zero_point) return config["zero_point"].wrong("true");
  DRAFTSCOPE_TRY_ASSIGN(own.group, parse_group(config["group_size"]));
  return own;
}

Result<QuantisationConfig> parse_gptq(const JsonField& config) {
  QuantisationConfig own{.form = PackedForm::gptq};
  DRAFTSCOPE_TRY(expect_known(config, {"bits", "checkpoint_format", "format", "pack_dtype",
                                       "is_marlin_format", "dynamic", "group_size"}));
  DRAFTSCOPE_TRY_ASSIGN(own.bits, config["bits"].integer<std::int32_t>({}));
  if (own.bits != 4 && own.bits != 8) return config["bits"].wrong("4 or 8");
  DRAFTSCOPE_TRY_ASSIGN(const std::string version, config["checkpoint_format"].text_or("gptq"));
  DRAFTSCOPE_TRY_ASSIGN(const std::string same, config["format"].text_or(version));
  if (same != version) return config["format"].wrong(fmt::format("'{}', as checkpoint_format", version));
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

/// AutoRound's folders are packed as those of GPTQ or AWQ, and say as which.
Result<QuantisationConfig> parse_auto_round(const JsonField& config) {
  DRAFTSCOPE_TRY(expect_known(config, {"bits", "group_size", "data_type", "packing_format", "extra_config"}));
  DRAFTSCOPE_TRY_ASSIGN(const std::string type, config["data_type"].text_or("int"));
  if (type != "int") return config["data_type"].wrong("'int'");
  DRAFTSCOPE_TRY_ASSIGN(const std::string packing, config["packing_format"].text());
  const bool is_awq = packing == "auto_round:auto_awq";
  if (!is_awq && packing != "auto_round:auto_gptq")
    return config["packing_format"].wrong("'auto_round:auto_gptq' or 'auto_round:auto_awq'");
  QuantisationConfig own{.form = is_awq ? PackedForm::awq : PackedForm::gptq, .zero_offset = is_awq ? 0 : 1};
  DRAFTSCOPE_TRY_ASSIGN(own.bits, config["bits"].integer<std::int32_t>({}));
  if (own.bits != 4 && (is_awq || own.bits != 8)) return config["bits"].wrong(is_awq ? "4" : "4 or 8");
  DRAFTSCOPE_TRY_ASSIGN(own.group, parse_group(config["group_size"]));
  if (config["extra_config"].is_null()) return own;
  DRAFTSCOPE_TRY_ASSIGN(const auto modules, config["extra_config"].members());
  constexpr std::int32_t plain_bits = 16;
  for (const auto& [name, module] : modules) {
    DRAFTSCOPE_TRY_ASSIGN(const auto bits, module["bits"].integer_or<std::int32_t>({}, own.bits));
    if (bits != own.bits && bits < plain_bits)
      return module["bits"].wrong(fmt::format("{}, as the other modules have, or 16", own.bits));
    if (bits < plain_bits && !module["group_size"].is_null() &&
        module["group_size"].value() != config["group_size"].value())
      return module["group_size"].wrong("the other modules'");
  }
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
  DRAFTSCOPE_TRY(expect_known(config, {"fmt", "weight_block_size", "scale_fmt"}));
  DRAFTSCOPE_TRY_ASSIGN(const std::string format, config["fmt"].text_or("e4m3"));
  if (format != "e4m3") return config["fmt"].wrong("'e4m3'");
  DRAFTSCOPE_TRY_ASSIGN(own.block, parse_block(config["weight_block_size"]));
  return own;
}

/// The layout of a format's name; null if it is none of these.
template <std::size_t count>
const RowLayout* find_layout(const std::array<RowLayout, count>& layouts, std::string_view format) {
  const auto found = std::find_if(layouts.begin(), layouts.end(),
                                  [&](const RowLayout& layout) { return layout.format == format; });
  return found == layouts.end() ? nullptr : &*found;
}

/// Reads how many numbers of a group of modules share a scale.
Result<void> read_strategy(const JsonField& weights, QuantisationConfig& own) {
  const bool is_fp8 = own.form == PackedForm::fp8;
  const std::int64_t fixed = is_fp8 ? 0 : own.layout->group;
  DRAFTSCOPE_TRY_ASSIGN(const std::string strategy, weights["strategy"].text());
  if (strategy == "group" || strategy == "tensor_group") {
    DRAFTSCOPE_TRY_ASSIGN(own.group, weights["group_size"].integer(extent_range));
    if (fixed > 0 && own.group != fixed) return weights["group_size"].wrong(std::to_string(fixed));
    if (is_fp8) own.block = ScaleBlock{1, own.group};
    return {};
  }
  if (fixed > 0) return weights["strategy"].wrong("'group' or 'tensor_group'");
  if (strategy == "tensor" || strategy == "channel") return {};
  if (strategy != "block" || !is_fp8)
    return weights["strategy"].wrong(is_fp8 ? "'tensor', 'channel', 'group' or 'block'"
                                            : "'tensor', 'channel' or 'group'");
  DRAFTSCOPE_TRY_ASSIGN(own.block, parse_block(weights["block_structure"]));
  if (!own.block) return weights["block_structure"].wrong("two sizes, of outputs and inputs");
  return {};
}

/// Reads the weights of a group of modules.
Result<void> read_group(const JsonField& weights, QuantisationConfig& own) {
  DRAFTSCOPE_TRY(expect_known(
      weights, {"type", "num_bits", "symmetric", "strategy", "group_size", "block_structure", "actorder"}));
  const bool has_integers = own.layout != nullptr && own.layout->has_integers();
  DRAFTSCOPE_TRY_ASSIGN(const std::string type, weights["type"].text());
  if (type != (has_integers ? "int" : "float"))
    return weights["type"].wrong(has_integers ? "'int'" : "'float'");
  DRAFTSCOPE_TRY_ASSIGN(own.bits, weights["num_bits"].integer<std::int32_t>({}));
  const bool has_4 =
      own.layout != nullptr && (own.layout->code == Code::e2m1 || own.layout->code == Code::unsigned_integer);
  const bool has_8 = own.layout == nullptr || own.layout->code != Code::e2m1;
  if (!(has_4 && own.bits == 4) && !(has_8 && own.bits == 8))
    return weights["num_bits"].wrong(has_4 && has_8 ? "4 or 8" : has_4 ? "4" : "8");
  DRAFTSCOPE_TRY_ASSIGN(const bool symmetric, weights["symmetric"].boolean_or(true));
  if (!symmetric && !has_integers) return weights["symmetric"].wrong("true");
  own.has_zeros = !symmetric;
  DRAFTSCOPE_TRY_ASSIGN(const std::string order, weights["actorder"].text_or("static"));
  own.has_group_order = order == "group" || order == "dynamic";
  if (!own.has_group_order && order != "static" && order != "weight")
    return weights["actorder"].wrong("'group', 'weight', 'static' or 'dynamic'");
  if (own.has_group_order && !has_integers) return weights["actorder"].wrong("none of floating-point codes");
  return read_strategy(weights, own);
}

Result<QuantisationConfig> parse_compressed(const JsonField& config) {
  QuantisationConfig own{.form = PackedForm::fp8, .bits = 8};
  DRAFTSCOPE_TRY(expect_known(config, {"format", "config_groups", "sparsity_config"}));
  DRAFTSCOPE_TRY_ASSIGN(const std::string format, config["format"].text());
  DRAFTSCOPE_TRY_ASSIGN(const std::string sparse, config["sparsity_config"]["format"].text_or("dense"));
  if (sparse != "dense") return config["sparsity_config"]["format"].wrong("'dense'");
  DRAFTSCOPE_TRY_ASSIGN(const auto groups, config["config_groups"].members());
  if (groups.size() != 1) return config["config_groups"].wrong("one group of modules");
  const JsonField& group = groups.front().second;
  DRAFTSCOPE_TRY(expect_known(group, {"weights", "format"}));
  const JsonField weights = group["weights"];
  const bool is_int_in_plain_bytes = format == "naive-quantized" && weights["type"].value() == "int";
  own.layout = find_layout(compressed_layouts, is_int_in_plain_bytes ? "int-quantized" : format);
  if (own.layout != nullptr) {
    own.form = PackedForm::rows;
  } else if (format != "float-quantized" && format != "naive-quantized") {
    return config["format"].wrong(
        "'float-quantized', 'int-quantized', 'mxfp4-pack-quantized', 'mxfp8-quantized', 'naive-quantized', "
        "'nvfp4-pack-quantized' or 'pack-quantized'");
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::string own_format, group["format"].text_or(format));
  if (own_format != format) return group["format"].wrong(fmt::format("'{}', as the folder's", format));
  DRAFTSCOPE_TRY(read_group(weights, own));
  return own;
}

Result<QuantisationConfig> parse_modelopt(const JsonField& config) {
  DRAFTSCOPE_TRY(expect_known(config, {"quant_algo", "group_size", "config_groups"}));
  DRAFTSCOPE_TRY_ASSIGN(const std::string algorithm, config["quant_algo"].text());
  if (algorithm == "FP8") return QuantisationConfig{.form = PackedForm::fp8, .bits = 8};
  const RowLayout* const layout = find_layout(modelopt_layouts, algorithm);
  if (layout == nullptr) return config["quant_algo"].wrong("'FP8', 'MXFP8' or 'NVFP4'");
  QuantisationConfig own{.form = PackedForm::rows,
                         .bits = layout->code == Code::e2m1 ? 4 : 8,
                         .group = layout->group,
                         .layout = layout};
  DRAFTSCOPE_TRY_ASSIGN(const auto group, config["group_size"].integer_or<std::int64_t>({}, layout->group));
  if (group != layout->group) return config["group_size"].wrong(std::to_string(layout->group));
  return own;
}

/// Bits and group of MLX's matrices, or of one module's.
Result<std::pair<std::int32_t, std::int64_t>> parse_mlx_size(const JsonField& config,
                                                             const RowLayout& layout) {
  const bool is_affine = layout.has_integers();
  DRAFTSCOPE_TRY_ASSIGN(const auto bits, config["bits"].integer_or<std::int32_t>({}, 4));
  if (bits != 4 && !(is_affine && bits == 8)) return config["bits"].wrong(is_affine ? "4 or 8" : "4");
  constexpr std::int64_t default_group = 64;
  DRAFTSCOPE_TRY_ASSIGN(const auto group, config["group_size"].integer_or<std::int64_t>(
                                              extent_range, is_affine ? default_group : layout.group));
  if (!is_affine && group != layout.group) return config["group_size"].wrong(std::to_string(layout.group));
  return std::pair{bits, group};
}

/// Members of MLX's object are its sizes, and modules: false, true, or an object of their own sizes.
Result<QuantisationConfig> parse_mlx(const JsonField& config) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string mode, config["mode"].text_or("affine"));
  const RowLayout* const layout = find_layout(mlx_layouts, mode);
  if (layout == nullptr) return config["mode"].wrong("'affine' or 'mxfp4'");
  QuantisationConfig own{.form = PackedForm::rows, .layout = layout};
  DRAFTSCOPE_TRY_ASSIGN(std::tie(own.bits, own.group), parse_mlx_size(config, *layout));
  DRAFTSCOPE_TRY_ASSIGN(const auto members, config.members());
  for (const auto& [key, field] : members) {
    if (key == "bits" || key == "group_size" || key == "mode" || field.value().is_boolean()) continue;
    if (!field.value().is_object()) return field.wrong("none: it is not understood");
    DRAFTSCOPE_TRY_ASSIGN(const std::string own_mode, field["mode"].text_or(mode));
    if (own_mode != mode) return field["mode"].wrong(fmt::format("'{}', as the other modules'", mode));
    constexpr std::array known{"bits", "group_size", "mode"};
    DRAFTSCOPE_TRY(field.knows_only(known, "bits, group_size and mode"));
    DRAFTSCOPE_TRY_ASSIGN(own.modules[name_in_decoder(key, true)], parse_mlx_size(field, *layout));
  }
  return own;
}

}  // namespace

std::string QuantisationConfig::name() const {
  if (form == PackedForm::fp8) return "fp8";
  if (form == PackedForm::rows)
    return layout->has_integers() ? fmt::format("{} {}-bit", layout->name, bits) : std::string(layout->name);
  return fmt::format("{} {}-bit", form == PackedForm::awq ? "awq" : "gptq", bits);
}

Result<std::optional<QuantisationConfig>> parse_quantisation_config(std::string_view text,
                                                                    std::string_view file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(text, file));
  const JsonField whole(parsed, file);
  JsonField config = whole["quantization_config"];
  if (config.is_null()) config = whole["text_config"]["quantization_config"];
  // The name that compressed-tensors wrote in 2024.
  if (config.is_null() && !whole["compression_config"].is_null()) config = whole["compression_config"];
  // MLX writes the same object under both names, and no method.
  if (const JsonField mlx = whole["quantization"];
      mlx.value().is_object() && config["quant_method"].is_null())
    return parse_mlx(mlx);
  if (config.is_null()) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const std::string method, config["quant_method"].text());
  if (method == "awq") return parse_awq(config);
  if (method == "gptq") return parse_gptq(config);
  if (method == "auto-round" || method == "intel/auto-round") return parse_auto_round(config);
  if (method == "fp8" || method == "fbgemm_fp8") return parse_fp8(config);
  if (method == "compressed-tensors") return parse_compressed(config);
  if (method == "modelopt" || method == "modelopt_fp4") return parse_modelopt(config);
  return config["quant_method"].wrong(
      "'auto-round', 'awq', 'compressed-tensors', 'fbgemm_fp8', 'fp8', 'gptq' or 'modelopt'");
}

Result<QuantisationConfig> parse_modelopt_config(std::string_view text, std::string_view file) {
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(text, file));
  return parse_modelopt(JsonField(parsed, file)["quantization"]);
}

}  // namespace draftscope::engine
