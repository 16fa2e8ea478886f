// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuning/known_texts.h"

#include <draftscope/engine/decode.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace draftscope::engine {

namespace {

constexpr std::int32_t word_bits = 64;

std::int32_t widest_pass(const Backend& backend) {
  return std::min(backend.max_invariant_rows(), backend.max_rows());
}

/// First layer of which the mask skips a sublayer; n_layers if it skips nothing.
std::int32_t first_skipping_layer(const speculation::SublayerMask& mask) {
  std::int32_t layer = 0;
  while (layer < mask.n_layers() && mask.runs_attention(layer) && mask.runs_mlp(layer)) ++layer;
  return layer;
}

void set_bits(std::span<std::uint64_t> words, std::int32_t begin, std::int32_t end) {
  for (std::int32_t bit = begin; bit < end; ++bit)
    words[static_cast<std::size_t>(bit / word_bits)] |= std::uint64_t{1} << (bit % word_bits);
}

/// Max cache rows needed by texts of these prompts, including the rows of passes over them.
std::int64_t rows_for(const ScoringSetup& setup) {
  return std::accumulate(setup.prompts.begin(), setup.prompts.end(), std::int64_t{widest_pass(setup.backend)},
                         [&](std::int64_t rows, const std::vector<std::int32_t>& prompt) {
                           return rows + static_cast<std::int64_t>(prompt.size()) + setup.max_tokens;
                         });
}

/// Indices below `count` in order of their reversed bits: the first few are spread over all.
std::vector<std::size_t> spread_order(std::size_t count) {
  std::vector<std::size_t> order;
  order.reserve(count);
  std::size_t bits = 0;
  while (std::size_t{1} << bits < count) ++bits;
  for (std::size_t i = 0; i < std::size_t{1} << bits; ++i) {
    std::size_t reversed = 0;
    for (std::size_t bit = 0; bit < bits; ++bit) reversed |= (i >> bit & 1U) << (bits - 1 - bit);
    if (reversed < count) order.push_back(reversed);
  }
  return order;
}

}  // namespace

KnownTexts::KnownTexts(const ScoringSetup& setup)
    : setup_(&setup), scratch_(setup.backend.cache_rows() - widest_pass(setup.backend)), lowest_(scratch_) {}

std::size_t KnownTexts::width() const {
  return static_cast<std::size_t>(widest_pass(setup_->backend));
}

Result<std::optional<KnownTexts>> KnownTexts::decode(const ScoringSetup& setup) {
  if (const std::int64_t rows = rows_for(setup); rows > setup.backend.cache_rows())
    return fail(
        "prompts: their texts take {} rows of the K/V cache, expected at most {} (--context gives more, "
        "--limit takes fewer prompts)",
        rows, setup.backend.cache_rows());
  KnownTexts texts(setup);
  for (const std::size_t prompt : spread_order(setup.prompts.size())) {
    DRAFTSCOPE_TRY_ASSIGN(const bool went_on, texts.add(setup.prompts[prompt]));
    if (!went_on) return std::nullopt;
  }
  DRAFTSCOPE_TRY(texts.keep_states());
  return std::optional(std::move(texts));
}

/// Decodes into the cache's first rows, then moves the rows to a place after those of later texts. The
/// prompt's K/V stays as decode() wrote it, since wide passes round differently from narrow ones.
Result<bool> KnownTexts::add(std::span<const std::int32_t> prompt) {
  Backend& backend = setup_->backend;
  DRAFTSCOPE_TRY_ASSIGN(auto vanilla, make_strategy("vanilla", setup_->checkpoint.shape));
  SeededChooser chooser(0, 0);  // Greedy decoding draws nothing.
  DecodeListener nobody;
  DRAFTSCOPE_TRY_ASSIGN(const DecodeResult decoded,
                        engine::decode(backend, *vanilla.strategy,
                                       {.prompt = prompt,
                                        .max_new_tokens = setup_->max_tokens,
                                        .sampling = {},
                                        .eos_tokens = setup_->checkpoint.shape.eos_tokens,
                                        .cancelled = setup_->cancelled},
                                       chooser, nobody));
  if (decoded.stop == traces::RequestStop::cancelled) return false;
  KnownText text{.tokens = {prompt.begin(), prompt.end()},
                 .prompt_size = static_cast<std::int32_t>(prompt.size()),
                 .first = places_.size()};
  text.tokens.insert(text.tokens.end(), decoded.tokens.begin(), decoded.tokens.end());
  // If the budget ended the text, its last token has no known successor; otherwise the end token follows it.
  const bool ended = decoded.stop == traces::RequestStop::eos;
  text.count = ended || decoded.tokens.empty() ? decoded.tokens.size() : decoded.tokens.size() - 1;
  const auto size = static_cast<std::int32_t>(text.tokens.size());
  lowest_ -= size;
  text.first_cache_row = lowest_;
  std::vector<CacheMove> moves;
  moves.reserve(text.tokens.size());
  // Moves begin with the last row: rows move up, and the two places may overlap.
  for (std::int32_t row = size - 1; row >= 0; --row) moves.push_back({row, lowest_ + row});
  DRAFTSCOPE_TRY(backend.move_cache_rows(moves));
  for (std::size_t i = 0; i < text.count; ++i)
    places_.push_back({texts_.size(), text.prompt_size + static_cast<std::int32_t>(i)});
  texts_.push_back(std::move(text));
  return true;
}

void KnownTexts::list_rows(std::size_t begin, std::size_t end) {
  rows_.clear();
  for (std::size_t i = begin; i < end; ++i) {
    const TokenPlace& place = places_[i];
    rows_.push_back({.token = texts_[place.text].tokens[static_cast<std::size_t>(place.position)],
                     .hidden = -1,
                     .position = place.position});
  }
}

/// Lists the rows that each row attends to: the K/V rows of its own text before it.
void KnownTexts::list_ancestors(std::size_t begin, std::size_t end) {
  const auto count = end - begin;
  const auto words = (static_cast<std::size_t>(scratch_) + count + word_bits - 1) / word_bits;
  ancestors_.assign(words * count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const TokenPlace& place = places_[begin + i];
    const std::int32_t first = texts_[place.text].first_cache_row;
    set_bits(std::span(ancestors_).subspan(i * words, words), first, first + place.position);
  }
}

Result<void> KnownTexts::keep_states() {
  const speculation::ModelShape& shape = setup_->backend.shape();
  const auto d_model = static_cast<std::size_t>(shape.d_model);
  const auto layers = static_cast<std::size_t>(shape.n_layers);
  std::vector<std::int32_t> boundaries(layers);
  std::iota(boundaries.begin(), boundaries.end(), 1);
  states_.resize(layers * places_.size() * d_model);
  next_.reserve(places_.size());
  for (std::size_t begin = 0; begin < places_.size(); begin += width()) {
    const std::size_t end = std::min(begin + width(), places_.size());
    list_rows(begin, end);
    list_ancestors(begin, end);
    DRAFTSCOPE_TRY(setup_->backend.forward({.rows = rows_,
                                            .committed = 0,
                                            .first_row = scratch_,
                                            .ancestors = ancestors_,
                                            .layers = {0, shape.n_layers},
                                            .wanted = {.hidden_after = boundaries, .head = true, .top_k = 1}},
                                           outputs_));
    const std::size_t values = (end - begin) * d_model;
    for (std::size_t layer = 0; layer < layers; ++layer)
      std::copy_n(outputs_.hidden.begin() + static_cast<std::ptrdiff_t>(layer * values), values,
                  states_.begin() + static_cast<std::ptrdiff_t>((layer * places_.size() + begin) * d_model));
    for (const TopToken& best : outputs_.top) next_.push_back(best.token);
  }
  return {};
}

Result<void> KnownTexts::predict(const DraftSubmodel& draft, std::size_t begin, std::size_t end,
                                 std::vector<TopToken>& best) {
  const auto d_model = static_cast<std::size_t>(setup_->backend.shape().d_model);
  list_rows(begin, end);
  const std::int32_t from = draft.weights ? 0 : first_skipping_layer(draft.mask);
  std::span<const float> states;
  if (from > 0) {
    const std::size_t first = (static_cast<std::size_t>(from) - 1) * places_.size() + begin;
    states = std::span(states_).subspan(first * d_model, rows_.size() * d_model);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].token = -1;
      rows_[i].hidden = static_cast<std::int32_t>(i);
    }
  }
  const std::int32_t exit = std::max(from, draft.mask.exit_layer());
  if (exit > from)
    list_ancestors(begin, end);
  else
    ancestors_.clear();
  DRAFTSCOPE_TRY(setup_->backend.forward({.rows = rows_,
                                          .hidden = states,
                                          .committed = 0,
                                          .first_row = scratch_,
                                          .ancestors = ancestors_,
                                          .mask = &draft.mask,
                                          .layers = {from, exit},
                                          .wanted = {.head = true, .top_k = 1},
                                          .weights = draft.weights},
                                         outputs_));
  best.insert(best.end(), outputs_.top.begin(), outputs_.top.end());
  return {};
}

}  // namespace draftscope::engine
