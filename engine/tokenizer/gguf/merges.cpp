// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/gguf/merges.h"

#include <draftscope/base/quote.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

// SentencePiece makes pieces of 16 characters unless told; every cut of one is looked up.
constexpr std::size_t max_scored_bytes = 512;

/// Ranks of equal scores are equal.
std::vector<std::uint32_t> ranks_of(const std::vector<double>& scores) {
  std::map<double, std::uint32_t, std::greater<>> ranks;
  for (const double score : scores) ranks.emplace(score, 0);
  std::uint32_t next = 0;
  for (auto& [score, rank] : ranks) rank = next++;
  std::vector<std::uint32_t> ranked;
  ranked.reserve(scores.size());
  for (const double score : scores) ranked.push_back(ranks.at(score));
  return ranked;
}

}  // namespace

Result<std::vector<BpeMerge>> listed_merges(const TokenIds& ids, const gguf::Metadata& metadata) {
  constexpr std::string_view key = "tokenizer.ggml.merges";
  DRAFTSCOPE_TRY_ASSIGN(const auto texts, metadata.texts(key));
  std::vector<BpeMerge> merges;
  merges.reserve(texts.size());
  std::string joined;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string_view text = texts[i];
    const auto space = text.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == text.size())
      return fail("{}: {}[{}] is {}, expected two pieces with a space between", metadata.file(), key, i,
                  quote(text));
    const std::string_view left = text.substr(0, space);
    const std::string_view right = text.substr(space + 1);
    joined.assign(left).append(right);
    const auto left_id = ids.find(left);
    const auto right_id = ids.find(right);
    const auto joined_id = ids.find(joined);
    if (left_id == ids.end() || right_id == ids.end() || joined_id == ids.end())
      return fail("{}: {}[{}]: {} is unknown, expected one of the tokens", metadata.file(), key, i,
                  quote(left_id == ids.end()    ? left
                        : right_id == ids.end() ? right
                                                : std::string_view(joined)));
    merges.push_back({left_id->second, right_id->second, joined_id->second, static_cast<std::uint32_t>(i)});
  }
  return merges;
}

Result<std::vector<BpeMerge>> scored_merges(const GgufVocabulary& vocabulary, const TokenIds& ids,
                                            const gguf::Metadata& metadata) {
  constexpr std::string_view key = "tokenizer.ggml.scores";
  DRAFTSCOPE_TRY_ASSIGN(const auto scores, metadata.numbers(key));
  const std::size_t count = vocabulary.tokens.size();
  if (scores.size() != count) return metadata.wrong(key, fmt::format("one of {}, as many as tokens", count));
  for (std::size_t i = 0; i < count; ++i)
    if (std::isnan(scores[i]))
      return fail("{}: {}[{}] is {}, expected a number", metadata.file(), key, i, scores[i]);
  const auto ranks = ranks_of(scores);
  // Runs of spaces are user-defined in Gemma's vocabulary, and merge.
  const auto is_piece = [&](std::size_t token) {
    const TokenType type = vocabulary.types[token];
    return type == TokenType::normal || type == TokenType::undefined || type == TokenType::user_defined;
  };
  std::vector<BpeMerge> merges;
  for (std::size_t token = 0; token < count; ++token) {
    const std::string_view text = vocabulary.tokens[token];
    if (!is_piece(token)) continue;
    if (text.size() > max_scored_bytes)
      return fail("{}: tokenizer.ggml.tokens[{}] has {} bytes, expected at most {}", metadata.file(), token,
                  text.size(), max_scored_bytes);
    for (std::size_t cut = 0; cut < text.size();) {
      cut += scan_utf8(text.substr(cut)).length;
      if (cut == text.size()) break;
      const auto left = ids.find(text.substr(0, cut));
      const auto right = left == ids.end() ? ids.end() : ids.find(text.substr(cut));
      if (right == ids.end() || !is_piece(static_cast<std::size_t>(left->second)) ||
          !is_piece(static_cast<std::size_t>(right->second)))
        continue;
      merges.push_back({left->second, right->second, static_cast<std::int32_t>(token), ranks[token]});
    }
  }
  return merges;
}

}  // namespace draftscope::engine::tokenizer
