// SPDX-License-Identifier: GPL-3.0-or-later
#include "shards.h"

#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/text_file.h>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "tensor_slots.h"

namespace draftscope::engine {
namespace {

/// Maximum size of an index; hundreds of thousands of tensors fit.
constexpr std::size_t max_index_bytes = std::size_t{1} << 26;

constexpr std::array<std::pair<std::string_view, DType>, 3> plain_types{
    {{"F32", DType::f32}, {"BF16", DType::bf16}, {"F16", DType::f16}}};

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
    // A checkpoint must not refer to files outside its folder.
    if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
      return fail("{}: weight_map {} is {}, expected a file name without folders", shards.index_file,
                  quote(tensor), quote(name));
    DRAFTSCOPE_TRY(add_shard(folder, name, shards));
    shards.weight_map.emplace(tensor, std::move(name));
  }
  return {};
}

/// Name of a part of a set of files.
struct PartName {
  std::string set;  ///< what the names of all parts begin with
  std::int32_t number = 0;
  std::int32_t count = 0;

  [[nodiscard]] std::string file(std::int32_t part) const {
    return fmt::format("{}-{:05}-of-{:05}.safetensors", set, part, count);
  }
};

/// Parses "NAME-00001-of-0000N.safetensors"; none if a file is called otherwise.
std::optional<PartName> parse_part_name(std::string_view name) {
  constexpr std::string_view ending = "-00001-of-00001.safetensors";
  if (name.size() <= ending.size()) return std::nullopt;
  const std::string_view own = name.substr(name.size() - ending.size());
  const auto number = parse_number<std::int32_t>(own.substr(1, 5));
  const auto count = parse_number<std::int32_t>(own.substr(10, 5));
  if (!number || !count || *number < 1 || *number > *count) return std::nullopt;
  PartName part{std::string(name.substr(0, name.size() - ending.size())), *number, *count};
  if (part.file(*number) != name) return std::nullopt;
  return part;
}

/// Opens the parts of the only set of a folder without an index.
Result<void> open_parts(const std::filesystem::path& folder, Shards& shards) {
  std::map<std::string, PartName> parts;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (const auto part = parse_part_name(name)) parts.emplace(name, *part);
  }
  if (error) return fail("{}: cannot be listed: {}", folder.string(), error.message());
  if (parts.empty())
    return fail("{}: found no weights, expected model.safetensors or model.safetensors.index.json",
                folder.string());
  const PartName& set = parts.begin()->second;
  for (const auto& [name, part] : parts)
    if (part.set != set.set || part.count != set.count)
      return fail("{}: found parts of two sets, {} and {}, expected model.safetensors.index.json to choose",
                  folder.string(), parts.begin()->first, name);
  std::unordered_set<std::string_view> tensors;
  for (std::int32_t i = 1; i <= set.count; ++i) {
    const std::string name = set.file(i);
    if (!parts.contains(name))
      return fail("{}: {} is missing, expected all {} parts without an index", folder.string(), name,
                  set.count);
    DRAFTSCOPE_TRY(add_shard(folder, name, shards));
    const Shard& shard = shards.by_name.at(name);
    for (const SafetensorsEntry& entry : shard.header.entries)
      if (!tensors.insert(entry.name).second)
        return fail("{}: tensor {} is in another part, too, expected it once", shard.file, quote(entry.name));
  }
  return {};
}

}  // namespace

Result<Shards> open_shards(const std::filesystem::path& folder) {
  Shards shards;
  std::error_code error;
  const auto index = folder / "model.safetensors.index.json";
  if (std::filesystem::exists(folder / "model.safetensors", error)) {
    DRAFTSCOPE_TRY(add_shard(folder, "model.safetensors", shards));
  } else if (std::filesystem::exists(index, error)) {
    DRAFTSCOPE_TRY(open_index(folder, index, shards));
  } else {
    DRAFTSCOPE_TRY(open_parts(folder, shards));
  }
  return shards;
}

FileTensors tensors_of(const Shards& shards, bool nested) {
  FileTensors tensors;
  for (const auto& [name, shard] : shards.by_name) {
    for (const auto& entry : shard.header.entries) {
      const auto mapped = shards.weight_map.find(entry.name);
      if (shards.weight_map.empty() || (mapped != shards.weight_map.end() && mapped->second == name))
        tensors.emplace(name_in_decoder(entry.name, nested), FileTensor{&shard, &entry});
    }
  }
  return tensors;
}

Result<DType> parse_dtype(const FileTensor& tensor) {
  const SafetensorsEntry& entry = *tensor.entry;
  std::optional<DType> dtype;
  for (const auto& [name, known] : plain_types)
    if (entry.dtype == name) dtype = known;
  if (!dtype)
    return fail("{}: tensor {}: dtype is {}, expected F32, BF16 or F16", tensor.shard->file, entry.name,
                entry.dtype);
  return *dtype;
}

tl::unexpected<Error> missing_tensor(const Shards& shards, const std::string& name,
                                     std::string_view extents) {
  const auto& first_file = shards.by_name.empty() ? shards.index_file : shards.by_name.begin()->second.file;
  if (shards.weight_map.empty())
    return fail("{}: tensor {} is missing, expected one of {}", first_file, name, extents);
  const auto mapped = shards.weight_map.find(name);
  if (mapped == shards.weight_map.end())
    return fail("{}: tensor {} is missing from weight_map, expected one of {}", shards.index_file, name,
                extents);
  return fail("{}: tensor {} is missing, expected it here as the index says",
              shards.by_name.at(mapped->second).file, name);
}

}  // namespace draftscope::engine
