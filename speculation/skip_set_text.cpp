// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/speculation/skip_set_text.h>

#include <draftscope/speculation/skip_set_json.h>
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace draftscope::speculation {
namespace {

constexpr std::string_view no_layer = "none";

void append_layer(std::string& list, std::int32_t layer) {
  list += (list.empty() ? "" : "+") + std::to_string(layer);
}

std::string or_none(std::string list) {
  return list.empty() ? std::string(no_layer) : std::move(list);
}

std::optional<std::int32_t> to_layer(std::string_view text, std::int32_t n_layers) {
  const auto layer = parse_number<std::int32_t>(text);
  return layer && *layer >= 0 && *layer < n_layers ? layer : std::nullopt;
}

/// Calls `skip` with every layer of the list.
template <typename Skip>
Result<void> parse_layer_list(std::string_view name, std::string_view text, std::int32_t n_layers,
                              const Skip& skip) {
  if (text.empty() || text == no_layer) return {};
  std::string_view rest = text;
  while (true) {
    const std::size_t plus = rest.find('+');
    const auto layer = to_layer(rest.substr(0, plus), n_layers);
    if (!layer)
      return fail("{} is {}, expected layers from 0 to {} as in 3+5+8, or none", name, quote(text),
                  n_layers - 1);
    if (!skip(*layer)) return fail("{} has layer {} twice, expected each once", name, *layer);
    if (plus == std::string_view::npos) return {};
    rest.remove_prefix(plus + 1);
  }
}

}  // namespace

SkipSetText skip_set_text(const SublayerMask& set) {
  std::string attention;
  std::string mlp;
  for (std::int32_t layer = 0; layer < set.n_layers(); ++layer) {
    if (!set.runs_attention(layer)) append_layer(attention, layer);
    if (!set.runs_mlp(layer)) append_layer(mlp, layer);
  }
  return {or_none(std::move(attention)), or_none(std::move(mlp))};
}

Result<SublayerMask> parse_skip_set_text(const SkipSetText& text, std::int32_t n_layers) {
  SublayerMask set(n_layers);
  DRAFTSCOPE_TRY(parse_layer_list("skip-attention", text.attention, n_layers, [&](std::int32_t layer) {
    const bool fresh = set.runs_attention(layer);
    set.skip_attention(layer);
    return fresh;
  }));
  DRAFTSCOPE_TRY(parse_layer_list("skip-mlp", text.mlp, n_layers, [&](std::int32_t layer) {
    const bool fresh = set.runs_mlp(layer);
    set.skip_mlp(layer);
    return fresh;
  }));
  return set;
}

std::vector<std::int32_t> listed_layers(std::string_view text) {
  std::vector<std::int32_t> layers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('+'), text.size());
    if (const auto layer = parse_number<std::int32_t>(text.substr(0, end))) layers.push_back(*layer);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return layers;
}

namespace {

/// Parses the layers of one list; each must be within the model and listed once.
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
