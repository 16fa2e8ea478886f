// SPDX-License-Identifier: GPL-3.0-or-later
#include "kept_layers.h"

#include <draftscope/engine/cpu_backend.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "checkpoint/tensor_slots.h"

namespace draftscope::engine {

std::string OneLayer::bytes(std::size_t n) {
  std::string all(n, '\0');
  for (char& byte : all) byte = static_cast<char>(random_());
  return all;
}

std::string OneLayer::numbers(std::size_t n, std::string_view dtype) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t value = (random_() % 2 << 31U) + 0x3c000000U + (random_() % 0x200U << 16U);
    if (dtype == "F32") {
      all.append(reinterpret_cast<const char*>(&value), 4);
      continue;
    }
    std::uint16_t half = static_cast<std::uint16_t>(value >> 16U);
    if (dtype == "F16")  // seven bits of mantissa and five of exponent
      half = static_cast<std::uint16_t>((half & 0x8000U) | 0x2000U | (half & 0x1ffU) << 3U);
    all.append(reinterpret_cast<const char*>(&half), 2);
  }
  return all;
}

void OneLayer::add_plain(const std::string& name, std::vector<std::uint64_t> shape) {
  std::size_t n = 1;
  for (const auto extent : shape) n *= extent;
  tensors_.push_back({name, plain_, std::move(shape), numbers(n, plain_)});
}

void OneLayer::write(const std::filesystem::path& folder, nlohmann::json quantisation,
                     const std::function<void(const std::string&, std::uint64_t, std::uint64_t)>& matrix) {
  add_plain("model.embed_tokens.weight", {16, width_});
  matrix("lm_head", 16, width_);
  add_plain("model.norm.weight", {width_});
  const std::string layer = "model.layers.0.";
  add_plain(layer + "input_layernorm.weight", {width_});
  add_plain(layer + "post_attention_layernorm.weight", {width_});
  for (const char* const query : {"q_proj", "o_proj"}) matrix(layer + "self_attn." + query, width_, width_);
  for (const char* const key : {"k_proj", "v_proj"}) matrix(layer + "self_attn." + key, width_ / 2, width_);
  for (const char* const wide : {"gate_proj", "up_proj"}) matrix(layer + "mlp." + wide, inner_, width_);
  matrix(layer + "mlp.down_proj", width_, inner_);
  nlohmann::json config = tiny::tiny_config();
  config["hidden_size"] = width_;
  config["num_hidden_layers"] = 1;
  config["intermediate_size"] = inner_;
  config["vocab_size"] = 16;
  config["quantization_config"] = std::move(quantisation);
  tiny::write_tiny_checkpoint(folder, config, tensors_);
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
