// SPDX-License-Identifier: GPL-3.0-or-later
#include "skip_set_json.h"

#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>

#include <set>

namespace draftscope::engine::search {
namespace {

/// Layers of one list, each within the model and once.
Result<std::set<std::int32_t>> parse_layers(const nlohmann::json& object, const char* field,
                                            std::int32_t n_layers, std::string_view file,
                                            std::string_view path) {
  const auto place = object.find(field);
  if (place == object.end())
    return fail("{}: field {}.{} is absent, expected a list of layers", file, path, field);
  if (!place->is_array())
    return fail("{}: field {}.{} is {}, expected a list of layers", file, path, field, describe(*place));
  std::set<std::int32_t> layers;
  for (std::size_t i = 0; i < place->size(); ++i) {
    const auto& element = (*place)[i];
    const bool unsigned_layer = element.is_number_unsigned();  // the parser's type of any integer ≥ 0
    if (!unsigned_layer || element.get<std::uint64_t>() >= static_cast<std::uint64_t>(n_layers))
      return fail("{}: field {}.{}[{}] is {}, expected an integer from 0 to {}", file, path, field, i,
                  describe(element), n_layers - 1);
    const auto layer = element.get<std::int32_t>();
    if (!layers.insert(layer).second)
      return fail("{}: field {}.{}[{}] is {} again, expected each layer once", file, path, field, i, layer);
  }
  return layers;
}

}  // namespace

Result<speculation::SublayerMask> parse_skip_set(const nlohmann::json& value, std::int32_t n_layers,
                                                 std::string_view file, std::string_view path) {
  if (!value.is_object())
    return fail(R"({}: field {} is {}, expected an object of "attention" and "mlp")", file, path,
                describe(value));
  for (const auto& [field, unused] : value.items())
    if (field != "attention" && field != "mlp")
      return fail(R"({}: field {} holds {}, expected "attention" and "mlp" only)", file, path, quote(field));
  DRAFTSCOPE_TRY_ASSIGN(const auto attention, parse_layers(value, "attention", n_layers, file, path));
  DRAFTSCOPE_TRY_ASSIGN(const auto mlp, parse_layers(value, "mlp", n_layers, file, path));
  speculation::SublayerMask set(n_layers);
  for (const auto layer : attention) set.skip_attention(layer);
  for (const auto layer : mlp) set.skip_mlp(layer);
  return set;
}

nlohmann::ordered_json skip_set_json(const speculation::SublayerMask& set) {
  auto attention = nlohmann::ordered_json::array();
  auto mlp = nlohmann::ordered_json::array();
  for (std::int32_t layer = 0; layer < set.n_layers(); ++layer) {
    if (!set.runs_attention(layer)) attention.push_back(layer);
    if (!set.runs_mlp(layer)) mlp.push_back(layer);
  }
  return {{"attention", std::move(attention)}, {"mlp", std::move(mlp)}};
}

}  // namespace draftscope::engine::search
