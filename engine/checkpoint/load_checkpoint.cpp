// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/base/text_file.h>
#include <draftscope/engine/opening_notes.h>
#include <draftscope/speculation/model_config.h>
#include <draftscope/speculation/model_families.h>
#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

#include "checkpoint_hash.h"
#include "element_bits.h"
#include "file_watch.h"
#include "gguf/load_gguf.h"
#include "left_out.h"
#include "next_token_form.h"
#include "plain_tensors.h"
#include "quantised/bind_quantised.h"
#include "quantised/fp8_block.h"
#include "quantised/int4.h"
#include "shards.h"
#include "tensor_slots.h"
#include "view_memory.h"

namespace draftscope::engine {
namespace {

// Published files have a few kilobytes.
constexpr std::size_t max_config_bytes = std::size_t{1} << 20;

/// Owns a checkpoint's bytes: the files that its views point into, the memory of widened matrices, and the
/// descriptions of matrices that stay as they are.
struct Storage {
  Shards shards;
  std::optional<Mapping> memory;
  std::vector<QuantisedMatrix> kept;
  std::vector<float> projection;  ///< Projection of a next-token layer, if it was rewritten.
};

/// Fails if a norm or bias holds a number that is not finite.
Result<void> check_vector(const PlainTensor& tensor) {
  const auto element = first_non_finite(*tensor.slot->view);
  if (!element) return {};
  return fail("{}: tensor {}: element {} is not finite, expected finite numbers", tensor.file,
              tensor.slot->name, *element);
}

/// Names of the tensors that no slot has. Fails on one that is not left_out(), such as a bias that
/// config.json denies, or a norm of queries and keys: it would mean another architecture than config.json
/// says.
Result<std::vector<std::string>> unused_tensors(const FileTensors& places,
                                                const std::unordered_set<std::string>& known,
                                                const std::optional<QuantisationConfig>& quantisation,
                                                const speculation::ModelShape& shape) {
  std::vector<std::string> unused;
  std::vector<std::string> unknown;
  for (const auto& [name, place] : places) {
    if (known.contains(name)) continue;
    // Old exports carry the rotary frequencies, which config.json gives, and a tied head twice.
    if (name.ends_with(".rotary_emb.inv_freq") || name == "lm_head.weight") continue;
    if (quantisation && is_bias_of_zeros(name, place)) continue;
    (left_out(name, shape) ? unused : unknown).push_back(name);
  }
  if (unknown.empty()) return unused;
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

  /// Appends to `notes` what the model is computed without.
  Result<void> bind(const std::vector<TensorSlot>& slots, std::vector<std::string>& notes) {
    for (const TensorSlot& slot : slots) DRAFTSCOPE_TRY(bind_slot(slot));
    if (is_next_token_) return {};
    if (quantisation_ && packed_.empty())
      return fail("{}: found no packed matrices, expected those of {} as config.json says",
                  shards_.by_name.begin()->second.file, quantisation_->name());
    DRAFTSCOPE_TRY_ASSIGN(std::vector<std::string> unused,
                          unused_tensors(places_, known_, quantisation_, shape_));
    if (const auto layer = next_token(shape_.n_layers)) {
      what_keeps_from_drafting_ = layer->obstacle(unused, shape_);
      has_next_token_layer_ = what_keeps_from_drafting_.empty();
      if (has_next_token_layer_) layer->take_from(unused);
    }
    for (std::string& line : left_out_lines(std::move(unused), shape_)) notes.push_back(std::move(line));
    if (!what_keeps_from_drafting_.empty())
      notes.push_back("mtp cannot draft with the next-token layer: " + what_keeps_from_drafting_);
    return {};
  }

  /// The next-token layer of a decoder of `target_layers`, if the files have one in a known form.
  [[nodiscard]] std::optional<FoundNextToken> next_token(std::int32_t target_layers) const {
    return find_next_token(
        [&](const std::string& stem) {
          return std::ranges::any_of(places_, [&](const auto& place) {
            return place.first.starts_with(stem) && place.first.find('.', stem.size()) == stem.size();
          });
        },
        target_layers);
  }
  [[nodiscard]] bool has_next_token_layer() const { return has_next_token_layer_; }

  /// Points the views at the files' numbers where backends can read them, and writes the others in memory
  /// owned by `storage`: packed matrices as numbers of the matrices' type, and plain_tensors.h's copies. The
  /// layers' packed matrices stay as in the files if that is asked for and all of them can.
  Result<void> place(BlockMatrices blocks, const std::string& file, Storage& storage,
                     std::string& why_widened, std::vector<std::string>& notes) const {
    if (!packed_.empty())
      for (const auto& [name, shard] : shards_.by_name) shard.mapping.expect(Access::streamed);
    const DType dtype = type_of_matrices();
    std::vector<PlainCopy> copies;
    std::vector<TensorView*> views;
    for (const PlainTensor& tensor : plain_) {
      const TensorSlot& slot = *tensor.slot;
      *slot.view = {tensor.data, slot.is_vector() ? tensor.dtype : dtype, slot.rows, slot.columns};
      if (tensor.is_usable_as(slot.view->dtype)) continue;
      copies.push_back({tensor, nullptr});
      views.push_back(slot.view);
    }
    const bool as_stored = blocks == BlockMatrices::cuda_as_stored && !packed_.empty();
    const IsPackedSo is_kept = as_stored ? kept_format(dtype) : nullptr;
    if (as_stored && is_kept == nullptr) why_widened = what_is_widened(dtype);
    std::vector<WidenedMatrix> widened;
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
    if (!views.empty()) {
      auto memory = memory_for(views);
      if (!memory) return fail("{}: {}", file, memory.error().message);
      storage.memory = *std::move(memory);
    }
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i].out = writable(*views[i], *storage.memory);
    for (std::size_t i = 0; i < widened.size(); ++i)
      widened[i].out = writable(*views[copies.size() + i], *storage.memory);
    widen(widened);
    DRAFTSCOPE_TRY(write_copies(copies));
    for (const PlainTensor& tensor : plain_)
      if (tensor.slot->is_vector()) DRAFTSCOPE_TRY(check_vector(tensor));
    for (std::string& line : copy_lines(copies)) notes.push_back(std::move(line));
    return {};
  }

 private:
  using IsPackedSo = bool (*)(const PackedSlot&);

  /// The type of all matrices: that of plain ones, or else that of the first packed matrix's scales.
  [[nodiscard]] DType type_of_matrices() const {
    const bool has_plain = std::any_of(plain_.begin(), plain_.end(),
                                       [](const PlainTensor& tensor) { return !tensor.slot->is_vector(); });
    return has_plain || packed_.empty() ? matrix_type(plain_) : packed_.front().matrix.plain_type();
  }

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
    for (const PlainTensor& tensor : plain_)
      if (tensor.slot->layer >= 0 && !tensor.slot->is_vector()) return tensor.slot->name + " is plain";
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
        for (std::string& name : quantised_names(slot, *quantisation_)) known_.insert(std::move(name));
        packed_.push_back({&slot, *matrix});
        return {};
      }
    }
    const auto place = places_.find(slot.name);
    if (place == places_.end()) return missing_tensor(shards_, slot.name, expected_extents(slot));
    DRAFTSCOPE_TRY_ASSIGN(plain_.emplace_back(), plain_tensor(slot, place->second));
    return {};
  }

  const Shards& shards_;
  const speculation::ModelShape& shape_;
  const std::optional<QuantisationConfig>& quantisation_;
  bool is_next_token_;
  bool has_next_token_layer_ = false;
  std::string what_keeps_from_drafting_;
  FileTensors places_;
  std::unordered_set<std::string> known_;
  std::vector<PackedSlot> packed_;
  std::ptrdiff_t layer_matrices_ = 0;
  std::vector<PlainTensor> plain_;
};

/// How the matrices are packed, according to config.json or, if that says nothing, ModelOpt's own file.
Result<std::optional<QuantisationConfig>> read_quantisation(const std::filesystem::path& folder,
                                                            std::string_view config_text,
                                                            std::string_view config_file) {
  DRAFTSCOPE_TRY_ASSIGN(auto quantisation, parse_quantisation_config(config_text, config_file));
  const auto path = folder / "hf_quant_config.json";
  std::error_code error;
  if (quantisation || !std::filesystem::exists(path, error)) return quantisation;
  DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(path, max_config_bytes));
  DRAFTSCOPE_TRY_ASSIGN(quantisation, parse_modelopt_config(text, path.string()));
  return quantisation;
}

std::string folder_name(const std::filesystem::path& folder) {
  std::error_code error;
  auto absolute = std::filesystem::weakly_canonical(folder, error);
  if (error) absolute = folder;
  return absolute.filename().string();
}

/// Loads a folder's model, or its next-token layer if `join` has a value.
Result<Checkpoint> load(const std::filesystem::path& folder, BlockMatrices blocks,
                        std::optional<JoinWeights> join, std::vector<std::string>& notes) {
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
  const std::int32_t target_layers = checkpoint.shape.n_layers;
  checkpoint.weights.join = join;
  if (join) checkpoint.shape.n_layers = 1;
  DRAFTSCOPE_TRY_ASSIGN(const auto quantisation, read_quantisation(folder, config_text, config_file));
  const auto storage = std::make_shared<Storage>();
  DRAFTSCOPE_TRY_ASSIGN(storage->shards, open_shards(folder));
  const Shards& shards = storage->shards;
  Weights& weights = checkpoint.weights;
  Binding binding(shards, checkpoint, quantisation);
  const auto layer = join ? binding.next_token(target_layers) : std::nullopt;
  if (layer && layer->has_own_head) checkpoint.shape.tied_embeddings = false;
  const auto slots =
      layer ? layer->slots(checkpoint.shape, weights) : tensor_slots(checkpoint.shape, weights);
  DRAFTSCOPE_TRY(binding.bind(slots, notes));
  DRAFTSCOPE_TRY(binding.place(blocks, folder.string(), *storage, checkpoint.why_widened, notes));
  if (checkpoint.shape.tied_embeddings) weights.head = weights.embedding;
  if (layer && layer->form->is_embedding_first)
    put_state_first(weights.join->projection, storage->projection);
  checkpoint.has_next_token_layer = join || binding.has_next_token_layer();
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

Result<Checkpoint> load_checkpoint(const std::filesystem::path& folder, BlockMatrices blocks,
                                   std::vector<std::string>& notes) {
  return load(folder, blocks, std::nullopt, notes);
}

Result<Checkpoint> open_next_token_layer(const Checkpoint& model, BlockMatrices blocks) {
  if (!model.has_next_token_layer)
    return fail("model {} has no next-token layer, expected a checkpoint with the tensors of a dense one",
                model.shape.name);
  std::vector<std::string> notes;  // Opening the model has said what is left out.
  std::error_code error;
  if (!std::filesystem::is_directory(model.path, error))
    return gguf::load_next_token_layer(model.path, blocks);
  return load(model.path, blocks, JoinWeights{}, notes);
}

}  // namespace draftscope::engine
