// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/text_file.h>
#include <draftscope/speculation/model_config.h>
#include <draftscope/speculation/model_families.h>
#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

#include "checkpoint_hash.h"
#include "element_bits.h"
#include "file_watch.h"
#include "quantised/bind_quantised.h"
#include "quantised/fp8_block.h"
#include "quantised/int4.h"
#include "shards.h"
#include "tensor_slots.h"

namespace draftscope::engine {
namespace {

// Published files have a few kilobytes.
constexpr std::size_t max_config_bytes = std::size_t{1} << 20;
/// Tensors begin at multiples of a cache line, which is also the widest vector a kernel loads.
constexpr std::size_t matrix_alignment = 64;

/// Owns a checkpoint's bytes: the files that its views point into, the memory of widened matrices, and the
/// descriptions of matrices that stay as they are.
struct Storage {
  Shards shards;
  std::optional<Mapping> memory;
  std::vector<QuantisedMatrix> kept;
};

std::string expected_extents(const TensorSlot& slot) {
  return slot.is_vector() ? fmt::format("[{}]", slot.columns)
                          : fmt::format("[{}, {}]", slot.rows_in_file(), slot.columns);
}

Result<TensorView> view_of(const TensorSlot& slot, const FileTensor& place) {
  const auto& [shard, entry] = place;
  const auto& extents = entry->shape;
  const auto rows = static_cast<std::uint64_t>(slot.rows_in_file());
  const auto columns = static_cast<std::uint64_t>(slot.columns);
  const bool matches = slot.is_vector() ? extents.size() == 1 && extents[0] == columns
                                        : extents.size() == 2 && extents[0] == rows && extents[1] == columns;
  if (!matches)
    return fail("{}: tensor {}: shape is [{}], expected {}", shard->file, slot.name, fmt::join(extents, ", "),
                expected_extents(slot));
  DRAFTSCOPE_TRY_ASSIGN(const auto dtype, parse_dtype(place));
  const auto skipped = static_cast<std::size_t>(slot.first_row * slot.columns) * dtype_bytes(dtype);
  return TensorView{place.data() + skipped, dtype, slot.rows, slot.columns};
}

Result<void> check_vector(const TensorSlot& slot, const std::string& file) {
  const auto element = first_non_finite(*slot.view);
  if (element)
    return fail("{}: tensor {}: element {} is not finite, expected finite numbers", file, slot.name,
                *element);
  return {};
}

/// Fails on a tensor that the model's layers do not use, such as a bias that config.json denies, or a norm of
/// queries and keys. It would mean another architecture than config.json says. Other tensors may exist
/// elsewhere in the file, and in layers from n_layers on.
Result<void> check_nothing_unknown(const FileTensors& places, const std::unordered_set<std::string>& known,
                                   const std::optional<QuantisationConfig>& quantisation,
                                   const speculation::ModelShape& shape) {
  std::vector<std::string> unknown;
  constexpr std::string_view prefix = "model.layers.";
  for (const auto& [name, place] : places) {
    // Old exports carry the rotary frequencies, which config.json gives.
    if (!name.starts_with(prefix) || known.contains(name) || name.ends_with(".rotary_emb.inv_freq")) continue;
    const auto digits = name.substr(prefix.size(), name.find('.', prefix.size()) - prefix.size());
    const auto layer = parse_number<std::int32_t>(digits);
    if (!layer || *layer < 0 || *layer >= shape.n_layers) continue;
    if (quantisation && is_bias_of_zeros(name, place)) continue;
    unknown.push_back(name);
  }
  if (unknown.empty()) return {};
  const auto first = *std::min_element(unknown.begin(), unknown.end());
  return fail("{}: found tensor {}, expected those of {} as config.json describes it",
              places.at(first).shard->file, quote(first), shape.architecture);
}

/// A packed matrix, and the slot that it is for.
struct PackedSlot {
  const TensorSlot* slot;
  QuantisedMatrix matrix;
};

/// Binds the tensors of a shape to those of the files: plain ones as views, packed ones to be widened later.
class Binding {
 public:
  Binding(const Shards& shards, const Checkpoint& checkpoint,
          const std::optional<QuantisationConfig>& quantisation)
      : shards_(shards),
        shape_(checkpoint.shape),
        quantisation_(quantisation),
        is_next_token_(checkpoint.weights.join.has_value()) {
    const speculation::ModelFamily* const family = speculation::find_architecture(shape_.architecture);
    places_ = tensors_of(shards, family != nullptr && family->nested);
  }

  Result<void> bind(const std::vector<TensorSlot>& slots) {
    for (const TensorSlot& slot : slots) DRAFTSCOPE_TRY(bind_slot(slot));
    if (is_next_token_) return {};
    if (quantisation_ && packed_.empty())
      return fail("{}: found no packed matrices, expected those of {} as config.json says",
                  shards_.by_name.begin()->second.file, quantisation_->name());
    return check_nothing_unknown(places_, known_, quantisation_, shape_);
  }

  [[nodiscard]] bool has(const std::string& name) const { return places_.contains(name); }

  /// Writes the packed matrices as numbers of the plain ones' type, in memory owned by `storage`. The layers'
  /// matrices stay as in the files if that is asked for and all of them can.
  Result<void> place_packed(BlockMatrices blocks, const std::string& file, Storage& storage,
                            std::string& why_widened) const {
    if (packed_.empty()) return {};
    for (const auto& [name, shard] : shards_.by_name) shard.mapping.expect(Access::streamed);
    const bool as_stored = blocks == BlockMatrices::cuda_as_stored;
    const DType dtype = plain_ == nullptr ? DType::bf16 : plain_->view->dtype;
    const IsPackedSo is_kept = as_stored ? kept_format(dtype) : nullptr;
    if (as_stored && is_kept == nullptr) why_widened = what_is_widened(dtype);
    std::vector<WidenedMatrix> widened;
    std::vector<TensorView*> views;
    storage.kept.reserve(packed_.size());
    for (const PackedSlot& packed : packed_) {
      const auto& [slot, matrix] = packed;
      *slot->view = {nullptr, dtype, slot->rows, slot->columns};
      if (!stays(packed, is_kept)) {
        widened.push_back({matrix, slot->first_row, slot->rows, slot->columns, dtype, nullptr});
        views.push_back(slot->view);
        continue;
      }
      QuantisedMatrix& kept = storage.kept.emplace_back(matrix);
      kept.has_output_scales = is_kept == is_in_fp8;
      slot->view->data = matrix.values;
      slot->view->quantised = &kept;
      slot->view->first_row = slot->first_row;
    }
    if (widened.empty()) return {};
    const auto bytes_of = [](const TensorView& view) {
      return (view.bytes() + matrix_alignment - 1) / matrix_alignment * matrix_alignment;
    };
    std::size_t bytes = 0;
    for (const TensorView* view : views) bytes += bytes_of(*view);
    auto memory = Mapping::allocate(bytes);
    if (!memory) return fail("{}: {}", file, memory.error().message);
    std::byte* out = memory->writable_bytes().data();
    for (std::size_t i = 0; i < widened.size(); ++i) {
      views[i]->data = widened[i].out = out;
      out += bytes_of(*views[i]);
    }
    widen(widened);
    storage.memory = *std::move(memory);
    return {};
  }

 private:
  using IsPackedSo = bool (*)(const PackedSlot&);

  /// Whether a matrix stays as in its file. Matrices of layers all stay, or none without `is_kept`; a head
  /// stays if it is packed likewise, but not in fp8.
  static bool stays(const PackedSlot& packed, IsPackedSo is_kept) {
    if (is_kept == nullptr || packed.slot->layer >= 0) return is_kept != nullptr;
    return packed.slot->kind == TensorKind::head && is_kept != is_in_fp8 && is_kept(packed);
  }
  /// Whether every matrix of the layers is packed this way.
  [[nodiscard]] bool are_layers(IsPackedSo is_packed_so) const {
    const auto count = std::count_if(packed_.begin(), packed_.end(), [&](const PackedSlot& packed) {
      return packed.slot->layer >= 0 && is_packed_so(packed);
    });
    return count == layer_matrices_;
  }
  /// Whether a matrix is in e4m3, with no output that has several scales.
  static bool is_in_fp8(const PackedSlot& packed) {
    return packed.matrix.form == PackedForm::fp8 && packed.matrix.block.columns >= packed.matrix.columns;
  }
  static bool is_in_int4(const PackedSlot& packed) { return is_int4(packed.matrix); }
  static bool is_in_fp8_block(const PackedSlot& packed) {
    return is_fp8_block(packed.matrix, packed.slot->first_row);
  }
  /// How the layers' matrices are packed, if kernels support that format with activations of `dtype`;
  /// otherwise null.
  [[nodiscard]] IsPackedSo kept_format(DType dtype) const {
    if (are_layers(is_in_fp8)) return is_in_fp8;
    if (are_layers(is_in_int4)) return is_in_int4;
    return dtype == DType::bf16 && are_layers(is_in_fp8_block) ? is_in_fp8_block : nullptr;
  }
  /// Names the first matrix that prevents a kept_format().
  [[nodiscard]] std::string what_is_widened(DType dtype) const {
    if (plain_layer_ != nullptr) return plain_layer_->name + " is plain";
    for (const PackedSlot& packed : packed_)
      if (packed.slot->layer >= 0 && !is_in_int4(packed) &&
          !(dtype == DType::bf16 && is_in_fp8_block(packed)))
        return fmt::format("{} is {} beside {}", packed.slot->name, packed.matrix.text(), dtype_name(dtype));
    return {};
  }

  Result<void> bind_slot(const TensorSlot& slot) {
    known_.insert(slot.name);
    if (slot.layer >= 0 && !slot.is_vector()) ++layer_matrices_;
    if (quantisation_) {
      DRAFTSCOPE_TRY_ASSIGN(const auto matrix, find_quantised(slot, shards_, places_, *quantisation_));
      if (matrix) {
        for (std::string& name : quantised_names(slot, matrix->form)) known_.insert(std::move(name));
        packed_.push_back({&slot, *matrix});
        return {};
      }
    }
    const auto place = places_.find(slot.name);
    if (place == places_.end()) return missing_tensor(shards_, slot.name, expected_extents(slot));
    DRAFTSCOPE_TRY_ASSIGN(*slot.view, view_of(slot, place->second));
    const auto& file = place->second.shard->file;
    if (slot.is_vector()) return check_vector(slot, file);
    if (plain_ == nullptr) plain_ = &slot;
    if (plain_layer_ == nullptr && slot.layer >= 0) plain_layer_ = &slot;
    if (slot.view->dtype != plain_->view->dtype)
      return fail("{}: tensor {}: dtype is {}, expected {} as {} has", file, slot.name,
                  dtype_name(slot.view->dtype), dtype_name(plain_->view->dtype), plain_->name);
    return {};
  }

  const Shards& shards_;
  const speculation::ModelShape& shape_;
  const std::optional<QuantisationConfig>& quantisation_;
  bool is_next_token_;
  FileTensors places_;
  std::unordered_set<std::string> known_;
  std::vector<PackedSlot> packed_;
  std::ptrdiff_t layer_matrices_ = 0;
  const TensorSlot* plain_ = nullptr;        ///< the first plain matrix
  const TensorSlot* plain_layer_ = nullptr;  ///< the first plain matrix of a layer
};

std::string folder_name(const std::filesystem::path& folder) {
  std::error_code error;
  auto absolute = std::filesystem::weakly_canonical(folder, error);
  if (error) absolute = folder;
  return absolute.filename().string();
}

/// Loads a folder's model, or its next-token layer if `join` has a value.
Result<Checkpoint> load(const std::filesystem::path& folder, BlockMatrices blocks,
                        std::optional<JoinWeights> join) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    return fail("{}: expected a folder with config.json and model.safetensors, or a GGUF file",
                folder.string());
  const auto config_path = folder / "config.json";
  const auto generation_path = folder / "generation_config.json";
  const auto config_file = config_path.string();
  const auto generation_file = generation_path.string();
  DRAFTSCOPE_TRY_ASSIGN(const auto config_text, read_text_file(config_path, max_config_bytes));
  std::optional<speculation::ConfigText> generation;
  std::string generation_text;
  if (std::filesystem::exists(generation_path, error)) {
    DRAFTSCOPE_TRY_ASSIGN(generation_text, read_text_file(generation_path, max_config_bytes));
    generation = speculation::ConfigText{generation_text, generation_file};
  }

  Checkpoint checkpoint;
  DRAFTSCOPE_TRY_ASSIGN(checkpoint.shape,
                        speculation::parse_model_config({config_text, config_file}, generation));
  checkpoint.shape.name = folder_name(folder);
  checkpoint.path = folder;
  checkpoint.weights.join = join;
  if (join) checkpoint.shape.n_layers = 1;
  DRAFTSCOPE_TRY_ASSIGN(const auto quantisation, parse_quantisation_config(config_text, config_file));
  const auto storage = std::make_shared<Storage>();
  DRAFTSCOPE_TRY_ASSIGN(storage->shards, open_shards(folder));
  const Shards& shards = storage->shards;
  Weights& weights = checkpoint.weights;
  const auto slots = tensor_slots(checkpoint.shape, weights);
  Binding binding(shards, checkpoint, quantisation);
  DRAFTSCOPE_TRY(binding.bind(slots));
  DRAFTSCOPE_TRY(binding.place_packed(blocks, folder.string(), *storage, checkpoint.why_widened));
  if (checkpoint.shape.tied_embeddings) weights.head = weights.embedding;
  checkpoint.has_next_token_layer = binding.has("model.mtp_layers.0.input_proj.weight");
  checkpoint.stored_as = "safetensors " + (quantisation ? quantisation->name()
                                                        : std::string(dtype_name(weights.embedding.dtype)));

  CheckpointHash hash;
  hash.add_text(config_text);
  for (const auto& [name, shard] : shards.by_name)
    hash.add_bytes(shard.mapping.bytes().first(sizeof(std::uint64_t) + shard.header.json_bytes));
  for (const auto& tensor : named_tensors(checkpoint.shape, checkpoint.weights)) hash.add_sample(tensor.view);
  checkpoint.hash = hash.hex();
  for (const auto& [name, shard] : shards.by_name) shard.mapping.expect(Access::streamed);
  checkpoint.storage = storage;
  DRAFTSCOPE_TRY(check_watched_files());
  return checkpoint;
}

}  // namespace

Result<Checkpoint> load_checkpoint(const std::filesystem::path& folder, BlockMatrices blocks) {
  return load(folder, blocks, std::nullopt);
}

Result<Checkpoint> open_next_token_layer(const Checkpoint& model, BlockMatrices blocks) {
  if (!model.has_next_token_layer)
    return fail("model {} has no next-token layer, expected a folder with the tensors of model.mtp_layers.0",
                model.shape.name);
  return load(model.path, blocks, JoinWeights{});
}

}  // namespace draftscope::engine
