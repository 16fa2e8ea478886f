// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers that name a row. Ids of different tags don't compare, convert or assign to each other, nor to plain
// integers: an index into a vector can't be taken for an id, a round's not for its request's.

#include <fmt/format.h>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace draftscope {

/// Id of a row of the kind that Tag stands for: positive, or 0 for none.
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::int64_t value) : value_(value) {}

  [[nodiscard]] constexpr std::int64_t value() const { return value_; }
  [[nodiscard]] constexpr bool is_none() const { return value_ == 0; }

  friend constexpr auto operator<=>(Id a, Id b) = default;

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
