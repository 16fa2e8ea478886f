// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
// Parses the grammar of strategies and words every refusal.
#include <draftscope/speculation/catalogue/strategy_specification.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "catalogue/named_layers.h"

namespace draftscope::speculation {

namespace {

using Items = std::vector<std::pair<std::string, std::string>>;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) (text += text.empty() ? "" : ", ") += name;
  return text;
}

Result<Items> items_of_text(std::string_view strategy, std::string_view text) {
  Items items;
  for (bool more = !text.empty(); more;) {
    const std::string_view item = text.substr(0, text.find(','));
    more = item.size() < text.size();
    text.remove_prefix(item.size() + (more ? 1 : 0));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail("strategy {}: found {}, expected key=value", strategy, quote(item));
    items.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return items;
}

Result<Items> items_of_json(std::string_view strategy, std::string_view json) {
  const nlohmann::ordered_json object = nlohmann::ordered_json::parse(json, nullptr, false);
  if (!object.is_object())
    return fail("strategy {}: parameters are {}, expected a JSON object", strategy, quote(json));
  Items items;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string() && !value.is_number())
      return fail("strategy {}: parameter {} is of another type, expected a number or a string", strategy,
                  quote(key));
    items.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return items;
}

}  // namespace

class SpecificationParser {
 public:
  SpecificationParser(const StrategyRow& row, std::int32_t n_layers, const StrategyCatalogue& catalogue)
      : catalogue_(catalogue), n_layers_(n_layers), rows_(row.parameters), chooses_parts_(row.chooses_parts) {
    made_.name_ = row.name;
    made_.parts_ = row.parts;
    made_.no_replay_ = row.no_replay;
  }

  Result<StrategySpecification> parse(const Items& items, bool is_record) {
    if (chooses_parts_) DRAFTSCOPE_TRY(choose_parts(items));
    for (const ParameterRow& row : rows_) {
      const bool is_earlier = is_record && !row.unrecorded.empty();
      made_.values_.push_back({row.name, is_earlier ? row.unrecorded : row.default_value, {}, false});
    }
    for (const auto& [key, value] : items) DRAFTSCOPE_TRY(assign(key, value));
    DRAFTSCOPE_TRY(check_layers());
    DRAFTSCOPE_TRY(check_verification());
    for (std::size_t i = 0; i < rows_.size(); ++i) DRAFTSCOPE_TRY(check(i));
    if (made_.no_replay_.empty() && made_.draft_weights())
      made_.no_replay_ = "it drafts on weights of fewer bits, which shadow tokens were not computed with";
    if (made_.no_replay_.empty() && made_.guard() > 0.0)
      made_.no_replay_ = "its guard goes by clocks, which tell nothing of another run";
    return std::move(made_);
  }

 private:
  /// Reads the parts, which decide what parameters there are.
  Result<void> choose_parts(const Items& items) {
    for (std::size_t kind = 0; kind < part_kind_count; ++kind)
      for (const auto& [key, value] : items) {
        if (key != part_kind_name(static_cast<PartKind>(kind))) continue;
        if (catalogue_.find_part(static_cast<PartKind>(kind), value) == nullptr)
          return fail("strategy {}: {} is {}, expected one of: {}", made_.name_, key, quote(value),
                      joined(catalogue_.part_names(static_cast<PartKind>(kind))));
        made_.parts_[kind] = value;
      }
    made_.no_replay_ = catalogue_.no_replay_of(made_.parts_);
    for (ParameterRow& row : catalogue_.parameters_of(made_.parts_)) rows_.push_back(std::move(row));
    return {};
  }

  Result<void> assign(const std::string& key, const std::string& value) {
    const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const ParameterRow& known) {
      return known.name == key || (!known.earlier_name.empty() && known.earlier_name == key);
    });
    if (row == rows_.end()) {
      std::vector<std::string> names;
      for (const ParameterRow& known : rows_) names.push_back(known.name);
      return fail("strategy {}: unknown parameter {}, expected one of: {}", made_.name_, quote(key),
                  names.empty() ? "none" : joined(names));
    }
    StrategySpecification::Value& target = made_.values_[static_cast<std::size_t>(row - rows_.begin())];
    if (target.is_given)
      return fail("strategy {}: parameter {} is given twice, expected once", made_.name_, quote(key));
    target = {row->name, value, value, true};
    for (const auto& [earlier, today] : row->earlier_choices)
      if (value == earlier) target.value = today;
    return {};
  }

  Result<void> check_layers() const {
    for (std::size_t kind = 0; kind < part_kind_count; ++kind) {
      const PartRow* part = catalogue_.find_part(static_cast<PartKind>(kind), made_.parts_[kind]);
      if (part == nullptr || n_layers_ >= part->min_layers) continue;
      return fail("strategy {}: the model has {} {}, expected at least {}{}", made_.name_, n_layers_,
                  n_layers_ == 1 ? "layer" : "layers", part->min_layers,
                  part->min_layers_reason.empty() ? "" : " (" + part->min_layers_reason + ")");
    }
    return {};
  }

  Result<void> check(std::size_t index) {
    const ParameterRow& row = rows_[index];
    StrategySpecification::Value& value = made_.values_[index];
    switch (row.type) {
      case ParameterType::integer:
        return check_integer(row, value);
      case ParameterType::number: {
        const auto number = parse_number<double>(value.value);
        if (!number ||
            !(*number >= parse_number<double>(row.min) && *number <= parse_number<double>(row.max)))
          return fail("strategy {}: {} is {}, expected a number from {} to {}", made_.name_, row.name,
                      quote(value.value), row.min, row.max);
        return {};
      }
      case ParameterType::choice:
        if (std::find(row.choices.begin(), row.choices.end(), value.value) == row.choices.end())
          return fail("strategy {}: {} is {}, expected one of: {}", made_.name_, row.name, quote(value.value),
                      joined(row.choices));
        return {};
      case ParameterType::layers:
        return check_layers(row, value);
      case ParameterType::text:
        break;
    }
    return {};
  }

  Result<void> check_layers(const ParameterRow& row, StrategySpecification::Value& value) const {
    const auto named = named_layers(value.value, n_layers_);
    if (named && named->empty())
      return fail(
          "strategy {}: {} is {}, expected layers as 3+5+8, 4-7, none, every-2, uniform, first-4, "
          "middle-4, last-4, uniform-4, random-4 or random-4-7 (its seed), of {} layers",
          made_.name_, row.name, quote(value.value), n_layers_);
    if (row.name == "exits") return check_exits(named.value_or(value.value), named.has_value(), value);
    if (named) value.value = *named;
    return {};
  }

  /// Takes each exit of `listed` once, in order. A range or pattern may have layers that are no exits; at
  /// least one must be one.
  Result<void> check_exits(std::string_view listed, bool is_pattern,
                           StrategySpecification::Value& value) const {
    std::set<std::int32_t> exits;
    for (std::string_view rest = listed; !rest.empty();) {
      const std::size_t end = std::min(rest.find('+'), rest.size());
      const auto layer = parse_number<std::int32_t>(rest.substr(0, end));
      if (!layer)
        return fail("strategy {}: exits is {}, expected layers as 4-31, 4+8+12 or every-2", made_.name_,
                    quote(value.value));
      const bool is_exit = *layer >= 1 && *layer < n_layers_;
      if (is_exit) exits.insert(*layer);
      if (!is_exit && !is_pattern)
        return fail("strategy {}: exits is {}, expected layers from 1 to {}", made_.name_, quote(value.value),
                    n_layers_ - 1);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (exits.empty() && !listed.empty())
      return fail("strategy {}: exits is {}, expected one from 1 to {} at least", made_.name_,
                  quote(value.value), n_layers_ - 1);
    value.value = fmt::format("{}", fmt::join(exits, "+"));
    return {};
  }

  /// Checks an integer. Another parameter that bounds this one is checked first.
  Result<void> check_integer(const ParameterRow& row, StrategySpecification::Value& value) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t min, bound(row.min));
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t max, bound(row.max));
    if (!value.is_given && value.value.starts_with('L'))
      value.value =
          std::to_string(std::max(min, std::min(max, bound_of(value.value, n_layers_).value_or(min))));
    const auto integer = parse_number<std::int64_t>(value.value);
    if (!integer || *integer < min || *integer > max)
      return fail("strategy {}: {} is {}, expected an integer from {} to {}", made_.name_, row.name,
                  quote(value.value), min, max);
    return {};
  }

  Result<std::int64_t> bound(const std::string& text) {
    if (const auto number = bound_of(text, n_layers_)) return *number;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].name != text) continue;
      DRAFTSCOPE_TRY(check(i));
      return parse_number<std::int64_t>(made_.values_[i].value).value_or(0);
    }
    return fail("strategy {}: found the bound {}, expected a number or a parameter", made_.name_,
                quote(text));
  }

  /// Checks `verify`. The rows below an exit can be skipped only where all sublayers below it draft as the
  /// target would. A draft on other weights is verified by all layers unless the user asks otherwise.
  Result<void> check_verification() {
    if (!made_.has_parts() || made_.text("verify") != "above-exit") return {};
    const auto verify = std::find_if(made_.values_.begin(), made_.values_.end(),
                                     [](const auto& value) { return value.parameter == "verify"; });
    if (made_.draft_weights() && !verify->is_given) {
      verify->value = "all-layers";
      return {};
    }
    if (made_.draft_weights())
      return fail("strategy {}: verify is above-exit, expected all-layers beside weights={}", made_.name_,
                  made_.text("weights"));
    if (catalogue_.can_verify_above_exit(made_.parts_)) return {};
    return fail("strategy {}: verify is above-exit, expected all-layers but with mask=exit or mask=del",
                made_.name_);
  }

  const StrategyCatalogue& catalogue_;
  std::int32_t n_layers_;
  std::vector<ParameterRow> rows_;
  bool chooses_parts_;
  StrategySpecification made_;
};

namespace {

Result<const StrategyRow*> find_row(std::string_view name, const StrategyCatalogue& catalogue) {
  if (const StrategyRow* row = catalogue.find(name)) return row;
  std::vector<std::string> names;
  for (const StrategyRow& row : catalogue.strategies()) names.push_back(row.name);
  return fail("strategy: unknown name {}, expected one of: {}", quote(name), joined(names));
}

}  // namespace

Result<StrategySpecification> parse_strategy(std::string_view text, std::int32_t n_layers,
                                             const StrategyCatalogue& catalogue) {
  // Errors quote the text in one line, so it must be printable.
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return fail("strategy: found a control character, expected name:key=value,…");
  const std::string_view name = strategy_name(text);
  DRAFTSCOPE_TRY_ASSIGN(const StrategyRow* row, find_row(name, catalogue));
  const std::string_view parameters = name.size() == text.size() ? "" : text.substr(name.size() + 1);
  DRAFTSCOPE_TRY_ASSIGN(const Items items, items_of_text(name, parameters));
  return SpecificationParser(*row, n_layers, catalogue).parse(items, false);
}

Result<StrategySpecification> parse_strategy_json(std::string_view name, std::string_view json,
                                                  std::int32_t n_layers, const StrategyCatalogue& catalogue) {
  DRAFTSCOPE_TRY_ASSIGN(const StrategyRow* row, find_row(name, catalogue));
  DRAFTSCOPE_TRY_ASSIGN(const Items items, items_of_json(name, json));
  return SpecificationParser(*row, n_layers, catalogue).parse(items, true);
}

}  // namespace draftscope::speculation
