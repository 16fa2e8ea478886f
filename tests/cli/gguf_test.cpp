// SPDX-License-Identifier: GPL-3.0-or-later
// Commands on a GGUF file, as target and as draft: the recording says which model decoded.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "../value_of.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using testing::HasSubstr;

TEST(Gguf, IsRecordedAsWhatItIs) {
  const TemporaryFolder folder;
  // The model has one layer and twelve tokens, and its matrices have three types.
  const std::string model = (folder / "tiny.gguf").string();
  std::filesystem::copy_file(DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/gguf/llama", model);
  std::ofstream(folder / "prompts.jsonl") << R"({"turns": ["Hello"]})" << '\n';
  const auto trace = folder / "run.dstrace";
  expect_success(run_line(
      "record --model {} --prompts {} --strategy vanilla --strategy {} --max-tokens 8 --threads 1 --quiet "
      "--output {}",
      model, folder / "prompts.jsonl", "two-model:model=" + model + ",gamma=2", trace));

  const auto checkpoint = value_of(engine::load_gguf(model));
  auto reader = value_of(traces::Reader::open(trace));
  const auto recording = value_of(reader.recording());
  const traces::Meta& meta = recording.meta;
  EXPECT_EQ(meta.at("model"), "tiny");
  EXPECT_EQ(meta.at("model_path"), model);
  EXPECT_EQ(meta.at("checkpoint_hash"), checkpoint.hash);
  EXPECT_EQ(meta.at("dtype"), "bf16");
  EXPECT_THAT(meta.at("weights"), testing::MatchesRegex("q[458]_[01], q[458]_[01], q[458]_[01]"));
  EXPECT_GT(std::stoull(meta.at("weight_bytes")), 0U);
  EXPECT_LT(std::stoull(meta.at("bytes_a_step")), checkpoint.bytes_per_step());
  EXPECT_EQ(meta.at("stored_as"), checkpoint.stored_as);
  EXPECT_THAT(meta.at("stored_as"), testing::MatchesRegex("gguf Q[458]_[01], Q[458]_[01], Q[458]_[01]"));
  EXPECT_THAT(meta.at("model_shape"),
              HasSubstr(R"("architecture":"LlamaForCausalLM","n_layers":1,"d_model":32)"));
  EXPECT_THAT(meta.at("draft_model_shapes"), HasSubstr(R"("d_model":32)"));

  // The draft is the target, so every draft token is correct.
  for (const traces::Round& round : recording.rounds) EXPECT_EQ(round.accepted, round.drafted);
  EXPECT_EQ(recording.requests.at(0).text, recording.requests.at(1).text);

  EXPECT_THAT(printed_text("report {}", trace), HasSubstr("from " + meta.at("stored_as")));
}

}  // namespace
}  // namespace draftscope::cli
