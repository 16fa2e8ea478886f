// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figure_tables.h>
#include <draftscope/simulator/answers/answer_figures.h>

#include <array>

namespace draftscope::simulator {

namespace {

using Format = FigureFormat;

/// Title and meaning of a figure, independent of its source.
struct Meaning {
  std::string title;
  std::string unit;
  std::string explanation;
  Format format = Format::number;
};

Meaning measured_meaning(std::string_view key) {
  const MeasuredFigure& figure = measured_figure(key);
  return {figure.title, figure.unit, figure.explanation, figure.format};
}

Meaning vanilla_rate_meaning() {
  return {"vanilla decode tokens/s", "tokens/s", "Vanilla decoding of the same texts, prefill left out",
          Format::number};
}

Meaning speedup_meaning() {
  return {"speedup", "", "Over vanilla decoding on the same machine, from the first token to the end",
          Format::factor};
}

Meaning min_drafted_meaning() {
  return {"speedup, min drafted", "",
          "`speedup` of the first of two cases: with the fewest draft tokens, where their number is bounded",
          Format::factor};
}

Meaning max_drafted_meaning() {
  return {"speedup, max drafted", "",
          "`speedup` of the other case: with the most draft tokens, where their number is bounded",
          Format::factor};
}

Meaning interval_meaning(int level) {
  const std::string title = std::to_string(level) + " %";
  return {title, "", title + " interval of `speedup`, outermost of both bounds", Format::interval};
}

Meaning no_interval_meaning() {
  return {"no interval", "", "Why there is no interval; empty if there is one", Format::text};
}

Meaning draft_step_meaning() {
  return {"draft step", "ns", "Mean time of a draft step of a model; 0 if none drafts", Format::duration};
}

Meaning verify_meaning() {
  return {"verification", "ns", "Mean time of the verification of rounds that draft", Format::duration};
}

template <typename Source, typename Get>
FigureOf<Source> row(std::string key, Meaning meaning, Get get) {
  return {std::move(key),          std::move(meaning.title),
          std::move(meaning.unit), std::move(meaning.explanation),
          meaning.format,          std::move(get)};
}

/// A figure that is also measured.
template <typename Source, typename Get>
FigureOf<Source> shared(const std::string& key, Get get) {
  return row<Source>(key, measured_meaning(key), std::move(get));
}

FigureValue share_of_variance(const Answer& of, double VarianceBudget::*share) {
  return of.budget ? FigureValue((*of.budget).*share) : FigureValue();
}

FigureOf<Answer> budget_row(const std::string& name, std::string explanation, double VarianceBudget::*share) {
  return row<Answer>("variance_budget." + name, {name, "", std::move(explanation), Format::percent},
                     [share](const Answer& of) { return share_of_variance(of, share); });
}

/// Price of a million tokens at this rate, which is of all requests of a batch together.
FigureValue cost_of_million(const Answer& of, double tokens_per_second) {
  if (!of.price_per_hour || !(tokens_per_second > 0.0)) return {};
  constexpr double seconds_per_hour = 3600.0;
  return *of.price_per_hour / seconds_per_hour / tokens_per_second * 1e6;
}

FigureValue joules_per_token(const Answer& of, double tokens_per_second) {
  if (!of.power_watts || !(tokens_per_second > 0.0)) return {};
  return *of.power_watts / tokens_per_second;
}

Meaning rate_interval_meaning(int level) {
  const std::string title = std::to_string(level) + " %";
  return {"tokens/s " + title, "tokens/s",
          title + " interval of `decode_tokens_per_second`, outermost of both bounds", Format::interval};
}

using Answers = std::vector<FigureOf<Answer>>;

Answers make_answers() {
  const Meaning request_mean{"mean of prompts", "", "Mean over prompts of their own speedups",
                             Format::factor};
  return {
      shared<Answer>("output_tokens", [](const Answer& of) { return of.tokens; }),
      shared<Answer>("tokens_per_round", [](const Answer& of) { return of.mean_accepted_length; }),
      shared<Answer>("acceptance_rate", [](const Answer& of) { return of.acceptance_rate; }),
      shared<Answer>("draft_steps_per_round", [](const Answer& of) { return of.steps_per_round; }),
      shared<Answer>("target_step_ns", [](const Answer& of) { return of.target_step_ns; }),
      shared<Answer>("draft_cost", [](const Answer& of) { return of.c; }),
      shared<Answer>("verify_cost", [](const Answer& of) { return of.v; }),
      shared<Answer>("overhead", [](const Answer& of) { return of.o; }),
      row<Answer>("vanilla_decode_tokens_per_second", vanilla_rate_meaning(),
                  [](const Answer& of) { return of.vanilla_tokens_per_second; }),
      shared<Answer>("decode_tokens_per_second", [](const Answer& of) { return of.tokens_per_second; }),
      row<Answer>("speedup", speedup_meaning(),
                  [](const Answer& of) { return of.speedup.min_drafted.total.value; }),
      row<Answer>("speedup_max_drafted", max_drafted_meaning(),
                  [](const Answer& of) {
                    return of.speedup.max_drafted ? FigureValue(of.speedup.max_drafted->total.value)
                                                  : FigureValue();
                  }),
      row<Answer>("request_mean", request_mean,
                  [](const Answer& of) { return of.speedup.min_drafted.request_mean; }),
      row<Answer>("interval_80", interval_meaning(80),
                  [](const Answer& of) { return figure_value(outermost_interval_80(of.speedup)); }),
      row<Answer>("interval_95", interval_meaning(95),
                  [](const Answer& of) { return figure_value(outermost_interval_95(of.speedup)); }),
      row<Answer>("no_interval_reason", no_interval_meaning(),
                  [](const Answer& of) { return of.speedup.min_drafted.total.no_interval_reason; }),
      row<Answer>("decode_tokens_per_second_interval_80", rate_interval_meaning(80),
                  [](const Answer& of) { return figure_value(of.rate.interval_80()); }),
      row<Answer>("decode_tokens_per_second_interval_95", rate_interval_meaning(95),
                  [](const Answer& of) { return figure_value(of.rate.interval_95()); }),
      row<Answer>(
          "memory_need_bytes",
          {"memory", "bytes",
           "Weights, K/V of the longest context and activations on each GPU, where they are not what "
           "the recording itself held",
           Format::bytes},
          [](const Answer& of) { return of.memory ? FigureValue(of.memory->total()) : FigureValue(); }),
      row<Answer>("memory_usable_bytes",
                  {"usable memory", "bytes", "Memory of a GPU that a model may take", Format::bytes},
                  [](const Answer& of) { return figure_value(of.usable_memory); }),
      row<Answer>("cost_per_million_tokens",
                  {"cost/1M tokens", "",
                   "Price of a million output tokens at `--price` an hour, in its currency; prefill left out",
                   Format::number},
                  [](const Answer& of) { return cost_of_million(of, of.tokens_per_second); }),
      row<Answer>("vanilla_cost_per_million_tokens",
                  {"vanilla cost/1M", "", "The same by vanilla decoding", Format::number},
                  [](const Answer& of) { return cost_of_million(of, of.vanilla_tokens_per_second); }),
      row<Answer>(
          "joules_per_token",
          {"J/token", "J", "Energy of an output token at `--power`; prefill left out", Format::number},
          [](const Answer& of) { return joules_per_token(of, of.tokens_per_second); }),
      row<Answer>("vanilla_joules_per_token",
                  {"vanilla J/token", "J", "The same by vanilla decoding", Format::number},
                  [](const Answer& of) { return joules_per_token(of, of.vanilla_tokens_per_second); }),
      budget_row("sigma", "Standard deviation of ln(speedup), with `--budget`", &VarianceBudget::sigma),
      budget_row("acceptance", "Share of its variance that is due to the prompts' acceptance",
                 &VarianceBudget::acceptance),
      budget_row("fit", "Share that is due to fitted costs", &VarianceBudget::fit),
      budget_row("width", "Share that is due to the cost of wider passes", &VarianceBudget::width),
      budget_row("transfer", "Share that is due to another machine's costs", &VarianceBudget::transfer),
      budget_row("interaction", "Share that is due to several of them together",
                 &VarianceBudget::interaction),
  };
}

std::vector<FigureOf<PredictedDecoding>> make_predicted() {
  using Of = PredictedDecoding;
  return {
      row<Of>("speedup", speedup_meaning(), [](const Of& of) { return of.speedup; }),
      row<Of>("speedup_min_drafted", min_drafted_meaning(),
              [](const Of& of) { return of.speedup_min_drafted; }),
      row<Of>("speedup_max_drafted", max_drafted_meaning(),
              [](const Of& of) { return of.speedup_max_drafted; }),
      row<Of>("interval_80", interval_meaning(80), [](const Of& of) { return figure_value(of.interval_80); }),
      row<Of>("interval_95", interval_meaning(95), [](const Of& of) { return figure_value(of.interval_95); }),
      row<Of>("no_interval_reason", no_interval_meaning(),
              [](const Of& of) { return of.no_interval_reason; }),
      row<Of>("status", {"status", "", "How well the rounds are known", Format::text},
              [](const Of& of) { return std::string(answer_status_name(of.status)); }),
      row<Of>("rounds_source", {"rounds", "", "Where the rounds come from", Format::text},
              [](const Of& of) { return std::string(round_source_name(of.source)); }),
      shared<Of>("target_step_ns", [](const Of& of) { return of.vanilla_step_ns; }),
      row<Of>("draft_step_ns", draft_step_meaning(), [](const Of& of) { return of.draft_step_ns; }),
      row<Of>("verify_ns", verify_meaning(), [](const Of& of) { return of.verify_ns; }),
      shared<Of>("tokens_per_round", [](const Of& of) { return of.mean_accepted_length; }),
      shared<Of>("decode_tokens_per_second", [](const Of& of) { return of.tokens_per_second; }),
      row<Of>("vanilla_decode_tokens_per_second", vanilla_rate_meaning(),
              [](const Of& of) { return of.vanilla_tokens_per_second; }),
  };
}

std::vector<FigureOf<MeasuredDecoding>> make_measured_decoding() {
  using Of = MeasuredDecoding;
  return {
      row<Of>("speedup", speedup_meaning(), [](const Of& of) { return of.speedup; }),
      row<Of>("by_repeat", {"repeats", "", "The same from each repeat alone", Format::repeats},
              [](const Of& of) { return RepeatValues{.values = of.by_repeat}; }),
      row<Of>("prompts", {"prompts", "", "Prompts that both decoded", Format::count},
              [](const Of& of) { return static_cast<std::int64_t>(of.prompts); }),
      shared<Of>("target_step_ns", [](const Of& of) { return of.vanilla_step_ns; }),
      row<Of>("draft_step_ns", draft_step_meaning(), [](const Of& of) { return of.draft_step_ns; }),
      row<Of>("verify_ns", verify_meaning(), [](const Of& of) { return of.verify_ns; }),
      shared<Of>("tokens_per_round", [](const Of& of) { return of.mean_accepted_length; }),
      shared<Of>("decode_tokens_per_second", [](const Of& of) { return of.tokens_per_second; }),
      row<Of>("vanilla_decode_tokens_per_second", vanilla_rate_meaning(),
              [](const Of& of) { return of.vanilla_tokens_per_second; }),
  };
}

constexpr std::array<std::string_view, 11> answer_keys{"tokens_per_round",
                                                       "acceptance_rate",
                                                       "draft_cost",
                                                       "verify_cost",
                                                       "overhead",
                                                       "vanilla_decode_tokens_per_second",
                                                       "decode_tokens_per_second",
                                                       "decode_tokens_per_second_interval_95",
                                                       "speedup",
                                                       "interval_80",
                                                       "interval_95"};

constexpr std::array<std::string_view, 4> price_keys{"cost_per_million_tokens",
                                                     "vanilla_cost_per_million_tokens", "joules_per_token",
                                                     "vanilla_joules_per_token"};

}  // namespace

std::span<const FigureOf<Answer>> answer_figures() {
  static const Answers list = make_answers();
  return list;
}

const FigureOf<Answer>& answer_figure(std::string_view key) {
  static const FigureOf<Answer> none =
      row<Answer>("", {"", "", "", Format::text}, [](const Answer&) { return FigureValue(); });
  const FigureOf<Answer>* figure = find_figure(answer_figures(), key);
  return figure == nullptr ? none : *figure;
}

std::span<const std::string_view> answer_table() {
  return answer_keys;
}

std::span<const std::string_view> answer_price_table() {
  return price_keys;
}

std::span<const FigureOf<PredictedDecoding>> predicted_decoding_figures() {
  static const std::vector<FigureOf<PredictedDecoding>> list = make_predicted();
  return list;
}

std::span<const FigureOf<MeasuredDecoding>> measured_decoding_figures() {
  static const std::vector<FigureOf<MeasuredDecoding>> list = make_measured_decoding();
  return list;
}

}  // namespace draftscope::simulator
