// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The protobuf wire format, as far as a trace needs it.

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope::traces {

/// One message being built; its bytes are the concatenated fields.
class ProtobufMessage {
 public:
  void varint(int field, std::uint64_t value) {
    tag(field, 0);
    raw_varint(value);
  }
  /// A 64-bit field (fixed64 or double).
  void fixed64(int field, std::uint64_t value) {
    tag(field, 1);
    for (int byte = 0; byte < 8; ++byte)
      bytes_.push_back(static_cast<char>(value >> (8U * static_cast<unsigned>(byte))));
  }
  void real(int field, double value) { fixed64(field, std::bit_cast<std::uint64_t>(value)); }
  /// A string, bytes or nested message.
  void bytes(int field, std::string_view value) {
    tag(field, 2);
    raw_varint(value.size());
    bytes_.append(value);
  }
  void message(int field, const ProtobufMessage& nested) { bytes(field, nested.bytes_); }

  [[nodiscard]] std::string_view view() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void tag(int field, unsigned wire_type) { raw_varint(static_cast<unsigned>(field) << 3U | wire_type); }
  void raw_varint(std::uint64_t value) {
    while (value >= 0x80U) {
      bytes_.push_back(static_cast<char>(value | 0x80U));
      value >>= 7U;
    }
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

}  // namespace draftscope::traces
