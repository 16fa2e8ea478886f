// SPDX-License-Identifier: GPL-3.0-or-later
// A model in several files.
#include <draftscope/base/quote.h>

#include "gguf_file.h"

namespace draftscope::engine::gguf {
namespace {

constexpr Range<std::int32_t> part_range{0, 65535};

struct PartNumber {
  std::int32_t number = 0;  ///< number of the part, from 0
  std::int32_t count = 1;
};

Result<PartNumber> part_of(const Metadata& metadata) {
  PartNumber part;
  DRAFTSCOPE_TRY_ASSIGN(part.count, metadata.integer_or("split.count", part_range, 1));
  DRAFTSCOPE_TRY_ASSIGN(part.number, metadata.integer_or("split.no", part_range, 0));
  return part;
}

std::string ending(std::int32_t number, std::int32_t count) {
  return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count);
}

Result<std::vector<std::filesystem::path>> part_paths(const std::filesystem::path& first, PartNumber part) {
  if (part.count <= 1) return std::vector{first};
  const std::string name = first.filename().string();
  const std::string own = ending(0, part.count);
  if (part.number != 0)
    return fail("{}: part {} of {} of a split model, expected the first", first.string(), part.number + 1,
                part.count);
  if (!name.ends_with(own))
    return fail("{}: the first of {} parts, expected a name that ends in {}", first.string(), part.count,
                own);
  std::vector<std::filesystem::path> paths{first};
  for (std::int32_t number = 1; number < part.count; ++number)
    paths.push_back(first.parent_path() /
                    (name.substr(0, name.size() - own.size()) + ending(number, part.count)));
  return paths;
}

Result<void> check_part(const GgufFile& file, std::int32_t number, std::int32_t count) {
  DRAFTSCOPE_TRY_ASSIGN(const auto part, part_of(file.header.metadata));
  if (part.number != number || part.count != count)
    return fail("{}: says it is part {} of {}, expected part {} of {}", file.path, part.number + 1,
                part.count, number + 1, count);
  return {};
}

Result<void> index_tensors(GgufModel& model) {
  for (const GgufFile& file : model.files)
    for (const StoredTensor& tensor : file.header.tensors)
      if (const auto [known, is_new] =
              model.tensors.emplace(tensor.name, GgufModel::TensorPlace{&file, &tensor});
          !is_new)
        return fail("{}: tensor {} is in {} too, expected it in one part", file.path, quote(tensor.name),
                    known->second.file->path);
  if (!model.metadata().has("split.tensors.count")) return {};
  DRAFTSCOPE_TRY_ASSIGN(const auto count,
                        model.metadata().integer("split.tensors.count", Range<std::int64_t>{0, 1 << 30}));
  if (std::cmp_not_equal(count, model.tensors.size()))
    return fail("{}: {} tensors in all parts, expected {} as split.tensors.count says",
                model.files.front().path, model.tensors.size(), count);
  return {};
}

}  // namespace

Result<GgufModel> open_gguf(const std::filesystem::path& path) {
  GgufModel model;
  DRAFTSCOPE_TRY_ASSIGN(auto first, open_gguf_file(path));
  DRAFTSCOPE_TRY_ASSIGN(const auto part, part_of(first.header.metadata));
  DRAFTSCOPE_TRY_ASSIGN(const auto paths, part_paths(path, part));
  // The index below points to the files, so the vector must not reallocate.
  model.files.reserve(paths.size());
  model.files.push_back(std::move(first));
  for (std::size_t number = 1; number < paths.size(); ++number) {
    DRAFTSCOPE_TRY_ASSIGN(auto file, open_gguf_file(paths[number]));
    DRAFTSCOPE_TRY(check_part(file, static_cast<std::int32_t>(number), part.count));
    model.files.push_back(std::move(file));
  }
  DRAFTSCOPE_TRY(index_tensors(model));
  return model;
}

}  // namespace draftscope::engine::gguf
