// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/file_head.h"

#include <draftscope/base/quote.h>
#include <draftscope/base/text_stream.h>

#include <algorithm>
#include <cstddef>

#include "import/text_lines.h"

namespace draftscope::traces {
namespace {

constexpr std::size_t json_head_bytes = std::size_t{1} << 16U;
constexpr std::size_t max_record_bytes = std::size_t{64} << 20U;
constexpr std::size_t max_log_bytes = std::size_t{16} << 20U;

/// Collects the keys of JSON that comes in blocks, without regard to what is wrong with it.
class KeyScan {
 public:
  /// `record_depth`: depth outside a record; 1 within a list of records.
  KeyScan(std::set<std::string, std::less<>>& keys, std::size_t record_depth)
      : keys_(keys), record_depth_(record_depth) {}

  [[nodiscard]] bool has_record() const { return has_record_; }

  void take(std::string_view block) {
    for (const char c : block)
      if (in_string_)
        take_in_string(c);
      else
        take_outside(c);
  }

 private:
  static constexpr std::size_t max_key_depth = 4;
  static constexpr std::size_t max_key_bytes = 64;
  static constexpr std::size_t max_keys = 4096;

  void take_in_string(char c) {
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (c == '\\') {
      is_escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      return;
    }
    if (string_.size() < max_key_bytes) string_.push_back(c);
  }

  void take_outside(char c) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') return;
    if (c == ':' && is_after_string_ && depth_ <= max_key_depth && keys_.size() < max_keys)
      keys_.insert(string_);
    is_after_string_ = in_string_ = c == '"';
    if (in_string_) string_.clear();
    if (c == '{' || c == '[') ++depth_;
    if ((c == '}' || c == ']') && depth_ > 0 && --depth_ <= record_depth_) has_record_ = true;
  }

  std::set<std::string, std::less<>>& keys_;
  std::size_t record_depth_;
  std::size_t depth_ = 0;
  std::string string_;
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool is_after_string_ = false;
  bool has_record_ = false;
};

/// Appends up to `bytes` of the stream; returns what was appended.
std::string_view append_block(TextStream& stream, std::size_t bytes, std::string& text) {
  const std::size_t before = text.size();
  text.resize(before + bytes);
  stream.read(text.data() + before, static_cast<std::streamsize>(bytes));
  text.resize(before + static_cast<std::size_t>(stream.gcount()));
  return std::string_view(text).substr(before);
}

}  // namespace

Result<FileHead> FileHead::read(const std::filesystem::path& file) {
  TextStream stream(file, true);
  FileHead head{{}};
  head.is_packed_ = stream.is_packed();
  append_block(stream, json_head_bytes, head.text_);
  if (head.is_json()) {
    KeyScan scan(head.keys_, head.is_list() ? 1 : 0);
    scan.take(head.body());
    std::string block;
    // The events of a timeline say no more than that they are there.
    for (std::size_t bytes = head.text_.size();
         stream && !scan.has_record() && bytes < max_record_bytes && !head.keys_.contains("traceEvents");
         bytes += json_head_bytes) {
      block.clear();
      scan.take(append_block(stream, json_head_bytes, block));
    }
  }
  while (stream && head.may_be_log() && head.text_.size() < max_log_bytes)
    append_block(stream, json_head_bytes, head.text_);
  DRAFTSCOPE_TRY(stream.result());
  if (head.is_packed_ && head.is_blank()) {
    // A packed file that is cut before its first byte of text is no empty file.
    TextStream whole(file);
    static_cast<void>(whole.get());
    DRAFTSCOPE_TRY(whole.result());
  }
  return head;
}

std::string_view FileHead::body() const {
  std::string_view text = without_byte_order_mark(text_);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

bool FileHead::is_list() const {
  const std::string_view text = body();
  if (!text.starts_with('[')) return false;
  const std::size_t next = text.find_first_not_of(" \t\r\n", 1);
  return next == std::string_view::npos || text[next] == '{' || text[next] == ']';
}

bool FileHead::has_any_key(std::initializer_list<std::string_view> keys) const {
  return std::ranges::any_of(keys, [this](std::string_view key) { return keys_.contains(key); });
}

bool FileHead::has_all_keys(std::initializer_list<std::string_view> keys) const {
  return std::ranges::all_of(keys, [this](std::string_view key) { return keys_.contains(key); });
}

bool FileHead::may_be_log() const {
  return !is_json() ||
         (is_object() && has_any_key({"log", "message", "msg", "MESSAGE", "textPayload", "body"}));
}

bool FileHead::has_any_word(std::initializer_list<std::string_view> words) const {
  return may_be_log() && std::ranges::any_of(words, [this](std::string_view word) {
           return text_.find(word) != std::string::npos;
         });
}

bool FileHead::has_all_words(std::initializer_list<std::string_view> words) const {
  return may_be_log() && std::ranges::all_of(words, [this](std::string_view word) {
           return text_.find(word) != std::string::npos;
         });
}

std::string FileHead::description() const {
  if (!is_json()) return "its first line is " + excerpt(body().substr(0, body().find('\n')));
  constexpr std::size_t max_named = 8;
  std::string names;
  std::size_t count = 0;
  for (const std::string& key : keys_)
    if (count++ < max_named) names += (names.empty() ? "" : ", ") + excerpt(key);
  if (names.empty()) return "its first record has no keys";
  return fmt::format("its first record has the keys {}{}", names, count > max_named ? ", …" : "");
}

}  // namespace draftscope::traces
