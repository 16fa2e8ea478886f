// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_upload.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "backend/trait_numbers.h"
#include "checkpoint/element_bits.h"
#include "checkpoint/synthetic_fill.h"
#include "checkpoint/widened_rows.h"
#include "cpu/model.h"
#include "kernels/launch_shape.h"
#include "packing/pack_groups.h"
#include "product_shape.h"

namespace draftscope::engine::cuda {

namespace {

constexpr int row_blocks = 1024;  // for kernels that walk over rows

constexpr int synthetic_blocks = 2048;

struct Placed {
  const TensorView* source = nullptr;
  TensorKind kind = TensorKind::embedding;
  std::int32_t layer = -1;
  std::byte* values = nullptr;
  float* scale = nullptr;
  WeightFormat format = WeightFormat::bf16;  ///< of groups
};

/// Bytes of a tensor's numbers, widened if they are packed.
std::size_t plain_bytes(const TensorView& tensor) {
  return static_cast<std::size_t>(tensor.rows * tensor.columns) * dtype_bytes(tensor.dtype);
}

/// A layer's matrices on the device, and what they are in the checkpoint.
struct LayerMatrix {
  DeviceMatrix DeviceLayer::*placed;
  TensorView LayerWeights::*source;
  TensorKind kind;
};
constexpr LayerMatrix layer_matrices[] = {{&DeviceLayer::q, &LayerWeights::q, TensorKind::q},
                                          {&DeviceLayer::k, &LayerWeights::k, TensorKind::k},
                                          {&DeviceLayer::v, &LayerWeights::v, TensorKind::v},
                                          {&DeviceLayer::o, &LayerWeights::o, TensorKind::o},
                                          {&DeviceLayer::gate, &LayerWeights::gate, TensorKind::gate},
                                          {&DeviceLayer::up, &LayerWeights::up, TensorKind::up},
                                          {&DeviceLayer::down, &LayerWeights::down, TensorKind::down}};

/// Takes the same pieces in the same order every time; with a null base it only measures.
class Layout {
 public:
  Layout(const Checkpoint& checkpoint, CudaWeights weights, std::byte* base)
      : checkpoint_(checkpoint),
        fp8_(weights == speculation::WeightFormat::fp8),
        rounded_(weights ? grouped_format(*weights, checkpoint.weights.embedding.dtype) : std::nullopt),
        stores_groups_(!rounded_ && grouped_layout(layer_format(checkpoint, weights)) != nullptr),
        pieces_(base) {}

  void place(UploadedModel& out) {
    const Weights& weights = checkpoint_.weights;
    out.model.embedding = plain(weights.embedding, TensorKind::embedding, -1);
    if (const auto groups = head_groups(weights.head))
      out.model.head.data = grouped(weights.head, TensorKind::head, -1, *groups);
    else if (weights.head.data == weights.embedding.data)
      out.model.head.data = out.model.embedding;
    else
      out.model.head.data = plain(weights.head, TensorKind::head, -1);
    out.model.final_norm = vector(weights.final_norm);
    out.host_layers.resize(weights.layers.size());
    for (std::size_t i = 0; i < weights.layers.size(); ++i) {
      const LayerWeights& source = weights.layers[i];
      DeviceLayer& layer = out.host_layers[i];
      layer.attention_norm = vector(source.attention_norm);
      layer.mlp_norm = vector(source.mlp_norm);
      layer.q_norm = vector(source.q_norm);
      layer.k_norm = vector(source.k_norm);
      layer.attention_output_norm = vector(source.attention_output_norm);
      layer.mlp_output_norm = vector(source.mlp_output_norm);
      layer.rotates = checkpoint_.shape.rotates(static_cast<std::int32_t>(i)) ? 1 : 0;
      const auto place = [&](TensorKind kind, const TensorView& values, const TensorView& bias) {
        return matrix(values, bias, kind, static_cast<std::int32_t>(i));
      };
      layer.q = place(TensorKind::q, source.q, source.q_bias);
      layer.k = place(TensorKind::k, source.k, source.k_bias);
      layer.v = place(TensorKind::v, source.v, source.v_bias);
      layer.o = place(TensorKind::o, source.o, source.o_bias);
      layer.gate = place(TensorKind::gate, source.gate, source.gate_bias);
      layer.up = place(TensorKind::up, source.up, source.up_bias);
      layer.down = place(TensorKind::down, source.down, source.down_bias);
    }
  }

  [[nodiscard]] std::size_t bytes() const { return pieces_.bytes(); }
  [[nodiscard]] const std::vector<Placed>& plain_matrices() const { return plain_; }
  [[nodiscard]] const std::vector<Placed>& quantised_matrices() const { return quantised_; }
  [[nodiscard]] const std::vector<Placed>& stored_fp8_matrices() const { return stored_fp8_; }
  [[nodiscard]] const std::vector<Placed>& grouped_matrices() const { return grouped_; }
  [[nodiscard]] const std::vector<Placed>& vectors() const { return vectors_; }

 private:
  const std::byte* plain(const TensorView& source, TensorKind kind, std::int32_t layer) {
    std::byte* values = pieces_.take<std::byte>(plain_bytes(source));
    plain_.push_back({&source, kind, layer, values, nullptr});
    return values;
  }

  const std::byte* grouped(const TensorView& source, TensorKind kind, std::int32_t layer,
                           WeightFormat format) {
    std::byte* values = pieces_.take<std::byte>(grouped_layout(format)->bytes(source.rows, source.columns));
    grouped_.push_back({&source, kind, layer, values, nullptr, format});
    return values;
  }

  const float* vector(const TensorView& source) {
    if (!source.present()) return nullptr;
    float* values = pieces_.take<float>(static_cast<std::size_t>(source.columns));
    vectors_.push_back({.source = &source, .values = reinterpret_cast<std::byte*>(values)});
    return values;
  }

  DeviceMatrix matrix(const TensorView& source, const TensorView& bias, TensorKind kind, std::int32_t layer) {
    const bool is_stored_fp8 = source.scales != nullptr;
    if (const auto groups = rounded_ ? rounded_ : stored_groups(source); groups && !fp8_) {
      const std::byte* values = grouped(source, kind, layer, *groups);
      return {values, nullptr, vector(bias), nullptr};
    }
    if (!fp8_ && !is_stored_fp8) {
      const std::byte* values = plain(source, kind, layer);
      if (stores_groups_) return {nullptr, nullptr, vector(bias), values};
      return {values, nullptr, vector(bias), nullptr};
    }
    auto* values = pieces_.take<std::byte>(static_cast<std::size_t>(source.rows * source.columns));
    float* scale = pieces_.take<float>(static_cast<std::size_t>(source.rows));
    (is_stored_fp8 ? stored_fp8_ : quantised_).push_back({&source, kind, layer, values, scale});
    return {values, scale, vector(bias), nullptr};
  }

  const Checkpoint& checkpoint_;
  bool fp8_;
  std::optional<WeightFormat> rounded_;  ///< groups that the layers' matrices are rounded to
  bool stores_groups_;                   ///< whether some of them are in groups as stored
  Pieces pieces_;
  std::vector<Placed> plain_, quantised_, stored_fp8_, grouped_, vectors_;
};

/// The first trait that the kernels lack, as a message names it; none if they compute the shape.
std::optional<std::string_view> missing_trait(const speculation::ModelShape& shape) {
  const speculation::ArchitectureTraits& traits = shape.traits;
  const speculation::ArchitectureTraits llama;
  const std::pair<bool, std::string_view> missing[] = {
      {traits.logit_cap != llama.logit_cap, "capped logits"},
      {traits.attention_logit_cap != llama.attention_logit_cap, "capped attention scores"},
      {traits.norm_weight != llama.norm_weight, "norm weights that one is added to"},
      {traits.full_attention_interval != 0, "a sliding window in some layers"},
      {traits.activation != llama.activation, "a GELU activation"},
  };
  for (const auto& [departs, name] : missing)
    if (departs) return name;
  return std::nullopt;
}

/// A matrix's values as plain numbers, from host memory or made where they go.
Result<void> bring(Gpu& gpu, const Checkpoint& checkpoint, const Placed& matrix, std::byte* to) {
  const TensorView& source = *matrix.source;
  if (!source.is_plain()) {
    const std::vector<std::byte> wide = widened_rows(source, 0, source.rows);
    return gpu.upload(to, wide.data(), wide.size());
  }
  if (checkpoint.matrices_in_memory) return gpu.upload(to, source.data, source.bytes());
  const SyntheticRecipe recipe =
      synthetic_recipe(checkpoint.shape, {checkpoint.seed, checkpoint.redundancy}, matrix.kind, matrix.layer);
  const std::int64_t elements = source.rows * source.columns;
  const auto blocks =
      static_cast<int>(std::min<std::int64_t>(elements / (8 * row_threads) + 1, synthetic_blocks));
  return gpu.launch({.kernel = Kernel::make_synthetic, .blocks = blocks},
                    SyntheticParams{reinterpret_cast<std::uint16_t*>(to), elements, recipe.low_key,
                                    recipe.high_key, recipe.scale});
}

/// From a matrix as it is stored, on the device.
Result<void> quantise(Gpu& gpu, const TensorView& shape, WeightFormat stored, const std::byte* from,
                      std::byte* values, float* scale) {
  const auto rows = static_cast<std::int32_t>(shape.rows);
  return gpu.launch(
      {.kernel = Kernel::quantise_rows,
       .format = stored,
       .blocks = std::min(rows, row_blocks),
       .shared_bytes = row_threads / warp_threads * sizeof(float)},
      QuantiseParams{reinterpret_cast<const std::uint16_t*>(from), reinterpret_cast<std::uint8_t*>(values),
                     scale, nullptr, rows, static_cast<std::int32_t>(shape.columns)});
}

/// UploadedModel::others.
ProductOutputs outputs_of_others(const speculation::ModelShape& shape,
                                 const std::vector<DeviceLayer>& layers) {
  ProductOutputs most;
  for (const DeviceLayer& layer : layers) {
    const auto of = [&](const DeviceMatrix& matrix, std::int32_t outputs) {
      return is_plain_beside_groups(matrix) ? outputs : 0;
    };
    const std::int32_t kv = shape.kv_width();
    most.qkv = std::max(most.qkv, of(layer.q, shape.q_width()) + of(layer.k, kv) + of(layer.v, kv));
    most.output = std::max(most.output, of(layer.o, shape.d_model));
    most.gate_up = std::max(most.gate_up, of(layer.gate, 2 * shape.d_ff));
    most.down = std::max(most.down, of(layer.down, shape.d_model));
  }
  return most;
}

/// Takes the same pieces in the same order every time; with a null base it only measures. `out` has the
/// model's layers, whose matrices it replaces; they are what is to be brought.
DeviceLayer* place_draft_layers(Pieces& pieces, const Checkpoint& checkpoint, WeightFormat format,
                                std::vector<DeviceLayer>& out, std::vector<Placed>& matrices) {
  auto* const layers = pieces.take<DeviceLayer>(out.size());
  const GroupedLayout* const layout = grouped_layout(format);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (const LayerMatrix& matrix : layer_matrices) {
      const TensorView& source = checkpoint.weights.layers[i].*matrix.source;
      const auto codes = static_cast<std::size_t>(source.rows * source.columns);
      std::byte* const data =
          pieces.take<std::byte>(layout != nullptr ? layout->bytes(source.rows, source.columns) : codes);
      float* const scale =
          layout != nullptr ? nullptr : pieces.take<float>(static_cast<std::size_t>(source.rows));
      DeviceMatrix& placed = out[i].*matrix.placed;
      placed.data = data;
      placed.scale = scale;
      placed.plain = nullptr;
      matrices.push_back({&source, matrix.kind, static_cast<std::int32_t>(i), data, scale, format});
    }
  return layers;
}

/// Quantises on the device, from a matrix that is there for the moment.
Result<void> bring_quantised(Gpu& gpu, const Checkpoint& checkpoint, const std::vector<Placed>& matrices,
                             WeightFormat stored) {
  std::size_t largest = 0;
  for (const Placed& matrix : matrices) largest = std::max(largest, plain_bytes(*matrix.source));
  if (largest == 0) return {};
  DRAFTSCOPE_TRY_ASSIGN(const DeviceMemory staging,
                        DeviceMemory::allocate(gpu, largest, "a matrix to quantise"));
  for (const Placed& matrix : matrices) {
    DRAFTSCOPE_TRY(bring(gpu, checkpoint, matrix, staging.data()));
    DRAFTSCOPE_TRY(quantise(gpu, *matrix.source, stored, staging.data(), matrix.values, matrix.scale));
  }
  return gpu.synchronise();
}

/// Brings e4m3 codes and their scales as the file has them. Codes that are no numbers would count as 480.
Result<void> bring_stored_fp8(Gpu& gpu, const Checkpoint& checkpoint, const std::vector<Placed>& matrices) {
  for (const Placed& matrix : matrices) {
    const TensorView& source = *matrix.source;
    if (first_non_finite(source))
      return fail("model {}: {}, expected finite numbers", checkpoint.shape.name,
                  non_finite_weight(checkpoint, matrix.layer));
    DRAFTSCOPE_TRY(gpu.upload(matrix.values, source.data, source.bytes()));
    DRAFTSCOPE_TRY(
        gpu.upload(matrix.scale, source.scales, static_cast<std::size_t>(source.rows) * sizeof(float)));
  }
  return {};
}

/// Matrices in groups, packed on the host; those that it has no numbers of are made on the device first, and
/// brought back. Errors: numbers that are none.
Result<void> bring_groups(Gpu& gpu, const Checkpoint& checkpoint, const std::vector<Placed>& matrices) {
  DeviceMemory staging;
  if (!checkpoint.matrices_in_memory && !matrices.empty()) {
    std::size_t largest = 0;
    for (const Placed& matrix : matrices) largest = std::max(largest, plain_bytes(*matrix.source));
    DRAFTSCOPE_TRY_ASSIGN(staging, DeviceMemory::allocate(gpu, largest, "a matrix to round"));
  }
  std::vector<std::byte> brought;
  for (const Placed& matrix : matrices) {
    TensorView source = *matrix.source;
    if (!checkpoint.matrices_in_memory) {
      brought.resize(plain_bytes(source));
      DRAFTSCOPE_TRY(bring(gpu, checkpoint, matrix, staging.data()));
      DRAFTSCOPE_TRY(gpu.download(brought.data(), staging.data(), brought.size()));
      DRAFTSCOPE_TRY(gpu.synchronise());
      source.data = brought.data();
    }
    const auto packed = pack_groups(source, matrix.format);
    if (!packed)
      return fail("model {}: {}, expected finite numbers", checkpoint.shape.name,
                  non_finite_weight(checkpoint, matrix.layer < 0 ? checkpoint.shape.n_layers : matrix.layer));
    DRAFTSCOPE_TRY(gpu.upload(matrix.values, packed->data(), packed->size()));
  }
  return {};
}

/// Error: some of the layers' matrices are in fp8, and some are not.
Result<void> check_one_format(const Checkpoint& checkpoint) {
  const auto& layers = checkpoint.weights.layers;
  const bool fp8 = checkpoint.has_fp8();
  const bool alike = std::all_of(layers.begin(), layers.end(), [&](const LayerWeights& layer) {
    return std::all_of(std::begin(layer_matrices), std::end(layer_matrices), [&](const LayerMatrix& matrix) {
      return ((layer.*matrix.source).scales != nullptr) == fp8;
    });
  });
  if (alike) return {};
  return fail("model {}: some matrices are in fp8, expected all of the layers' or none on a cuda device",
              checkpoint.shape.name);
}

/// The groups that the layers' matrices are stored in, or some of them; none if all are otherwise.
std::optional<WeightFormat> layer_groups(const Checkpoint& checkpoint) {
  for (const LayerWeights& layer : checkpoint.weights.layers)
    for (const LayerMatrix& matrix : layer_matrices)
      if (const auto groups = stored_groups(layer.*matrix.source)) return groups;
  return std::nullopt;
}

/// Error: the layers' matrices are in groups that no kernel takes, or in formats that kernels do not take
/// together.
Result<void> check_blocks(const Checkpoint& checkpoint) {
  const auto expected = layer_groups(checkpoint);
  const bool takes_plain = !expected || takes_plain_beside(*expected);
  for (const LayerWeights& layer : checkpoint.weights.layers) {
    for (const LayerMatrix& matrix : layer_matrices) {
      const TensorView& tensor = layer.*matrix.source;
      if (tensor.is_plain() ? takes_plain : tensor.scales != nullptr || stored_groups(tensor) == expected)
        continue;
      return fail(
          "model {}: matrices are in several formats of blocks, expected q8_0, q4_0, int4 or fp8_block for "
          "all of the layers', q4_k for some, or none on a cuda device",
          checkpoint.shape.name);
    }
    if (layer.gate.is_plain() != layer.up.is_plain())
      return fail("model {}: gate and up of a layer are in two formats, expected one on a cuda device",
                  checkpoint.shape.name);
  }
  const Weights& weights = checkpoint.weights;
  if (weights.embedding.is_plain() && (weights.head.is_plain() || head_groups(weights.head))) return {};
  return fail("model {}: the embedding or the head is in blocks, expected it widened on a cuda device",
              checkpoint.shape.name);
}

/// Error: the layers cannot be rounded to that format.
Result<void> check_weights(const Checkpoint& checkpoint, CudaWeights weights) {
  if (!weights || *weights == speculation::WeightFormat::fp8) return {};
  if (!grouped_format(*weights))
    return fail("cuda backend: found weights {}, expected one of {}",
                speculation::weight_format_name(*weights),
                speculation::made_weight_formats(speculation::MadeBy::cuda));
  if (!checkpoint.has_fp8()) return {};
  return fail("model {}: matrices are in fp8, expected them widened for {}", checkpoint.shape.name,
              speculation::weight_format_name(*weights));
}

constexpr std::int32_t fp8_granule = 16;
constexpr std::int32_t plain_granule = 8;

/// Weights of 16 bytes, which the layers' widths must be multiples of; whole groups of formats with groups.
std::int32_t width_granule(WeightFormat layers) {
  if (grouped_layout(layers) != nullptr) return part_depth;
  return layers == WeightFormat::fp8 ? fp8_granule : plain_granule;
}

Result<void> check_widths(const speculation::ModelShape& shape, std::int32_t granule) {
  struct Field {
    std::string_view name;
    std::int32_t value;
  };
  for (const Field& field : {Field{"d_model", shape.d_model}, Field{"d_ff", shape.d_ff}})
    if (field.value % granule != 0)
      return fail("model {}: {} is {}, expected a multiple of {} on a cuda device", shape.name, field.name,
                  field.value, granule);
  return {};
}

}  // namespace

std::string_view weights_name(WeightFormat format) {
  switch (format) {
    case WeightFormat::bf16:
    case WeightFormat::f16:
      return dtype_name(format == WeightFormat::f16 ? DType::f16 : DType::bf16);
    case WeightFormat::fp8:
      return "fp8";
    default:
      return speculation::weight_format_name(grouped_format(format));
  }
}

WeightFormat layer_format(const Checkpoint& checkpoint, CudaWeights weights) {
  if (weights == speculation::WeightFormat::fp8 || checkpoint.has_fp8()) return WeightFormat::fp8;
  const DType plain = checkpoint.weights.embedding.dtype;
  if (const auto groups = weights ? grouped_format(*weights, plain) : std::nullopt) return *groups;
  if (const auto groups = layer_groups(checkpoint)) return *groups;
  return plain == DType::f16 ? WeightFormat::f16 : WeightFormat::bf16;
}

Result<void> check_model(const Checkpoint& checkpoint, const CudaOptions& options,
                         const GpuDescription& device) {
  const speculation::ModelShape& shape = checkpoint.shape;
  const DType dtype = checkpoint.weights.embedding.dtype;
  if (const auto trait = missing_trait(shape))
    return fail("model {}: {} has {}, expected only what the cuda backend computes", shape.name,
                shape.architecture, *trait);
  if (dtype == DType::f32)
    return fail("model {}: weights are {}, expected bf16 or fp16 on a cuda device", shape.name,
                dtype_name(dtype));
  DRAFTSCOPE_TRY(check_weights(checkpoint, options.weights));
  DRAFTSCOPE_TRY(check_one_format(checkpoint));
  DRAFTSCOPE_TRY(check_blocks(checkpoint));
  DRAFTSCOPE_TRY(check_widths(shape, width_granule(layer_format(checkpoint, options.weights))));
  if (shape.head_dim % dimension_block != 0 || shape.head_dim > max_head_dim)
    return fail("model {}: head_dim is {}, expected 32, 64, 96 or 128 on a cuda device", shape.name,
                shape.head_dim);
  // What a block of one row must hold while weights stream past.
  const ProductShape least =
      product_shape(device, 1, shape.d_model, true, layer_format(checkpoint, options.weights));
  if (const std::size_t needed = product_shared_bytes(least, shape.d_model, true);
      needed > device.shared_bytes)
    return fail("model {}: a block takes {} bytes of shared memory, expected at most {} ({})", shape.name,
                needed, device.shared_bytes, device.name);
  // Every tensor's shape and type: the host backend's own checks.
  DRAFTSCOPE_TRY(cpu::prepare_model(checkpoint));
  return {};
}

std::size_t model_bytes(const Checkpoint& checkpoint, CudaWeights weights) {
  UploadedModel unused;
  Layout layout(checkpoint, weights, nullptr);
  layout.place(unused);
  return layout.bytes();
}

Result<WeightFormat> draft_layer_format(const Checkpoint& checkpoint, const UploadedModel& model,
                                        speculation::WeightFormat format) {
  const speculation::ModelShape& shape = checkpoint.shape;
  const bool fp8 = format == speculation::WeightFormat::fp8;
  const bool f16 = has_f16_activations(model.layers);
  const auto groups = grouped_format(format, f16 ? DType::f16 : DType::bf16);
  if (!fp8 && !groups)
    return fail("cuda backend: found weights {} for drafts, expected one of {}",
                speculation::weight_format_name(format),
                speculation::made_weight_formats(speculation::MadeBy::cuda));
  const WeightFormat held = fp8 ? WeightFormat::fp8 : *groups;
  if (f16 != has_f16_activations(held) || model.layers == WeightFormat::fp8)
    return fail("model {}: found weights {} for drafts, expected {} beside {}", shape.name,
                speculation::weight_format_name(format), f16 ? "int4" : "none",
                f16 ? dtype_name(DType::f16) : weights_name(model.layers));
  DRAFTSCOPE_TRY(check_widths(shape, width_granule(held)));
  return held;
}

Result<UploadedDraftLayers> upload_draft_layers(Gpu& gpu, const Checkpoint& checkpoint,
                                                const UploadedModel& model, WeightFormat format) {
  UploadedDraftLayers result;
  std::vector<DeviceLayer> layers = model.host_layers;
  std::vector<Placed> matrices;
  Pieces measured(nullptr);
  (void)place_draft_layers(measured, checkpoint, format, layers, matrices);
  DRAFTSCOPE_TRY_ASSIGN(result.memory, DeviceMemory::allocate(gpu, measured.bytes(), "the draft's weights"));
  Pieces pieces(result.memory.data());
  matrices.clear();
  result.layers = place_draft_layers(pieces, checkpoint, format, layers, matrices);
  if (format != WeightFormat::fp8) {
    DRAFTSCOPE_TRY(bring_groups(gpu, checkpoint, matrices));
  } else if (model.layers != model.stored) {
    DRAFTSCOPE_TRY(bring_quantised(gpu, checkpoint, matrices, model.stored));
  } else {
    // Where they are.
    for (const Placed& matrix : matrices) {
      const auto own = std::find_if(std::begin(layer_matrices), std::end(layer_matrices),
                                    [&](const LayerMatrix& each) { return each.kind == matrix.kind; });
      const DeviceMatrix& from = model.host_layers[static_cast<std::size_t>(matrix.layer)].*own->placed;
      DRAFTSCOPE_TRY(quantise(gpu, *matrix.source, model.stored, from.data, matrix.values, matrix.scale));
    }
  }
  DRAFTSCOPE_TRY(gpu.upload(result.layers, layers.data(), layers.size() * sizeof(DeviceLayer)));
  DRAFTSCOPE_TRY(gpu.synchronise());
  return result;
}

Result<UploadedModel> upload_model(Gpu& gpu, const Checkpoint& checkpoint, CudaWeights weights) {
  UploadedModel result;
  const speculation::ModelShape& shape = checkpoint.shape;
  result.shape = shape;
  result.stored = checkpoint.weights.embedding.dtype == DType::f16 ? WeightFormat::f16 : WeightFormat::bf16;
  result.layers = layer_format(checkpoint, weights);
  result.head = head_groups(checkpoint.weights.head).value_or(result.stored);
  DRAFTSCOPE_TRY_ASSIGN(result.memory,
                        DeviceMemory::allocate(gpu, model_bytes(checkpoint, weights), "the weights"));
  Layout layout(checkpoint, weights, result.memory.data());
  layout.place(result);
  result.others = outputs_of_others(shape, result.host_layers);
  for (const Placed& matrix : layout.plain_matrices())
    DRAFTSCOPE_TRY(bring(gpu, checkpoint, matrix, matrix.values));
  DRAFTSCOPE_TRY(bring_quantised(gpu, checkpoint, layout.quantised_matrices(), result.stored));
  DRAFTSCOPE_TRY(bring_stored_fp8(gpu, checkpoint, layout.stored_fp8_matrices()));
  DRAFTSCOPE_TRY(bring_groups(gpu, checkpoint, layout.grouped_matrices()));
  std::vector<float> values;
  for (const Placed& vector : layout.vectors()) {
    values.resize(static_cast<std::size_t>(vector.source->columns));
    cpu::copy_row(*vector.source, 0, values.data());
    DRAFTSCOPE_TRY(gpu.upload(vector.values, values.data(), values.size() * sizeof(float)));
  }
  DeviceModel& model = result.model;
  model.d_model = shape.d_model;
  model.d_ff = shape.d_ff;
  model.n_heads = shape.n_heads;
  model.n_kv_heads = shape.n_kv_heads;
  model.head_dim = shape.head_dim;
  model.vocab = shape.vocab;
  model.rms_epsilon = static_cast<float>(shape.rms_epsilon);
  model.attention_scale = attention_scale(shape);
  model.rotary_pairs = shape.rotary_width() / 2;
  model.normalises_qk = static_cast<std::int32_t>(shape.traits.qk_norm);
  model.normalises_outputs = shape.traits.norm_place != speculation::NormPlace::before ? 1 : 0;
  model.embedding_scale = embedding_scale(shape, checkpoint.weights.embedding.dtype);
  model.residual_scale = static_cast<float>(shape.traits.residual_multiplier);
  model.logit_scale = static_cast<float>(shape.traits.logit_multiplier);
  return result;
}

}  // namespace draftscope::engine::cuda
