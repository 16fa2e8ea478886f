// SPDX-License-Identifier: GPL-3.0-or-later
// Replays, without a fuzzer, the inputs that fuzzing starts from and those that it once found, each also with
// single bytes changed, as a fuzzer does in its first second.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "../temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace draftscope::fuzz {
namespace {

void replay(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

// The entry point ends the process if a promise is broken, so the test passes by arriving here.
TEST(FuzzCorpus, KeepsItsPromisesOnEveryFile) {
  const std::filesystem::path corpus(DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/" DRAFTSCOPE_SEEDS);
  int files = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(corpus)) {
    if (!file.is_regular_file()) continue;
    std::string input = test::bytes_of(file.path());
    replay(input);
    const std::size_t end = std::min<std::size_t>(input.size(), 1400);
    for (std::size_t at = 0; at < end; at += 1 + end / 300) {
      const char kept = input[at];
      for (const char damaged : {'\0', '9', '"', '}', '\x7F', static_cast<char>(kept ^ 0x80)}) {
        input[at] = damaged;
        replay(input);
      }
      input[at] = kept;
    }
    ++files;
  }
  EXPECT_GE(files, 5);
}

}  // namespace
}  // namespace draftscope::fuzz
