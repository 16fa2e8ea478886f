// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "quartiles.h"
#include "terminal/table.h"

namespace draftscope::bench {

namespace {

double ms(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-6;
}

double share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::optional<double> median_ms(const std::vector<std::int64_t>& times_ns) {
  if (times_ns.empty()) return std::nullopt;
  std::vector<double> times;
  times.reserve(times_ns.size());
  for (const std::int64_t time : times_ns) times.push_back(ms(time));
  return median(times);
}

/// Times of the optimise() calls after a round. The call after the prefill makes one pass more.
std::vector<std::int64_t> calls_ns(const Measurement& one, bool own) {
  std::vector<std::int64_t> times;
  for (const Optimisation& call : one.optimisations)
    if (!call.after_prefill) times.push_back(own ? call.ns - call.model_ns : call.ns);
  return times;
}

std::optional<double> in_verifications(const Measurement& one) {
  const std::optional<double> call = median_ms(calls_ns(one, false));
  const std::optional<double> verification = median_ms(one.verifications_ns);
  if (!call || !verification) return std::nullopt;
  return *call / *verification;
}

/// Over repeats, those left out that have no such figure.
template <typename Figure>
nlohmann::json over_repeats(const MeasuredStrategy& measured, Figure figure) {
  std::vector<double> values;
  for (const Measurement& one : measured.repeats)
    if (const std::optional<double> value = figure(one)) values.push_back(*value);
  return spread(values);
}

std::string number(const nlohmann::ordered_json& figure, int digits, double scale = 1.0) {
  return figure.is_null() ? "" : fmt::format("{:.{}f}", scale * figure["median"].get<double>(), digits);
}

std::string percent(const nlohmann::ordered_json& figure, int digits) {
  return figure.is_null() ? "" : number(figure, digits, 100.0) + " %";
}

std::string percent_quartiles(const nlohmann::ordered_json& figure) {
  return fmt::format("{} [{:.3f}, {:.3f}]", percent(figure, 3), 100.0 * figure["low"].get<double>(),
                     100.0 * figure["high"].get<double>());
}

}  // namespace

nlohmann::ordered_json to_json(const MeasuredStrategy& measured) {
  const auto of = [&](auto figure) { return over_repeats(measured, figure); };
  using Number = std::optional<double>;
  return {{"strategy", measured.specification},
          {"rounds", measured.repeats.front().rounds},
          {"tokens_per_round",
           of([](const Measurement& one) -> Number { return share(one.tokens, one.rounds); })},
          {"round_ms", of([](const Measurement& one) -> Number {
             return ms(one.rounds_ns) / static_cast<double>(one.rounds);
           })},
          {"control_share",
           of([](const Measurement& one) -> Number { return share(one.strategy_ns, one.decoding_ns); })},
          {"outside_model_share",
           of([](const Measurement& one) -> Number { return 1.0 - share(one.model_ns, one.decoding_ns); })},
          {"optimise_share",
           of([](const Measurement& one) -> Number { return share(one.optimise_ns, one.decoding_ns); })},
          {"optimise_calls", measured.repeats.front().optimisations.size()},
          {"call_ms", of([](const Measurement& one) { return median_ms(calls_ns(one, false)); })},
          {"call_own_ms", of([](const Measurement& one) { return median_ms(calls_ns(one, true)); })},
          {"call_own_ms_longest", of([](const Measurement& one) -> Number {
             const std::vector<std::int64_t> own = calls_ns(one, true);
             if (own.empty()) return std::nullopt;
             return ms(*std::max_element(own.begin(), own.end()));
           })},
          {"verification_ms", of([](const Measurement& one) { return median_ms(one.verifications_ns); })},
          {"call_in_verifications", of(in_verifications)}};
}

std::string table_text(const nlohmann::ordered_json& strategies) {
  cli::Table table({{"strategy", cli::Align::left},
                    {"rounds"},
                    {"tokens/round"},
                    {"round ms"},
                    {"control [quartiles]"},
                    {"outside model"},
                    {"optimise"},
                    {"calls"},
                    {"call ms"},
                    {"own ms"},
                    {"longest"},
                    {"verifications"}});
  for (const nlohmann::ordered_json& row : strategies)
    table.add_row({row["strategy"].get<std::string>(), fmt::format("{}", row["rounds"].get<std::int64_t>()),
                   number(row["tokens_per_round"], 2), number(row["round_ms"], 1),
                   percent_quartiles(row["control_share"]), percent(row["outside_model_share"], 2),
                   percent(row["optimise_share"], 1),
                   fmt::format("{}", row["optimise_calls"].get<std::size_t>()), number(row["call_ms"], 1),
                   number(row["call_own_ms"], 3), number(row["call_own_ms_longest"], 3),
                   number(row["call_in_verifications"], 2)});
  return table.text();
}

}  // namespace draftscope::bench
