// SPDX-License-Identifier: GPL-3.0-or-later
// Every round's guesses are compared with the two public functions, step by step over the whole text.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "followed.h"

namespace draftscope::engine {
namespace {

struct Setting {
  std::size_t ngram;
  std::size_t smallest;
  std::size_t length;
  std::string match;
  bool published;
};

bool same(const Tokens& text, std::size_t a, std::size_t b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    if (text[a + i] != text[b + i]) return false;
  return true;
}

/// The start of the guesses in the text; the text's size if nothing matches.
std::size_t expected_start(const Tokens& text, const Setting& setting) {
  const std::size_t tokens = text.size();
  std::size_t largest = setting.match == "longest" ? tokens - 1 : std::min(setting.ngram, tokens - 1);
  for (std::size_t size = largest; size >= setting.smallest; --size) {
    std::size_t found = tokens;
    for (std::size_t at = 0; at + size < tokens; ++at) {
      const std::size_t start = at + size;
      if (!same(text, at, tokens - size, size)) continue;
      if (setting.published && start + setting.length > tokens) continue;
      if (setting.published && setting.match != "longest" && start + size >= tokens) continue;
      if (found == tokens || setting.match == "latest") found = start;
    }
    if (found < tokens) return found;
  }
  return tokens;
}

Tokens expected_guesses(const Tokens& text, const Setting& setting, const Tokens& eos, std::int32_t vocab) {
  const std::size_t start = expected_start(text, setting);
  if (start == text.size()) return setting.published ? Tokens{std::min(100, vocab - 1)} : Tokens{};
  Tokens guesses;
  for (std::size_t i = start; i < std::min(text.size(), start + setting.length); ++i) {
    if (!setting.published && std::find(eos.begin(), eos.end(), text[i]) != eos.end()) break;
    guesses.push_back(text[i]);
  }
  return guesses;
}

TEST(PromptLookup, GuessesWhatTheReadingSays) {
  Random random(34);
  std::size_t guessed = 0;
  std::size_t accepted = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const ToyBackend::Options options{.vocab = pick(random, 2, 150) / pick(random, 1, 30) + 2,
                                      .n_layers = 2,
                                      .cache_rows = pick(random, 20, 120),
                                      .max_rows = pick(random, 2, 40),
                                      .seed = static_cast<std::uint32_t>(random())};
    Setting setting{
        .ngram = static_cast<std::size_t>(pick(random, 1, 5)),
        .smallest = 1,
        .length = static_cast<std::size_t>(pick(random, 1, 12)),
        .match = std::vector<std::string>{"leftmost", "latest",
                                          "longest"}[static_cast<std::size_t>(pick(random, 0, 2))],
        .published = pick(random, 0, 1) == 0};
    setting.smallest = static_cast<std::size_t>(pick(random, 1, static_cast<std::int32_t>(setting.ngram)));
    const std::string specification = fmt::format(
        "prompt-lookup:ngram={},smallest-ngram={},length={},match={},reading={}", setting.ngram,
        setting.smallest, setting.length, setting.match, setting.published ? "published" : "transformers");
    const Tokens prompt = random_text(random, pick(random, 1, 20), options.vocab);
    const Tokens eos = random_text(random, pick(random, 0, 1), options.vocab);
    follow(options, specification, {.prompt = prompt, .max_new_tokens = 80, .eos_tokens = eos},
           [&](const SeenRound& round) {
             const Tokens text(round.view.text.begin(), round.view.text.end());
             Tokens guesses;
             for (const Proposal& proposal : round.plan.proposals) {
               EXPECT_EQ(proposal.parent, static_cast<std::int32_t>(guesses.size()) - 1);
               guesses.push_back(proposal.token);
             }
             EXPECT_EQ(guesses, expected_guesses(text, setting, eos, options.vocab)) << specification;
             guessed += guesses.size();
             accepted += round.outcome.accepted_nodes.size();
           });
  }
  EXPECT_GT(guessed, 20000U);
  EXPECT_GT(accepted, 1000U);
}

}  // namespace
}  // namespace draftscope::engine
