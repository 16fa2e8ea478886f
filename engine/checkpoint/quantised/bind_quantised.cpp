// SPDX-License-Identifier: GPL-3.0-or-later
#include "bind_quantised.h"

#include <algorithm>
#include <span>

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

}  // namespace

Result<std::optional<QuantisedMatrix>> find_quantised(const TensorSlot& slot, const Shards& shards,
                                                      const FileTensors& tensors,
                                                      const QuantisationConfig& config) {
  if (slot.is_vector()) return std::nullopt;
  return config.form == PackedForm::fp8 ? find_fp8(slot, shards, tensors, config)
                                        : find_integers(slot, shards, tensors, config);
}

std::vector<std::string> quantised_names(const TensorSlot& slot, PackedForm form) {
  const std::string prefix = module_prefix(slot);
  switch (form) {
    case PackedForm::awq:
      return {prefix + "qweight", prefix + "qzeros", prefix + "scales"};
    case PackedForm::gptq:
      return {prefix + "qweight", prefix + "qzeros", prefix + "scales", prefix + "g_idx"};
    case PackedForm::fp8:
      break;
  }
  return {prefix + "weight_scale", prefix + "weight_scale_inv", prefix + "input_scale",
          prefix + "activation_scale"};
}

bool is_bias_of_zeros(const std::string& name, const FileTensor& tensor) {
  if (!name.ends_with(".bias")) return false;
  const std::span bytes(tensor.data(), tensor.entry->end - tensor.entry->begin);
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace draftscope::engine
