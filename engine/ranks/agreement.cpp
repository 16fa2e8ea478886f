// SPDX-License-Identifier: GPL-3.0-or-later
#include "agreement.h"

#include <draftscope/base/to_size.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace draftscope::engine {
namespace {

// Longer than any error's line; a text that is longer is cut.
constexpr std::size_t max_text = 511;
using Text = std::array<char, max_text + 1>;

Text text_of(std::string_view source) {
  Text text{};
  source.copy(text.data(), max_text);
  return text;
}

/// Every rank's text; empty but on rank 0.
Result<std::vector<Text>> gather_texts(Collective& ranks, std::string_view own) {
  std::vector<Text> all(ranks.rank() == 0 ? to_size(ranks.size()) : 0);
  const Text text = text_of(own);
  DRAFTSCOPE_TRY(ranks.gather(std::as_bytes(std::span(text)), std::as_writable_bytes(std::span(all))));
  return all;
}

Result<void> concluded(Collective& ranks, Result<void> verdict) {
  if (!verdict) ranks.conclude();
  return verdict;
}

/// Rank 0's finding, on every rank.
Result<void> share_verdict(Collective& ranks, std::string_view failure) {
  Text verdict = text_of(failure);
  DRAFTSCOPE_TRY(ranks.broadcast(std::as_writable_bytes(std::span(verdict))));
  if (verdict.front() == '\0') return {};
  return tl::unexpected(Error{verdict.data()});
}

}  // namespace

Result<void> agree_to_go_on(Collective& ranks, const Result<void>& own) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<Text> all,
                        gather_texts(ranks, own ? std::string_view() : own.error().message));
  std::string failure;
  for (std::size_t rank = 0; rank < all.size() && failure.empty(); ++rank)
    if (all[rank].front() != '\0')
      failure = rank == 0 ? all[rank].data() : fmt::format("rank {}: {}", rank, all[rank].data());
  return share_verdict(ranks, failure);
}

Result<void> agree(Collective& ranks, const Result<void>& own) {
  if (ranks.has_concluded()) return own;
  return concluded(ranks, agree_to_go_on(ranks, own));
}

Result<void> expect_same(Collective& ranks, std::string_view what, std::string_view own) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<Text> all, gather_texts(ranks, own));
  std::string failure;
  for (std::size_t rank = 1; rank < all.size() && failure.empty(); ++rank)
    if (all[rank] != all.front())
      failure = fmt::format("rank {}: found {} {}, expected {} as rank 0", rank, what, all[rank].data(),
                            all.front().data());
  return concluded(ranks, share_verdict(ranks, failure));
}

}  // namespace draftscope::engine
