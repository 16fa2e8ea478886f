// SPDX-License-Identifier: GPL-3.0-or-later
#include "next_token_form.h"

#include <draftscope/base/quote.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "element_bits.h"
#include "left_out.h"

namespace draftscope::engine {
namespace {

constexpr std::array<NextTokenForm, 3> forms{{{.layer = "model.mtp_layers.0.",
                                               .token_norm = "model.mtp_layers.0.token_layernorm",
                                               .state_norm = "model.mtp_layers.0.hidden_layernorm",
                                               .projection = "model.mtp_layers.0.input_proj",
                                               .final_norm = "model.mtp_layers.0.final_layernorm",
                                               .embedding = "",
                                               .head = "",
                                               .is_embedding_first = false},
                                              {.layer = "model.layers.{}.",
                                               .token_norm = "model.layers.{}.enorm",
                                               .state_norm = "model.layers.{}.hnorm",
                                               .projection = "model.layers.{}.eh_proj",
                                               .final_norm = "model.layers.{}.shared_head.norm",
                                               .embedding = "model.layers.{}.embed_tokens",
                                               .head = "model.layers.{}.shared_head.head",
                                               .is_embedding_first = true},
                                              {.layer = "mtp.layers.0.",
                                               .token_norm = "mtp.pre_fc_norm_embedding",
                                               .state_norm = "mtp.pre_fc_norm_hidden",
                                               .projection = "mtp.fc",
                                               .final_norm = "mtp.norm",
                                               .embedding = "",
                                               .head = "",
                                               .is_embedding_first = true}}};

std::string named(std::string_view name, std::int32_t target_layers) {
  return fmt::format(fmt::runtime(name), target_layers);
}

/// A tensor's name without its last part: ".weight" or that of a packed matrix.
std::string_view stem(std::string_view name) {
  return name.substr(0, name.rfind('.'));
}

/// Name of a tensor outside the decoder's layers; empty = the model's.
std::string_view own_name(const FoundNextToken& found, TensorKind kind) {
  const NextTokenForm& form = *found.form;
  switch (kind) {
    case TensorKind::token_norm:
      return form.token_norm;
    case TensorKind::state_norm:
      return form.state_norm;
    case TensorKind::projection:
      return form.projection;
    case TensorKind::final_norm:
      return form.final_norm;
    case TensorKind::embedding:
      return found.has_own_embedding ? form.embedding : std::string_view();
    case TensorKind::head:
      return found.has_own_head ? form.head : std::string_view();
    default:
      return {};
  }
}

}  // namespace

std::vector<TensorSlot> FoundNextToken::slots(const speculation::ModelShape& shape, Weights& weights) const {
  std::vector<TensorSlot> all = tensor_slots(shape, weights);
  const std::size_t prefix = forms.front().layer.size();  // tensor_slots() names them by the first form.
  for (TensorSlot& slot : all) {
    const std::string_view own = own_name(*this, slot.kind);
    if (!own.empty())
      slot.name = named(own, target_layers) + ".weight";
    else if (slot.layer >= 0)
      slot.name = named(form->layer, target_layers) + slot.name.substr(prefix);
  }
  return all;
}

void FoundNextToken::take_from(std::vector<std::string>& names) const {
  const std::string prefix = named(form->layer, target_layers);
  std::unordered_set<std::string> own;
  for (const std::string_view name : {form->token_norm, form->state_norm, form->projection, form->final_norm})
    own.insert(named(name, target_layers));
  std::erase_if(names, [&](const std::string& name) {
    return name.starts_with(prefix) || own.contains(std::string(stem(name)));
  });
}

std::string FoundNextToken::obstacle(const std::vector<std::string>& names,
                                     const speculation::ModelShape& target) const {
  speculation::ModelShape shape = target;
  shape.n_layers = 1;
  shape.tied_embeddings = target.tied_embeddings && !has_own_head;
  Weights weights;
  weights.join = JoinWeights{};
  std::unordered_set<std::string_view> present;
  for (const std::string& name : names) present.insert(stem(name));
  const std::vector<TensorSlot> needed = slots(shape, weights);
  std::unordered_set<std::string_view> known;
  for (const TensorSlot& slot : needed) known.insert({stem(slot.name), slot.name});
  const std::string prefix = named(form->layer, target_layers);
  const std::string* further = nullptr;
  for (const std::string& name : names) {
    // A bias is no part of a packed matrix.
    const bool is_bias = name.ends_with(".bias");
    const bool is_of_layer = name.starts_with(prefix) || (is_bias && known.contains(stem(name)));
    const bool is_further = is_of_layer && !known.contains(is_bias ? name : stem(name)) &&
                            left_out(name, target) == LeftOut::further_tokens;
    if (is_further && (further == nullptr || name < *further)) further = &name;
  }
  if (further != nullptr)
    return fmt::format("found {}, expected a layer of {}", quote(*further), target.architecture);
  const auto missing = std::ranges::find_if(needed, [&](const TensorSlot& slot) {
    const bool is_shared = slot.layer < 0 && own_name(*this, slot.kind).empty();
    return !is_shared && !present.contains(stem(slot.name));
  });
  return missing == needed.end() ? std::string() : fmt::format("{} is missing", quote(missing->name));
}

std::optional<FoundNextToken> find_next_token(const std::function<bool(const std::string&)>& has,
                                              std::int32_t target_layers) {
  const auto has_own_of = [&](const NextTokenForm& row) {
    return std::ranges::any_of(std::array{row.token_norm, row.state_norm, row.final_norm},
                               [&](std::string_view name) { return has(named(name, target_layers)); });
  };
  const auto* form = std::ranges::find_if(
      forms, [&](const NextTokenForm& row) { return has(named(row.projection, target_layers)); });
  // Without its projection it is still such a layer, of which something is missing.
  if (form == forms.end()) form = std::ranges::find_if(forms, has_own_of);
  if (form == forms.end()) return std::nullopt;
  const auto has_own = [&](std::string_view name) {
    return !name.empty() && has(named(name, target_layers));
  };
  return FoundNextToken{form, target_layers, has_own(form->embedding), has_own(form->head)};
}

void put_state_first(TensorView& projection, std::vector<float>& memory) {
  const auto columns = static_cast<std::size_t>(projection.columns);
  memory.resize(static_cast<std::size_t>(projection.rows) * columns);
  for (std::int64_t row = 0; row < projection.rows; ++row) {
    float* const out = memory.data() + static_cast<std::size_t>(row) * columns;
    copy_row(projection, row, out);
    std::rotate(out, out + columns / 2, out + columns);
  }
  projection = {reinterpret_cast<const std::byte*>(memory.data()), DType::f32, projection.rows,
                projection.columns};
}

}  // namespace draftscope::engine
