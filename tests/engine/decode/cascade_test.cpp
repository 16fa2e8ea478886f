// SPDX-License-Identifier: GPL-3.0-or-later
// Tests a cascade's drafts: each token is what its drafter says after its path, however the tree was grown.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../strategies/kept_decode.h"
#include "toy_backend.h"

namespace draftscope::engine {
namespace {

using Tokens = std::vector<std::int32_t>;

KeptDecode decode_greedily(const ToyBackend::Options& options, const std::string& specification) {
  ToyBackend backend(options);
  const Tokens prompt{0, 1, 1, 0, 1};
  KeptDecode kept(prompt);
  expect_decoded(backend, specification, {.prompt = prompt, .max_new_tokens = 40}, kept);
  return kept;
}

/// Tokens of an exit after root and path, best first. The exit reads root and path one token per pass, after
/// the target's K/V.
Tokens best_of_exit(const ToyBackend::Options& options, std::int32_t exit, const Tokens& text,
                    std::int32_t root, const Tokens& path) {
  ToyBackend backend(options);
  Outputs outputs;
  std::vector<Row> rows;
  for (std::int32_t i = 0; i < root; ++i) {
    rows.assign(1, {.token = text[static_cast<std::size_t>(i)], .position = i});
    EXPECT_TRUE(backend.forward(
        {.rows = rows, .committed = i, .first_row = i, .layers = {0, options.n_layers}}, outputs));
  }
  const auto mask = speculation::SublayerMask::early_exit(options.n_layers, exit);
  for (std::size_t i = 0; i <= path.size(); ++i) {
    const std::int32_t position = root + static_cast<std::int32_t>(i);
    rows.assign(1,
                {.token = i == 0 ? text[static_cast<std::size_t>(root)] : path[i - 1], .position = position});
    EXPECT_TRUE(backend.forward({.rows = rows,
                                 .committed = position,
                                 .first_row = position,
                                 .mask = &mask,
                                 .layers = {0, exit},
                                 .wanted = {.head = true, .top_k = options.vocab}},
                                outputs));
  }
  Tokens best;
  for (const TopToken& token : outputs.top) best.push_back(token.token);
  return best;
}

Tokens path_to(const KeptRound& round, std::int32_t node) {
  Tokens path;
  for (std::int32_t at = node; at >= 0; at = round.draft_tokens[static_cast<std::size_t>(at)].parent)
    path.insert(path.begin(), round.draft_tokens[static_cast<std::size_t>(at)].token);
  return path;
}

/// Expects that every node that is no guess is among the `width` best tokens of one of the exits after its
/// path. Returns the number of siblings that were extended.
int expect_drafts_of(const ToyBackend::Options& options, const std::string& specification,
                     const std::vector<std::int32_t>& exits, std::size_t width) {
  const KeptDecode decoded = decode_greedily(options, specification);
  int nodes = 0;
  int off_spine = 0;
  for (const KeptRound& round : decoded.rounds) {
    const std::int32_t root = round.round.root_position;
    const auto& tokens = round.draft_tokens;
    std::set<std::int32_t> parents;
    for (const traces::DraftToken& token : tokens) {
      ++nodes;
      if (token.parent >= 0 && !parents.contains(tokens[static_cast<std::size_t>(token.parent)].index) &&
          std::any_of(tokens.begin(), tokens.begin() + token.parent, [&](const auto& other) {
            return other.parent == tokens[static_cast<std::size_t>(token.parent)].parent;
          }))
        ++off_spine;
      if (token.parent >= 0) parents.insert(token.parent);
      const Tokens path = path_to(round, token.parent);
      bool is_found = token.confidence == 1.0;  // confidence 1 marks a guess
      for (const std::int32_t exit : exits) {
        const Tokens best = best_of_exit(options, exit, decoded.text, root, path);
        is_found = is_found || std::find(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(width),
                                         token.token) != best.begin() + static_cast<std::ptrdiff_t>(width);
      }
      EXPECT_TRUE(is_found) << specification << ": node " << token.index << " at " << root;
    }
  }
  EXPECT_GT(nodes, 20) << specification;
  return off_spine;
}

TEST(Cascade, DraftsWhatItsLevelsSayAfterEachPath) {
  int off_spine = 0;
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    const ToyBackend::Options options{
        .vocab = 6, .n_layers = 8, .cache_rows = 200, .max_rows = 40, .seed = seed, .agreement = 0.7};
    const std::string fixed = ",costs=by-weights";
    expect_drafts_of(options, "cascade:levels=exit-2,siblings=0,match=0,gamma=6" + fixed, {2}, 1);
    expect_drafts_of(options, "cascade:levels=exit-2,siblings=0,match=3,gamma=6" + fixed, {2}, 1);
    const std::string wide = ",siblings=2,mass=1,nodes=30,step-length=2,gamma=4" + fixed;
    off_spine += expect_drafts_of(options, "cascade:levels=exit-1,match=0" + wide, {1}, 3);
    off_spine += expect_drafts_of(options, "cascade:levels=exit-1+exit-4,match=2" + wide, {1, 4}, 3);
  }
  EXPECT_GT(off_spine, 20);
}

}  // namespace
}  // namespace draftscope::engine
