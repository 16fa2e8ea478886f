// SPDX-License-Identifier: GPL-3.0-or-later
#include "bind_quantised.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "checkpoint/element_bits.h"
#include "numbers/bf16.h"

namespace draftscope::engine {
namespace {

using Extents = std::vector<std::uint64_t>;

std::uint64_t as_extent(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

std::int64_t parts_of(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

std::string text_of(const Extents& extents) {
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

/// Prefix of a slot's module: "model.layers.0.mlp.up_proj." for "model.layers.0.mlp.up_proj.weight".
std::string module_prefix(const TensorSlot& slot) {
  return slot.name.substr(0, slot.name.size() - std::string_view("weight").size());
}

Result<void> check_dtype(const FileTensor& tensor, std::string_view expected) {
  if (tensor.entry->dtype == expected) return {};
  return fail("{}: tensor {}: dtype is {}, expected {}", tensor.shard->file, tensor.entry->name,
              tensor.entry->dtype, expected);
}

tl::unexpected<Error> wrong_shape(const FileTensor& tensor, std::string_view expected) {
  return fail("{}: tensor {}: shape is {}, expected {}", tensor.shard->file, tensor.entry->name,
              text_of(tensor.entry->shape), expected);
}

/// Returns the tensor of that name, type and shape.
Result<FileTensor> expect_tensor(const Shards& shards, const FileTensors& tensors, const std::string& name,
                                 std::string_view dtype, const Extents& extents) {
  const auto place = tensors.find(name);
  if (place == tensors.end()) return missing_tensor(shards, name, text_of(extents));
  DRAFTSCOPE_TRY(check_dtype(place->second, dtype));
  if (place->second.entry->shape != extents) return wrong_shape(place->second, text_of(extents));
  return place->second;
}

/// Takes a matrix's scales, which must be finite and of a plain type.
Result<void> take_scales(const FileTensor& scales, QuantisedMatrix& matrix) {
  DRAFTSCOPE_TRY_ASSIGN(matrix.scale_dtype, parse_dtype(scales));
  std::int64_t numbers = 1;
  for (const std::uint64_t extent : scales.entry->shape) numbers *= static_cast<std::int64_t>(extent);
  matrix.scales = scales.data();
  if (const auto element = first_non_finite({matrix.scales, matrix.scale_dtype, 1, numbers}))
    return fail("{}: tensor {}: element {} is not finite, expected finite numbers", scales.shard->file,
                scales.entry->name, *element);
  return {};
}

Result<void> check_multiple(const TensorSlot& slot, const FileTensor& tensor, std::int64_t found,
                            std::int64_t of, std::string_view what) {
  if (found % of == 0) return {};
  return fail("{}: tensor {}: {} of {} are {}, expected a multiple of {}", tensor.shard->file,
              tensor.entry->name, what, slot.name, found, of);
}

/// Takes the group of each input, if the file gives groups and they are not in order.
Result<void> take_groups(const FileTensors& tensors, const Shards& shards, const std::string& name,
                         std::int64_t groups, QuantisedMatrix& matrix) {
  if (!tensors.contains(name)) return {};
  DRAFTSCOPE_TRY_ASSIGN(const FileTensor tensor,
                        expect_tensor(shards, tensors, name, "I32", {as_extent(matrix.columns)}));
  bool in_order = true;
  for (std::int64_t i = 0; i < matrix.columns; ++i) {
    const auto group = load_unaligned<std::int32_t>(tensor.data() + 4 * i);
    if (group < 0 || group >= groups)
      return fail("{}: tensor {}: element {} is {}, expected a group from 0 to {}", tensor.shard->file,
                  tensor.entry->name, i, group, groups - 1);
    in_order &= group == i / matrix.block.columns;
  }
  if (!in_order) matrix.groups = tensor.data();
  return {};
}

Result<std::optional<QuantisedMatrix>> find_integers(const TensorSlot& slot, const Shards& shards,
                                                     const FileTensors& tensors,
                                                     const QuantisationConfig& config) {
  const std::string prefix = module_prefix(slot);
  const auto values = tensors.find(prefix + "qweight");
  if (values == tensors.end()) return std::nullopt;
  QuantisedMatrix matrix{.form = config.form,
                         .bits = config.bits,
                         .rows = slot.rows_in_file(),
                         .columns = slot.columns,
                         .zero_offset = config.zero_offset};
  matrix.block = {1, config.group == 0 ? matrix.columns : config.group};
  const std::int64_t each = 32 / config.bits;
  const std::int64_t groups = parts_of(matrix.columns, matrix.block.columns);
  DRAFTSCOPE_TRY(check_multiple(slot, values->second, matrix.rows, each, "outputs"));
  const bool along_inputs = config.form == PackedForm::gptq;
  if (along_inputs) DRAFTSCOPE_TRY(check_multiple(slot, values->second, matrix.columns, each, "inputs"));
  const Extents packed = along_inputs ? Extents{as_extent(matrix.columns / each), as_extent(matrix.rows)}
                                      : Extents{as_extent(matrix.columns), as_extent(matrix.rows / each)};
  DRAFTSCOPE_TRY_ASSIGN(const FileTensor quants,
                        expect_tensor(shards, tensors, prefix + "qweight", "I32", packed));
  DRAFTSCOPE_TRY_ASSIGN(const FileTensor zeros,
                        expect_tensor(shards, tensors, prefix + "qzeros", "I32",
                                      {as_extent(groups), as_extent(matrix.rows / each)}));
  matrix.values = quants.data();
  matrix.zeros = zeros.data();
  const Extents scale_extents{as_extent(groups), as_extent(matrix.rows)};
  const auto scales = tensors.find(prefix + "scales");
  if (scales == tensors.end()) return missing_tensor(shards, prefix + "scales", text_of(scale_extents));
  if (scales->second.entry->shape != scale_extents)
    return wrong_shape(scales->second, text_of(scale_extents));
  DRAFTSCOPE_TRY(take_scales(scales->second, matrix));
  if (along_inputs) DRAFTSCOPE_TRY(take_groups(tensors, shards, prefix + "g_idx", groups, matrix));
  return matrix;
}

/// Numbers of outputs and inputs per scale of a matrix, derived from the extents of its scales.
Result<ScaleBlock> scale_block(const FileTensor& scales, const QuantisedMatrix& matrix,
                               const std::optional<ScaleBlock>& block) {
  const Extents& found = scales.entry->shape;
  const std::uint64_t rows = as_extent(matrix.rows);
  if (block) {
    const Extents expected{as_extent(parts_of(matrix.rows, block->rows)),
                           as_extent(parts_of(matrix.columns, block->columns))};
    if (found != expected) return wrong_shape(scales, text_of(expected));
    return *block;
  }
  if (found.empty() || found == Extents{1} || found == Extents{1, 1})
    return ScaleBlock{matrix.rows, matrix.columns};
  if (found == Extents{rows} || found == Extents{rows, 1}) return ScaleBlock{1, matrix.columns};
  return wrong_shape(scales, fmt::format("[], [1] or [{}, 1]", rows));
}

Result<std::optional<QuantisedMatrix>> find_fp8(const TensorSlot& slot, const Shards& shards,
                                                const FileTensors& tensors,
                                                const QuantisationConfig& config) {
  const auto values = tensors.find(slot.name);
  if (values == tensors.end() || !values->second.entry->dtype.starts_with("F8")) return std::nullopt;
  QuantisedMatrix matrix{
      .form = PackedForm::fp8, .bits = 8, .rows = slot.rows_in_file(), .columns = slot.columns};
  DRAFTSCOPE_TRY_ASSIGN(const FileTensor codes,
                        expect_tensor(shards, tensors, slot.name, "F8_E4M3",
                                      {as_extent(matrix.rows), as_extent(matrix.columns)}));
  matrix.values = codes.data();
  auto scales = tensors.find(slot.name + "_scale_inv");
  if (scales == tensors.end()) scales = tensors.find(slot.name + "_scale");
  if (scales == tensors.end())
    return fail("{}: tensor {}_scale is missing, expected it or {}_scale_inv beside {}", codes.shard->file,
                slot.name, slot.name, slot.name);
  DRAFTSCOPE_TRY_ASSIGN(matrix.block, scale_block(scales->second, matrix, config.block));
  DRAFTSCOPE_TRY(take_scales(scales->second, matrix));
  return matrix;
}

/// Takes the codes of a layout's scales, or its plain scales; none may be a NaN.
Result<void> take_row_scales(const FileTensor& scales, QuantisedMatrix& matrix) {
  const ScaleCode code = matrix.layout->scale_code;
  if (code == ScaleCode::plain) return take_scales(scales, matrix);
  if (code == ScaleCode::e4m3 || scales.entry->dtype != "U8")
    DRAFTSCOPE_TRY(check_dtype(scales, code == ScaleCode::e4m3 ? "F8_E4M3" : "F8_E8M0"));
  matrix.scales = scales.data();
  matrix.scale_dtype = DType::f32;
  const std::span codes(matrix.scales, scales.entry->end - scales.entry->begin);
  const auto nan = std::find_if(codes.begin(), codes.end(), [&](std::byte one) {
    return code == ScaleCode::e4m3 ? (one & std::byte{0x7f}) == std::byte{0x7f} : one == std::byte{0xff};
  });
  if (nan != codes.end())
    return fail("{}: tensor {}: element {} is not a number, expected finite numbers", scales.shard->file,
                scales.entry->name, nan - codes.begin());
  return {};
}

/// Takes the scale of a whole matrix.
Result<void> take_global(const FileTensors& tensors, const Shards& shards, const std::string& name,
                         QuantisedMatrix& matrix) {
  const auto place = tensors.find(name);
  if (place == tensors.end()) return missing_tensor(shards, name, "[1]");
  DRAFTSCOPE_TRY(check_dtype(place->second, "F32"));
  const Extents& extents = place->second.entry->shape;
  if (!extents.empty() && extents != Extents{1}) return wrong_shape(place->second, "[] or [1]");
  matrix.global = load_unaligned<float>(place->second.data());
  if (std::isfinite(matrix.global) && matrix.global > 0.0F) return {};
  return fail("{}: tensor {} is {}, expected a finite number above 0", place->second.shard->file,
              place->second.entry->name, matrix.global);
}

/// Takes the zero points of a layout of integers: words along the outputs, or bytes like the scales.
Result<void> take_zeros(const FileTensors& tensors, const Shards& shards, const std::string& name,
                        const Extents& scale_extents, QuantisedMatrix& matrix) {
  const std::int64_t each = 32 / matrix.bits;
  matrix.has_packed_zeros = matrix.layout->values_dtype == "I32" && matrix.block.rows == 1;
  const Extents packed{as_extent(parts_of(matrix.rows, each)),
                       as_extent(parts_of(matrix.columns, matrix.block.columns))};
  const Extents& expected = matrix.has_packed_zeros ? packed : scale_extents;
  DRAFTSCOPE_TRY_ASSIGN(
      const FileTensor zeros,
      expect_tensor(shards, tensors, name, matrix.has_packed_zeros ? "I32" : "I8", expected));
  matrix.zeros = zeros.data();
  return {};
}

/// Checks a tensor that repeats the extents of a matrix.
Result<void> check_stated_shape(const FileTensor& tensor, const QuantisedMatrix& matrix) {
  DRAFTSCOPE_TRY(check_dtype(tensor, "I64"));
  if (tensor.entry->shape != Extents{2}) return wrong_shape(tensor, "[2]");
  const auto rows = load_unaligned<std::int64_t>(tensor.data());
  const auto columns = load_unaligned<std::int64_t>(tensor.data() + 8);
  if (rows == matrix.rows && columns == matrix.columns) return {};
  return fail("{}: tensor {} is [{}, {}], expected [{}, {}]", tensor.shard->file, tensor.entry->name, rows,
              columns, matrix.rows, matrix.columns);
}

/// Finds a matrix in one of row_layouts.h's forms.
Result<std::optional<QuantisedMatrix>> find_rows(const TensorSlot& slot, const Shards& shards,
                                                 const FileTensors& tensors,
                                                 const QuantisationConfig& config) {
  const RowLayout& layout = *config.layout;
  const std::string prefix = module_prefix(slot);
  const auto named = [&](std::string_view part) { return prefix + std::string(part); };
  const auto values = tensors.find(named(layout.values));
  if (values == tensors.end() || values->second.entry->dtype != layout.values_dtype) return std::nullopt;
  const auto module = config.modules.find(prefix.substr(0, prefix.size() - 1));
  const auto [bits, group] =
      module == config.modules.end() ? std::pair{config.bits, config.group} : module->second;
  QuantisedMatrix matrix{.form = PackedForm::rows,
                         .bits = bits,
                         .rows = slot.rows_in_file(),
                         .columns = slot.columns,
                         .layout = &layout};
  const std::int64_t element_bits = layout.values_dtype.ends_with("32") ? 32 : 8;
  const std::int64_t row_elements = parts_of(matrix.columns * bits, element_bits);
  matrix.row_bytes = row_elements * element_bits / 8;
  DRAFTSCOPE_TRY_ASSIGN(const FileTensor codes,
                        expect_tensor(shards, tensors, named(layout.values), layout.values_dtype,
                                      {as_extent(matrix.rows), as_extent(row_elements)}));
  matrix.values = codes.data();
  // Codes of pack-quantized are integers with their zero point in the middle.
  if (layout.values_dtype == "I32") matrix.zero = 1 << (bits - 1);
  const auto scales = tensors.find(named(layout.scales));
  if (scales == tensors.end()) return missing_tensor(shards, named(layout.scales), "those of its groups");
  DRAFTSCOPE_TRY_ASSIGN(
      matrix.block,
      scale_block(scales->second, matrix, group == 0 ? std::nullopt : std::optional(ScaleBlock{1, group})));
  DRAFTSCOPE_TRY(take_row_scales(scales->second, matrix));
  const Extents& scale_extents = scales->second.entry->shape;
  if (!layout.global.empty()) DRAFTSCOPE_TRY(take_global(tensors, shards, named(layout.global), matrix));
  if (config.has_zeros)
    DRAFTSCOPE_TRY(take_zeros(tensors, shards, named(layout.zeros), scale_extents, matrix));
  if (!layout.minima.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(const FileTensor minima, expect_tensor(shards, tensors, named(layout.minima),
                                                                 scales->second.entry->dtype, scale_extents));
    matrix.minima = minima.data();
    if (const auto element = first_non_finite({matrix.minima, matrix.scale_dtype, 1,
                                               matrix.rows * parts_of(matrix.columns, matrix.block.columns)}))
      return fail("{}: tensor {}: element {} is not finite, expected finite numbers", minima.shard->file,
                  minima.entry->name, *element);
  }
  if (const auto shape = tensors.find(named(layout.shape)); !layout.shape.empty() && shape != tensors.end())
    DRAFTSCOPE_TRY(check_stated_shape(shape->second, matrix));
  const std::string order = prefix + "weight_g_idx";
  if (config.has_group_order && !tensors.contains(order))
    return missing_tensor(shards, order, fmt::format("[{}]", matrix.columns));
  if (config.has_group_order)
    DRAFTSCOPE_TRY(
        take_groups(tensors, shards, order, parts_of(matrix.columns, matrix.block.columns), matrix));
  return matrix;
}

}  // namespace

Result<std::optional<QuantisedMatrix>> find_quantised(const TensorSlot& slot, const Shards& shards,
                                                      const FileTensors& tensors,
                                                      const QuantisationConfig& config) {
  if (slot.is_vector()) return std::nullopt;
  if (config.form == PackedForm::rows) return find_rows(slot, shards, tensors, config);
  return config.form == PackedForm::fp8 ? find_fp8(slot, shards, tensors, config)
                                        : find_integers(slot, shards, tensors, config);
}

std::vector<std::string> quantised_names(const TensorSlot& slot, const QuantisationConfig& config) {
  const std::string prefix = module_prefix(slot);
  switch (config.form) {
    case PackedForm::awq:
      return {prefix + "qweight", prefix + "qzeros", prefix + "scales"};
    case PackedForm::gptq:
      return {prefix + "qweight", prefix + "qzeros", prefix + "scales", prefix + "g_idx"};
    case PackedForm::rows: {
      const RowLayout& layout = *config.layout;
      std::vector<std::string> names;
      for (const std::string_view part : {layout.values, layout.scales, layout.global, layout.minima,
                                          layout.shape, config.has_zeros ? layout.zeros : std::string_view(),
                                          std::string_view(config.has_group_order ? "weight_g_idx" : "")})
        if (!part.empty()) names.push_back(prefix + std::string(part));
      return names;
    }
    case PackedForm::fp8:
      break;
  }
  return {prefix + "weight_scale", prefix + "weight_scale_inv"};
}

bool is_bias_of_zeros(const std::string& name, const FileTensor& tensor) {
  if (!name.ends_with(".bias")) return false;
  const std::span bytes(tensor.data(), tensor.entry->end - tensor.entry->begin);
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace draftscope::engine
