// SPDX-License-Identifier: GPL-3.0-or-later
#include "module/literal.h"

#include <bit>
#include <charconv>
#include <system_error>

namespace draftscope::ptx {

namespace {

std::optional<std::uint64_t> whole_number(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

std::optional<Operand> number_of_kind(Operand::Kind kind, std::optional<std::uint64_t> bits) {
  if (!bits) return std::nullopt;
  Operand operand;
  operand.kind = kind;
  operand.value = *bits;
  return operand;
}

}  // namespace

std::optional<Operand> literal(std::string_view text) {
  using Kind = Operand::Kind;
  const std::string_view prefix = text.substr(0, 2);
  if (prefix == "0f" || prefix == "0F")
    return text.size() == 10 ? number_of_kind(Kind::f32, whole_number(text.substr(2), 16)) : std::nullopt;
  if (prefix == "0d" || prefix == "0D")
    return text.size() == 18 ? number_of_kind(Kind::f64, whole_number(text.substr(2), 16)) : std::nullopt;
  if (text.find('.') != std::string_view::npos) {
    double value = 0.0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stopped != end) return std::nullopt;
    return number_of_kind(Kind::f64, std::bit_cast<std::uint64_t>(value));
  }
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  if (prefix == "0x" || prefix == "0X")
    return number_of_kind(Kind::integer, whole_number(text.substr(2), 16));
  if (prefix == "0b" || prefix == "0B") return number_of_kind(Kind::integer, whole_number(text.substr(2), 2));
  if (text.size() > 1 && text.front() == '0')
    return number_of_kind(Kind::integer, whole_number(text.substr(1), 8));
  return number_of_kind(Kind::integer, whole_number(text, 10));
}

}  // namespace draftscope::ptx
