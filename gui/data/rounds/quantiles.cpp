// SPDX-License-Identifier: GPL-3.0-or-later
#include "quantiles.h"

#include <algorithm>
#include <bit>

namespace draftscope::gui {

namespace {

constexpr int code_bits = 12;
constexpr int kept_bits = 7;  // Significant bits of a duration.
constexpr std::uint64_t first_rounded = 1U << kept_bits;
constexpr std::size_t word_bits = 64;

/// The code rises with the duration; each octave from 128 ns on has 64 codes.
std::uint16_t code_of(std::int64_t duration_ns) {
  const auto duration = static_cast<std::uint64_t>(std::max<std::int64_t>(duration_ns, 0));
  if (duration < first_rounded) return static_cast<std::uint16_t>(duration);
  const int dropped = static_cast<int>(std::bit_width(duration)) - kept_bits;
  return static_cast<std::uint16_t>((static_cast<std::uint64_t>(dropped) << (kept_bits - 1)) +
                                    (duration >> dropped));
}

/// Middle of the durations that have the code.
std::int64_t duration_of(std::uint64_t code) {
  if (code < first_rounded) return static_cast<std::int64_t>(code);
  constexpr std::uint64_t half = first_rounded / 2;
  const auto dropped = static_cast<int>(code / half) - 1;
  const std::uint64_t least = (code % half + half) << dropped;
  return static_cast<std::int64_t>(least + (std::uint64_t{1} << dropped) / 2);
}

}  // namespace

std::size_t Quantiles::Level::zeros_in(std::size_t places) const {
  const std::size_t word = places / word_bits;
  const std::size_t rest = places % word_bits;
  if (rest == 0) return word < zeros_before.size() ? zeros_before[word] : zeros;
  const std::uint64_t mask = (std::uint64_t{1} << rest) - 1;
  return zeros_before[word] + rest - static_cast<std::size_t>(std::popcount(ones[word] & mask));
}

Quantiles::Quantiles(std::span<const std::int64_t> durations_ns)
    : size_(durations_ns.size()), levels_(size_ == 0 ? 0 : code_bits) {
  std::vector<std::uint16_t> codes(size_);
  std::transform(durations_ns.begin(), durations_ns.end(), codes.begin(), code_of);
  std::vector<std::uint16_t> ordered(size_);
  for (int bit = code_bits - 1; bit >= 0 && size_ > 0; --bit) {
    Level& level = levels_[static_cast<std::size_t>(code_bits - 1 - bit)];
    const std::size_t words = (size_ + word_bits - 1) / word_bits;
    level.ones.resize(words);
    level.zeros_before.resize(words);
    for (std::size_t i = 0; i < size_; ++i) {
      if (i % word_bits == 0) level.zeros_before[i / word_bits] = static_cast<std::uint32_t>(level.zeros);
      const bool is_one = ((codes[i] >> bit) & 1) != 0;
      level.ones[i / word_bits] |= std::uint64_t{is_one} << (i % word_bits);
      // Zeros keep their order at the front; ones follow in the second pass.
      if (!is_one) ordered[level.zeros++] = codes[i];
    }
    std::size_t next = level.zeros;
    for (const std::uint16_t code : codes)
      if (((code >> bit) & 1) != 0) ordered[next++] = code;
    codes.swap(ordered);
  }
}

std::int64_t Quantiles::ranked_ns(std::size_t first, std::size_t last, std::size_t rank) const {
  std::uint64_t code = 0;
  for (const Level& level : levels_) {
    const std::size_t zeros_first = level.zeros_in(first);
    const std::size_t zeros_last = level.zeros_in(last);
    const std::size_t zeros = zeros_last - zeros_first;
    code <<= 1;
    if (rank < zeros) {
      first = zeros_first;
      last = zeros_last;
    } else {
      code |= 1;
      rank -= zeros;
      first = level.zeros + first - zeros_first;
      last = level.zeros + last - zeros_last;
    }
  }
  return duration_of(code);
}

}  // namespace draftscope::gui
