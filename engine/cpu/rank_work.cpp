// SPDX-License-Identifier: GPL-3.0-or-later
#include "rank_work.h"

#include <draftscope/base/to_size.h>

#include <algorithm>
#include <cstring>

#include "rank_tensors.h"
#include "top_tokens.h"
#include "workspace.h"

namespace draftscope::engine::cpu {
namespace {

/// Copies through one buffer, in one order: out of the rows on the rank that sends, into them on rank 0.
class Cursor {
 public:
  explicit Cursor(std::span<std::byte> buffer) : left_(buffer) {}
  template <typename T>
  void write(std::span<const T> values) {
    if (values.empty()) return;
    std::memcpy(left_.data(), values.data(), values.size_bytes());
    left_ = left_.subspan(values.size_bytes());
  }
  template <typename T>
  void read(std::span<T> values) {
    if (values.empty()) return;
    std::memcpy(values.data(), left_.data(), values.size_bytes());
    left_ = left_.subspan(values.size_bytes());
  }

 private:
  std::span<std::byte> left_;
};

/// One rank's pieces of a row.
struct RowPieces {
  std::span<BlockSoftmax> blocks;
  std::span<TopToken> top;
  std::span<float> logits;

  [[nodiscard]] std::size_t bytes() const {
    return blocks.size_bytes() + top.size_bytes() + logits.size_bytes();
  }
};

RowPieces pieces_of(const HeadRows& head, RankPlace place, std::int32_t row) {
  const TokenRange tokens = head_tokens(head.vocab, place);
  const auto rows = to_size(head.rows);
  RowPieces pieces;
  if (!head.blocks.empty()) {
    const std::size_t all = head.blocks.size() / rows;
    pieces.blocks =
        head.blocks.subspan(to_size(row) * all + static_cast<std::size_t>(tokens.first / head_block),
                            static_cast<std::size_t>((tokens.count + head_block - 1) / head_block));
    const std::size_t k = head.top.size() / rows;
    pieces.top = head.top.subspan(to_size(row) * k, k);
  }
  if (!head.logits.empty())
    pieces.logits =
        head.logits.subspan(to_size(row) * to_size(head.vocab) + static_cast<std::size_t>(tokens.first),
                            static_cast<std::size_t>(tokens.count));
  return pieces;
}

}  // namespace

void gather_head(RankWork& work, const HeadRows& head) {
  if (work.failure) return;
  const std::int32_t size = work.ranks.size();
  std::size_t bytes = 0;  // of the rank that has most
  for (std::int32_t rank = 0; rank < size; ++rank) {
    std::size_t of_rank = 0;
    for (std::int32_t row = 0; row < head.rows; ++row) of_rank += pieces_of(head, {rank, size}, row).bytes();
    bytes = std::max(bytes, of_rank);
  }
  const bool collects = work.ranks.rank() == 0;
  work.own.resize(std::max(work.own.size(), bytes));
  if (collects) work.all.resize(std::max(work.all.size(), bytes * to_size(size)));
  const std::span<std::byte> own(work.own.data(), bytes);
  const std::span<std::byte> all(work.all.data(), collects ? bytes * to_size(size) : 0);
  Cursor out(own);
  for (std::int32_t row = 0; row < head.rows; ++row) {
    const RowPieces pieces = pieces_of(head, {work.ranks.rank(), size}, row);
    out.write<BlockSoftmax>(pieces.blocks);
    out.write<TopToken>(pieces.top);
    out.write<float>(pieces.logits);
  }
  work.note(work.ranks.gather(own, all));
  if (!collects || work.failure) return;
  for (std::int32_t rank = 1; rank < size; ++rank) {
    Cursor in(all.subspan(to_size(rank) * bytes, bytes));
    for (std::int32_t row = 0; row < head.rows; ++row) {
      const RowPieces pieces = pieces_of(head, {rank, size}, row);
      in.read(pieces.blocks);
      auto kept = static_cast<std::int32_t>(std::count_if(pieces.top.begin(), pieces.top.end(),
                                                          [](const TopToken& t) { return t.token >= 0; }));
      for (std::size_t i = 0; i < pieces.top.size(); ++i) {
        TopToken candidate;
        in.read(std::span(&candidate, 1));
        if (candidate.token >= 0) keep_best(pieces.top, kept, candidate);
      }
      in.read(pieces.logits);
    }
  }
}

}  // namespace draftscope::engine::cpu
