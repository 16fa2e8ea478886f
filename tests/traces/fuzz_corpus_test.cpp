// SPDX-License-Identifier: GPL-3.0-or-later
// Replays the seeds and findings of fuzzing without a fuzzer.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "sample.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace draftscope::traces {
namespace {

TEST(TraceFuzzCorpus, KeepsItsPropertiesOnEveryFile) {
  int count = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/trace")) {
    const std::string bytes = read_file(file.path());
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0)
        << file.path();
    ++count;
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace draftscope::traces
