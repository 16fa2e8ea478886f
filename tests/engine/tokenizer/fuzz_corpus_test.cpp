// SPDX-License-Identifier: GPL-3.0-or-later
// Replays, without a fuzzer, the inputs that fuzzing starts from and those that it once found.

#include <cstdint>
#include <filesystem>

#include "goldens.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace draftscope::engine {
namespace {

TEST(TokenizerFuzzCorpus, KeepsItsPropertiesOnEveryFile) {
  int count = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/tokenizer")) {
    std::ifstream stream(file.path(), std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(stream),
                                          std::istreambuf_iterator<char>()};
    EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0) << file.path();
    ++count;
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace draftscope::engine
