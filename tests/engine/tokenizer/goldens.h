// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/tokenizer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace draftscope::engine::goldens {

inline constexpr std::array kinds{"llama3",
                                  "gpt2",
                                  "gpt4",
                                  "qwen2",
                                  "deepseek_coder",
                                  "prefix_space",
                                  "llama2",
                                  "metaspace_first",
                                  "metaspace_fused_unknown",
                                  "metaspace_unknown",
                                  "partial_bytes",
                                  "split_behaviors"};

inline std::string read(const std::string& name) {
  const std::string path = DRAFTSCOPE_SOURCE_DIR "/tests/engine/tokenizer/goldens/" + name;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline nlohmann::json read_json(const std::string& name) {
  return nlohmann::json::parse(read(name));
}

inline Tokenizer tokenizer(const std::string& kind) {
  auto parsed = Tokenizer::parse(read(kind + ".tokenizer.json"));
  if (!parsed) throw std::runtime_error(kind + ": " + parsed.error().message);
  return *std::move(parsed);
}

using Ids = std::vector<std::int32_t>;

}  // namespace draftscope::engine::goldens
