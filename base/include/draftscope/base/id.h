// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers that identify a row. Ids of different tags do not compare, convert or assign to each other, nor to
// computed integers: an index can't pass for an id, nor a round's id for its request's. A constant in the
// source is fine (`RoundId round_id = 3`); other numbers become an id by from().

#include <fmt/format.h>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>

namespace draftscope {

/// Id of a row of the kind that Tag names: positive, or 0 for none. It has the size of its number.
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  // Implicit, since the context of a constant in the source shows its meaning.
  consteval Id(std::int64_t constant) : value_(constant) {}  // NOLINT(google-explicit-constructor)

  /// Makes an id from a number that was read or counted.
  template <std::integral Number>
  [[nodiscard]] static constexpr Id from(Number number) {
    Id id;
    id.value_ = static_cast<std::int64_t>(number);
    return id;
  }

  [[nodiscard]] constexpr std::int64_t value() const { return value_; }
  [[nodiscard]] constexpr bool is_none() const { return value_ == 0; }

  friend constexpr bool operator==(Id a, Id b) { return a.value_ == b.value_; }
  friend constexpr std::strong_ordering operator<=>(Id a, Id b) { return a.value_ <=> b.value_; }
  /// Prints the number.
  template <typename Character, typename Traits>
  friend std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& stream,
                                                           Id id) {
    return stream << id.value_;
  }

 private:
  std::int64_t value_ = 0;
};

}  // namespace draftscope

template <typename Tag>
struct std::hash<draftscope::Id<Tag>> {
  std::size_t operator()(draftscope::Id<Tag> id) const noexcept {
    return std::hash<std::int64_t>()(id.value());
  }
};

/// Formats the number.
template <typename Tag>
struct fmt::formatter<draftscope::Id<Tag>> : fmt::formatter<std::int64_t> {
  template <typename Context>
  auto format(draftscope::Id<Tag> id, Context& context) const {
    return fmt::formatter<std::int64_t>::format(id.value(), context);
  }
};
