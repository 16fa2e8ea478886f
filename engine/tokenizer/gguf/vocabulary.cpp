// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/gguf/vocabulary.h"

#include <draftscope/base/quote.h>

#include <utility>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

constexpr std::size_t max_tokens = std::size_t{1} << 24U;

Result<std::vector<TokenType>> read_types(const gguf::Metadata& metadata, std::size_t count) {
  constexpr std::string_view key = "tokenizer.ggml.token_type";
  std::vector<TokenType> types(count, TokenType::normal);
  if (!metadata.has(key)) return types;
  DRAFTSCOPE_TRY_ASSIGN(const auto numbers, metadata.integers(key));
  if (numbers.size() != count) return metadata.wrong(key, fmt::format("one of {}, as many as tokens", count));
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers[i] < 0 || numbers[i] > static_cast<std::int64_t>(TokenType::byte))
      return fail("{}: {}[{}] is {}, expected 0 to 6", metadata.file(), key, i, numbers[i]);
    types[i] = static_cast<TokenType>(numbers[i]);
  }
  return types;
}

Result<std::optional<std::int32_t>> read_id(const gguf::Metadata& metadata, std::string_view key,
                                            std::size_t count) {
  if (!metadata.has(key)) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const auto id,
                        metadata.integer<std::int32_t>(key, {0, static_cast<std::int32_t>(count) - 1}));
  return id;
}

}  // namespace

bool GgufVocabulary::is_special(std::size_t token) const {
  return types[token] == TokenType::control || types[token] == TokenType::unknown;
}

std::vector<AddedToken> GgufVocabulary::added_tokens() const {
  std::vector<AddedToken> added;
  for (std::size_t token = 0; token < tokens.size(); ++token) {
    if (tokens[token].empty() || !(is_special(token) || types[token] == TokenType::user_defined)) continue;
    added.push_back({.id = static_cast<std::int32_t>(token),
                     .content = std::string(tokens[token]),
                     .special = is_special(token),
                     .single_word = false,
                     .lstrip = false,
                     .rstrip = false,
                     .normalized = false});
  }
  return added;
}

Result<GgufVocabulary> read_vocabulary(const gguf::Metadata& metadata) {
  constexpr std::string_view key = "tokenizer.ggml.tokens";
  GgufVocabulary vocabulary;
  DRAFTSCOPE_TRY_ASSIGN(vocabulary.tokens, metadata.texts(key));
  const std::size_t count = vocabulary.tokens.size();
  if (count == 0 || count > max_tokens)
    return metadata.wrong(key, fmt::format("1 to {} strings", max_tokens));
  for (std::size_t i = 0; i < count; ++i)
    if (const auto offset = first_invalid_utf8(vocabulary.tokens[i]))
      return fail("{}: {}[{}]: found 0x{:02X} at byte {}, expected valid UTF-8", metadata.file(), key, i,
                  static_cast<unsigned char>(vocabulary.tokens[i][*offset]), *offset);
  DRAFTSCOPE_TRY_ASSIGN(vocabulary.types, read_types(metadata, count));
  DRAFTSCOPE_TRY_ASSIGN(vocabulary.bos, read_id(metadata, "tokenizer.ggml.bos_token_id", count));
  DRAFTSCOPE_TRY_ASSIGN(vocabulary.eos, read_id(metadata, "tokenizer.ggml.eos_token_id", count));
  DRAFTSCOPE_TRY_ASSIGN(vocabulary.unknown, read_id(metadata, "tokenizer.ggml.unknown_token_id", count));
  return vocabulary;
}

Result<TokenIds> index_tokens(const GgufVocabulary& vocabulary, const gguf::Metadata& metadata) {
  TokenIds ids;
  ids.reserve(vocabulary.tokens.size());
  for (std::size_t token = 0; token < vocabulary.tokens.size(); ++token) {
    const std::string_view text = vocabulary.tokens[token];
    if (text.empty()) continue;
    const auto [known, is_new] = ids.emplace(text, static_cast<std::int32_t>(token));
    if (!is_new)
      return fail("{}: tokenizer.ggml.tokens: {} is both {} and {}, expected each text once", metadata.file(),
                  quote(text), known->second, token);
  }
  return ids;
}

}  // namespace draftscope::engine::tokenizer
