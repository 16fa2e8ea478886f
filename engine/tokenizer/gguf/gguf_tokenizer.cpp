// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/gguf/gguf_tokenizer.h"

#include <draftscope/base/quote.h>
#include <draftscope/base/result.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/gguf/metadata.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe.h"
#include "tokenizer/gguf/split_rules.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {

namespace {

// The keys tokenizer.ggml.* that both kinds of tokenizer have.

/// Values of tokenizer.ggml.token_type; the numbers are those of the format.
enum class TokenType : std::int32_t {
  undefined = 0,
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6,
};

struct GgufVocabulary {
  std::vector<std::string_view> tokens;  ///< by id, valid UTF-8; they point into the file
  std::vector<TokenType> types;          ///< by id
  std::optional<std::int32_t> bos, eos, unknown;

  /// Tokens that are found in the text as a whole: control tokens and the unknown one, which are special, and
  /// user-defined ones.
  [[nodiscard]] std::vector<AddedToken> added_tokens() const;
  [[nodiscard]] bool is_special(std::size_t token) const;
};

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

/// Reads the vocabulary. Errors: no tokens, lists of different lengths, ids beyond the vocabulary, text that
/// is not UTF-8.
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

/// The ids of all tokens that have a text. Errors: a text occurs twice.
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

// SentencePiece makes pieces of up to 16 characters by default; every division of a piece is looked up.
constexpr std::size_t max_scored_bytes = 512;

/// Ranks of scores; equal scores have equal ranks.
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

/// Merges of a byte-level tokenizer from tokenizer.ggml.merges: "left right" each, in order of rank. Errors:
/// another form, a piece that is no token.
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

/// Merges of SentencePiece: two pieces merge if their joined text is a token. The highest of
/// tokenizer.ggml.scores comes first, ties go to the leftmost. Errors: no scores or too few, a token of more
/// than 512 bytes.
Result<std::vector<BpeMerge>> scored_merges(const GgufVocabulary& vocabulary, const TokenIds& ids,
                                            const gguf::Metadata& metadata, StepBudget& budget) {
  budget.at_stage("list of scores");
  constexpr std::string_view key = "tokenizer.ggml.scores";
  DRAFTSCOPE_TRY_ASSIGN(const auto scores, metadata.numbers(key));
  const std::size_t count = vocabulary.tokens.size();
  if (scores.size() != count) return metadata.wrong(key, fmt::format("one of {}, as many as tokens", count));
  for (std::size_t i = 0; i < count; ++i)
    if (std::isnan(scores[i]))
      return fail("{}: {}[{}] is {}, expected a number", metadata.file(), key, i, scores[i]);
  const auto ranks = ranks_of(scores);
  // Runs of spaces are user-defined in Gemma's vocabulary, and still merge.
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
    // Each division of the text is hashed.
    DRAFTSCOPE_TRY(budget.spend(text.size() * text.size()));
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

constexpr std::string_view space_mark = "\xE2\x96\x81";  // U+2581

Result<void> read_byte_level(const GgufVocabulary&, const gguf::Metadata& metadata, bool& add_bos,
                             Tokenizer::Implementation& it) {
  DRAFTSCOPE_TRY_ASSIGN(auto stages, split_stages(metadata));
  it.normalizer = std::move(stages.normalizer);
  it.pre_tokenizer = std::move(stages.pre_tokenizer);
  add_bos = stages.add_bos;
  BpeRules rules{.ids = it.token_ids, .ignore_merges = stages.ignore_merges};
  DRAFTSCOPE_TRY_ASSIGN(rules.merges, listed_merges(it.token_ids, metadata));
  it.model = BpeModel(std::move(rules));
  it.decoder = {JoinBytes{true}};
  return {};
}

/// Sets the stages of Llama 2's tokenizer.json: a space before each stretch of text, unknown characters as
/// bytes.
Result<void> read_sentence_pieces(const GgufVocabulary& vocabulary, const gguf::Metadata& metadata,
                                  StepBudget& budget, bool& add_bos, Tokenizer::Implementation& it) {
  constexpr std::string_view whitespace_key = "tokenizer.ggml.remove_extra_whitespaces";
  DRAFTSCOPE_TRY_ASSIGN(const bool removes, metadata.boolean_or(whitespace_key, false));
  if (removes) return metadata.wrong(whitespace_key, "false");
  DRAFTSCOPE_TRY_ASSIGN(const bool prefix, metadata.boolean_or("tokenizer.ggml.add_space_prefix", true));
  std::vector<NormalizerStep> normalizer;
  if (prefix) normalizer.emplace_back(Prepend{std::string(space_mark)});
  normalizer.emplace_back(ReplaceMatches{Pattern::literal(" "), std::string(space_mark)});
  it.normalizer = Normalizer(std::move(normalizer));
  add_bos = true;
  BpeRules rules{
      .ids = it.token_ids, .unknown = vocabulary.unknown, .fuse_unknown = true, .byte_fallback = true};
  for (std::size_t token = 0; !rules.unknown && token < vocabulary.types.size(); ++token)
    if (vocabulary.types[token] == TokenType::unknown) rules.unknown = static_cast<std::int32_t>(token);
  DRAFTSCOPE_TRY_ASSIGN(rules.merges, scored_merges(vocabulary, it.token_ids, metadata, budget));
  it.model = BpeModel(std::move(rules));
  it.decoder = {ReplaceText{std::string(space_mark), " "}, ByteFallback{}};
  if (prefix) it.decoder.emplace_back(StripStart{" ", 1, true});
  return {};
}

Result<PostProcessor> read_ends(const GgufVocabulary& vocabulary, const gguf::Metadata& metadata,
                                bool default_bos) {
  DRAFTSCOPE_TRY_ASSIGN(const bool add_bos, metadata.boolean_or("tokenizer.ggml.add_bos_token", default_bos));
  DRAFTSCOPE_TRY_ASSIGN(const bool add_eos, metadata.boolean_or("tokenizer.ggml.add_eos_token", false));
  if (add_bos && !vocabulary.bos)
    return metadata.wrong("tokenizer.ggml.bos_token_id", "the token that texts begin with");
  if (add_eos && !vocabulary.eos)
    return metadata.wrong("tokenizer.ggml.eos_token_id", "the token that texts end with");
  return PostProcessor::around(add_bos ? vocabulary.bos : std::nullopt,
                               add_eos ? vocabulary.eos : std::nullopt);
}

Result<ChatTemplate> read_chat(const GgufVocabulary& vocabulary, const gguf::Metadata& metadata) {
  nlohmann::json tokens = nlohmann::json::object();
  const auto name = [&](const char* variable, std::optional<std::int32_t> id) {
    if (id) tokens[variable] = vocabulary.tokens[static_cast<std::size_t>(*id)];
  };
  name("bos_token", vocabulary.bos);
  name("eos_token", vocabulary.eos);
  name("unk_token", vocabulary.unknown);
  DRAFTSCOPE_TRY_ASSIGN(auto chat, ChatTemplate::parse(JsonField(tokens, metadata.file())));
  constexpr std::string_view key = "tokenizer.chat_template";
  if (!metadata.has(key)) return chat;
  DRAFTSCOPE_TRY_ASSIGN(const auto source, metadata.text(key));
  chat.set_source(source, fmt::format("{}: {}", metadata.file(), key));
  return chat;
}

}  // namespace

Result<void> read_gguf_tokenizer(const gguf::Metadata& metadata, Tokenizer::Implementation& it) {
  constexpr std::string_view key = "tokenizer.ggml.model";
  DRAFTSCOPE_TRY_ASSIGN(const auto model, metadata.text(key));
  const bool byte_level = model == "gpt2";
  if (!byte_level && model != "llama") return metadata.wrong(key, "gpt2 or llama");
  DRAFTSCOPE_TRY_ASSIGN(const auto vocabulary, read_vocabulary(metadata));
  DRAFTSCOPE_TRY_ASSIGN(it.token_ids, index_tokens(vocabulary, metadata));
  std::size_t vocabulary_bytes = 0;
  for (const std::string_view token : vocabulary.tokens) vocabulary_bytes += token.size();
  StepBudget budget(metadata.file(), vocabulary_bytes);
  for (std::size_t token = 0; token < vocabulary.tokens.size(); ++token) {
    it.pieces.emplace_back(vocabulary.tokens[token]);
    it.special.push_back(vocabulary.is_special(token));
  }
  bool add_bos = false;
  DRAFTSCOPE_TRY(byte_level ? read_byte_level(vocabulary, metadata, add_bos, it)
                            : read_sentence_pieces(vocabulary, metadata, budget, add_bos, it));
  DRAFTSCOPE_TRY(index_added_tokens(vocabulary.added_tokens(), budget, it));
  DRAFTSCOPE_TRY(check_piece_lengths(metadata.file(), it));
  DRAFTSCOPE_TRY_ASSIGN(it.post_processor, read_ends(vocabulary, metadata, add_bos));
  DRAFTSCOPE_TRY_ASSIGN(it.chat, read_chat(vocabulary, metadata));
  return {};
}

}  // namespace draftscope::engine::tokenizer
