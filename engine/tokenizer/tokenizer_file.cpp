// SPDX-License-Identifier: GPL-3.0-or-later
// A tokenizer.json as a whole.

#include "tokenizer/implementation.h"

namespace draftscope::engine::tokenizer {
namespace {

// Fails on truncation and padding, which would change every prompt.
Result<void> expect_no_length_rules(const JsonField& root) {
  for (const char* name : {"truncation", "padding"})
    if (!root[name].is_null()) return fail("{} is not implemented, expected null", root[name].name());
  return {};
}

Result<void> expect_version(const JsonField& root) {
  if (root["version"].is_null()) return {};
  DRAFTSCOPE_TRY_ASSIGN(const auto version, root["version"].text());
  if (version != "1.0") return fail("{} is '{}', expected '1.0'", root["version"].name(), version);
  return {};
}

// Numbers tokens from 0 to n - 1 without gaps or repeated numbers; Hugging Face silently renumbers other
// tokens.
Result<void> number_tokens(const JsonField& root, const std::vector<AddedToken>& added,
                           Tokenizer::Implementation& it) {
  const JsonField vocabulary = root["model"]["vocab"];
  const JsonField added_field = root["added_tokens"];
  it.token_ids = it.model.token_ids();
  for (std::size_t i = 0; i < added.size(); ++i) {
    const auto [known, is_new] = it.token_ids.emplace(added[i].content, added[i].id);
    if (!is_new && known->second != added[i].id)
      return fail("{}[{}].id: '{}' is {} here, expected {} as before", added_field.name(), i,
                  added[i].content, added[i].id, known->second);
  }
  const std::size_t count = it.token_ids.size();
  it.pieces.resize(count);
  it.special.resize(count);
  std::vector<bool> taken(count);
  const auto place_of = [&](const std::string& piece) {
    return it.model.token_ids().contains(piece) ? vocabulary.name() : added_field.name();
  };
  for (const auto& [piece, id] : it.token_ids) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= count)
      return fail("{}: '{}' has id {}, expected ids 0 to {} without holes", place_of(piece), piece, id,
                  count - 1);
    if (taken[index])
      return fail("{}: '{}' and '{}' both have id {}", place_of(piece), it.pieces[index], piece, id);
    taken[index] = true;
    it.pieces[index] = piece;
  }
  if (count == 0) return fail("{} is empty, expected at least one piece", vocabulary.name());
  return {};
}

}  // namespace

Result<void> index_added_tokens(const std::vector<AddedToken>& added, Tokenizer::Implementation& it) {
  for (const AddedToken& token : added) {
    if (token.special) it.special[static_cast<std::size_t>(token.id)] = true;
    if (!token.normalized) {
      it.unnormalized_tokens.add(token.content, token);
      continue;
    }
    DRAFTSCOPE_TRY_ASSIGN(const auto spelling, it.normalizer.apply(token.content));
    it.normalized_tokens.add(spelling, token);
  }
  return {};
}

Result<void> parse_tokenizer(std::string_view text, const std::string& label, Tokenizer::Implementation& it) {
  DRAFTSCOPE_TRY_ASSIGN(const auto document, parse_json(text, label));
  const JsonField root(document, label);
  DRAFTSCOPE_TRY(root.object());
  DRAFTSCOPE_TRY(expect_version(root));
  DRAFTSCOPE_TRY(expect_no_length_rules(root));
  DRAFTSCOPE_TRY_ASSIGN(const auto added, parse_added_tokens(root["added_tokens"]));
  DRAFTSCOPE_TRY_ASSIGN(it.normalizer, Normalizer::parse(root["normalizer"]));
  DRAFTSCOPE_TRY_ASSIGN(it.pre_tokenizer, PreTokenizer::parse(root["pre_tokenizer"]));
  DRAFTSCOPE_TRY_ASSIGN(it.model, BpeModel::parse(root["model"]));
  DRAFTSCOPE_TRY(number_tokens(root, added, it));
  DRAFTSCOPE_TRY(index_added_tokens(added, it));
  DRAFTSCOPE_TRY_ASSIGN(it.post_processor, PostProcessor::parse(root["post_processor"],
                                                                static_cast<std::int32_t>(it.pieces.size())));
  DRAFTSCOPE_TRY_ASSIGN(it.decoder, parse_decoder(root["decoder"]));
  return {};
}

}  // namespace draftscope::engine::tokenizer
