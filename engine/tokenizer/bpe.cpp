// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/bpe.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

constexpr std::int32_t none = -1;

/// A symbol of the current piece; symbols form a linked list in an array.
struct Symbol {
  std::int32_t token;  // none after a merge into its left neighbour
  std::int32_t previous;
  std::int32_t next;
};

struct Candidate {
  std::uint32_t rank;
  std::int32_t position;
  std::int32_t token;

  // std::priority_queue returns the greatest: it is the lowest rank, ties go to the leftmost.
  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : position > other.position;
  }
};

}  // namespace

BpeModel::BpeModel(BpeRules rules)
    : ids_(std::move(rules.ids)),
      unknown_(rules.unknown),
      fuse_unknown_(rules.fuse_unknown),
      byte_fallback_(rules.byte_fallback),
      ignore_merges_(rules.ignore_merges) {
  merges_.reserve(rules.merges.size());
  for (const BpeMerge& merge : rules.merges) {
    const auto key =
        (static_cast<std::uint64_t>(merge.left) << 32U) | static_cast<std::uint32_t>(merge.right);
    merges_.emplace(key, MergeRule{merge.rank, merge.token});
  }
  find_byte_tokens();
}

void BpeModel::find_byte_tokens() {
  for (std::size_t byte = 0; byte < byte_tokens_.size(); ++byte)
    byte_tokens_[byte] = find(fmt::format("<0x{:02X}>", byte)).value_or(none);
}

std::optional<std::int32_t> BpeModel::find(std::string_view piece) const {
  const auto it = ids_.find(piece);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

const BpeModel::MergeRule* BpeModel::merge_rule(std::int32_t left, std::int32_t right) const {
  const auto key = (static_cast<std::uint64_t>(left) << 32U) | static_cast<std::uint32_t>(right);
  const auto it = merges_.find(key);
  return it == merges_.end() ? nullptr : &it->second;
}

void BpeModel::encode(std::string_view piece, std::vector<std::int32_t>& tokens) const {
  if (ignore_merges_) {
    if (const auto whole = find(piece)) {
      tokens.push_back(*whole);
      return;
    }
  }
  merge(symbols(piece), tokens);
}

std::vector<std::int32_t> BpeModel::symbols(std::string_view piece) const {
  std::vector<std::int32_t> found;
  found.reserve(piece.size());
  bool unknown_waits = false;
  const auto flush_unknown = [&] {
    if (unknown_waits) found.push_back(*unknown_);
    unknown_waits = false;
  };
  for (std::size_t at = 0; at < piece.size();) {
    const std::string_view character = piece.substr(at, scan_utf8(piece.substr(at)).length);
    at += character.size();
    if (const auto token = find(character)) {
      flush_unknown();
      found.push_back(*token);
      continue;
    }
    const auto byte_token = [&](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
    if (byte_fallback_ && std::all_of(character.begin(), character.end(),
                                      [&](char byte) { return byte_token(byte) != none; })) {
      // A pending unknown character comes after these, in Hugging Face's order.
      for (const char byte : character) found.push_back(byte_token(byte));
    } else if (unknown_) {
      // Without an unknown token, such a character is dropped, as in Hugging Face.
      if (!fuse_unknown_) flush_unknown();
      unknown_waits = true;
    }
  }
  flush_unknown();
  return found;
}

void BpeModel::merge(const std::vector<std::int32_t>& initial, std::vector<std::int32_t>& tokens) const {
  const auto count = static_cast<std::int32_t>(initial.size());
  std::vector<Symbol> list;
  list.reserve(initial.size());
  for (std::int32_t i = 0; i < count; ++i)
    list.push_back({initial[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : none});
  const auto at = [&](std::int32_t position) -> Symbol& { return list[static_cast<std::size_t>(position)]; };

  std::priority_queue<Candidate> candidates;
  const auto offer = [&](std::int32_t position) {
    if (position == none || at(position).next == none) return;
    if (const MergeRule* rule = merge_rule(at(position).token, at(at(position).next).token))
      candidates.push({rule->rank, position, rule->token});
  };
  for (std::int32_t i = 0; i + 1 < count; ++i) offer(i);

  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol& left = at(best.position);
    if (left.token == none || left.next == none) continue;
    Symbol& right = at(left.next);
    const MergeRule* rule = merge_rule(left.token, right.token);
    // The pair has changed since it was queued; skip it unless it still gives the same token.
    if (rule == nullptr || rule->token != best.token) continue;
    left.token = best.token;
    left.next = right.next;
    right.token = none;
    if (left.next != none) at(left.next).previous = best.position;
    offer(left.previous);
    offer(best.position);
  }
  for (const Symbol& symbol : list)
    if (symbol.token != none) tokens.push_back(symbol.token);
}

}  // namespace draftscope::engine::tokenizer
