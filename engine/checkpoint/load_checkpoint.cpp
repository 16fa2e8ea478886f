// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/text_file.h>
#include <draftscope/speculation/model_config.h>
#include <draftscope/speculation/model_families.h>
#include <algorithm>
#include <map>
#include <unordered_map>

#include "checkpoint_hash.h"
#include "element_bits.h"
#include "file_watch.h"
#include "mapped_file.h"
#include "safetensors_header.h"
#include "tensor_slots.h"

namespace draftscope::engine {
namespace {

// Published files are some kilobytes; an index of hundreds of thousands of tensors still fits.
constexpr std::size_t max_config_bytes = std::size_t{1} << 20;
constexpr std::size_t max_index_bytes = std::size_t{1} << 26;

struct Shard {
  std::string file;  ///< path as errors name it
  Mapping mapping;
  SafetensorsHeader header;
};

struct Shards {
  std::map<std::string, Shard>
      by_name;  ///< file name; ordered, so that the hash does not depend on the index
  /// Only of a sharded checkpoint: which file the index says holds a tensor.
  std::unordered_map<std::string, std::string> weight_map;
  std::string index_file;
};

struct Place {
  const Shard* shard = nullptr;
  const SafetensorsEntry* entry = nullptr;
};

Result<void> add_shard(const std::filesystem::path& folder, const std::string& name, Shards& shards) {
  if (shards.by_name.contains(name)) return {};
  const auto path = folder / name;
  DRAFTSCOPE_TRY_ASSIGN(auto mapping, Mapping::open_file(path));
  mapping.expect(Access::scattered);
  DRAFTSCOPE_TRY_ASSIGN(auto header, parse_safetensors_header(mapping.bytes(), path.string()));
  shards.by_name.emplace(name, Shard{path.string(), std::move(mapping), std::move(header)});
  return {};
}

Result<void> open_index(const std::filesystem::path& folder, const std::filesystem::path& path,
                        Shards& shards) {
  shards.index_file = path.string();
  DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(path, max_index_bytes));
  DRAFTSCOPE_TRY_ASSIGN(const auto index, parse_json_object(text, shards.index_file));
  const JsonField map = JsonField(index, shards.index_file)["weight_map"];
  if (!map.value().is_object()) return map.wrong("an object of tensor names and file names");
  for (const auto& [tensor, file] : map.value().items()) {
    if (!file.is_string())
      return fail("{}: weight_map {} is {}, expected a file name", shards.index_file, quote(tensor),
                  describe(file));
    auto name = file.get<std::string>();
    // A checkpoint may not reach outside its folder.
    if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
      return fail("{}: weight_map {} is {}, expected a file name without folders", shards.index_file,
                  quote(tensor), quote(name));
    DRAFTSCOPE_TRY(add_shard(folder, name, shards));
    shards.weight_map.emplace(tensor, std::move(name));
  }
  return {};
}

/// As Hugging Face looks for them: one file first, then the index of several.
Result<Shards> open_shards(const std::filesystem::path& folder) {
  Shards shards;
  std::error_code error;
  const auto index = folder / "model.safetensors.index.json";
  if (std::filesystem::exists(folder / "model.safetensors", error)) {
    DRAFTSCOPE_TRY(add_shard(folder, "model.safetensors", shards));
  } else if (std::filesystem::exists(index, error)) {
    DRAFTSCOPE_TRY(open_index(folder, index, shards));
  } else {
    return fail("{}: found no weights, expected model.safetensors or model.safetensors.index.json",
                folder.string());
  }
  return shards;
}

using Places = std::unordered_map<std::string, Place>;

/// The entry each tensor name stands for; a file's tensors that the index places elsewhere do not count.
Places index_entries(const Shards& shards, bool nested) {
  Places places;
  for (const auto& [name, shard] : shards.by_name) {
    for (const auto& entry : shard.header.entries) {
      const auto mapped = shards.weight_map.find(entry.name);
      if (shards.weight_map.empty() || (mapped != shards.weight_map.end() && mapped->second == name))
        places.emplace(name_in_decoder(entry.name, nested), Place{&shard, &entry});
    }
  }
  return places;
}

std::string expected_extents(const TensorSlot& slot) {
  return slot.is_vector() ? fmt::format("[{}]", slot.columns)
                          : fmt::format("[{}, {}]", slot.rows_in_file(), slot.columns);
}

tl::unexpected<Error> missing(const TensorSlot& slot, const Shards& shards) {
  const auto& first_file = shards.by_name.empty() ? shards.index_file : shards.by_name.begin()->second.file;
  if (shards.weight_map.empty())
    return fail("{}: tensor {} is missing, expected one of {}", first_file, slot.name,
                expected_extents(slot));
  const auto mapped = shards.weight_map.find(slot.name);
  if (mapped == shards.weight_map.end())
    return fail("{}: tensor {} is missing from weight_map, expected one of {}", shards.index_file, slot.name,
                expected_extents(slot));
  return fail("{}: tensor {} is missing, expected it here as the index says",
              shards.by_name.at(mapped->second).file, slot.name);
}

Result<DType> parse_dtype(const Place& place) {
  const auto& dtype = place.entry->dtype;
  if (dtype == "BF16") return DType::bf16;
  if (dtype == "F16") return DType::f16;
  if (dtype == "F32") return DType::f32;
  return fail("{}: tensor {}: dtype is {}, expected F32, BF16 or F16", place.shard->file, place.entry->name,
              dtype);
}

Result<TensorView> view_of(const TensorSlot& slot, const Place& place) {
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
  // The mapping begins at a page, so the position in the file decides. The kernels read whole elements.
  if (entry->begin % dtype_bytes(dtype) != 0)
    return fail("{}: tensor {}: data begins at byte {} of the file, expected a multiple of {} for {}",
                shard->file, slot.name, entry->begin, dtype_bytes(dtype), entry->dtype);
  const auto skipped = static_cast<std::size_t>(slot.first_row * slot.columns) * dtype_bytes(dtype);
  return TensorView{shard->mapping.bytes().data() + entry->begin + skipped, dtype, slot.rows, slot.columns};
}

Result<void> check_vector(const TensorSlot& slot, const std::string& file) {
  const auto element = first_non_finite(*slot.view);
  if (element)
    return fail("{}: tensor {}: element {} is not finite, expected finite numbers", file, slot.name,
                *element);
  return {};
}

/// A tensor the model's layers have no use for would mean another architecture than config.json says: a bias
/// it denies, a norm of queries and keys. Elsewhere in the file, and in layers beyond n_layers, tensors may
/// be.
Result<void> check_nothing_unknown(const Places& places, const std::vector<TensorSlot>& slots,
                                   const speculation::ModelShape& shape) {
  std::unordered_map<std::string_view, bool> known;
  for (const auto& slot : slots) known.emplace(slot.name, true);
  std::vector<std::string> unknown;
  constexpr std::string_view prefix = "model.layers.";
  for (const auto& [name, place] : places) {
    // Old exports carry the rotary frequencies, which config.json gives.
    if (!name.starts_with(prefix) || known.contains(name) || name.ends_with(".rotary_emb.inv_freq")) continue;
    const auto digits = name.substr(prefix.size(), name.find('.', prefix.size()) - prefix.size());
    const auto layer = parse_number<std::int32_t>(digits);
    if (layer && *layer >= 0 && *layer < shape.n_layers) unknown.push_back(name);
  }
  if (unknown.empty()) return {};
  const auto first = *std::min_element(unknown.begin(), unknown.end());
  return fail("{}: found tensor {}, expected those of {} as config.json describes it",
              places.at(first).shard->file, quote(first), shape.architecture);
}

Result<void> bind_weights(const Shards& shards, const speculation::ModelShape& shape, Weights& weights) {
  const speculation::ModelFamily* const family = speculation::find_architecture(shape.architecture);
  const auto places = index_entries(shards, family != nullptr && family->nested);
  const auto slots = tensor_slots(shape, weights);
  const TensorSlot* first_matrix = nullptr;
  for (const auto& slot : slots) {
    const auto place = places.find(slot.name);
    if (place == places.end()) return missing(slot, shards);
    DRAFTSCOPE_TRY_ASSIGN(*slot.view, view_of(slot, place->second));
    const auto& file = place->second.shard->file;
    if (slot.is_vector()) {
      DRAFTSCOPE_TRY(check_vector(slot, file));
    } else if (first_matrix == nullptr) {
      first_matrix = &slot;
    } else if (slot.view->dtype != first_matrix->view->dtype) {
      return fail("{}: tensor {}: dtype is {}, expected {} as {} has", file, slot.name,
                  dtype_name(slot.view->dtype), dtype_name(first_matrix->view->dtype), first_matrix->name);
    }
  }
  if (shape.tied_embeddings) weights.head = weights.embedding;
  return check_nothing_unknown(places, slots, shape);
}

std::string folder_name(const std::filesystem::path& folder) {
  std::error_code error;
  auto absolute = std::filesystem::weakly_canonical(folder, error);
  if (error) absolute = folder;
  return absolute.filename().string();
}

}  // namespace

Result<Checkpoint> load_checkpoint(const std::filesystem::path& folder) {
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
  DRAFTSCOPE_TRY_ASSIGN(auto opened, open_shards(folder));
  const auto shards = std::make_shared<const Shards>(std::move(opened));
  DRAFTSCOPE_TRY(bind_weights(*shards, checkpoint.shape, checkpoint.weights));
  checkpoint.stored_as = fmt::format("safetensors {}", dtype_name(checkpoint.weights.embedding.dtype));

  CheckpointHash hash;
  hash.add_text(config_text);
  for (const auto& [name, shard] : shards->by_name)
    hash.add_bytes(shard.mapping.bytes().first(sizeof(std::uint64_t) + shard.header.json_bytes));
  for (const auto& tensor : named_tensors(checkpoint.shape, checkpoint.weights)) hash.add_sample(tensor.view);
  checkpoint.hash = hash.hex();
  for (const auto& [name, shard] : shards->by_name) shard.mapping.expect(Access::streamed);
  checkpoint.storage = shards;
  DRAFTSCOPE_TRY(check_watched_files());
  return checkpoint;
}

}  // namespace draftscope::engine
