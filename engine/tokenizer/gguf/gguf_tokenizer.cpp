// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/gguf/gguf_tokenizer.h"

#include <utility>

#include "tokenizer/gguf/merges.h"
#include "tokenizer/gguf/split_rules.h"
#include "tokenizer/gguf/vocabulary.h"

namespace draftscope::engine::tokenizer {
namespace {

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

/// The stages of Llama 2's tokenizer.json: a space before each stretch of text, unknown characters as bytes.
Result<void> read_sentence_pieces(const GgufVocabulary& vocabulary, const gguf::Metadata& metadata,
                                  bool& add_bos, Tokenizer::Implementation& it) {
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
  DRAFTSCOPE_TRY_ASSIGN(rules.merges, scored_merges(vocabulary, it.token_ids, metadata));
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
  for (std::size_t token = 0; token < vocabulary.tokens.size(); ++token) {
    it.pieces.emplace_back(vocabulary.tokens[token]);
    it.special.push_back(vocabulary.is_special(token));
  }
  bool add_bos = false;
  DRAFTSCOPE_TRY(byte_level ? read_byte_level(vocabulary, metadata, add_bos, it)
                            : read_sentence_pieces(vocabulary, metadata, add_bos, it));
  DRAFTSCOPE_TRY(index_added_tokens(vocabulary.added_tokens(), it));
  DRAFTSCOPE_TRY_ASSIGN(it.post_processor, read_ends(vocabulary, metadata, add_bos));
  DRAFTSCOPE_TRY_ASSIGN(it.chat, read_chat(vocabulary, metadata));
  return {};
}

}  // namespace draftscope::engine::tokenizer
