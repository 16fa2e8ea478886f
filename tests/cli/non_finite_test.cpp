// SPDX-License-Identifier: GPL-3.0-or-later
// A model with a NaN among its weights: the rows recorded before a prompt reached it are kept, and the
// command reports its place.

#include <draftscope/engine/tokenizer.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../value_of.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* demo = DRAFTSCOPE_SOURCE_DIR "/models/demo-draft";

/// Writes a copy of the demo model whose embedding has a NaN for one token. Its head is a separate tensor, so
/// that only this token meets the NaN.
void write_model(const std::filesystem::path& folder, std::int32_t token) {
  std::filesystem::copy(demo, folder, std::filesystem::copy_options::recursive);
  json config = json::parse(bytes_of(folder / "config.json"));
  config["tie_word_embeddings"] = false;
  std::ofstream(folder / "config.json") << config;

  const std::string file = bytes_of(folder / "model.safetensors");
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
  json header = json::parse(file.substr(8, header_bytes));
  std::string data = file.substr(8 + header_bytes);
  json& embedding = header["model.embed_tokens.weight"];
  const std::size_t begin = embedding["data_offsets"][0];
  const std::size_t end = embedding["data_offsets"][1];
  header["lm_head.weight"] = embedding;
  header["lm_head.weight"]["data_offsets"] = {data.size(), data.size() + end - begin};
  data += data.substr(begin, end - begin);
  const std::size_t row_bytes = 2 * embedding["shape"][1].get<std::size_t>();
  const std::uint16_t nan = 0x7FC0;
  std::memcpy(&data[begin + static_cast<std::size_t>(token) * row_bytes], &nan, sizeof nan);
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  header_bytes = text.size();
  std::ofstream out(folder / "model.safetensors", std::ios::binary);
  out.write(reinterpret_cast<const char*>(&header_bytes), sizeof header_bytes);
  out << text << data;
}

TEST(RecordOfAModelWithANaN, KeepsTheRequestsBeforeItAndNamesTheTensor) {
  const TemporaryFolder folder;
  const std::string first = "def read(self):\n";
  const std::string second = "import struct\n";
  const auto tokenizer = value_of(engine::Tokenizer::load(demo));
  const auto tokens = tokenizer.encode(first, {});
  const auto others = tokenizer.encode(second, {});
  ASSERT_TRUE(tokens && others);
  const auto bad = std::find_if(others->begin(), others->end(), [&](std::int32_t token) {
    return std::find(tokens->begin(), tokens->end(), token) == tokens->end();
  });
  ASSERT_NE(bad, others->end());
  write_model(folder / "model", *bad);
  {
    std::ofstream prompts(folder / "prompts.jsonl");
    for (const std::string& prompt : {first, second})
      prompts << json{{"question_id", prompt == first ? 1 : 2}, {"category", "code"}, {"turns", {prompt}}}
              << '\n';
  }
  const std::string trace = (folder / "run.dstrace").string();
  for (const char* strategy : {"vanilla", "layerskip:exit=1"}) {
    // With one token, the decoded token is never an input.
    const CommandResult result = run_line(
        "record --model {} --prompts {} -s {} --max-tokens 1 --warmup 0 --threads 1 -q --overwrite -o {}",
        folder / "model", folder / "prompts.jsonl", strategy, trace);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("(prefill): 4096 of 4096 are not finite, first nan at token 0"));
    EXPECT_THAT(result.err, HasSubstr("the embedding is not finite (model.embed_tokens.weight holds nan)"));
    expect_success(run_line("inspect {} --validate", trace));
    auto reader = value_of(traces::Reader::open(trace));
    const auto recording = value_of(reader.recording());
    ASSERT_EQ(recording.requests.size(), 2U);
    EXPECT_EQ(recording.requests[0].stop, traces::RequestStop::length);
    EXPECT_EQ(recording.requests[0].tokens.size(), 1U);
    EXPECT_EQ(recording.requests[1].stop, traces::RequestStop::error);
    EXPECT_TRUE(recording.requests[1].tokens.empty());
  }
}

}  // namespace
}  // namespace draftscope::cli
