// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/text_file.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

namespace draftscope {

Result<std::string> read_text_file(const std::filesystem::path& path) {
  // Reading a folder's stream throws.
  if (std::error_code error; std::filesystem::is_directory(path, error))
    return fail("{}: is a folder, expected a file", path.string());
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return fail("{}: can't be read", path.string());
  return text;
}

Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t max_bytes) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return fail("{}: no such file", path.string());
  if (!std::filesystem::is_regular_file(status)) return fail("{}: expected a regular file", path.string());
  const auto size = std::filesystem::file_size(path, error);
  if (error) return fail("{}: cannot be read: {}", path.string(), error.message());
  if (size > max_bytes) return fail("{}: {} bytes, expected at most {}", path.string(), size, max_bytes);
  std::ifstream stream(path, std::ios::binary);
  std::string text(size, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(size)))
    return fail("{}: cannot be read: {}", path.string(), std::strerror(errno));
  return text;
}

}  // namespace draftscope
