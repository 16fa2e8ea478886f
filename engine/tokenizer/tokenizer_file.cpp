// SPDX-License-Identifier: GPL-3.0-or-later
// A tokenizer.json as a whole.

#include <draftscope/base/python_numbers.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/to_size.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tokenizer/implementation.h"

namespace draftscope::engine::tokenizer {
namespace {

// Lengths are a matter of each call: Hugging Face's default call neither cuts nor fills up, whatever the file
// says.
void pass_over_length_rules(const JsonField& root, Tokenizer::Implementation& it) {
  for (const char* name : {"truncation", "padding"})
    if (!root[name].is_null())
      it.notes.push_back(fmt::format("{} is ignored: texts keep their length", root[name].name()));
}

Result<void> expect_version(const JsonField& root) {
  if (root["version"].is_null()) return {};
  DRAFTSCOPE_TRY_ASSIGN(const auto version, root["version"].text());
  if (version != "1.0") return fail("{} is '{}', expected '1.0'", root["version"].name(), version);
  return {};
}

/// Numbers added tokens as Hugging Face does: one that is no piece of the model gets the next free number,
/// whatever its own.
void number_added_tokens(const JsonField& field, std::vector<AddedToken>& added,
                         Tokenizer::Implementation& it) {
  auto next = static_cast<std::int32_t>(it.token_ids.size());
  std::size_t renumbered = 0;
  std::string first;
  for (AddedToken& token : added) {
    const auto [place, is_new] = it.token_ids.emplace(token.content, next);
    const std::int32_t id = place->second;
    if (is_new) ++next;
    if (id != token.id && renumbered++ == 0)
      first = fmt::format("{} has id {} in the file and becomes {}", quote(token.content), token.id, id);
    token.id = id;
  }
  if (renumbered > 0)
    it.notes.push_back(fmt::format("{}: {} of {} tokens are renumbered as Hugging Face does; {}",
                                   field.name(), renumbered, added.size(), first));
}

/// Keeps the last of several tokens with one text, as Hugging Face does. It is special if one of them is.
void keep_last(std::vector<AddedToken>& added) {
  std::unordered_map<std::int32_t, std::size_t> places;
  std::vector<AddedToken> kept;
  kept.reserve(added.size());
  for (AddedToken& token : added) {
    const auto [place, is_new] = places.emplace(token.id, kept.size());
    if (is_new) {
      kept.push_back(std::move(token));
      continue;
    }
    AddedToken& before = kept[place->second];
    token.special = token.special || before.special;
    before = std::move(token);
  }
  added = std::move(kept);
}

/// Lists the pieces by id. Errors: an id that two have, no piece at all.
Result<void> place_tokens(const std::string& vocabulary, Tokenizer::Implementation& it) {
  std::int32_t count = 0;
  for (const auto& [piece, id] : it.token_ids) count = std::max(count, id + 1);
  if (count == 0) return fail("{} is empty, expected at least one piece", vocabulary);
  it.pieces.resize(to_size(count));
  it.special.resize(to_size(count));
  std::vector<bool> taken(to_size(count));
  for (const auto& [piece, id] : it.token_ids) {
    const std::size_t index = to_size(id);
    if (taken[index])
      return fail("{}: {} and {} both have id {}, expected ids of their own", vocabulary,
                  quote(it.pieces[index]), quote(piece), id);
    taken[index] = true;
    it.pieces[index] = piece;
  }
  return {};
}

/// Numbers all tokens. Ids may have holes, but not many: a table has one row for each id.
Result<void> number_tokens(const JsonField& root, std::vector<AddedToken>& added,
                           Tokenizer::Implementation& it) {
  const std::string vocabulary = root["model"]["vocab"].name();
  it.token_ids = it.model.token_ids();
  constexpr std::size_t max_holes = std::size_t{1} << 16U;
  const std::size_t limit = it.token_ids.size() + max_holes;
  for (const auto& [piece, id] : it.token_ids) {
    if (to_size(id) >= limit)
      return fail("{}: {} has id {}, expected at most {} for {} pieces", vocabulary, quote(piece), id,
                  limit - 1, it.token_ids.size());
    it.model_vocab_size = std::max(it.model_vocab_size, id + 1);
  }
  number_added_tokens(root["added_tokens"], added, it);
  keep_last(added);
  return place_tokens(vocabulary, it);
}

}  // namespace

Result<void> index_added_tokens(const std::vector<AddedToken>& added, StepBudget& budget,
                                Tokenizer::Implementation& it) {
  for (const AddedToken& token : added) {
    if (token.special) it.special[static_cast<std::size_t>(token.id)] = true;
    if (!token.normalized) {
      DRAFTSCOPE_TRY(it.unnormalized_tokens.add(token.content, token));
      continue;
    }
    DRAFTSCOPE_TRY_ASSIGN(const auto spelling, it.normalizer.apply(token.content, budget));
    DRAFTSCOPE_TRY(it.normalized_tokens.add(spelling, token));
  }
  return {};
}

Result<void> check_piece_lengths(std::string_view label, const Tokenizer::Implementation& it) {
  constexpr std::size_t max_bytes = std::size_t{64} << 10U;
  std::size_t longest = 0;
  for (const std::string& piece : it.pieces) longest = std::max(longest, piece.size());
  const double decoded = static_cast<double>(longest) * decoded_growth(it.decoder);
  if (decoded > static_cast<double>(max_bytes))
    return fail("{}: a token of {} bytes becomes up to {:.3g} bytes by the decoder, expected at most {}",
                label, longest, decoded, max_bytes);
  return {};
}

Result<void> parse_tokenizer(std::string_view text, const std::string& label, Tokenizer::Implementation& it) {
  // Repeated keys are not looked for: in a vocabulary of 10⁵ pieces that would take longer than all the rest.
  DRAFTSCOPE_TRY_ASSIGN(const auto document, parse_python_json(text, label, PythonNaN::text));
  const JsonField root(document, label);
  DRAFTSCOPE_TRY(root.object());
  DRAFTSCOPE_TRY(expect_version(root));
  pass_over_length_rules(root, it);
  DRAFTSCOPE_TRY_ASSIGN(auto added, parse_added_tokens(root["added_tokens"]));
  DRAFTSCOPE_TRY_ASSIGN(it.normalizer, Normalizer::parse(root["normalizer"]));
  DRAFTSCOPE_TRY_ASSIGN(it.pre_tokenizer, PreTokenizer::parse(root["pre_tokenizer"]));
  DRAFTSCOPE_TRY_ASSIGN(it.model, BpeModel::parse(root["model"]));
  DRAFTSCOPE_TRY(number_tokens(root, added, it));
  StepBudget budget(label, text.size());
  DRAFTSCOPE_TRY(index_added_tokens(added, budget, it));
  DRAFTSCOPE_TRY_ASSIGN(it.post_processor, PostProcessor::parse(root["post_processor"],
                                                                static_cast<std::int32_t>(it.pieces.size())));
  DRAFTSCOPE_TRY_ASSIGN(it.decoder, parse_decoder(root["decoder"]));
  return check_piece_lengths(label, it);
}

}  // namespace draftscope::engine::tokenizer
