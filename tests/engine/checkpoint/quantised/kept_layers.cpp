// SPDX-License-Identifier: GPL-3.0-or-later
#include "kept_layers.h"

#include <draftscope/engine/cpu_backend.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "checkpoint/tensor_slots.h"
#include "tiny_checkpoint.h"

namespace draftscope::engine {

nlohmann::json one_layer_config(std::uint64_t width, std::uint64_t inner, nlohmann::json quantisation) {
  nlohmann::json config = tiny::tiny_config();
  config["hidden_size"] = width;
  config["num_hidden_layers"] = 1;
  config["intermediate_size"] = inner;
  config["vocab_size"] = 16;
  config["quantization_config"] = std::move(quantisation);
  return config;
}

Checkpoint opened(const std::filesystem::path& folder, BlockMatrices blocks) {
  auto checkpoint = load_checkpoint(folder, blocks);
  if (!checkpoint) throw std::runtime_error(checkpoint.error().message);
  return std::move(*checkpoint);
}

bool keeps_layers(const std::filesystem::path& folder, bool packs_head) {
  const Checkpoint widened = opened(folder, BlockMatrices::widened);
  const Checkpoint kept = opened(folder, BlockMatrices::cuda_as_stored);
  EXPECT_FALSE(widened.has_quantised());
  EXPECT_EQ(widened.why_widened, "");
  EXPECT_EQ(kept.why_widened.empty(), kept.has_quantised());
  EXPECT_EQ(kept.hash, widened.hash);
  EXPECT_EQ(kept.stored_as, widened.stored_as);
  EXPECT_TRUE(check_finite(kept));
  const auto expected = named_tensors(widened.shape, widened.weights);
  const auto found = named_tensors(kept.shape, kept.weights);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(numbers_of(found[i].view), numbers_of(expected[i].view)) << found[i].name;
    const bool is_of_layers = found[i].name.find("layers") != std::string::npos && found[i].view.rows > 1;
    const bool is_packed_head = packs_head && found[i].name == "lm_head.weight";
    EXPECT_EQ(found[i].view.quantised != nullptr, kept.has_quantised() && (is_of_layers || is_packed_head))
        << found[i].name;
  }
  return kept.has_quantised();
}

void expect_views_of_rows(const TensorView& tensor) {
  const std::vector<std::byte> all = numbers_of(tensor);
  const std::ptrdiff_t row_bytes = tensor.columns * static_cast<std::ptrdiff_t>(dtype_bytes(tensor.dtype));
  EXPECT_EQ(numbers_of(tensor.rows_from(77, 131)),
            std::vector(all.begin() + 77 * row_bytes, all.begin() + (77 + 131) * row_bytes));
}

void expect_none_for_the_cpu(const std::filesystem::path& folder) {
  const auto made = make_cpu_backend(opened(folder, BlockMatrices::cuda_as_stored), {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, testing::EndsWith("'s matrices are packed, expected them widened"));
}

}  // namespace draftscope::engine
