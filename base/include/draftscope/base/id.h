// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers that name a row. Ids of different tags don't compare, convert or assign to each other, nor to
// integers that are computed: an index into a vector can't be taken for an id, a round's id not for its
// request's. A constant of the source is fine (`RoundId round_id = 3`); a number from elsewhere becomes an id
// by from().

#include <fmt/format.h>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>

namespace draftscope {

/// Id of a row of the kind that Tag stands for: positive, or 0 for none. Of the size of its number.
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  // Implicit, because a constant in the source says by its place what it is.
  consteval Id(std::int64_t constant) : value_(constant) {}  // NOLINT(google-explicit-constructor)

  /// Id with a number that was read or counted.
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
  /// As its number.
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

/// As its number.
template <typename Tag>
struct fmt::formatter<draftscope::Id<Tag>> : fmt::formatter<std::int64_t> {
  template <typename Context>
  auto format(draftscope::Id<Tag> id, Context& context) const {
    return fmt::formatter<std::int64_t>::format(id.value(), context);
  }
};
