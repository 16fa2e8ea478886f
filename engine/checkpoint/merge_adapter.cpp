// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/parallel.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/result.h>
#include <draftscope/base/text_file.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/model_families.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint_hash.h"
#include "checkpoint/element_bits.h"
#include "checkpoint/mapped_file.h"
#include "checkpoint/safetensors_header.h"
#include "checkpoint/tensor_slots.h"

namespace draftscope::engine {

namespace {

/// The fields of an adapter_config.json that merging needs.
struct AdapterConfig {
  std::int32_t rank = 0;
  double scale = 1.0;  ///< factor of B · A
  /// Last parts of the modules' names; none = any linear modules.
  std::optional<std::vector<std::string>> modules;
  std::optional<std::vector<std::int32_t>> layers;  ///< layers of the adapter; none = all
};

constexpr Range<std::int32_t> rank_range{1, 1 << 16};
constexpr Range<double> alpha_range{0.0, 1e6};

/// Fields that are read below, or that do not affect what is computed.
constexpr std::array<std::string_view, 20> plain_fields{"peft_type",
                                                        "r",
                                                        "lora_alpha",
                                                        "use_rslora",
                                                        "target_modules",
                                                        "layers_to_transform",
                                                        "bias",
                                                        "init_lora_weights",
                                                        "auto_mapping",
                                                        "base_model_name_or_path",
                                                        "inference_mode",
                                                        "loftq_config",
                                                        "lora_dropout",
                                                        "layers_pattern",
                                                        "megatron_core",
                                                        "peft_version",
                                                        "revision",
                                                        "task_type",
                                                        "qalora_group_size",
                                                        "eva_config"};

bool is_set(const nlohmann::json& value) {
  if (value.is_null() || (value.is_boolean() && !value.get<bool>())) return false;
  return !((value.is_array() || value.is_object()) && value.empty());
}

/// Fails on anything that PEFT supports beyond two matrices of one rank.
Result<void> check_plain(const JsonField& config) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string type, config["peft_type"].text());
  if (type != "LORA") return config["peft_type"].wrong("'LORA'");
  DRAFTSCOPE_TRY_ASSIGN(const std::string bias, config["bias"].text_or("none"));
  if (bias != "none") return config["bias"].wrong("'none': biases are not merged");
  DRAFTSCOPE_TRY_ASSIGN(const auto members, config.members());
  for (const auto& [key, field] : members) {
    const bool is_plain = std::find(plain_fields.begin(), plain_fields.end(), key) != plain_fields.end();
    if (!is_plain && is_set(field.value())) return field.wrong("none: only plain LoRA is merged");
  }
  // Other initialisations also change the base's weights.
  const JsonField start = config["init_lora_weights"];
  if (start.is_null() || start.value().is_boolean()) return {};
  DRAFTSCOPE_TRY_ASSIGN(const std::string name, start.text());
  if (name != "gaussian") return start.wrong("true, false or 'gaussian'");
  return {};
}

Result<std::optional<std::vector<std::string>>> parse_modules(const JsonField& field) {
  if (!field.value().is_string()) return field.texts();
  if (field.value() != "all-linear") return field.wrong("a list of modules or 'all-linear'");
  return std::nullopt;
}

Result<std::optional<std::vector<std::int32_t>>> parse_layers(const JsonField& field, std::int32_t n_layers) {
  if (field.is_null()) return std::nullopt;
  const Range<std::int32_t> range{0, n_layers - 1};
  std::vector<std::int32_t> layers;
  if (!field.value().is_array()) {
    DRAFTSCOPE_TRY_ASSIGN(layers.emplace_back(), field.integer(range));
    return layers;
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<JsonField> entries, field.list());
  for (const JsonField& entry : entries) {
    DRAFTSCOPE_TRY_ASSIGN(layers.emplace_back(), entry.integer(range));
  }
  return layers;
}

/// Parses an adapter_config.json. Errors: an adapter that is not plain LoRA, a field that is missing or out
/// of its range, a layer ≥ n_layers.
Result<AdapterConfig> parse_adapter_config(std::string_view text, std::string_view file,
                                           std::int32_t n_layers) {
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(text, file));
  const JsonField config(parsed, file);
  DRAFTSCOPE_TRY(check_plain(config));
  AdapterConfig adapter;
  DRAFTSCOPE_TRY_ASSIGN(adapter.rank, config["r"].integer(rank_range));
  DRAFTSCOPE_TRY_ASSIGN(const double alpha, config["lora_alpha"].number(alpha_range));
  DRAFTSCOPE_TRY_ASSIGN(const bool stabilised, config["use_rslora"].boolean_or(false));
  adapter.scale = alpha / (stabilised ? std::sqrt(adapter.rank) : adapter.rank);
  DRAFTSCOPE_TRY_ASSIGN(adapter.modules, parse_modules(config["target_modules"]));
  DRAFTSCOPE_TRY_ASSIGN(adapter.layers, parse_layers(config["layers_to_transform"], n_layers));
  return adapter;
}

constexpr std::size_t max_adapter_config_bytes = std::size_t{1} << 20;
constexpr std::size_t merged_alignment = 64;

struct Factors {
  TensorView a, b;  ///< [r][in], [out][r]
  bool used = false;
};

/// Factors by module name: "model.layers.3.self_attn.q_proj".
using Modules = std::map<std::string, Factors>;

Result<TensorView> matrix_of(const Mapping& file, const SafetensorsEntry& entry, std::string_view name) {
  constexpr std::pair<std::string_view, DType> types[] = {
      {"F32", DType::f32}, {"BF16", DType::bf16}, {"F16", DType::f16}};
  const auto* const type = std::find_if(std::begin(types), std::end(types),
                                        [&](const auto& known) { return known.first == entry.dtype; });
  if (type == std::end(types))
    return fail("{}: tensor {}: dtype is {}, expected F32, BF16 or F16", name, entry.name, entry.dtype);
  if (entry.shape.size() != 2)
    return fail("{}: tensor {}: shape is [{}], expected a matrix", name, entry.name,
                fmt::join(entry.shape, ", "));
  const TensorView view{file.bytes().data() + entry.begin, type->second,
                        static_cast<std::int64_t>(entry.shape[0]), static_cast<std::int64_t>(entry.shape[1])};
  if (const auto element = first_non_finite(view))
    return fail("{}: tensor {}: element {} is not finite, expected finite numbers", name, entry.name,
                *element);
  return view;
}

/// Reads "base_model.model.MODULE.lora_A.weight", also with an adapter's name before "weight".
Result<Modules> read_modules(const Mapping& file, const SafetensorsHeader& header, std::string_view name,
                             bool nested) {
  constexpr std::string_view prefix = "base_model.model.";
  Modules modules;
  for (const SafetensorsEntry& entry : header.entries) {
    const std::string_view whole = entry.name;
    const auto a = whole.find(".lora_A.");
    const auto b = whole.find(".lora_B.");
    const auto end = std::min(a, b);
    if (!whole.starts_with(prefix) || end == std::string_view::npos || !whole.ends_with(".weight"))
      return fail("{}: found tensor {}, expected base_model.model.….lora_A.weight or ….lora_B.weight", name,
                  quote(entry.name));
    const std::string module = name_in_decoder(whole.substr(prefix.size(), end - prefix.size()), nested);
    TensorView& view = a < b ? modules[module].a : modules[module].b;
    DRAFTSCOPE_TRY_ASSIGN(view, matrix_of(file, entry, name));
  }
  return modules;
}

std::string module_of(const TensorSlot& slot) {
  constexpr std::string_view suffix = ".weight";
  return slot.name.substr(0, slot.name.size() - suffix.size());
}

Result<void> check_shape(const TensorView& found, std::int64_t rows, std::int64_t columns,
                         const std::string& tensor, std::string_view name) {
  if (found.rows != rows || found.columns != columns)
    return fail("{}: tensor {}: shape is [{}, {}], expected [{}, {}] as rank and model have it", name, tensor,
                found.rows, found.columns, rows, columns);
  return {};
}

/// A matrix to merge, and its first row in its module's B.
struct Merge {
  TensorSlot slot;
  const Factors* factors = nullptr;
};

Result<std::vector<Merge>> match(const std::vector<TensorSlot>& slots, Modules& modules,
                                 const AdapterConfig& config, std::string_view name) {
  std::vector<Merge> merges;
  for (const TensorSlot& slot : slots) {
    const auto place = slot.is_vector() || slot.kind == TensorKind::embedding ? modules.end()
                                                                              : modules.find(module_of(slot));
    if (place == modules.end()) continue;
    Factors& factors = place->second;
    const std::int64_t outputs = slot.rows_in_file();
    if (!factors.a.present() || !factors.b.present())
      return fail("{}: module {} has no {}, expected lora_A and lora_B", name, place->first,
                  factors.a.present() ? "lora_B" : "lora_A");
    DRAFTSCOPE_TRY(check_shape(factors.a, config.rank, slot.columns, place->first + ".lora_A", name));
    DRAFTSCOPE_TRY(check_shape(factors.b, outputs, config.rank, place->first + ".lora_B", name));
    factors.used = true;
    merges.push_back({slot, &factors});
  }
  return merges;
}

/// Whether a module matches a target by PEFT's rule: by whole name, or by the part after a dot.
bool is_target(std::string_view module, std::string_view target) {
  return module == target || (module.ends_with(target) && module[module.size() - target.size() - 1] == '.');
}

/// Checks that both files agree on the modules, and that the model has them.
Result<void> check_agreement(const Modules& modules, const AdapterConfig& config,
                             const speculation::ModelShape& shape, const std::string& folder) {
  for (const auto& [module, factors] : modules) {
    if (!factors.used)
      return fail("{}: adapter_model.safetensors has {}, expected linear modules of {} with {} layers",
                  folder, quote(module), shape.architecture, shape.n_layers);
    const auto matches = [&name = module](const std::string& target) { return is_target(name, target); };
    if (config.modules && std::none_of(config.modules->begin(), config.modules->end(), matches))
      return fail("{}: adapter_model.safetensors has {}, expected modules among target_modules ({})", folder,
                  quote(module), fmt::join(*config.modules, ", "));
  }
  if (!config.modules) return {};
  for (const std::string& wanted : *config.modules) {
    const bool found = std::any_of(modules.begin(), modules.end(),
                                   [&](const auto& module) { return is_target(module.first, wanted); });
    if (!found)
      return fail(
          "{}: adapter_config.json: target_modules holds {}, expected modules that "
          "adapter_model.safetensors has matrices for",
          folder, quote(wanted));
  }
  return {};
}

Result<void> check_layers(const std::vector<Merge>& merges, const AdapterConfig& config,
                          const std::string& folder) {
  if (!config.layers) return {};
  for (const Merge& merge : merges)
    if (std::find(config.layers->begin(), config.layers->end(), merge.slot.layer) == config.layers->end())
      return fail("{}: adapter_model.safetensors has {}, expected layers among layers_to_transform ({})",
                  folder, quote(module_of(merge.slot)), fmt::join(*config.layers, ", "));
  return {};
}

std::vector<float> values_of(const TensorView& matrix) {
  std::vector<float> values(static_cast<std::size_t>(matrix.rows * matrix.columns));
  for (std::int64_t row = 0; row < matrix.rows; ++row)
    copy_row(matrix, row, values.data() + row * matrix.columns);
  return values;
}

void merge_matrix(const Merge& merge, double scale, std::byte* out) {
  const TensorView& base = *merge.slot.view;
  const std::vector<float> a = values_of(merge.factors->a);
  const std::vector<float> b = values_of(merge.factors->b);
  const auto columns = static_cast<std::size_t>(base.columns);
  const auto rank = static_cast<std::size_t>(merge.factors->a.rows);
  for_each_index(static_cast<std::size_t>(base.rows), usable_processors(), [&](std::size_t row) {
    std::vector<float> delta(columns);
    const float* weights = b.data() + (static_cast<std::size_t>(merge.slot.first_row) + row) * rank;
    for (std::size_t k = 0; k < rank; ++k)
      for (std::size_t i = 0; i < columns; ++i) delta[i] += weights[k] * a[k * columns + i];
    std::vector<float> values(columns);
    copy_row(base, static_cast<std::int64_t>(row), values.data());
    for (std::size_t i = 0; i < columns; ++i) values[i] += static_cast<float>(scale) * delta[i];
    store_values(values, base.dtype, out + row * columns * dtype_bytes(base.dtype));
  });
}

/// Owns the memory that unmerged views point into, and the merged matrices.
struct MergedStorage {
  std::shared_ptr<const void> base;
  Mapping matrices;
};

}  // namespace

Result<void> merge_adapter(const std::filesystem::path& folder, Checkpoint& checkpoint) {
  const std::string place = folder.string();
  if (checkpoint.synthetic)
    return fail("{}: given for a synthetic model, expected a checkpoint that it was trained on", place);
  if (checkpoint.has_blocks() || checkpoint.has_fp8() || checkpoint.has_quantised())
    return fail("{}: given for packed matrices, expected them widened", place);
  const auto config_path = folder / "adapter_config.json";
  const auto weights_path = folder / "adapter_model.safetensors";
  DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(config_path, max_adapter_config_bytes));
  DRAFTSCOPE_TRY_ASSIGN(const AdapterConfig config,
                        parse_adapter_config(text, config_path.string(), checkpoint.shape.n_layers));
  DRAFTSCOPE_TRY_ASSIGN(const Mapping file, Mapping::open_file(weights_path));
  DRAFTSCOPE_TRY_ASSIGN(const SafetensorsHeader header,
                        parse_safetensors_header(file.bytes(), weights_path.string()));
  const speculation::ModelFamily* const family =
      speculation::find_architecture(checkpoint.shape.architecture);
  DRAFTSCOPE_TRY_ASSIGN(Modules modules, read_modules(file, header, weights_path.string(),
                                                      family != nullptr && family->nested));
  Weights merged = checkpoint.weights;
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<Merge> merges, match(tensor_slots(checkpoint.shape, merged),
                                                               modules, config, weights_path.string()));
  DRAFTSCOPE_TRY(check_agreement(modules, config, checkpoint.shape, place));
  DRAFTSCOPE_TRY(check_layers(merges, config, place));

  const auto padded = [](std::size_t bytes) {
    return (bytes + merged_alignment - 1) / merged_alignment * merged_alignment;
  };
  std::size_t bytes = 0;
  for (const Merge& merge : merges) bytes += padded(merge.slot.view->bytes());
  DRAFTSCOPE_TRY_ASSIGN(Mapping matrices, Mapping::allocate(std::max(bytes, merged_alignment)));
  CheckpointHash hash;
  hash.add_text(checkpoint.hash);
  hash.add_text(text);
  hash.add_bytes(file.bytes().first(sizeof(std::uint64_t) + header.json_bytes));
  std::byte* out = matrices.writable_bytes().data();
  for (const Merge& merge : merges) {
    merge_matrix(merge, config.scale, out);
    merge.slot.view->data = out;
    hash.add_sample(*merge.slot.view);
    out += padded(merge.slot.view->bytes());
  }
  checkpoint.weights = merged;
  checkpoint.hash = hash.hex();
  checkpoint.shape.name += "+" + std::filesystem::weakly_canonical(folder).filename().string();
  checkpoint.storage =
      std::make_shared<const MergedStorage>(MergedStorage{checkpoint.storage, std::move(matrices)});
  return {};
}

}  // namespace draftscope::engine
