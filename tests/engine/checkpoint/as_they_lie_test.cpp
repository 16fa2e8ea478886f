// SPDX-License-Identifier: GPL-3.0-or-later
// Folders whose tensors backends cannot read as they lie: not aligned, of several types, in files without an
// index, or beside tensors that the model is computed without.

#include <draftscope/engine/opening_notes.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "numbers/bf16.h"
#include "tensor_slots.h"
#include "tiny_checkpoint.h"

namespace draftscope::engine {
namespace {

using namespace draftscope::engine::tiny;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Notes = std::vector<std::string>;

constexpr const char* up_name = "model.layers.1.mlp.up_proj.weight";
constexpr const char* norm_name = "model.layers.1.input_layernorm.weight";

std::string stored_bytes(const TensorView& view) {
  return {reinterpret_cast<const char*>(view.data), view.bytes()};
}

void expect_tensors(const Checkpoint& checkpoint, std::vector<StoredTensor> stored) {
  for (const auto& [name, view] : named_tensors(checkpoint.shape, checkpoint.weights)) {
    EXPECT_EQ(stored_bytes(view), tensor_named(stored, name).bytes) << name;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data) % dtype_bytes(view.dtype), 0U) << name;
  }
}

TEST(UnalignedTensors, AreCopiedWhereverDataBegins) {
  for (const char* const dtype : {"BF16", "F16", "F32"})
    for (std::size_t padding = 0; padding < 8; ++padding) {
      const TemporaryFolder folder;
      const auto tensors = tiny_tensors(dtype);
      write_bytes(folder.path() / "config.json", tiny_config().dump());
      write_bytes(folder.path() / "model.safetensors", safetensors_file(tensors, padding));
      Notes notes;
      const auto checkpoint = load_checkpoint(folder.path(), BlockMatrices::widened, notes);
      ASSERT_TRUE(checkpoint) << checkpoint.error().message;
      expect_tensors(*checkpoint, tensors);
      EXPECT_TRUE(check_finite(*checkpoint));
      if (padding % dtype_bytes(checkpoint->weights.embedding.dtype) == 0) {
        EXPECT_THAT(notes, IsEmpty());
        continue;
      }
      std::size_t bytes = 0;
      for (const StoredTensor& tensor : tensors) bytes += tensor.bytes.size();
      EXPECT_THAT(
          notes, ElementsAre(HasSubstr(fmt::format("copied {} bytes of {} tensors", bytes, tensors.size()))));
    }
}

TEST(UnalignedTensors, LeaveTheOthersMapped) {
  auto tensors = tiny_tensors();
  tensors.insert(tensors.end() - 1, {"byte", "U8", {1}, std::string(1, '\0')});  // before the head
  Notes notes;
  expect_tensors(loaded_tiny(tensors, notes), tensors);
  EXPECT_THAT(
      notes, ElementsAre(HasSubstr("left out 1 tensor ('byte'"), HasSubstr("copied 160 bytes of 1 tensors")));
}

/// Bytes of numbers in a type of safetensors files.
std::string bytes_as(std::string_view dtype, const std::vector<double>& numbers) {
  std::string bytes;
  for (const double number : numbers) {
    const auto single = static_cast<float>(number);
    const std::uint16_t half = dtype == "F16" ? float_to_f16(single) : float_to_bf16(single);
    if (dtype == "F64")
      bytes.append(reinterpret_cast<const char*>(&number), 8);
    else if (dtype == "F32")
      bytes.append(reinterpret_cast<const char*>(&single), 4);
    else
      bytes.append(reinterpret_cast<const char*>(&half), 2);
  }
  return bytes;
}

/// Gives a tensor other numbers, in another type.
void replace(std::vector<StoredTensor>& tensors, std::string_view name, std::string_view dtype,
             const std::vector<double>& numbers) {
  StoredTensor& tensor = tensor_named(tensors, name);
  tensor.dtype = dtype;
  tensor.bytes = bytes_as(dtype, numbers);
}

std::vector<double> random_numbers(std::size_t count) {
  std::mt19937_64 random(20261128);
  std::vector<double> numbers(count);
  for (double& number : numbers) number = std::ldexp(static_cast<double>(random()), -66);  // below 2^-2
  return numbers;
}

TEST(MixedTypes, MatricesBecomeWhatMostOfTheLayersAre) {
  for (const char* const name : {"model.embed_tokens.weight", "lm_head.weight", up_name})
    for (const char* const stored : {"F32", "F64", "BF16"})
      for (const char* const others : {"BF16", "F16"}) {
        if (std::string_view(stored) == others) continue;
        auto tensors = tiny_tensors(others);
        const std::size_t count = tensor_named(tensors, name).bytes.size() / 2;
        replace(tensors, name, stored, random_numbers(count));
        Notes notes;
        const Checkpoint checkpoint = loaded_tiny(tensors, notes);
        EXPECT_THAT(notes,
                    ElementsAre(testing::StartsWith(fmt::format("converted 1 tensor ({}) from ", name))));
        if (std::string_view(stored) != "BF16") replace(tensors, name, others, random_numbers(count));
        for (const auto& [own, view] : named_tensors(checkpoint.shape, checkpoint.weights)) {
          EXPECT_EQ(view.dtype, checkpoint.weights.layers[0].q.dtype) << own;
          if (own == name && std::string_view(stored) == "BF16") continue;
          EXPECT_EQ(stored_bytes(view), tensor_named(tensors, own).bytes) << own << stored << others;
        }
      }
}

TEST(MixedTypes, AnEmbeddingThatIsLargerThanTheLayersFollowsThem) {
  auto config = tiny_config();
  config["vocab_size"] = 4000;
  auto tensors = tiny_tensors();
  for (const char* const name : {"model.embed_tokens.weight", "lm_head.weight"}) {
    tensor_named(tensors, name).shape[0] = 4000;
    replace(tensors, name, "F32", random_numbers(32'000));
  }
  EXPECT_EQ(loaded_tiny(tensors, config).weights.embedding.dtype, DType::bf16);
}

TEST(MixedTypes, ModelsInFp64AreComputedInFp32) {
  auto tensors = tiny_tensors("F32");
  for (StoredTensor& tensor : tensors) {
    const auto numbers = random_numbers(tensor.bytes.size() / 4);
    tensor.dtype = "F64";
    tensor.bytes = bytes_as("F64", numbers);
  }
  Notes notes;
  const Checkpoint checkpoint = loaded_tiny(tensors, notes);
  for (StoredTensor& tensor : tensors)
    tensor.bytes = bytes_as("F32", random_numbers(tensor.bytes.size() / 8));
  expect_tensors(checkpoint, tensors);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("from fp64 to fp32")));
}

/// A number just above the middle of two of 8 bits: rounding to fp32 first would lose that it is above.
TEST(MixedTypes, Fp64IsRoundedOnce) {
  auto tensors = tiny_tensors();
  std::vector<double> numbers(96, 1.0);
  numbers[0] = 1.0 + 0x1p-8 + 0x1p-40;
  numbers[1] = -1.0 - 0x1p-8;
  numbers[2] = 0x1p-133 * (0.5 + 0x1p-30);
  replace(tensors, up_name, "F64", numbers);
  const Checkpoint checkpoint = loaded_tiny(tensors);
  const std::string found = stored_bytes(checkpoint.weights.layers[1].up);
  EXPECT_EQ(found.substr(0, 6), bytes_as("BF16", {1.0 + 0x1p-7, -1.0, 0x1p-133}));
}

TEST(MixedTypes, ANumberThatTheTypeDoesNotHoldIsRefused) {
  auto tensors = tiny_tensors("F16");
  auto numbers = random_numbers(80);
  numbers[7] = 65536;
  replace(tensors, "lm_head.weight", "F32", numbers);
  EXPECT_THAT(refusal_of(tensors),
              HasSubstr("tensor lm_head.weight: element 7 is 65536, expected numbers that fp16 holds"));
}

TEST(MixedTypes, NormsKeepTheirTypesExceptFp64) {
  auto tensors = tiny_tensors();
  replace(tensors, norm_name, "F64", random_numbers(8));
  replace(tensors, "model.norm.weight", "F32", random_numbers(8));
  Notes notes;
  const Checkpoint checkpoint = loaded_tiny(tensors, notes);
  EXPECT_EQ(checkpoint.weights.layers[1].attention_norm.dtype, DType::f32);
  EXPECT_EQ(checkpoint.weights.layers[0].attention_norm.dtype, DType::bf16);
  EXPECT_EQ(checkpoint.weights.final_norm.dtype, DType::f32);
  EXPECT_THAT(notes, ElementsAre(fmt::format("converted 1 tensor ({}) from fp64 to fp32", norm_name)));
  replace(tensors, norm_name, "F64", {0, 0, 0, NAN, 0, 0, 0, 0});
  EXPECT_THAT(refusal_of(tensors), HasSubstr("element 3 is not finite"));
}

/// Writes parts without an index.
void write_parts(const std::filesystem::path& folder, std::size_t count) {
  const auto tensors = tiny_tensors();
  std::vector<std::vector<StoredTensor>> parts(count);
  for (std::size_t i = 0; i < tensors.size(); ++i) parts[i % count].push_back(tensors[i]);
  write_bytes(folder / "config.json", tiny_config().dump());
  for (std::size_t i = 0; i < count; ++i)
    write_bytes(folder / fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, count),
                safetensors_file(parts[i]));
}

TEST(PartsWithoutAnIndex, AreOneModelIfAllAreThere) {
  for (const std::size_t count : {1U, 2U, 3U}) {
    const TemporaryFolder folder;
    write_parts(folder.path(), count);
    const auto checkpoint = load_checkpoint(folder.path());
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    expect_tensors(*checkpoint, tiny_tensors());
  }
}

TEST(PartsWithoutAnIndex, AreRefusedIfOneIsMissingOrTwoSetsAreMixed) {
  const TemporaryFolder folder;
  write_parts(folder.path(), 3);
  std::filesystem::remove(folder.path() / "model-00002-of-00003.safetensors");
  EXPECT_THAT(load_checkpoint(folder.path()).error().message,
              HasSubstr("model-00002-of-00003.safetensors is missing, expected all 3 parts"));
  write_parts(folder.path(), 2);
  EXPECT_THAT(load_checkpoint(folder.path()).error().message, HasSubstr("found parts of two sets"));
}

TEST(PartsWithoutAnIndex, AreNumberedFromOneToTheirCount) {
  const TemporaryFolder folder;
  write_parts(folder.path(), 1);
  for (const char* const name : {"model-00000-of-00000.safetensors", "model-00002-of-00001.safetensors"}) {
    const std::filesystem::path file = folder.path() / "model-00001-of-00001.safetensors";
    std::filesystem::rename(file, folder.path() / name);
    EXPECT_THAT(load_checkpoint(folder.path()).error().message, HasSubstr("found no weights"));
    std::filesystem::rename(folder.path() / name, file);
  }
}

TEST(PartsWithoutAnIndex, HoldEachTensorOnce) {
  const TemporaryFolder folder;
  write_parts(folder.path(), 2);
  std::filesystem::copy_file(folder.path() / "model-00001-of-00002.safetensors",
                             folder.path() / "model-00002-of-00002.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(load_checkpoint(folder.path()).error().message,
              HasSubstr("' is in another part, too, expected it once"));
}

TEST(LeftOutTensors, AreCountedByTheirKinds) {
  auto tensors = tiny_tensors();
  for (const char* const name :
       {"model.layers.0.self_attn.k_scale", "model.layers.0.self_attn.v_proj.v_scale",
        "model.layers.1.self_attn.attn.q_scale", "model.layers.1.self_attn.prob_scale",
        "model.layers.1.self_attn.qkv_proj.kv_scale", "model.layers.0.mlp.up_proj.input_scale",
        "model.layers.2.eh_proj.weight", "model.mtp_layers.0.hidden_layernorm.weight", "mtp.fc.weight",
        "visual.patch", "model.layers.0.self_attn.rotary_emb.inv_freq"})
    tensors.push_back({name, "F32", {1}, std::string(4, '\0')});
  tensor_named(tensors, "visual.patch") = {"visual.patch", "I64", {1}, std::string(8, '\0')};
  Notes notes;
  (void)loaded_tiny(tensors, notes);
  EXPECT_THAT(notes,
              ElementsAre("left out 5 tensors ('model.layers.0.self_attn.k_scale', …): scales of a K/V "
                          "cache in fewer bits",
                          "left out 1 tensor ('model.layers.0.mlp.up_proj.input_scale'): scales of "
                          "activations, which are not rounded",
                          "left out 3 tensors ('model.layers.2.eh_proj.weight', …): layers that predict "
                          "further tokens",
                          "left out 1 tensor ('visual.patch'): parts that are not the decoder's",
                          "mtp cannot draft with the next-token layer: "
                          "'model.layers.2.input_layernorm.weight' is missing"));
  for (const char* const name : {"model.layers.1.self_attn.k_scales", "lm_head.bias", "model.norm.bias",
                                 "model.embed_norm.weight", "model.layers.x.weight"}) {
    tensors.push_back({name, "F32", {1}, std::string(4, '\0')});
    EXPECT_THAT(refusal_of(tensors),
                HasSubstr("found tensor '" + std::string(name) + "', expected those of"));
    tensors.pop_back();
  }
}

}  // namespace
}  // namespace draftscope::engine
