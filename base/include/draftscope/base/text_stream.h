// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads files of text that others wrote, plain or packed with gzip (RFC 1952) or, where the build found
// its library, with zstd (RFC 8878). The first bytes tell the packing, never the file's name.
//
// Thread-safety: independent streams may be used at the same time.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <string_view>

namespace draftscope {

/// Whether a file that begins like `head` is no plain text: packed (gzip, zstd, xz, bzip2, zip, 7z, lz4) or
/// in UTF-16.
[[nodiscard]] bool is_encoded(std::string_view head);

/// The text of a regular file as a stream, which unpacks a few KiB at a time. A text of more than 64 MiB may
/// be at most 256 times as long as the file, so that a small file can't keep its reader busy for hours.
class TextStream : public std::istream {
 public:
  /// Opens the file; what is wrong with it is in result(). `may_be_cut`: a packed file that ends early is
  /// read up to there, as a killed program leaves it.
  explicit TextStream(const std::filesystem::path& file, bool may_be_cut = false);
  ~TextStream() override;
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  /// Reports what failed so far; the end of the text is no failure. Errors: no regular file, a read error, a
  /// packing or an encoding that can't be read here, packed data that is damaged, cut off or far longer than
  /// its file.
  [[nodiscard]] Result<void> result() const;
  /// Bytes of the file, packed as it is, that were taken so far.
  [[nodiscard]] std::int64_t bytes_of_file() const;
  [[nodiscard]] bool is_packed() const;

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace draftscope
