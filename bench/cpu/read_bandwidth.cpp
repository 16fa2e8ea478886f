// SPDX-License-Identifier: GPL-3.0-or-later
#include "read_bandwidth.h"

#include <draftscope/base/clock.h>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace draftscope::bench {
namespace {

/// Sums whole cache lines: eight independent sums keep the loads ahead of the additions.
std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i + 64 <= bytes.size(); i += 64) {
    std::uint64_t words[8];
    std::memcpy(words, bytes.data() + i, sizeof words);
    for (int word = 0; word < 8; ++word) sums[word] += words[word];
  }
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total += sum;
  return total;
}

}  // namespace

double read_bandwidth(std::span<const std::byte> bytes, std::int32_t threads) {
  const std::size_t part = bytes.size() / static_cast<std::size_t>(threads) / 64 * 64;
  std::atomic<std::uint64_t> total{0};
  const std::int64_t start_ns = now_ns();
  std::vector<std::thread> readers;
  readers.reserve(static_cast<std::size_t>(threads));
  for (std::int32_t thread = 0; thread < threads; ++thread)
    readers.emplace_back(
        [&, thread] { total += sum_of(bytes.subspan(static_cast<std::size_t>(thread) * part, part)); });
  for (std::thread& reader : readers) reader.join();
  const double seconds = static_cast<double>(now_ns() - start_ns) * 1e-9;
  return static_cast<double>(part) * threads / seconds;
}

}  // namespace draftscope::bench
