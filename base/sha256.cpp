// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/sha256.h>

#include <fmt/format.h>
#include <nettle/sha2.h>

#include <array>
#include <fstream>

namespace draftscope {

namespace {

class Sha256 {
 public:
  Sha256() { sha256_init(&context_); }
  void add(std::string_view bytes) {
    const void* const data = bytes.data();
    sha256_update(&context_, bytes.size(), static_cast<const std::uint8_t*>(data));
  }
  [[nodiscard]] std::string text() {
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&context_, digest.size(), digest.data());
    return fmt::format("sha256:{:02x}", fmt::join(digest, ""));
  }

 private:
  sha256_ctx context_{};
};

}  // namespace

std::string sha256_of(std::string_view bytes) {
  Sha256 sha;
  sha.add(bytes);
  return sha.text();
}

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 sha;
  std::string block(std::size_t{1} << 20U, '\0');
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    sha.add(std::string_view(block).substr(0, static_cast<std::size_t>(file.gcount())));
  }
  if (!file.eof()) return fail("{}: can't be read", path.string());
  return sha.text();
}

}  // namespace draftscope
