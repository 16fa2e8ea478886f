// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/engine/opening_notes.h>
#include <draftscope/speculation/weight_format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "architectures.h"
#include "checkpoint/checkpoint_hash.h"
#include "checkpoint/element_bits.h"
#include "checkpoint/file_watch.h"
#include "checkpoint/gguf/shape.h"
#include "checkpoint/left_out.h"
#include "checkpoint/next_token_form.h"
#include "checkpoint/view_memory.h"
#include "gguf_file.h"
#include "load_gguf.h"
#include "tensor_names.h"
#include "widen.h"

namespace draftscope::engine {
namespace {

using gguf::GgufModel;
using gguf::WidenedTensor;

/// Owns a checkpoint's bytes: the files that its views point into, and the memory of widened tensors.
struct Storage {
  std::optional<GgufModel> model;
  std::optional<Mapping> memory;
  std::vector<float> projection;  ///< Projection of a next-token layer, if it was rewritten.
  std::vector<float> numbers;     ///< Numbers of activations, which files have as metadata.
};

struct BoundSlot {
  const TensorSlot* slot;
  GgufModel::TensorPlace place;
  float scale = 1.0F;  ///< factor of all weights, beside those of their blocks

  /// The slot's rows in the file. Rows are whole in every format, so the rows of a fused tensor's part are
  /// contiguous.
  [[nodiscard]] const std::byte* stored() const {
    const auto skipped = static_cast<std::uint64_t>(slot->first_row) * place.tensor->row_bytes();
    return place.tensor->data(place.file->mapping.bytes()) + skipped;
  }
};

Result<void> check_extents(const TensorSlot& slot, const GgufModel::TensorPlace& place) {
  const auto& extents = place.tensor->extents;
  const auto columns = static_cast<std::uint64_t>(slot.columns);
  const auto rows = static_cast<std::uint64_t>(slot.rows_in_file());
  const bool matches = slot.is_vector() ? extents.size() == 1 && extents[0] == columns
                                        : extents.size() == 2 && extents[0] == columns && extents[1] == rows;
  if (matches) return {};
  return fail("{}: tensor {}: shape is [{}], expected {}", place.file->path, place.tensor->name,
              fmt::join(extents, ", "),
              slot.is_vector() ? fmt::format("[{}]", columns) : fmt::format("[{}, {}]", columns, rows));
}

/// The tensor "NAME.scale" beside a "NAME.weight" of a type that is only widened; null if there is none.
const GgufModel::TensorPlace* scale_of(const GgufModel& model, const GgufModel::TensorPlace& weights) {
  const gguf::BlockFormat& format = *weights.tensor->format;
  constexpr std::string_view suffix = "weight";
  if (format.plain || format.multiplied || !weights.tensor->name.ends_with(suffix)) return nullptr;
  std::string name(weights.tensor->name);
  name.replace(name.size() - suffix.size(), suffix.size(), "scale");
  const auto found = model.tensors.find(name);
  return found == model.tensors.end() ? nullptr : &found->second;
}

Result<float> read_scale(const GgufModel::TensorPlace& place) {
  const gguf::StoredTensor& tensor = *place.tensor;
  if (tensor.format->plain != DType::f32 || tensor.extents != std::vector<std::uint64_t>{1})
    return fail("{}: tensor {}: type {} and shape [{}], expected F32 and [1]", place.file->path, tensor.name,
                tensor.format->name, fmt::join(tensor.extents, ", "));
  float scale = 0.0F;
  tensor.format->unpack(tensor.data(place.file->mapping.bytes()), 1, &scale);
  if (!std::isfinite(scale))
    return fail("{}: tensor {} is {}, expected a finite number", place.file->path, tensor.name, scale);
  return scale;
}

std::string name_of(const TensorSlot& slot, const gguf::Architecture& architecture) {
  if (slot.kind == TensorKind::mlp_norm && architecture.mlp_norm_is_post_attention)
    return fmt::format("blk.{}.post_attention_norm.weight", slot.layer);
  return gguf::tensor_name(slot);
}

/// Name of a next-token layer's tensor: those of its block, and its own norm, embedding and head, or the
/// model's where it has none.
std::string next_token_name(const TensorSlot& slot, const GgufModel& model,
                            const gguf::Architecture& architecture, std::int32_t block) {
  if (slot.layer >= 0) {
    TensorSlot own = slot;
    own.layer = block;
    return name_of(own, architecture);
  }
  const std::string_view own = slot.kind == TensorKind::embedding ? "embed_tokens"
                               : slot.kind == TensorKind::head    ? "shared_head_head"
                                                                  : "shared_head_norm";
  std::string name = fmt::format("blk.{}.nextn.{}.weight", block, own);
  return model.tensors.contains(name) ? name : gguf::tensor_name(slot);
}

/// A tensor that keeps `mtp` from drafting with the block, in words: one that it lacks, or has beyond those
/// of the decoder's blocks. Empty if there is none.
std::string next_token_obstacle(const GgufModel& model, const gguf::Architecture& architecture,
                                speculation::ModelShape shape) {
  const std::int32_t block = std::exchange(shape.n_layers, 1);
  Weights weights;
  weights.join = JoinWeights{};
  std::set<std::string> known;
  for (const char* const own : {"embed_tokens", "shared_head_head", "shared_head_norm"})
    known.insert(fmt::format("blk.{}.nextn.{}.weight", block, own));
  std::string missing;
  for (const TensorSlot& slot : tensor_slots(shape, weights)) {
    if (slot.is_number()) continue;
    const std::string& name = *known.insert(next_token_name(slot, model, architecture, block)).first;
    if (missing.empty() && !model.tensors.contains(name)) missing = name;
  }
  std::set<std::string_view> further;
  for (const auto& [name, place] : model.tensors) {
    const std::string_view stem = name.substr(0, name.rfind('.'));
    const bool is_known = known.contains(std::string(name)) ||
                          (!name.ends_with(".bias") && known.contains(std::string(stem) + ".weight"));
    if (gguf::layer_of(name) == block && !is_known && !gguf::is_redundant(name)) further.insert(name);
  }
  if (!further.empty())
    return fmt::format("found {}, expected a block of the decoder", quote(*further.begin()));
  return missing.empty() ? std::string() : quote(missing) + " is missing";
}

/// Whether the file has a tensor of a next-token layer beyond those of a decoder's block.
bool has_next_token(const GgufModel& model, const speculation::ModelShape& shape) {
  const std::string prefix = fmt::format("blk.{}.nextn.", shape.n_layers);
  return std::ranges::any_of(model.tensors, [&](const auto& one) { return one.first.starts_with(prefix); });
}

/// Binds the slots to tensors. The file must have no others, except those of blocks up to `block_count`,
/// which predict further tokens, and scales of activations; `notes` counts these. `next_token` is the block
/// of a next-token layer, if the slots are its; the other tensors are then the decoder's.
Result<std::vector<BoundSlot>> bind_tensors(const GgufModel& model, const std::vector<TensorSlot>& slots,
                                            const speculation::ModelShape& shape,
                                            const gguf::Architecture& architecture, std::int32_t block_count,
                                            std::optional<std::int32_t> next_token,
                                            std::vector<std::string>& notes) {
  std::vector<BoundSlot> bound;
  std::unordered_set<std::string_view> used{gguf::frequency_divisors_name, gguf::long_factors_name,
                                            gguf::short_factors_name};
  for (const TensorSlot& slot : slots) {
    if (slot.is_number()) continue;
    const std::string name =
        next_token ? next_token_name(slot, model, architecture, *next_token) : name_of(slot, architecture);
    const auto found = model.tensors.find(name);
    if (found == model.tensors.end())
      return fail("{}: tensor {} is missing, expected one of {} weights", model.metadata().file(), name,
                  slot.rows_in_file() * slot.columns);
    const auto& place = found->second;
    DRAFTSCOPE_TRY(check_extents(slot, place));
    if (slot.is_vector() && !place.tensor->format->plain)
      return fail("{}: tensor {}: type {}, expected F32, F16 or BF16", place.file->path, name,
                  place.tensor->format->name);
    used.insert(place.tensor->name);
    BoundSlot& one = bound.emplace_back(BoundSlot{&slot, place});
    if (const GgufModel::TensorPlace* const scale = scale_of(model, place)) {
      DRAFTSCOPE_TRY_ASSIGN(one.scale, read_scale(*scale));
      used.insert(scale->tensor->name);
    }
  }
  if (next_token) return bound;
  // An unused tensor would mean other layers than the metadata says.
  std::optional<std::string_view> unknown;
  std::map<LeftOut, std::set<std::string_view>> unused;
  const std::string obstacle =
      has_next_token(model, shape) ? next_token_obstacle(model, architecture, shape) : "";
  const bool is_drafter = has_next_token(model, shape) && obstacle.empty();
  for (const auto& [name, place] : model.tensors) {
    if (used.contains(name) || gguf::is_redundant(name)) continue;
    const std::int32_t layer = gguf::layer_of(name);
    if (is_drafter && layer == shape.n_layers) continue;
    if (layer >= shape.n_layers && layer < block_count) {
      unused[LeftOut::further_tokens].insert(name);
    } else if (name.ends_with(".input_scale")) {
      unused[LeftOut::activation_scales].insert(name);
    } else if (!unknown || name < *unknown) {
      unknown = name;
    }
  }
  for (const auto& [kind, names] : unused) notes.push_back(left_out_line(kind, names.size(), *names.begin()));
  if (!obstacle.empty()) notes.push_back("mtp cannot draft with the next-token layer: " + obstacle);
  if (unknown)
    return fail("{}: found tensor {}, expected those of the architecture and the metadata alone",
                model.tensors.at(*unknown).file->path, quote(*unknown));
  return bound;
}

/// The type of all matrices, if they are plain numbers of one type; otherwise bf16.
DType matrix_type(const std::vector<BoundSlot>& bound) {
  std::optional<DType> shared;
  for (const auto& [slot, place, scale] : bound) {
    if (slot->is_vector()) continue;
    const auto plain = place.tensor->format->plain;
    if (!plain || (shared && shared != plain)) return DType::bf16;
    shared = plain;
  }
  return shared.value_or(DType::bf16);
}

/// Group of matrices that are multiplied with the same rounded activations; 0 = only this one.
int shared_input(TensorKind kind) {
  switch (kind) {
    case TensorKind::q:
    case TensorKind::k:
    case TensorKind::v:
      return 1;
    case TensorKind::gate:
    case TensorKind::up:
      return 2;
    default:
      return 0;
  }
}

/// Whether the CUDA backend multiplies blocks as they are. It can do so in the formats that it makes itself.
bool is_multiplied_by_cuda(const gguf::BlockFormat& format) {
  return format.multiplied &&
         speculation::makes(speculation::MadeBy::cuda, speculation::weight_format_row(*format.multiplied));
}

bool is_gate_or_up(const TensorSlot& slot) {
  return slot.kind == TensorKind::gate || slot.kind == TensorKind::up;
}

/// Whether the CUDA backend accepts plain matrices next to matrices in this format in one layer.
bool mixes_on_gpu(const gguf::BlockFormat& format) {
  return format.multiplied && speculation::weight_format_row(*format.multiplied).mixes_on_gpu;
}

/// The format of the layers' matrices that stay in their blocks for the CUDA backend; null = none. All of
/// them have it, or only some if the backend can mix it.
const gguf::BlockFormat* kept_format_on_gpu(const std::vector<BoundSlot>& bound) {
  const gguf::BlockFormat* shared = nullptr;
  const gguf::BlockFormat* mixed = nullptr;
  bool is_shared = true;
  for (const auto& [slot, place, scale] : bound) {
    if (slot->is_vector() || slot->layer < 0) continue;
    const gguf::BlockFormat* const format = place.tensor->format;
    is_shared = is_shared && is_multiplied_by_cuda(*format) && (shared == nullptr || shared == format);
    shared = format;
    if (mixes_on_gpu(*format)) mixed = format;
  }
  return is_shared ? shared : mixed;
}

/// Tensors that stay in their blocks for the CUDA backend. These are the layers' matrices in one format,
/// except a gate or up whose partner has another format. The head stays if it has that format and the format
/// is not one that layers mix.
std::vector<bool> kept_on_gpu(const std::vector<BoundSlot>& bound) {
  std::vector<bool> kept(bound.size(), false);
  const gguf::BlockFormat* const format = kept_format_on_gpu(bound);
  if (format == nullptr) return kept;
  std::set<std::int32_t> widened_gates;  // layers whose gate and up are widened
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const TensorSlot& slot = *bound[i].slot;
    kept[i] = !slot.is_vector() && slot.kind != TensorKind::embedding &&
              bound[i].place.tensor->format == format && (slot.layer >= 0 || !mixes_on_gpu(*format));
    if (!kept[i] && is_gate_or_up(slot)) widened_gates.insert(slot.layer);
  }
  for (std::size_t i = 0; i < bound.size(); ++i)
    if (const TensorSlot& slot = *bound[i].slot; is_gate_or_up(slot) && widened_gates.contains(slot.layer))
      kept[i] = false;
  return kept;
}

/// Whether each tensor stays in its blocks: those that can be multiplied stay, unless another one with the
/// same input can't.
std::vector<bool> kept_blocks(const std::vector<BoundSlot>& bound, BlockMatrices blocks) {
  if (blocks == BlockMatrices::cuda_as_stored) return kept_on_gpu(bound);
  std::vector<bool> kept(bound.size(), false);
  if (blocks != BlockMatrices::as_stored) return kept;
  std::set<std::pair<std::int32_t, int>> mixed;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const TensorSlot& slot = *bound[i].slot;
    if (slot.is_vector()) continue;
    kept[i] = bound[i].place.tensor->format->multiplied.has_value();
    if (!kept[i]) mixed.emplace(slot.layer, shared_input(slot.kind));
  }
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const int input = shared_input(bound[i].slot->kind);
    if (input > 0 && mixed.contains({bound[i].slot->layer, input})) kept[i] = false;
  }
  return kept;
}

/// The formats in which the matrices are stored, largest share first: "gguf Q4_K, Q6_K".
std::string stored_types(const std::vector<BoundSlot>& bound) {
  std::map<std::string_view, std::int64_t> weights;
  for (const auto& [slot, place, scale] : bound)
    if (!slot->is_vector()) weights[place.tensor->format->name] += slot->rows * slot->columns;
  std::vector<std::pair<std::string_view, std::int64_t>> order(weights.begin(), weights.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, count] : order) text += fmt::format("{}{}", text.empty() ? "gguf " : ", ", name);
  return text;
}

/// Points the slots at the files if these contain what backends read, and otherwise at memory that it fills.
Result<std::optional<Mapping>> place_weights(const std::vector<BoundSlot>& bound, BlockMatrices blocks,
                                             bool paired_rows, std::int32_t head_dim, std::string_view file) {
  const DType matrices = matrix_type(bound);
  const std::vector<bool> kept = kept_blocks(bound, blocks);
  std::vector<WidenedTensor> widened;
  std::vector<TensorView*> views;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const auto& [slot, place, scale] = bound[i];
    const auto& format = *place.tensor->format;
    const std::byte* const packed = bound[i].stored();
    const DType dtype = slot->is_vector() ? *format.plain : matrices;
    *slot->view = {packed, dtype, slot->rows, slot->columns, kept[i] ? &format : nullptr};
    const bool moves = paired_rows && gguf::rotates(slot->kind);
    if ((kept[i] || format.plain == dtype) && !moves) continue;
    // The elements of a vector form one row.
    const bool vector = slot->is_vector();
    widened.push_back({packed, &format, vector ? slot->columns : slot->rows, vector ? 1 : slot->columns,
                       moves ? head_dim : 0, dtype, nullptr, kept[i], scale});
    views.push_back(slot->view);
  }
  if (widened.empty()) return std::nullopt;
  auto memory = memory_for(views);
  if (!memory) return fail("{}: {}", file, memory.error().message);
  for (std::size_t i = 0; i < widened.size(); ++i) widened[i].out = writable(*views[i], *memory);
  gguf::widen(widened);
  return std::optional(*std::move(memory));
}

Result<void> check_vectors(const std::vector<BoundSlot>& bound) {
  for (const auto& [slot, place, scale] : bound) {
    if (!slot->is_vector()) continue;
    if (const auto element = first_non_finite(*slot->view))
      return fail("{}: tensor {}: element {} is not finite, expected finite numbers", place.file->path,
                  place.tensor->name, *element);
  }
  return {};
}

/// Points the slots of activations' numbers at `numbers`, which it fills from the metadata.
Result<void> place_numbers(const gguf::Metadata& metadata, const std::vector<TensorSlot>& slots,
                           std::int32_t n_layers, std::vector<float>& numbers) {
  constexpr Range<double> number_range{-1e6, 1e6};
  numbers.reserve(slots.size());  // The views need it to stay where it is.
  for (const TensorSlot& slot : slots) {
    if (!slot.is_number()) continue;
    const std::string_view key = gguf::number_key(slot.kind);
    const gguf::MetadataValue* const value = metadata.find(key);
    const bool is_list = value != nullptr && value->is_array;
    if (is_list && std::cmp_not_equal(value->count, n_layers))
      return metadata.wrong(key, fmt::format("a number for each of {} layers", n_layers));
    std::vector<double> of_layers;
    if (is_list) {
      DRAFTSCOPE_TRY_ASSIGN(of_layers, metadata.numbers(key));
    } else {
      DRAFTSCOPE_TRY_ASSIGN(of_layers.emplace_back(), metadata.number(key, number_range));
    }
    const double number = of_layers[is_list ? static_cast<std::size_t>(slot.layer) : 0];
    if (!(number >= number_range.min && number <= number_range.max))
      return metadata.wrong(key, fmt::format("numbers from {} to {}", number_range.min, number_range.max));
    const float& kept = numbers.emplace_back(static_cast<float>(number));
    *slot.view = {reinterpret_cast<const std::byte*>(&kept), DType::f32, 1, 1};
  }
  return {};
}

/// The file's name without its extension and part number.
std::string model_name(const GgufModel& model, const std::filesystem::path& path) {
  std::string name = path.stem().string();
  if (model.files.size() > 1) name.resize(name.size() - std::string_view("-00001-of-00001").size());
  return name;
}

/// Whether any tensor is read from its file after loading.
bool uses_files(const std::vector<BoundSlot>& bound) {
  return std::any_of(bound.begin(), bound.end(),
                     [](const BoundSlot& one) { return one.slot->view->data == one.stored(); });
}

/// Loads the decoder, or its next-token layer if `join` has a value.
Result<Checkpoint> load(const std::filesystem::path& path, BlockMatrices blocks,
                        std::optional<JoinWeights> join, std::vector<std::string>& notes) {
  const auto storage = std::make_shared<Storage>();
  DRAFTSCOPE_TRY_ASSIGN(storage->model, gguf::open_gguf(path));
  const GgufModel& model = *storage->model;
  const std::string& file = model.files.front().path;
  DRAFTSCOPE_TRY_ASSIGN(const auto architecture, gguf::architecture_of(model.metadata()));
  Checkpoint checkpoint;
  DRAFTSCOPE_TRY_ASSIGN(checkpoint.shape, gguf::read_shape(model, architecture));
  checkpoint.shape.name = model_name(model, path);
  checkpoint.path = path;

  checkpoint.has_next_token_layer = has_next_token(model, checkpoint.shape) &&
                                    next_token_obstacle(model, architecture, checkpoint.shape).empty();
  std::optional<std::int32_t> block;
  if (join) {
    block = std::exchange(checkpoint.shape.n_layers, 1);
    checkpoint.weights.join = join;
    const std::string own_head = fmt::format("blk.{}.nextn.shared_head_head.weight", *block);
    if (model.tensors.contains(own_head)) checkpoint.shape.tied_embeddings = false;
  }
  const auto slots = tensor_slots(checkpoint.shape, checkpoint.weights);
  DRAFTSCOPE_TRY_ASSIGN(const auto block_count,
                        model.metadata().integer<std::int32_t>(architecture.key("block_count")));
  DRAFTSCOPE_TRY_ASSIGN(const auto bound, bind_tensors(model, slots, checkpoint.shape, architecture,
                                                       block_count, block, notes));
  DRAFTSCOPE_TRY_ASSIGN(storage->memory, place_weights(bound, blocks, architecture.paired_rows,
                                                       checkpoint.shape.head_dim, file));
  DRAFTSCOPE_TRY(check_vectors(bound));
  DRAFTSCOPE_TRY(place_numbers(model.metadata(), slots, checkpoint.shape.n_layers, storage->numbers));
  if (checkpoint.shape.tied_embeddings) checkpoint.weights.head = checkpoint.weights.embedding;
  checkpoint.stored_as = stored_types(bound);
  if (join) put_state_first(checkpoint.weights.join->projection, storage->projection);

  CheckpointHash hash;
  for (const auto& part : model.files) hash.add_bytes(part.mapping.bytes().first(part.header.bytes));
  for (const auto& tensor : named_tensors(checkpoint.shape, checkpoint.weights)) hash.add_sample(tensor.view);
  checkpoint.hash = hash.hex();
  DRAFTSCOPE_TRY(check_watched_files());
  if (!uses_files(bound)) storage->model.reset();
  checkpoint.storage = storage;
  return checkpoint;
}

}  // namespace

Result<Checkpoint> load_gguf(const std::filesystem::path& path, BlockMatrices blocks,
                             std::vector<std::string>& notes) {
  return load(path, blocks, std::nullopt, notes);
}

Result<Checkpoint> gguf::load_next_token_layer(const std::filesystem::path& path, BlockMatrices blocks) {
  std::vector<std::string> notes;  // Opening the model has said what is left out.
  return load(path, blocks, JoinWeights{}, notes);
}

}  // namespace draftscope::engine
