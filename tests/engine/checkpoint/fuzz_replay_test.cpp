// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "entries.h"

namespace draftscope::engine {
namespace {

std::filesystem::path corpus() {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/fuzz/corpus/safetensors";
}

/// Replays every input, and every input with one byte changed, as a fuzzer does in its first second. An entry
/// point ends the process if the parser breaks a promise, so the test passes by arriving here.
template <typename Entry>
std::size_t replay(const std::filesystem::path& folder, Entry entry) {
  std::size_t inputs = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(file.path(), std::ios::binary);
    std::string input{std::istreambuf_iterator<char>(stream), {}};
    entry(std::as_bytes(std::span(input)));
    for (char& byte : input) {
      const char kept = byte;
      for (const char damaged : {'\0', '9', '"', '}', static_cast<char>(kept ^ 0x80)}) {
        byte = damaged;
        entry(std::as_bytes(std::span(input)));
      }
      byte = kept;
    }
    ++inputs;
  }
  return inputs;
}

TEST(FuzzCorpus, HeaderParserKeepsItsPromises) {
  EXPECT_GE(replay(corpus() / "header", fuzz_safetensors_header), 14U);
}

TEST(FuzzCorpus, ConfigParserKeepsItsPromises) {
  EXPECT_GE(replay(corpus() / "config", fuzz_config), 9U);
}

}  // namespace
}  // namespace draftscope::engine
