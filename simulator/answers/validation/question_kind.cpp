// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace draftscope::simulator {

namespace {

struct KindNames {
  std::string_view key;
  std::string_view name;
};

/// [QuestionKind]
constexpr std::array<KindNames, question_kind_count> kind_names{{{"again", "recorded run again"},
                                                                 {"length", "unseen length"},
                                                                 {"exit", "unseen exit"},
                                                                 {"rule", "unseen rule"},
                                                                 {"strategy", "unseen strategy"},
                                                                 {"task", "unseen task"},
                                                                 {"shape", "unseen shape"},
                                                                 {"machine", "unseen machine"}}};

QuestionKind kind_of_parameter(std::string_view name) {
  constexpr std::array<std::string_view, 6> lengths{"gamma",     "length", "min-gamma",
                                                    "max-gamma", "d-max",  "block"};
  constexpr std::array<std::string_view, 6> drafts{"exit",           "mask",     "skip-set",
                                                   "skip-attention", "skip-mlp", "skip"};
  if (std::find(lengths.begin(), lengths.end(), name) != lengths.end()) return QuestionKind::unseen_length;
  if (std::find(drafts.begin(), drafts.end(), name) != drafts.end()) return QuestionKind::unseen_exit;
  return QuestionKind::unseen_rule;
}

/// The largest difference. A parameter that only one of them has also differs.
QuestionKind farthest_difference(const StrategySetting& a, const StrategySetting& b) {
  QuestionKind kind = QuestionKind::recorded_again;
  const auto compare = [&kind](const StrategySetting& from, const StrategySetting& to) {
    for (const auto& [name, value] : from.parameters) {
      const auto other = to.parameters.find(name);
      if (other == to.parameters.end() || other->second != value)
        kind = std::max(kind, kind_of_parameter(name));
    }
  };
  compare(a, b);
  compare(b, a);
  return kind;
}

}  // namespace

std::string_view question_kind_name(QuestionKind kind) {
  return kind_names[static_cast<std::size_t>(kind)].name;
}

std::string_view question_kind_key(QuestionKind kind) {
  return kind_names[static_cast<std::size_t>(kind)].key;
}

StrategySetting setting_of_specification(std::string_view specification) {
  const std::size_t colon = std::min(specification.find(':'), specification.size());
  StrategySetting setting{std::string(specification.substr(0, colon)), {}};
  std::string_view rest = specification.substr(std::min(colon + 1, specification.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view piece = rest.substr(0, end);
    const std::size_t equals = std::min(piece.find('='), piece.size());
    const std::string_view name = piece.substr(0, equals);
    setting.parameters[std::string(speculation::current_parameter_name(setting.strategy, name))] =
        piece.substr(std::min(equals + 1, piece.size()));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return setting;
}

StrategySetting setting_of_run(const traces::Run& run) {
  const auto parameters = nlohmann::json::parse(run.parameters, nullptr, false);
  if (!parameters.is_object() || parameters.empty()) return setting_of_specification(run.specification);
  StrategySetting setting{run.strategy, {}};
  for (const auto& [name, value] : parameters.items())
    setting.parameters[std::string(speculation::current_parameter_name(run.strategy, name))] =
        value.is_string() ? value.get<std::string>()
                          : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return setting;
}

QuestionKind kind_of_setting(const StrategySetting& asked, std::span<const StrategySetting> recorded) {
  QuestionKind nearest = QuestionKind::unseen_strategy;
  for (const StrategySetting& setting : recorded)
    if (setting.strategy == asked.strategy) nearest = std::min(nearest, farthest_difference(asked, setting));
  return nearest;
}

}  // namespace draftscope::simulator
