// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/tokenizer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "../../temporary_folder.h"

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

/// The bytes of a file under tests/.
inline std::string read_test_file(const std::string& name) {
  std::string bytes = draftscope::test::bytes_of(DRAFTSCOPE_SOURCE_DIR "/tests/" + name);
  EXPECT_FALSE(bytes.empty()) << name;
  return bytes;
}

inline std::string read(const std::string& name) {
  return read_test_file("engine/tokenizer/goldens/" + name);
}

/// The chat template that a seed of the fuzzers begins with.
inline std::string chat_template(const std::string& name) {
  const std::string seed = read_test_file("fuzz/corpus/chat/" + name);
  return seed.substr(0, seed.find('\0'));
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
