// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensor_table.h"

#include <draftscope/base/quote.h>
#include <unordered_set>

namespace draftscope::engine::gguf {
namespace {

/// An entry has at least its name's length, the number of extents, one extent, the type and the offset.
constexpr std::uint64_t min_entry_bytes = 8 + 4 + 8 + 4 + 8;
constexpr std::uint32_t max_extents = 4;

Result<const BlockFormat*> read_format(ByteCursor& cursor, std::string_view tensor) {
  DRAFTSCOPE_TRY_ASSIGN(const auto id, cursor.number<std::uint32_t>("a tensor's type"));
  const BlockFormat* const format = find_block_format(id);
  if (format == nullptr || !format->is_readable())
    return fail("{}: tensor {}: type {} ({}), expected one of {}", cursor.file(), quote(tensor),
                format == nullptr ? "unknown" : format->name, id, readable_formats());
  return format;
}

/// Bytes of the whole tensor.
Result<std::uint64_t> needed_bytes(const StoredTensor& tensor, std::string_view file) {
  if (tensor.extents[0] % tensor.format->weights != 0)
    return fail("{}: tensor {}: rows of {} weights, expected a multiple of {} for {}", file,
                quote(tensor.name), tensor.extents[0], tensor.format->weights, tensor.format->name);
  std::uint64_t bytes = tensor.extents[0] / tensor.format->weights;
  bool fits = !__builtin_mul_overflow(bytes, std::uint64_t{tensor.format->bytes}, &bytes);
  for (std::size_t i = 1; i < tensor.extents.size(); ++i)
    fits = fits && !__builtin_mul_overflow(bytes, tensor.extents[i], &bytes);
  if (!fits)
    return fail("{}: tensor {}: shape is [{}], expected a number of bytes that fits 64 bits", file,
                quote(tensor.name), fmt::join(tensor.extents, ", "));
  return bytes;
}

/// Its offset, from the beginning of all data, is in `begin` for now.
Result<StoredTensor> read_entry(ByteCursor& cursor) {
  StoredTensor tensor;
  DRAFTSCOPE_TRY_ASSIGN(tensor.name, cursor.text("a tensor's name"));
  DRAFTSCOPE_TRY_ASSIGN(const auto extents, cursor.number<std::uint32_t>("a tensor's shape"));
  if (extents < 1 || extents > max_extents)
    return fail("{}: tensor {}: {} dimensions, expected 1 to {}", cursor.file(), quote(tensor.name), extents,
                max_extents);
  for (std::uint32_t i = 0; i < extents; ++i) {
    DRAFTSCOPE_TRY_ASSIGN(tensor.extents.emplace_back(), cursor.number<std::uint64_t>("a tensor's shape"));
    if (tensor.extents.back() == 0)
      return fail("{}: tensor {}: dimension {} is 0, expected at least 1", cursor.file(), quote(tensor.name),
                  i);
  }
  DRAFTSCOPE_TRY_ASSIGN(tensor.format, read_format(cursor, tensor.name));
  DRAFTSCOPE_TRY_ASSIGN(tensor.begin, cursor.number<std::uint64_t>("a tensor's offset"));
  DRAFTSCOPE_TRY_ASSIGN(tensor.bytes, needed_bytes(tensor, cursor.file()));
  return tensor;
}

}  // namespace

Result<std::vector<StoredTensor>> read_tensor_table(std::uint64_t count, std::uint64_t alignment,
                                                    std::uint64_t file_bytes, ByteCursor& cursor) {
  if (count > cursor.remaining() / min_entry_bytes)
    return fail("{}: {} tensors, expected no more than the file's {} bytes left describe", cursor.file(),
                count, cursor.remaining());
  std::vector<StoredTensor> tensors;
  std::unordered_set<std::string_view> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    DRAFTSCOPE_TRY_ASSIGN(auto tensor, read_entry(cursor));
    if (!names.insert(tensor.name).second)
      return fail("{}: tensor {} occurs twice, expected once", cursor.file(), quote(tensor.name));
    tensors.push_back(std::move(tensor));
  }
  const auto padded = [=](std::uint64_t position) {
    return (position + alignment - 1) / alignment * alignment;
  };
  const std::uint64_t data_begin = padded(cursor.position());
  std::uint64_t expected = 0;  // ggml writes tensors one after the other, and reads them no other way
  for (StoredTensor& tensor : tensors) {
    if (tensor.begin % alignment != 0)
      return fail("{}: tensor {}: data at offset {}, expected a multiple of {}", cursor.file(),
                  quote(tensor.name), tensor.begin, alignment);
    const bool inside = data_begin <= file_bytes && tensor.begin <= file_bytes - data_begin &&
                        tensor.bytes <= file_bytes - data_begin - tensor.begin;
    if (!inside)
      return fail(
          "{}: tensor {}: {} bytes of data at offset {}, expected them to end within the file's {}; it is "
          "truncated or damaged",
          cursor.file(), quote(tensor.name), tensor.bytes, tensor.begin, file_bytes);
    if (tensor.begin != expected)
      return fail("{}: tensor {}: data at offset {}, expected {}, behind the tensor before", cursor.file(),
                  quote(tensor.name), tensor.begin, expected);
    expected = padded(tensor.begin + tensor.bytes);
    tensor.begin += data_begin;
  }
  return tensors;
}

}  // namespace draftscope::engine::gguf
