// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/gguf_sizes.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "gguf_bytes.h"
#include "temporary_folder.h"

namespace draftscope::engine::test {
namespace {

using draftscope::test::TemporaryFolder;

Result<std::string> sizes_of(const std::string& bytes) {
  const TemporaryFolder folder;
  draftscope::test::write_bytes(folder / "a.gguf", bytes);
  return gguf_sizes(folder / "a.gguf");
}

TEST(GgufSizes, AreOfAnyArchitecture) {
  GgufParts parts;
  parts.keys = {gguf_key("general.architecture", "rotor"),
                gguf_key("rotor.block_count", std::uint32_t{3}),
                gguf_key("rotor.attention.head_count_kv", std::vector<std::int32_t>{0, 2, 0}),
                gguf_key("rotor.rope.freq_base", 1e6F),
                gguf_key("other.block_count", std::uint32_t{9}),
                gguf_key("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"})};
  const auto sizes = sizes_of(parts.file());
  ASSERT_TRUE(sizes) << sizes.error().message;
  EXPECT_EQ(nlohmann::json::parse(*sizes),
            nlohmann::json::parse(R"({"architecture": "rotor", "block_count": 3, "vocab_size": 2,
              "attention.head_count_kv": [0, 2, 0]})"));
}

TEST(GgufSizes, OfDamagedFilesAreRefusedInOneLine) {
  const std::string file = tiny_gguf().file();
  for (std::size_t length = 0; length < 200; length += 7) {
    const auto sizes = sizes_of(file.substr(0, length));
    ASSERT_FALSE(sizes) << length;
    EXPECT_EQ(sizes.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace draftscope::engine::test
