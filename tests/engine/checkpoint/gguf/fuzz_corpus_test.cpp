// SPDX-License-Identifier: GPL-3.0-or-later
// Replays the fuzzing corpus without a fuzzer, with some bytes changed.

#include <gtest/gtest.h>

#include <cstdint>

#include "gguf_goldens.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace draftscope::engine::test {
namespace {

void replay(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

// The entry point ends the process if a promise is broken, so the test passes by arriving here.
TEST(GgufFuzzCorpus, KeepsItsPromisesOnEveryFile) {
  int count = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/gguf")) {
    std::string input = bytes_of(file.path());
    replay(input);
    for (std::size_t at = 0; at < std::min<std::size_t>(input.size(), 1400); at += 5) {
      const char kept = input[at];
      for (const char damaged : {'\0', '\x7F', static_cast<char>(kept ^ 0x80)}) {
        input[at] = damaged;
        replay(input);
      }
      input[at] = kept;
    }
    ++count;
  }
  EXPECT_GE(count, 11);
}

}  // namespace
}  // namespace draftscope::engine::test
