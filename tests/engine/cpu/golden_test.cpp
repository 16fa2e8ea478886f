// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the hidden states before every layer and the logits with Hugging Face transformers (goldens/ from
// make_goldens.py).

#include <draftscope/engine/checkpoint.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>

#include "backends.h"
#include "random_model.h"
#include "relative_error.h"

namespace draftscope::engine::test {
namespace {

std::filesystem::path goldens() {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/engine/cpu/goldens";
}

struct Expected {
  std::int32_t n_tokens = 0, n_layers = 0, d_model = 0, vocab = 0;
  std::vector<std::int32_t> tokens;
  std::vector<float> hidden, logits;
};

template <typename T>
void read(std::ifstream& file, std::vector<T>& values, std::int32_t count) {
  values.resize(static_cast<std::size_t>(count));
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

Expected load_expected(const std::string& name) {
  std::ifstream file(goldens() / name / "expected.bin", std::ios::binary);
  Expected expected;
  std::vector<std::int32_t> header;
  read(file, header, 4);
  expected.n_tokens = header[0];
  expected.n_layers = header[1];
  expected.d_model = header[2];
  expected.vocab = header[3];
  read(file, expected.tokens, header[0]);
  read(file, expected.hidden, header[1] * header[0] * header[2]);
  read(file, expected.logits, header[0] * header[3]);
  EXPECT_TRUE(file.good()) << name;
  return expected;
}

/// Runs the whole text as one batch and compares it with transformers' outputs in goldens/NAME.
void expect_outputs(const Checkpoint& checkpoint, const Expected& expected, const std::string& kernels) {
  const auto backend = make_backend(checkpoint, {.threads = 2, .cache_rows = 32, .kernels = kernels});
  OwnedBatch batch;
  for (std::int32_t i = 0; i < expected.n_tokens; ++i)
    batch.rows.push_back({expected.tokens[static_cast<std::size_t>(i)], -1, i});
  batch.layers = {0, expected.n_layers};
  for (std::int32_t layer = 0; layer < expected.n_layers; ++layer) batch.hidden_after.push_back(layer);
  batch.wanted.head = true;
  batch.wanted.logits = true;
  const Outputs outputs = outputs_of(*backend, batch.view());
  // In 16 bits transformers rounds every intermediate and the residual stream, while this backend rounds only
  // the inputs of products.
  const DType dtype = checkpoint.weights.embedding.dtype;
  const double tolerance = dtype == DType::f32 ? 1e-4 : (dtype == DType::bf16 ? 3e-2 : 1e-2);
  EXPECT_LT(largest_error(outputs.hidden, expected.hidden), tolerance);
  EXPECT_LT(largest_error(outputs.logits, expected.logits), tolerance);
}

class GoldenTest : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(GoldenTest, HiddenStatesAndLogitsAreThoseOfTransformers) {
  const auto [name, kernels] = GetParam();
  const Expected expected = load_expected(name);
  const auto checkpoint = load_checkpoint(goldens() / name);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  expect_outputs(*checkpoint, expected, kernels);
}

TEST(AdapterGolden, MergedWeightsGiveTheStatesAndLogitsOfTheAdaptedModel) {
  for (const auto& [base, adapter] :
       {std::pair{"llama-fp32", "llama-fp32-adapter"}, std::pair{"phi3-short", "phi3-short-adapter"}}) {
    SCOPED_TRACE(adapter);
    auto checkpoint = load_checkpoint(goldens() / base);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    const std::string hash = checkpoint->hash;
    const auto merged = merge_adapter(goldens() / adapter, *checkpoint);
    ASSERT_TRUE(merged) << merged.error().message;
    EXPECT_NE(checkpoint->hash, hash);
    EXPECT_EQ(checkpoint->shape.name, fmt::format("{}+{}", base, adapter));
    expect_outputs(*checkpoint, load_expected(adapter), "portable");
  }
}

INSTANTIATE_TEST_SUITE_P(
    EveryModel, GoldenTest,
    testing::Combine(testing::Values("llama-fp32", "llama-bf16", "llama-fp16", "tied-bias", "qwen2",
                                     "mistral-window", "rope-linear", "rope-dynamic", "rope-llama3",
                                     "rope-yarn", "qwen3", "smollm3", "granite", "olmo2", "phi3-short",
                                     "phi3-long", "phi3-blocks", "gemma2", "gemma3", "olmo3", "exaone4",
                                     "seed-oss", "hunyuan", "ministral3", "arcee", "apertus"),
                     testing::ValuesIn(kernel_names())),
    [](const auto& parameters) {
      return test_name(std::get<0>(parameters.param)) + "_" + test_name(std::get<1>(parameters.param));
    });

}  // namespace
}  // namespace draftscope::engine::test
