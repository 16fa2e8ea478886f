// SPDX-License-Identifier: GPL-3.0-or-later
// Replays, without a fuzzer, the inputs that a fuzzer of traces starts from and those that it once found.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "../temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace draftscope::fuzz {
namespace {

// The entry point ends the process if a promise is broken.
TEST(FuzzSeeds, KeepTheirPromises) {
  int count = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/" DRAFTSCOPE_SEEDS)) {
    const std::string bytes = test::bytes_of(file.path());
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0)
        << file.path();
    ++count;
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace draftscope::fuzz
