// SPDX-License-Identifier: GPL-3.0-or-later
// Prompt lookup: what followed the last few tokens where they stood before, in prompt or output, is guessed
// to follow again.
// Sources: Saxena, "Prompt Lookup Decoding" (2023), whose public code demands a continuation of the full
// length and guesses one fixed token where nothing matches; PromptLookupCandidateGenerator of transformers,
// which takes shorter continuations, ends them before an end-of-text token and else guesses nothing.

#include <algorithm>
#include <optional>

#include "strategies/ngram_index.h"
#include "strategies/strategies.h"
#include "strategies/suffix_automaton.h"

namespace draftscope::engine {

namespace {

enum class Match : std::uint8_t { leftmost, latest, longest };

struct Settings {
  std::int32_t ngram = 3;
  std::int32_t smallest_ngram = 1;
  std::int32_t length = 10;
  Match match = Match::leftmost;
  bool published = true;  ///< otherwise as transformers does
};

class PromptLookup final : public Strategy {
 public:
  PromptLookup(const Settings& settings, const speculation::ModelShape& shape)
      : settings_(settings),
        context_(static_cast<std::size_t>(shape.max_positions)),
        no_match_(std::min(100, shape.vocab - 1)) {
    if (settings.match != Match::longest)
      for (std::int32_t size = settings.ngram; size >= settings.smallest_ngram; --size)
        indices_.emplace_back(size);
    proposals_.reserve(static_cast<std::size_t>(settings.length));
  }

  void begin_request(const RequestView& request) override {
    eos_.assign(request.eos_tokens.begin(), request.eos_tokens.end());
    const std::size_t tokens = std::max(
        request.prompt.size(),
        std::min(context_, request.prompt.size() + static_cast<std::size_t>(request.max_new_tokens)));
    for (NgramIndex& index : indices_) index.begin(tokens);
    if (settings_.match == Match::longest) automaton_.begin(tokens);
    extend(request.prompt);
  }

  RoundPlan plan(const RoundView& round) override {
    extend(round.text);
    proposals_.clear();
    if (const auto start = find(static_cast<std::int32_t>(round.text.size()))) {
      guess(round.text.subspan(static_cast<std::size_t>(*start)));
    } else if (settings_.published) {
      proposals_.push_back({no_match_, -1});
    }
    return {.origin = "prompt lookup", .proposals = proposals_};
  }

 private:
  void extend(std::span<const std::int32_t> text) {
    for (NgramIndex& index : indices_) index.extend(text);
    if (settings_.match == Match::longest) automaton_.extend(text);
  }

  /// Where in a text of `tokens` the continuation starts.
  [[nodiscard]] std::optional<std::int32_t> find(std::int32_t tokens) const {
    const std::int32_t most = settings_.published ? tokens - settings_.length : tokens - 1;
    if (settings_.match == Match::longest) {
      const auto match = automaton_.longest(most);
      if (!match || match->length < settings_.smallest_ngram) return std::nullopt;
      return match->behind;
    }
    for (const NgramIndex& index : indices_) {
      // The public code's guard against the text's end matching itself.
      const std::int32_t last = settings_.published ? std::min(most, tokens - index.size() - 1) : most;
      const std::int32_t start =
          settings_.match == Match::leftmost ? index.behind_leftmost() : index.behind_latest(last);
      if (start >= 0 && start <= last) return start;
    }
    return std::nullopt;
  }

  void guess(std::span<const std::int32_t> continuation) {
    for (const std::int32_t token : continuation) {
      const auto guesses = static_cast<std::int32_t>(proposals_.size());
      if (guesses == settings_.length) break;
      if (!settings_.published && std::find(eos_.begin(), eos_.end(), token) != eos_.end()) break;
      proposals_.push_back({token, guesses - 1});
    }
  }

  Settings settings_;
  std::size_t context_;
  std::int32_t no_match_;
  std::vector<std::int32_t> eos_;
  std::vector<NgramIndex> indices_;  // the largest n first
  SuffixAutomaton automaton_;
  std::vector<Proposal> proposals_;
};

Result<std::unique_ptr<Strategy>> make_prompt_lookup(Parameters& parameters,
                                                     const speculation::ModelShape& shape,
                                                     const StrategyResources& /*resources*/) {
  Settings settings;
  DRAFTSCOPE_TRY_ASSIGN(settings.ngram, parameters.integer("ngram", 1, 16));
  DRAFTSCOPE_TRY_ASSIGN(settings.smallest_ngram, parameters.integer("smallest-ngram", 1, settings.ngram));
  DRAFTSCOPE_TRY_ASSIGN(settings.length, parameters.integer("length", 1, 63));
  DRAFTSCOPE_TRY_ASSIGN(const std::string match,
                        parameters.one_of("match", {"leftmost", "latest", "longest"}));
  settings.match = match == "leftmost" ? Match::leftmost : match == "latest" ? Match::latest : Match::longest;
  DRAFTSCOPE_TRY_ASSIGN(const std::string reading,
                        parameters.one_of("reading", {"published", "transformers"}));
  settings.published = reading == "published";
  return std::make_unique<PromptLookup>(settings, shape);
}

}  // namespace

StrategyEntry prompt_lookup_entry() {
  return {
      .description =
          {.name = "prompt-lookup",
           .summary = "guesses that what followed the last tokens before, in prompt or output, follows again",
           .source = "Saxena 2023, Prompt Lookup Decoding; transformers, PromptLookupCandidateGenerator",
           .parameters =
               {{"ngram", "3", "tokens", "the longest end of the text that is looked up; transformers: 2"},
                {"smallest-ngram", "1", "tokens", "the shortest, tried when no longer one is found"},
                {"length", "10", "tokens", "guesses a round"},
                {"match", "leftmost", "",
                 "which occurrence of an n-gram: leftmost, latest, or longest: the leftmost of the longest "
                 "end of the text, of smallest-ngram tokens or more, that occurred before, whatever ngram "
                 "says"},
                {"reading", "published", "",
                 "published: only continuations of the full length, and token 100 as the one guess where "
                 "nothing matches; transformers: shorter continuations too, ended before an end-of-text "
                 "token, and no guess where nothing matches"}}},
      .make = make_prompt_lookup};
}

}  // namespace draftscope::engine
