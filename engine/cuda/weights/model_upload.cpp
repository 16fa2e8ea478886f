// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_upload.h"

#include <draftscope/base/parallel.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "checkpoint/element_bits.h"
#include "checkpoint/synthetic_fill.h"
#include "cpu/model.h"
#include "cuda/kernels/launch_shape.h"
#include "cuda/passes/program_runner.h"
#include "numbers/trait_numbers.h"
#include "pack_groups.h"

namespace draftscope::engine::cuda {

namespace {

/// Bytes of a tensor's numbers, after widening if they are packed.
std::size_t plain_bytes(const TensorView& tensor) {
  return static_cast<std::size_t>(tensor.rows * tensor.columns) * dtype_bytes(tensor.dtype);
}

/// A layer's matrices on the device and in the checkpoint.
struct LayerMatrix {
  DeviceMatrix DeviceLayer::*placed;
  TensorView LayerWeights::*source;
  TensorView LayerWeights::*bias;
  TensorKind kind;
  OperationKind product;
};
constexpr LayerMatrix layer_matrices[] = {
    {&DeviceLayer::q, &LayerWeights::q, &LayerWeights::q_bias, TensorKind::q, OperationKind::qkv},
    {&DeviceLayer::k, &LayerWeights::k, &LayerWeights::k_bias, TensorKind::k, OperationKind::qkv},
    {&DeviceLayer::v, &LayerWeights::v, &LayerWeights::v_bias, TensorKind::v, OperationKind::qkv},
    {&DeviceLayer::o, &LayerWeights::o, &LayerWeights::o_bias, TensorKind::o, OperationKind::output},
    {&DeviceLayer::gate, &LayerWeights::gate, &LayerWeights::gate_bias, TensorKind::gate,
     OperationKind::gate_up},
    {&DeviceLayer::up, &LayerWeights::up, &LayerWeights::up_bias, TensorKind::up, OperationKind::gate_up},
    {&DeviceLayer::down, &LayerWeights::down, &LayerWeights::down_bias, TensorKind::down,
     OperationKind::down}};

/// The groups that at least some of the layers' matrices are stored in; none if no matrix is.
std::optional<KernelFormat> layer_groups(const Checkpoint& checkpoint) {
  for (const LayerWeights& layer : checkpoint.weights.layers)
    for (const LayerMatrix& matrix : layer_matrices)
      if (const auto groups = stored_groups(layer.*matrix.source)) return groups;
  return std::nullopt;
}

/// A matrix that is being converted to its pieces.
struct Passing {
  const TensorView* source = nullptr;
  TensorKind kind = TensorKind::embedding;
  std::int32_t layer = -1;
  KernelFormat format = KernelFormat::bf16;
  float* scale = nullptr;
  int of_product = 0;  ///< Index among the product's matrices.

  /// Bytes in device memory, as rows or groups.
  [[nodiscard]] std::size_t bytes() const {
    const GroupedLayout* const layout = grouped_layout(format);
    if (layout != nullptr) return layout->bytes(source->rows, source->columns);
    return format == KernelFormat::fp8 ? static_cast<std::size_t>(source->rows * source->columns)
                                       : plain_bytes(*source);
  }
};

std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// A product and its matrices.
struct PlacedProduct {
  PackedProduct packed;
  std::vector<Passing> matrices;
};

/// Products and vectors of a model, or a draft's products, within one block of device memory. Takes the same
/// pieces in the same order on every call; with a null base it only measures.
class Layout {
 public:
  Layout(const Checkpoint& checkpoint, std::byte* base) : checkpoint_(checkpoint), pieces_(base) {}

  void place(UploadedModel& out, CudaWeights weights) {
    const Weights& source = checkpoint_.weights;
    out.model.embedding = pieces_.take<std::byte>(plain_bytes(source.embedding));
    embedding_ = {&source.embedding, TensorKind::embedding};
    const KernelFormat head = head_groups(source.head).value_or(plain_format(checkpoint_));
    out.head_weights =
        packed_product(OperationKind::head, head, checkpoint_.shape.vocab, checkpoint_.shape.d_model);
    take(out.head_weights);
    is_head_tied_ = is_plain(head) && source.head.data == source.embedding.data;
    products_.push_back({out.head_weights, {{&source.head, TensorKind::head, -1, head}}});
    out.model.final_norm = vector(source.final_norm);
    for (std::size_t i = 0; i < source.layers.size(); ++i) {
      const LayerWeights& from = source.layers[i];
      DeviceLayer layer{};
      layer.attention_norm = vector(from.attention_norm);
      layer.mlp_norm = vector(from.mlp_norm);
      layer.q_norm = vector(from.q_norm);
      layer.k_norm = vector(from.k_norm);
      layer.attention_output_norm = vector(from.attention_output_norm);
      layer.mlp_output_norm = vector(from.mlp_output_norm);
      layer.rotates = checkpoint_.shape.rotates(static_cast<std::int32_t>(i)) ? 1 : 0;
      for (const LayerMatrix& matrix : layer_matrices)
        (layer.*matrix.placed).bias = vector(from.*matrix.bias);
      const auto groups = weights ? std::nullopt : layer_groups(checkpoint_);
      const auto format_of = [&](const TensorView& tensor) {
        if (groups && tensor.is_plain()) return KernelFormat::bf16_beside_groups;
        return layer_format(checkpoint_, weights);
      };
      out.weights.push_back(place_products(layer, static_cast<std::int32_t>(i), format_of));
      out.host_layers.push_back(layer);
    }
  }

  void place(UploadedDraftLayers& out, KernelFormat format) {
    for (std::size_t i = 0; i < out.layers.size(); ++i)
      out.weights.push_back(place_products(out.layers[i], static_cast<std::int32_t>(i),
                                           [&](const TensorView& /*tensor*/) { return format; }));
  }

  [[nodiscard]] std::size_t bytes() const { return pieces_.bytes(); }
  [[nodiscard]] const std::vector<PlacedProduct>& products() const { return products_; }
  struct Vector {
    const TensorView* source;
    float* values;
  };
  [[nodiscard]] const std::vector<Vector>& vectors() const { return vectors_; }
  [[nodiscard]] const Passing& embedding() const { return embedding_; }
  [[nodiscard]] bool is_head_tied() const { return is_head_tied_; }

  /// Maximum bytes in transit, over the products' matrices.
  [[nodiscard]] std::size_t passing() const {
    std::size_t most = 0;
    for (const PlacedProduct& product : products_) {
      if (product.packed.kind == OperationKind::head && is_head_tied_) continue;
      std::size_t rows = 0;
      for (const Passing& matrix : product.matrices) rows += aligned(matrix.bytes());
      most = std::max(most, rows);
    }
    return most;
  }

 private:
  static KernelFormat plain_format(const Checkpoint& checkpoint) {
    return checkpoint.weights.embedding.dtype == DType::f16 ? KernelFormat::f16 : KernelFormat::bf16;
  }

  void take(PackedProduct& product) { product.pieces = pieces_.take<std::byte>(product.bytes()); }

  const float* vector(const TensorView& source) {
    if (!source.present()) return nullptr;
    auto* const values = pieces_.take<float>(static_cast<std::size_t>(source.columns));
    vectors_.push_back({&source, values});
    return values;
  }

  template <typename FormatOf>
  PackedLayer place_products(DeviceLayer& layer, std::int32_t index, const FormatOf& format_of) {
    const LayerWeights& weights = checkpoint_.weights.layers[static_cast<std::size_t>(index)];
    PackedLayer packed;
    for (const OperationKind kind :
         {OperationKind::qkv, OperationKind::output, OperationKind::gate_up, OperationKind::down})
      for (const bool beside : {false, true}) {
        PlacedProduct product;
        std::int64_t outputs = 0;
        int of_product = 0;
        for (const LayerMatrix& matrix : layer_matrices) {
          if (matrix.product != kind) continue;
          const TensorView& source = weights.*matrix.source;
          const KernelFormat format = format_of(source);
          const int place = of_product++;
          if ((format == KernelFormat::bf16_beside_groups) != beside) continue;
          DeviceMatrix& held = layer.*matrix.placed;
          held.is_beside = beside ? 1 : 0;
          float* const scale = format == KernelFormat::fp8
                                   ? pieces_.take<float>(static_cast<std::size_t>(source.rows))
                                   : nullptr;
          held.scale = scale;
          product.matrices.push_back({&source, matrix.kind, index, format, scale, place});
          outputs += source.rows;
        }
        if (product.matrices.empty()) continue;
        const Passing& first = product.matrices.front();
        product.packed = packed_product(kind, first.format, static_cast<std::int32_t>(outputs),
                                        static_cast<std::int32_t>(first.source->columns));
        take(product.packed);
        packed.push_back(product.packed);
        products_.push_back(std::move(product));
      }
    return packed;
  }

  const Checkpoint& checkpoint_;
  Pieces pieces_;
  Passing embedding_;
  bool is_head_tied_ = false;
  std::vector<PlacedProduct> products_;
  std::vector<Vector> vectors_;
};

/// The first trait that the kernels lack, as named in messages; none if they compute the shape.
std::optional<std::string_view> missing_trait(const speculation::ModelShape& shape) {
  const speculation::ArchitectureTraits& traits = shape.traits;
  const speculation::ArchitectureTraits llama;
  const std::pair<bool, std::string_view> missing[] = {
      {traits.logit_cap != llama.logit_cap, "capped logits"},
      {traits.attention_logit_cap != llama.attention_logit_cap, "capped attention scores"},
      {traits.norm_weight != llama.norm_weight, "norm weights that one is added to"},
      {traits.full_attention_interval != 0, "a sliding window in some layers"},
      {!traits.gated_mlp, "an MLP without a gate"},
      {traits.activation != llama.activation, "a GELU activation"},
      {traits.qk_norm == speculation::QkNorm::rotated_heads, "norms of rotated queries and keys"},
      {shape.rope.query_beta != 0.0, "queries scaled by their position"},
      {shape.rope.local_theta > 0.0 && shape.sliding_window > 0, "a rotation of its own within windows"},
  };
  for (const auto& [departs, name] : missing)
    if (departs) return name;
  return std::nullopt;
}

/// The error for a matrix that has a number which is not finite.
Result<void> non_finite(const Checkpoint& checkpoint, const Passing& matrix) {
  return fail("model {}: {}, expected finite numbers", checkpoint.shape.name,
              non_finite_weight(checkpoint, matrix.layer < 0 ? checkpoint.shape.n_layers : matrix.layer));
}

/// The matrix where the host has its numbers: in the checkpoint, or generated into `numbers`.
TensorView on_host(const Checkpoint& checkpoint, const Passing& matrix, std::vector<std::byte>& numbers) {
  TensorView source = *matrix.source;
  if (checkpoint.matrices_in_memory) return source;
  numbers.resize(source.bytes());
  source.data = numbers.data();
  fill_synthetic({{.kind = matrix.kind,
                   .layer = matrix.layer,
                   .view = &source,
                   .rows = source.rows,
                   .columns = source.columns}},
                 checkpoint.shape, {checkpoint.seed, checkpoint.redundancy}, usable_processors());
  return source;
}

/// Uploads a matrix in its format. Error: a number is not finite where the format needs it to be.
Result<void> bring(Gpu& gpu, const Checkpoint& checkpoint, const Passing& matrix, std::byte* to) {
  std::vector<std::byte> numbers;
  const TensorView source = on_host(checkpoint, matrix, numbers);
  if (matrix.format == KernelFormat::fp8) {
    const auto packed = pack_fp8(source);
    if (!packed) return non_finite(checkpoint, matrix);
    DRAFTSCOPE_TRY(gpu.upload(to, packed->codes.data(), packed->codes.size()));
    return gpu.upload(matrix.scale, packed->scales.data(), packed->scales.size() * sizeof(float));
  }
  if (grouped_layout(matrix.format) != nullptr) {
    const auto packed = pack_groups(source, matrix.format);
    if (!packed) return non_finite(checkpoint, matrix);
    return gpu.upload(to, packed->data(), packed->size());
  }
  if (source.is_plain()) return gpu.upload(to, source.data, source.bytes());
  const std::vector<std::byte> wide = widened_rows(source, 0, source.rows);
  return gpu.upload(to, wide.data(), wide.size());
}

/// Uploads every product's weights and packs them. A tied head is packed from the rows of the embedding.
Result<void> bring_products(Gpu& gpu, const Checkpoint& checkpoint, const Layout& layout,
                            const DeviceModel& model, const std::vector<DeviceLayer>& layers) {
  DRAFTSCOPE_TRY_ASSIGN(const DeviceMemory passing,
                        DeviceMemory::allocate(gpu, layout.passing(), "matrices on their way"));
  for (const PlacedProduct& product : layout.products()) {
    const bool is_head = product.packed.kind == OperationKind::head;
    const std::byte* rows[3]{};
    std::size_t offset = 0;
    for (const Passing& matrix : product.matrices) {
      // There is one queue, so the previous product has been packed by then.
      std::byte* const to = passing.data() + offset;
      offset += aligned(matrix.bytes());
      rows[matrix.of_product] = to;
      if (is_head && layout.is_head_tied())
        rows[matrix.of_product] = model.embedding;
      else
        DRAFTSCOPE_TRY(bring(gpu, checkpoint, matrix, to));
    }
    const std::int32_t layer = product.matrices.front().layer;
    DRAFTSCOPE_TRY(pack(gpu, model, is_head ? DeviceLayer{} : layers[static_cast<std::size_t>(layer)],
                        product.packed, rows));
  }
  return gpu.synchronise();
}

/// Error: only some of the layers' matrices are in fp8.
Result<void> check_one_format(const Checkpoint& checkpoint) {
  const auto& layers = checkpoint.weights.layers;
  const bool fp8 = checkpoint.has_fp8();
  const bool alike = std::all_of(layers.begin(), layers.end(), [&](const LayerWeights& layer) {
    return std::all_of(std::begin(layer_matrices), std::end(layer_matrices),
                       [&](const LayerMatrix& matrix) { return (layer.*matrix.source).is_fp8() == fp8; });
  });
  if (alike) return {};
  return fail("model {}: some matrices are in fp8, expected all of the layers' or none on a cuda device",
              checkpoint.shape.name);
}

/// Formats with groups that kernels take; `mixed`: those whose files mix them with others.
std::string names_of_groups(bool mixed) {
  std::string names;
  for (const speculation::WeightFormatRow& row : speculation::weight_formats())
    if (grouped_format(row.format) && row.mixes_on_gpu == mixed)
      names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

/// Error: the layers' matrices are in groups that no kernel takes, or in formats that no kernel takes
/// together.
Result<void> check_blocks(const Checkpoint& checkpoint) {
  const auto expected = layer_groups(checkpoint);
  const bool takes_plain = !expected || takes_plain_beside(*expected);
  for (const LayerWeights& layer : checkpoint.weights.layers) {
    for (const LayerMatrix& matrix : layer_matrices) {
      const TensorView& tensor = layer.*matrix.source;
      if (tensor.is_plain() ? takes_plain : tensor.is_fp8() || stored_groups(tensor) == expected) continue;
      return fail(
          "model {}: matrices are in several formats of blocks, expected one of {} for all of the layers', "
          "of {} for some, or none on a cuda device",
          checkpoint.shape.name, names_of_groups(false), names_of_groups(true));
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

/// The layers' widths must be multiples of this: 16 bytes of weights, or whole groups of formats with groups.
std::int32_t width_granule(KernelFormat layers) {
  if (grouped_layout(layers) != nullptr) return part_depth;
  return layers == KernelFormat::fp8 ? fp8_granule : plain_granule;
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

std::string_view weights_name(KernelFormat format) {
  if (format == KernelFormat::f16) return dtype_name(DType::f16);
  return speculation::weight_format_name(stored_name(format));
}

KernelFormat layer_format(const Checkpoint& checkpoint, CudaWeights weights) {
  if (weights == speculation::WeightFormat::fp8 || checkpoint.has_fp8()) return KernelFormat::fp8;
  const DType plain = checkpoint.weights.embedding.dtype;
  if (const auto groups = weights ? grouped_format(*weights, plain) : std::nullopt) return *groups;
  if (const auto groups = layer_groups(checkpoint)) return *groups;
  return plain == DType::f16 ? KernelFormat::f16 : KernelFormat::bf16;
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
  DRAFTSCOPE_TRY(check_program_memory(device, shape));
  // Checks every tensor's shape and type as the host backend does.
  DRAFTSCOPE_TRY(cpu::prepare_model(checkpoint));
  return {};
}

UploadBytes upload_bytes(const Checkpoint& checkpoint, CudaWeights weights) {
  UploadedModel unused;
  Layout layout(checkpoint, nullptr);
  layout.place(unused, weights);
  return {layout.bytes(), layout.passing()};
}

Result<KernelFormat> draft_layer_format(const Checkpoint& checkpoint, const UploadedModel& model,
                                        speculation::WeightFormat format) {
  const speculation::ModelShape& shape = checkpoint.shape;
  const bool fp8 = format == speculation::WeightFormat::fp8;
  const bool f16 = has_f16_activations(model.layers);
  const auto groups = grouped_format(format, f16 ? DType::f16 : DType::bf16);
  if (!fp8 && !groups)
    return fail("cuda backend: found weights {} for drafts, expected one of {}",
                speculation::weight_format_name(format),
                speculation::made_weight_formats(speculation::MadeBy::cuda));
  const KernelFormat held = fp8 ? KernelFormat::fp8 : *groups;
  if (f16 != has_f16_activations(held) || model.layers == KernelFormat::fp8)
    return fail("model {}: found weights {} for drafts, expected {} beside {}", shape.name,
                speculation::weight_format_name(format), f16 ? "int4" : "none",
                f16 ? dtype_name(DType::f16) : weights_name(model.layers));
  DRAFTSCOPE_TRY(check_widths(shape, width_granule(held)));
  return held;
}

Result<UploadedDraftLayers> upload_draft_layers(Gpu& gpu, const Checkpoint& checkpoint,
                                                const UploadedModel& model, KernelFormat format) {
  UploadedDraftLayers measured{.layers = model.host_layers};
  Layout measure(checkpoint, nullptr);
  measure.place(measured, format);
  UploadedDraftLayers result{.layers = model.host_layers};
  DRAFTSCOPE_TRY_ASSIGN(result.memory, DeviceMemory::allocate(gpu, measure.bytes(), "the draft's weights"));
  Layout layout(checkpoint, result.memory.data());
  layout.place(result, format);
  DRAFTSCOPE_TRY(bring_products(gpu, checkpoint, layout, model.model, result.layers));
  return result;
}

Result<UploadedModel> upload_model(Gpu& gpu, const Checkpoint& checkpoint, CudaWeights weights) {
  UploadedModel result;
  const speculation::ModelShape& shape = checkpoint.shape;
  result.shape = shape;
  result.stored = checkpoint.weights.embedding.dtype == DType::f16 ? KernelFormat::f16 : KernelFormat::bf16;
  result.layers = layer_format(checkpoint, weights);
  result.head = head_groups(checkpoint.weights.head).value_or(result.stored);
  DRAFTSCOPE_TRY_ASSIGN(result.memory,
                        DeviceMemory::allocate(gpu, upload_bytes(checkpoint, weights).kept, "the weights"));
  Layout layout(checkpoint, result.memory.data());
  layout.place(result, weights);
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
  std::vector<float> values;
  for (const Layout::Vector& vector : layout.vectors()) {
    values.resize(static_cast<std::size_t>(vector.source->columns));
    copy_row(*vector.source, 0, values.data());
    DRAFTSCOPE_TRY(gpu.upload(vector.values, values.data(), values.size() * sizeof(float)));
  }
  DRAFTSCOPE_TRY(bring(gpu, checkpoint, layout.embedding(), const_cast<std::byte*>(model.embedding)));
  DRAFTSCOPE_TRY(bring_products(gpu, checkpoint, layout, model, result.host_layers));
  return result;
}

}  // namespace draftscope::engine::cuda
