// SPDX-License-Identifier: GPL-3.0-or-later
// A backend keeps the model it was made from, and says which weights it can prepare for drafts besides it.
// `auto` drafts with no other weights.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "decoded_text.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t room = 64;  // cache rows

class HeldModel : public testing::TestWithParam<TestedBackend> {
 protected:
  static std::unique_ptr<Backend> backend(const Checkpoint& checkpoint) {
    return GetParam().make(checkpoint, 2, room);
  }
  /// A random model. In odd trials its widths are multiples of 64, as formats with groups require.
  static Checkpoint checkpoint(Random& random, int trial) {
    speculation::ModelShape shape = GetParam().shape(random);
    shape.n_layers = 2;
    shape.sliding_window = 0;
    if (trial % 2 == 1) shape.d_model = shape.d_ff = 64;
    return random_checkpoint(shape, GetParam().dtype, random());
  }
};

std::vector<float> logits(Backend& backend, const OwnedBatch& rows) {
  return outputs_of(backend, rows.view()).logits;
}

TEST_P(HeldModel, OutlivesTheCheckpointThatItCameFrom) {
  Random random(41);
  auto checkpoint = std::make_unique<Checkpoint>(HeldModel::checkpoint(random, 1));
  const speculation::ModelShape shape = checkpoint->shape;
  const OwnedBatch rows = chain(shape, random, 5, 0);
  const std::vector<float> expected = logits(*backend(*checkpoint), rows);
  const auto alone = backend(*checkpoint);
  checkpoint->shape.n_layers += 7;  // a backend that still reads the checkpoint would see this
  checkpoint->weights.layers.clear();
  checkpoint.reset();
  EXPECT_EQ(alone->shape().n_layers, shape.n_layers);
  EXPECT_EQ(alone->shape().name, shape.name);
  EXPECT_EQ(logits(*alone, rows), expected);
  for (const speculation::WeightFormat format : alone->describe().draft_formats)
    EXPECT_TRUE(alone->prepare_draft_weights(format)) << speculation::weight_format_name(format);
}

TEST_P(HeldModel, MakesTheFormatsThatItNamesAndNoOthers) {
  Random random(42);
  std::size_t made = 0;
  for (int trial = 0; trial < 2; ++trial) {
    const auto backend = HeldModel::backend(checkpoint(random, trial));
    const std::vector<speculation::WeightFormat> named = backend->describe().draft_formats;
    for (const speculation::WeightFormatRow& row : speculation::weight_formats()) {
      const bool is_named = std::find(named.begin(), named.end(), row.format) != named.end();
      // A CPU makes e4m3, too, widened: such drafts read no fewer bytes, so that they are not named.
      const bool may_be_widened = !is_named && std::string_view(row.name).starts_with("fp8");
      EXPECT_TRUE(may_be_widened || backend->prepare_draft_weights(row.format).has_value() == is_named)
          << row.name;
      made += is_named ? 1 : 0;
    }
  }
  EXPECT_GT(made, 0U);
}

TEST_P(HeldModel, DraftsByAutoOnWeightsOfAnyTypeAndWidth) {
  Random random(43);
  std::string every = "auto:formats=";
  for (const speculation::WeightFormatRow& row : speculation::weight_formats())
    if (row.made_by != speculation::MadeBy::none)
      every += (every.ends_with('=') ? "" : "+") + std::string(row.name);
  for (int trial = 0; trial < 2; ++trial) {
    const auto backend = HeldModel::backend(checkpoint(random, trial));
    const std::vector<std::int32_t> prompt = random_prompt(random, backend->shape().vocab, 20);
    const DecodeRequest request{.prompt = prompt, .max_new_tokens = 20};
    const std::vector<std::int32_t> vanilla = text_under(*backend, "vanilla", request);
    EXPECT_EQ(vanilla.size(), 20U);
    EXPECT_EQ(text_under(*backend, "auto", request), vanilla);
    EXPECT_EQ(text_under(*backend, every, request), vanilla);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, HeldModel, testing::ValuesIn(tested_backends()),
                         [](const auto& parameters) { return parameters.param.name; });

}  // namespace
}  // namespace draftscope::engine::test
