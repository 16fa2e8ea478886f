// SPDX-License-Identifier: GPL-3.0-or-later
#include "byte_cursor.h"

namespace draftscope::engine::gguf {

Result<std::span<const std::byte>> ByteCursor::take(std::uint64_t count, std::string_view what) {
  if (count > remaining())
    return fail("{}: {} at byte {} takes {} bytes, expected at most the {} that the file has left", file_,
                what, position_, count, remaining());
  const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
  position_ += taken.size();
  return taken;
}

Result<std::string_view> ByteCursor::text(std::string_view what) {
  DRAFTSCOPE_TRY_ASSIGN(const auto length, number<std::uint64_t>(what));
  DRAFTSCOPE_TRY_ASSIGN(const auto taken, take(length, what));
  return std::string_view(reinterpret_cast<const char*>(taken.data()), taken.size());
}

}  // namespace draftscope::engine::gguf
