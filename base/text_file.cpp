// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/text_file.h>

#include <draftscope/base/descriptor.h>
#include <draftscope/base/text_stream.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace draftscope {
namespace {

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

struct RegularFile {
  Descriptor descriptor;
  std::size_t bytes;
};

Result<RegularFile> open_regular_file(const std::filesystem::path& path) {
  // Open without blocking, since opening a pipe without a writer would wait before it could be refused.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.number() < 0 && errno == ENOENT) return fail("{}: no such file", path.string());
  if (descriptor.number() < 0) return fail("{}: can't be read: {}", path.string(), std::strerror(errno));
  struct stat status {};
  if (::fstat(descriptor.number(), &status) != 0)
    return fail("{}: can't be read: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return fail("{}: found {}, expected a regular file", path.string(), kind_of(status.st_mode));
  return RegularFile{std::move(descriptor), static_cast<std::size_t>(status.st_size)};
}

Result<std::string> read_packed_text(const std::filesystem::path& path, std::size_t max_bytes) {
  TextStream stream(path);
  std::string text;
  std::array<char, std::size_t{1} << 16U> block{};
  while (stream) {
    stream.read(block.data(), block.size());
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > max_bytes)
      return fail("{}: found more than {} bytes after unpacking, expected at most that", path.string(),
                  max_bytes);
  }
  DRAFTSCOPE_TRY(stream.result());
  return text;
}

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t max_bytes) {
  DRAFTSCOPE_TRY_ASSIGN(const RegularFile file, open_regular_file(path));
  if (file.bytes > max_bytes)
    return fail("{}: found {} bytes, expected at most {}", path.string(), file.bytes, max_bytes);
  std::string text(file.bytes, '\0');
  std::size_t read = 0;
  while (read < text.size()) {
    const ssize_t bytes = ::read(file.descriptor.number(), text.data() + read, text.size() - read);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return fail("{}: can't be read: {}", path.string(), std::strerror(errno));
    if (bytes == 0) break;  // The file was shortened after its size was read.
    read += static_cast<std::size_t>(bytes);
  }
  text.resize(read);
  if (is_encoded(text)) return read_packed_text(path, max_bytes);
  return text;
}

Result<void> check_regular_file(const std::filesystem::path& path) {
  return open_regular_file(path).map([](const RegularFile& /*file*/) {});
}

}  // namespace draftscope
