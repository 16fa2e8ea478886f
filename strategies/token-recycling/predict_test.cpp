// SPDX-License-Identifier: GPL-3.0-or-later
// Guesses from the text, on a recording whose texts do not fit its model.
#include <draftscope/simulator/answers/what_if.h>
#include <gmock/gmock.h>

#include "answers/advice/learnt.h"
#include "tests/traces/sample.h"

namespace draftscope::simulator {
namespace {

TEST(ReplayedGuesses, AreRefusedWhereATextHasTokensThatTheVocabularyLacks) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "trace.dstrace";
  write_shadowed_recording({}, file);
  traces::change(file, "UPDATE meta SET value = json_set(value, '$.vocab', 9) WHERE key = 'model_shape'");
  const Learnt learnt = Learnt::from_file(file);
  for (const char* const strategy : {"prompt-lookup", "suffix-decoding", "token-recycling", "auto"}) {
    const auto rounds = learnt.what_if().rounds(strategy);
    ASSERT_FALSE(rounds) << strategy;
    EXPECT_THAT(rounds.error().message,
                testing::HasSubstr("expected 0 to 8 (the vocabulary of model_shape)"));
  }
}

}  // namespace
}  // namespace draftscope::simulator
