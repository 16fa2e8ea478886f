// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/strategy_text.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "analysis/explain/evidence.h"
#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

/// The parameter that limits a strategy's drafts; empty if it has none.
std::string_view length_parameter(std::string_view strategy) {
  constexpr std::array<std::string_view, 5> lengths{"gamma", "length", "d-max", "block", "max-gamma"};
  for (const std::string_view name : lengths)
    for (const speculation::ParameterRow& parameter : speculation::strategy_row(strategy).parameters)
      if (parameter.name == name) return name;
  return {};
}

/// The specification with the parameter set to the value and moved to the end.
std::string with_last(std::string specification, std::string_view key, std::string_view value) {
  if (const auto given = speculation::parameter_of(specification, key)) {
    auto start = static_cast<std::size_t>(given->data() - specification.data()) - key.size() - 1;
    if (start + key.size() + 1 + given->size() == specification.size()) --start;
    specification.erase(start, key.size() + 2 + given->size());  // With the comma or colon beside it.
  }
  return speculation::with_parameter(std::move(specification), key, value);
}

/// Whether any round of the run fulfils the condition.
template <typename Condition>
bool has_round(const RunRows& run, const Condition& condition) {
  return std::ranges::any_of(run.requests, [&](const RequestRows& request) {
    return std::ranges::any_of(request.rounds, condition);
  });
}

}  // namespace

std::vector<std::string> with_length(const traces::Run& run, std::size_t length) {
  const std::string_view parameter = length_parameter(run.strategy);
  if (parameter.empty()) return {};
  return {with_last(run.specification, parameter, std::to_string(length))};
}

std::vector<std::string> verified_above_exit(const traces::Run& run) {
  const bool can =
      speculation::strategy_catalogue().can_verify_above_exit(speculation::strategy_row(run.strategy).parts);
  if (!can || verifies_above_exit(run)) return {};
  return {with_last(run.specification, "verify", "above-exit")};
}

bool guesses_from_text(const traces::Run& run) {
  if (const speculation::StrategyRow* row = speculation::strategy_catalogue().find(run.strategy))
    return row->guesses_from_text();
  // Other programs have different names for it.
  const auto names = [&](std::string_view word) {
    return run.strategy.find(word) != std::string::npos || run.specification.find(word) != std::string::npos;
  };
  return names("prompt_lookup") || names("prompt-lookup") || names("suffix-decoding") || names("ngram") ||
         names("n-gram");
}

bool is_own_run(const Evidence& of) {
  return !traces::is_imported(of.meta);
}

bool has_threads(const Evidence& of) {
  return is_own_run(of) && !of.on_device;
}

bool has_rows_to_spare(const Evidence& of) {
  constexpr double fewest = 2.5;  // One row and a half more than the first.
  return of.round.rows && *of.round.rows >= fewest;
}

bool can_verify_above_exit(const Evidence& of) {
  return !verified_above_exit(*of.figures.run).empty();
}

bool can_stop_by_confidence(const Evidence& of) {
  if (!is_own_run(of)) return !guesses_from_text(*of.figures.run);
  return can_be_tuned(of) && speculation::strategy_row(of.figures.run->strategy).has_parts() &&
         !has_round(of.rows, [](const traces::Round& round) { return round.threshold >= 0.0; });
}

bool can_be_tuned(const Evidence& of) {
  return is_own_run(of) &&
         has_round(of.rows, [](const traces::Round& round) { return !round.layer_set_id.is_none(); });
}

bool searches(const Evidence& of) {
  return has_round(of.rows, [](const traces::Round& round) { return round.optimise_ns > 0; });
}

bool records_within_phases(const Evidence& of) {
  return has_layer_times(of.meta);
}

std::string share_text(double share) {
  const double percent = 100.0 * share;
  const bool is_small = percent > 0.0 && percent < 9.95;
  return percent_text(share, is_small ? 1 : 0);
}

std::string amount_text(double amount) {
  const double size = std::abs(amount);
  if (size < 9.995) return fmt::format("{:.2f}", amount);
  return size < 99.95 ? fmt::format("{:.1f}", amount) : fmt::format("{:.0f}", amount);
}

std::string steps_text(double steps, RoundUnit unit) {
  const bool is_vanilla = unit == RoundUnit::vanilla_step;
  return amount_text(steps) + (is_vanilla ? " vanilla steps" : " of its own verifications");
}

std::string count_text(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace draftscope::simulator
