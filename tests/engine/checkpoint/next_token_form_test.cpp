// SPDX-License-Identifier: GPL-3.0-or-later
// A next-token layer under each form of its names: the same weights give the same inputs of the same layer.
#include <draftscope/engine/next_token.h>
#include <draftscope/engine/opening_notes.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "tensor_slots.h"
#include "tiny_checkpoint.h"

namespace draftscope::engine::tiny {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Form {
  std::string layer, token_norm, state_norm, projection, final_norm;
  bool is_embedding_first;
};
const std::array<Form, 3>& forms() {
  static const std::array<Form, 3> all{
      {{"model.mtp_layers.0.", "model.mtp_layers.0.token_layernorm", "model.mtp_layers.0.hidden_layernorm",
        "model.mtp_layers.0.input_proj", "model.mtp_layers.0.final_layernorm", false},
       {"model.layers.2.", "model.layers.2.enorm", "model.layers.2.hnorm", "model.layers.2.eh_proj",
        "model.layers.2.shared_head.norm", true},
       {"mtp.layers.0.", "mtp.pre_fc_norm_embedding", "mtp.pre_fc_norm_hidden", "mtp.fc", "mtp.norm", true}}};
  return all;
}

StoredTensor numbers(const std::string& name, std::vector<std::uint64_t> shape, int seed) {
  const auto count = std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
  std::string bytes(2 * count, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>((i * 11 + static_cast<std::size_t>(seed)) % 0x40);
  return {name + ".weight", "BF16", std::move(shape), std::move(bytes)};
}

/// The halves of each row in the other order.
void swap_halves(StoredTensor& projection) {
  const std::size_t row_bytes = 2 * projection.shape[1];
  for (auto row = projection.bytes.begin(); row != projection.bytes.end();
       row += static_cast<std::ptrdiff_t>(row_bytes))
    std::rotate(row, row + static_cast<std::ptrdiff_t>(row_bytes / 2),
                row + static_cast<std::ptrdiff_t>(row_bytes));
}

std::vector<StoredTensor> tensors_of(const Form& form) {
  std::vector<StoredTensor> all = tiny_tensors();
  const std::vector<StoredTensor> target = all;
  const std::string source = "model.layers.1.";
  for (StoredTensor tensor : target) {
    if (!tensor.name.starts_with(source)) continue;
    tensor.name = form.layer + tensor.name.substr(source.size());
    all.push_back(std::move(tensor));
  }
  all.push_back(numbers(form.token_norm, {8}, 1));
  all.push_back(numbers(form.state_norm, {8}, 2));
  all.push_back(numbers(form.final_norm, {8}, 3));
  StoredTensor projection = numbers(form.projection, {8, 16}, 4);
  if (form.is_embedding_first) swap_halves(projection);
  all.push_back(std::move(projection));
  return all;
}

/// Bytes of a layer's tensors but the projection, and inputs that it joins.
struct Seen {
  std::vector<std::string> tensors;
  std::vector<float> inputs;

  bool operator==(const Seen&) const = default;
};

Seen seen_of(const std::vector<StoredTensor>& tensors) {
  const TemporaryFolder folder;
  write_tiny_checkpoint(folder.path(), tiny_config(), tensors);
  std::vector<std::string> notes;
  const auto model = load_checkpoint(folder.path(), BlockMatrices::widened, notes);
  if (!model) throw std::runtime_error(model.error().message);
  EXPECT_TRUE(model->has_next_token_layer);
  EXPECT_THAT(notes, IsEmpty());
  const auto layer = open_next_token_layer(*model);
  if (!layer) throw std::runtime_error(layer.error().message);
  Seen seen;
  for (const NamedTensor& tensor : named_tensors(layer->shape, layer->weights))
    if (!tensor.name.ends_with("input_proj.weight"))
      seen.tensors.emplace_back(reinterpret_cast<const char*>(tensor.view.data), tensor.view.bytes());
  std::vector<float> states(16);
  std::iota(states.begin(), states.end(), -3.0F);
  StateJoin::make(*model, *layer).value().join(std::array{1, 7}, states, StateFrom::target, seen.inputs);
  return seen;
}

TEST(NextTokenForm, TheSameWeightsAreTheSameLayerUnderEveryForm) {
  const Seen first = seen_of(tensors_of(forms()[0]));
  EXPECT_EQ(first.inputs.size(), 16U);
  EXPECT_EQ(seen_of(tensors_of(forms()[1])), first);
  EXPECT_EQ(seen_of(tensors_of(forms()[2])), first);
  // The order of the halves matters.
  std::vector<StoredTensor> swapped = tensors_of(forms()[1]);
  swap_halves(swapped.back());
  EXPECT_NE(seen_of(swapped).inputs, first.inputs);
}

TEST(NextTokenForm, AnEmbeddingAndAHeadOfItsOwnAreUsed) {
  std::vector<StoredTensor> tensors = tensors_of(forms()[1]);
  const Seen shared = seen_of(tensors);
  tensors.push_back(numbers("model.layers.2.embed_tokens", {10, 8}, 5));
  tensors.push_back(numbers("model.layers.2.shared_head.head", {10, 8}, 6));
  const Seen own = seen_of(tensors);
  EXPECT_NE(own.inputs, shared.inputs);
  EXPECT_EQ(own.tensors.back(), tensors.back().bytes);
}

TEST(NextTokenForm, ALayerThatLacksATensorIsLeftOutByTheNameOfThatTensor) {
  for (const Form& form : forms()) {
    for (const std::string& lacking :
         {form.projection, form.token_norm, form.state_norm, form.final_norm, form.layer + "mlp.up_proj"}) {
      std::vector<StoredTensor> tensors = tensors_of(form);
      std::erase_if(tensors, [&](const StoredTensor& one) { return one.name == lacking + ".weight"; });
      std::vector<std::string> notes;
      EXPECT_FALSE(loaded_tiny(tensors, notes).has_next_token_layer);
      ASSERT_EQ(notes.size(), 2U) << lacking;
      EXPECT_THAT(notes[1], HasSubstr("'" + lacking + ".weight' is missing"));
    }
  }
}

TEST(NextTokenForm, ALayerThatIsNotDenseIsLeftOutByTheNameOfItsTensor) {
  for (const Form& form : forms()) {
    for (const char* const further :
         {"mlp.experts.0.up_proj.weight", "self_attn.kv_b_proj.weight", "self_attn.q_proj.bias"}) {
      std::vector<StoredTensor> tensors = tensors_of(form);
      tensors.push_back(numbers(form.layer + "x", {8, 8}, 7));
      tensors.back().name = form.layer + further;
      const TemporaryFolder folder;
      write_tiny_checkpoint(folder.path(), tiny_config(), tensors);
      std::vector<std::string> notes;
      const auto model = load_checkpoint(folder.path(), BlockMatrices::widened, notes);
      ASSERT_TRUE(model) << model.error().message;
      EXPECT_FALSE(model->has_next_token_layer);
      ASSERT_EQ(notes.size(), 2U);
      EXPECT_THAT(notes[0], HasSubstr("layers that predict further tokens"));
      EXPECT_THAT(notes[1], HasSubstr("mtp cannot draft with the next-token layer: found '" + form.layer +
                                      further + "', expected a layer of LlamaForCausalLM"));
      EXPECT_FALSE(open_next_token_layer(*model));
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::tiny
