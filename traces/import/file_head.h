// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The beginning of a file, unpacked, as far as it tells the file's format: JSON by the keys of its first
// record, however long that is, and any other text by its first known line.

#include <draftscope/base/result.h>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

namespace draftscope::traces {

class FileHead {
 public:
  /// Reads the beginning: of JSON the first 64 KiB, and then the first record up to 64 MiB; of other text
  /// 16 MiB. Errors: unreadable, a packing that can't be read.
  [[nodiscard]] static Result<FileHead> read(const std::filesystem::path& file);

  [[nodiscard]] std::string_view text() const { return text_; }
  /// Whether the file is a packed database, which can't be read as a stream.
  [[nodiscard]] bool is_packed_database() const { return is_packed_ && text_.starts_with("SQLite format 3"); }
  /// Whether the text begins as a JSON object.
  [[nodiscard]] bool is_object() const { return body().starts_with('{'); }
  /// Whether the text begins as a JSON list that is empty or has an object as its first entry.
  [[nodiscard]] bool is_list() const;
  /// Whether the text begins as a JSON object or as a list of them.
  [[nodiscard]] bool is_json() const { return is_object() || is_list(); }
  [[nodiscard]] bool is_blank() const { return body().empty(); }
  /// Whether a JSON object or list has one of the keys, or all of them, at most four levels deep.
  [[nodiscard]] bool has_any_key(std::initializer_list<std::string_view> keys) const;
  [[nodiscard]] bool has_all_keys(std::initializer_list<std::string_view> keys) const;
  /// Whether a log has one of the words, or all of them: a text that is no JSON, or JSON objects as
  /// collectors of logs wrap lines in.
  [[nodiscard]] bool has_any_word(std::initializer_list<std::string_view> words) const;
  [[nodiscard]] bool has_all_words(std::initializer_list<std::string_view> words) const;
  /// Description of the beginning for a message: a few keys, or the first line.
  [[nodiscard]] std::string description() const;

 private:
  explicit FileHead(std::string text) : text_(std::move(text)) {}
  /// The text without blanks and a byte order mark before it.
  [[nodiscard]] std::string_view body() const;
  [[nodiscard]] bool may_be_log() const;

  std::string text_;
  bool is_packed_ = false;
  std::set<std::string, std::less<>> keys_;
};

}  // namespace draftscope::traces
