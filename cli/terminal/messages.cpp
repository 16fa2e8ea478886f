// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/messages.h"

#include <unistd.h>
#include <utf8proc.h>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <system_error>

namespace draftscope::cli {

namespace {

constexpr std::string_view cut_mark = "…";

/// Text with a fixed max size, escaped as it is added.
class Line {
 public:
  void add_plain(std::string_view text) noexcept {
    for (const char c : text)
      if (size_ < bytes_.size()) bytes_[size_++] = c;
  }

  void add_escaped(std::string_view text) noexcept {
    while (!text.empty() && !is_cut_) {
      const Character character = first_of(text);
      const std::string_view bytes = text.substr(0, character.bytes);
      text.remove_prefix(bytes.size());
      constexpr std::size_t bytes_as_escape = 4;  // Length of \xNN.
      const std::size_t needed = character.is_harmless ? bytes.size() : bytes_as_escape * bytes.size();
      is_cut_ = size_ + needed + (text.empty() ? 0 : cut_mark.size()) > max_message_bytes;
      if (is_cut_)
        add_plain(cut_mark);
      else if (character.is_harmless)
        add_plain(bytes);
      else
        add_as_escapes(bytes);
    }
  }

  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data(), size_}; }

 private:
  struct Character {
    std::size_t bytes;
    bool is_harmless;
  };

  static Character first_of(std::string_view text) noexcept {
    utf8proc_int32_t code_point = -1;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                         static_cast<utf8proc_ssize_t>(text.size()), &code_point);
    if (length <= 0) return {1, false};
    const bool turns = (code_point >= 0x202A && code_point <= 0x202E) ||
                       (code_point >= 0x2066 && code_point <= 0x2069) || code_point == 0x2028 ||
                       code_point == 0x2029;
    return {static_cast<std::size_t>(length),
            !turns && utf8proc_category(code_point) != UTF8PROC_CATEGORY_CC};
  }

  void add_as_escapes(std::string_view bytes) noexcept {
    constexpr std::string_view digits = "0123456789abcdef";
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      const std::array escape{'\\', 'x', digits[byte >> 4U], digits[byte & 0xFU]};
      add_plain({escape.data(), escape.size()});
    }
  }

  static constexpr std::size_t room_for_frame = 64;  // Program name, cut mark, line end.
  std::array<char, max_message_bytes + room_for_frame> bytes_{};
  std::size_t size_ = 0;
  bool is_cut_ = false;
};

void print(std::string_view prefix, std::string_view text) noexcept {
  Line line;
  line.add_plain(prefix);
  line.add_escaped(text);
  line.add_plain("\n");
  draw(line.text());
}

}  // namespace

void draw(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // No reader is left.
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void print_error(std::string_view message) noexcept {
  print("draftscope: ", message);
}

void print_note(std::string_view note) noexcept {
  print("", note);
}

int fail_with(const Error& error) {
  print_error(error.message);
  return exit_failure;
}

void finish(Outcome& outcome, const Result<int>& result) {
  outcome.exit_code = result ? *result : fail_with(result.error());
}

Result<void> write_out(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return {};
  return fail("standard output: can't be written: {}", std::generic_category().message(errno));
}

int print_out(std::string_view text) {
  const Result<void> written = write_out(text);
  if (written) return 0;
  return errno == EPIPE ? exit_failure : fail_with(written.error());
}

}  // namespace draftscope::cli
