// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/checked_answer.h>

#include <draftscope/base/quote.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

std::optional<bool> holds(const std::optional<Interval>& interval, double value) {
  if (!interval) return std::nullopt;
  return interval->low <= value && value <= interval->high;
}

/// Errors of one kind's answers, before averaging.
struct Errors {
  std::vector<double> speedup, vanilla_step, draft_step, verify;

  void add(const CheckedAnswer& answer) {
    const Answer& predicted = *answer.predicted;
    const MeasuredDecoding& measured = answer.measured;
    put(speedup, answer.error());
    put(vanilla_step, relative_error(predicted.target_step_ns, measured.vanilla_step_ns));
    put(draft_step, relative_error(predicted.draft_step_ns(), measured.draft_step_ns));
    put(verify, relative_error(predicted.verify_ns(), measured.verify_ns));
  }

 private:
  static void put(std::vector<double>& into, const std::optional<double>& error) {
    if (error) into.push_back(*error);
  }
};

/// Relative variance of the speedups of single repeats; absent for fewer than two.
std::optional<double> relative_variance(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (count - 1.0) / (mean * mean);
}

ErrorMean error_mean(std::span<const double> errors) {
  ErrorMean mean{.count = errors.size()};
  for (const double error : errors) {
    mean.mean_absolute += std::abs(error);
    mean.greatest = std::max(mean.greatest, std::abs(error));
    mean.bias += error;
  }
  if (!errors.empty()) {
    mean.mean_absolute /= static_cast<double>(errors.size());
    mean.bias /= static_cast<double>(errors.size());
  }
  return mean;
}

KindErrors errors_of(QuestionKind kind, std::span<const CheckedAnswer> answers) {
  KindErrors result{.kind = kind};
  Errors errors;
  double variance = 0.0;
  std::size_t repeated = 0;
  for (const CheckedAnswer& answer : answers) {
    if (answer.kind != kind) continue;
    ++result.questions;
    if (const auto one = relative_variance(answer.measured.by_repeat)) {
      variance += *one;
      ++repeated;
    }
    if (!answer.predicted) continue;
    errors.add(answer);
    if (const auto inside = answer.inside_95()) {
      ++result.intervals;
      result.inside_95 += *inside ? 1 : 0;
      result.inside_80 += answer.inside_80().value_or(false) ? 1 : 0;
    }
    if (answer.rounds.match == RoundMatch::not_compared) continue;
    ++result.compared_rounds;
    result.matching_rounds += answer.rounds.match == RoundMatch::differs ? 0 : 1;
  }
  if (repeated > 0) result.repeat_deviation = std::sqrt(variance / static_cast<double>(repeated));
  result.speedup = error_mean(errors.speedup);
  result.vanilla_step = error_mean(errors.vanilla_step);
  result.draft_step = error_mean(errors.draft_step);
  result.verify = error_mean(errors.verify);
  return result;
}

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

std::optional<double> CheckedAnswer::error() const {
  return predicted ? relative_error(predicted->speedup.middle(), measured.speedup) : std::nullopt;
}

std::optional<bool> CheckedAnswer::inside_80() const {
  return predicted ? holds(predicted->speedup.interval_80(), measured.speedup) : std::nullopt;
}

std::optional<bool> CheckedAnswer::inside_95() const {
  return predicted ? holds(predicted->speedup.interval_95(), measured.speedup) : std::nullopt;
}

std::vector<KindErrors> errors_by_kind(std::span<const CheckedAnswer> answers) {
  std::vector<KindErrors> kinds;
  for (std::size_t i = 0; i < question_kind_count; ++i) {
    KindErrors errors = errors_of(static_cast<QuestionKind>(i), answers);
    if (errors.questions > 0) kinds.push_back(errors);
  }
  return kinds;
}

std::string_view question_kind_name(QuestionKind kind) {
  return kind_names[static_cast<std::size_t>(kind)].name;
}

std::string_view question_kind_key(QuestionKind kind) {
  return kind_names[static_cast<std::size_t>(kind)].key;
}

StrategySetting setting_of_specification(std::string_view specification) {
  StrategySetting setting{std::string(speculation::strategy_name(specification)), {}};
  for (const auto& [name, value] : given_parameters(specification))
    setting.parameters[std::string(speculation::current_parameter_name(setting.strategy, name))] = value;
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
