// SPDX-License-Identifier: GPL-3.0-or-later
// Verifications wider than one invariant pass are split into passes. Their text is vanilla's, and the
// published settings that need them run unchanged.

#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "decoded.h"

namespace draftscope::engine {
namespace {

struct Widest : DecodeListener {
  std::int32_t rows = 0;
  void on_round(const RoundReport& report) override { rows = std::max(rows, report.round.verify_rows); }
};

struct Wide {
  std::string specification;
  std::int32_t rows;  ///< minimum rows of the widest verification
  std::int32_t tokens = 30;
};

TEST(WideVerifications, HaveTheTextOfVanilla) {
  std::mt19937 random(19);
  for (const bool sampled : {false, true}) {
    Checkpoint checkpoint = random_checkpoint(random);
    while (checkpoint.shape.n_layers < 3 || checkpoint.shape.vocab < 12)
      checkpoint = random_checkpoint(random);
    const auto backend = cpu_backend(checkpoint, 1, 1400);
    EXPECT_EQ(backend->max_verified_rows(), max_verification_rows);
    const auto prompt = random_tokens(random, 40, checkpoint.shape.vocab);
    DecodeRequest request{.prompt = prompt};
    if (sampled) request.sampling = {.temperature = 0.7, .top_p = 0.95, .coupled = true};
    // SWIFT "without early stop" drafts 25 steps of up to 10 siblings. The last case is lookahead's defaults.
    for (const Wide& wide :
         {Wide{"mix:mask=exit,exit=2,shape=tree,widths=greedy-code,gamma=25,stop=none", 76},
          Wide{"swift:threshold=0,widths=greedy-code", 76}, Wide{"layerskip:exit=2,gamma=70", 71, 72},
          Wide{"layerskip:exit=2,gamma=70,verify=all-layers", 71, 72}, Wide{"del:d-max=70,exits=1-2", 1, 72},
          Wide{"del:d-max=70,verify=all-layers", 1, 72}, Wide{"jacobi:block=255", 100, 102},
          Wide{"lookahead:window=60,ngram=8,guesses=60", 420}}) {
      SCOPED_TRACE(wide.specification);
      request.max_new_tokens = wide.tokens;
      Widest widest;
      EXPECT_EQ(expect_decoded(*backend, wide.specification, request, widest).tokens,
                decode_with(*backend, "vanilla", request).tokens);
      EXPECT_GE(widest.rows, wide.rows);
    }
  }
}

}  // namespace
}  // namespace draftscope::engine
