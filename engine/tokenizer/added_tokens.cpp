// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/added_tokens.h"

#include <algorithm>
#include <utility>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

Result<AddedToken> parse_added_token(const JsonField& field) {
  DRAFTSCOPE_TRY(field.object());
  AddedToken token{};
  DRAFTSCOPE_TRY_ASSIGN(token.id, non_negative(field["id"]));
  DRAFTSCOPE_TRY_ASSIGN(token.content, field["content"].text());
  DRAFTSCOPE_TRY_ASSIGN(token.special, field["special"].boolean());
  DRAFTSCOPE_TRY_ASSIGN(token.single_word, field["single_word"].boolean());
  DRAFTSCOPE_TRY_ASSIGN(token.lstrip, field["lstrip"].boolean());
  DRAFTSCOPE_TRY_ASSIGN(token.rstrip, field["rstrip"].boolean());
  DRAFTSCOPE_TRY_ASSIGN(token.normalized, field["normalized"].boolean());
  if (token.content.empty())
    return fail("{}.content is empty, expected at least one character", field.name());
  return token;
}

// The character that ends at `end` (a character boundary past the text's start).
Utf8Scan character_before(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
  return scan_utf8(text.substr(begin, end - begin));
}

std::size_t skip_white_space_back(std::string_view text, std::size_t end, std::size_t limit) {
  while (end > limit) {
    const Utf8Scan scan = character_before(text, end);
    if (!is_white_space(scan.code_point)) break;
    end -= scan.length;
  }
  return end;
}

std::size_t skip_white_space(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    const Utf8Scan scan = scan_utf8(text.substr(begin));
    if (!is_white_space(scan.code_point)) break;
    begin += scan.length;
  }
  return begin;
}

bool touches_word(std::string_view text, Range range) {
  return (range.begin > 0 && is_word(character_before(text, range.begin).code_point)) ||
         (range.end < text.size() && is_word(scan_utf8(text.substr(range.end)).code_point));
}

}  // namespace

Result<std::vector<AddedToken>> parse_added_tokens(const JsonField& field) {
  std::vector<AddedToken> tokens;
  if (field.value().is_null()) return tokens;
  DRAFTSCOPE_TRY_ASSIGN(const auto elements, field.list());
  for (const JsonField& element : elements) {
    DRAFTSCOPE_TRY_ASSIGN(auto token, parse_added_token(element));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

Result<void> AddedTokenFinder::add(std::string_view spelling, const AddedToken& token) {
  // A node takes about 100 bytes of memory.
  constexpr std::size_t max_nodes = std::size_t{8} << 20U;
  if (spelling.size() > max_nodes - std::min(nodes_.size(), max_nodes))
    return fail("added_tokens: found more than {} bytes of texts with normalized ones, expected at most {}",
                max_nodes, max_nodes);
  if (spelling.empty()) return {};
  std::uint32_t node = 0;
  for (const char character : spelling) {
    const auto byte = static_cast<unsigned char>(character);
    auto& children = nodes_[node].children;
    const auto at = std::lower_bound(children.begin(), children.end(), std::pair(byte, 0U));
    if (at != children.end() && at->first == byte) {
      node = at->second;
      continue;
    }
    const auto created = static_cast<std::uint32_t>(nodes_.size());
    children.emplace(at, byte, created);
    nodes_.emplace_back();
    node = created;
  }
  if (nodes_[node].entry >= 0) return {};  // If two tokens normalize to the same text, the first is found.
  nodes_[node].entry = static_cast<std::int32_t>(entries_.size());
  entries_.push_back(token);
  return {};
}

AddedTokenFinder::Match AddedTokenFinder::longest_match(std::string_view text) const {
  Match longest{-1, 0, 0};
  std::uint32_t node = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto& children = nodes_[node].children;
    const auto at = std::lower_bound(children.begin(), children.end(), std::pair(byte, 0U));
    if (at == children.end() || at->first != byte) break;
    node = at->second;
    longest.read_bytes = i + 1;
    if (nodes_[node].entry >= 0) longest = {nodes_[node].entry, i + 1, i + 1};
  }
  return longest;
}

Result<std::vector<Segment>> AddedTokenFinder::segments(std::string_view text, bool find_special,
                                                        StepBudget& budget) const {
  std::vector<Segment> found;
  std::size_t covered = 0;
  const auto cover_text_to = [&](std::size_t end) {
    if (covered < end) found.push_back({{covered, end}, Segment::text});
  };
  for (std::size_t at = 0; at < text.size();) {
    const Match match = longest_match(text.substr(at));
    DRAFTSCOPE_TRY(budget.spend(match.read_bytes + 1));
    if (match.entry < 0) {
      ++at;
      continue;
    }
    Range range{at, at + match.length};
    at = range.end;
    const AddedToken& token = entries_[static_cast<std::size_t>(match.entry)];
    if (token.special && !find_special) continue;
    if (token.single_word && touches_word(text, range)) continue;
    if (token.lstrip) range.begin = skip_white_space_back(text, range.begin, covered);
    if (token.rstrip) range.end = skip_white_space(text, range.end);
    DRAFTSCOPE_TRY(budget.spend(range.end - range.begin + sizeof(Segment)));
    cover_text_to(range.begin);
    found.push_back({range, token.id});
    covered = range.end;
  }
  cover_text_to(text.size());
  return found;
}

}  // namespace draftscope::engine::tokenizer
