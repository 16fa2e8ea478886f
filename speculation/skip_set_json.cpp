// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/skip_set_json.h>

#include <draftscope/base/quote.h>

#include <set>

namespace draftscope::speculation {
namespace {

/// The layers of one list, each within the model and once.
Result<std::set<std::int32_t>> parse_layers(const JsonField& field, std::int32_t n_layers) {
  if (!field.value().is_array()) return field.wrong("a list of layers");
  DRAFTSCOPE_TRY_ASSIGN(const auto elements, field.list());
  std::set<std::int32_t> layers;
  for (const JsonField& element : elements) {
    DRAFTSCOPE_TRY_ASSIGN(const auto layer, element.integer(Range<std::int32_t>{0, n_layers - 1}));
    if (!layers.insert(layer).second)
      return fail("{} is {} again, expected each layer once", element.name(), layer);
  }
  return layers;
}

}  // namespace

Result<SublayerMask> parse_skip_set(const JsonField& field, std::int32_t n_layers) {
  if (!field.value().is_object()) return field.wrong(R"(an object of "attention" and "mlp")");
  for (const auto& [key, unused] : field.value().items())
    if (key != "attention" && key != "mlp")
      return fail(R"({} holds {}, expected "attention" and "mlp" only)", field.name(), quote(key));
  DRAFTSCOPE_TRY_ASSIGN(const auto attention, parse_layers(field["attention"], n_layers));
  DRAFTSCOPE_TRY_ASSIGN(const auto mlp, parse_layers(field["mlp"], n_layers));
  SublayerMask set(n_layers);
  for (const std::int32_t layer : attention) set.skip_attention(layer);
  for (const std::int32_t layer : mlp) set.skip_mlp(layer);
  return set;
}

nlohmann::ordered_json skip_set_json(const SublayerMask& set) {
  auto attention = nlohmann::ordered_json::array();
  auto mlp = nlohmann::ordered_json::array();
  for (std::int32_t layer = 0; layer < set.n_layers(); ++layer) {
    if (!set.runs_attention(layer)) attention.push_back(layer);
    if (!set.runs_mlp(layer)) mlp.push_back(layer);
  }
  return {{"attention", std::move(attention)}, {"mlp", std::move(mlp)}};
}

}  // namespace draftscope::speculation
