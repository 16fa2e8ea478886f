// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/answers/answer_figures.h>

#include <algorithm>
#include <array>

namespace draftscope::simulator {

namespace {

using Format = FigureFormat;

/// Title and meaning of a figure, whatever its source.
struct Meaning {
  std::string_view key, title, unit, explanation;
  Format format = Format::number;
};

/// Figures that are not measured as well; the others have their meaning from measured_figures().
constexpr std::array meanings{
    Meaning{"vanilla_decode_tokens_per_second", "vanilla decode tokens/s", "tokens/s",
            "Vanilla decoding of the same texts, prefill left out"},
    Meaning{"speedup", "speedup", "",
            "Over vanilla decoding on the same machine, from the first token to the end", Format::factor},
    Meaning{
        "speedup_min_drafted", "speedup, min drafted", "",
        "`speedup` of the first of two cases: with the fewest draft tokens, where their number is bounded",
        Format::factor},
    Meaning{"speedup_max_drafted", "speedup, max drafted", "",
            "`speedup` of the other case: with the most draft tokens, where their number is bounded",
            Format::factor},
    Meaning{"request_mean", "mean of prompts", "", "Mean over prompts of their own speedups", Format::factor},
    Meaning{"interval_80", "80 %", "", "80 % interval of `speedup`, outermost of both bounds",
            Format::interval},
    Meaning{"interval_95", "95 %", "", "95 % interval of `speedup`, outermost of both bounds",
            Format::interval},
    Meaning{"no_interval_reason", "no interval", "", "Why there is no interval; empty if there is one",
            Format::text},
    Meaning{"decode_tokens_per_second_interval_80", "tokens/s 80 %", "tokens/s",
            "80 % interval of `decode_tokens_per_second`, outermost of both bounds", Format::interval},
    Meaning{"decode_tokens_per_second_interval_95", "tokens/s 95 %", "tokens/s",
            "95 % interval of `decode_tokens_per_second`, outermost of both bounds", Format::interval},
    Meaning{"memory_need_bytes", "memory", "bytes",
            "Weights, K/V of the longest context and activations on each GPU, where they are not what the "
            "recording itself held",
            Format::bytes},
    Meaning{"memory_usable_bytes", "usable memory", "bytes", "Memory of a GPU that a model may take",
            Format::bytes},
    Meaning{"cost_per_million_tokens", "cost/1M tokens", "",
            "Price of a million output tokens at `--price` an hour, in its currency; prefill left out"},
    Meaning{"vanilla_cost_per_million_tokens", "vanilla cost/1M", "", "The same by vanilla decoding"},
    Meaning{"joules_per_token", "J/token", "J", "Energy of an output token at `--power`; prefill left out"},
    Meaning{"vanilla_joules_per_token", "vanilla J/token", "J", "The same by vanilla decoding"},
    Meaning{"variance_budget.sigma", "sigma", "", "Standard deviation of ln(speedup), with `--budget`",
            Format::percent},
    Meaning{"variance_budget.acceptance", "acceptance", "",
            "Share of its variance that is due to the prompts' acceptance", Format::percent},
    Meaning{"variance_budget.fit", "fit", "", "Share that is due to fitted costs", Format::percent},
    Meaning{"variance_budget.width", "width", "", "Share that is due to the cost of wider passes",
            Format::percent},
    Meaning{"variance_budget.transfer", "transfer", "", "Share that is due to another machine's costs",
            Format::percent},
    Meaning{"variance_budget.interaction", "interaction", "", "Share that is due to several of them together",
            Format::percent},
    Meaning{"status", "status", "", "How well the rounds are known", Format::text},
    Meaning{"rounds_source", "rounds", "", "Where the rounds come from", Format::text},
    Meaning{"draft_step_ns", "draft step", "ns", "Mean time of a draft step of a model; 0 if none drafts",
            Format::duration},
    Meaning{"verify_ns", "verification", "ns", "Mean time of the verification of a round", Format::duration},
    Meaning{"drafting_share", "rounds that draft", "", "Rounds that draft / rounds", Format::percent},
    Meaning{"by_repeat", "repeats", "", "The same from each repeat alone", Format::repeats},
    Meaning{"prompts", "prompts", "", "Prompts that both decoded", Format::count}};

template <typename Source, typename Get>
FigureOf<Source> row(std::string_view key, Get get) {
  const auto* const own = std::ranges::find(meanings, key, &Meaning::key);
  if (own != meanings.end())
    return {std::string(key), std::string(own->title), std::string(own->unit), std::string(own->explanation),
            own->format,      std::move(get)};
  const MeasuredFigure& measured = measured_figure(key);
  return {std::string(key),     measured.title,  measured.unit,
          measured.explanation, measured.format, std::move(get)};
}

FigureOf<Answer> budget_row(std::string_view key, double VarianceBudget::*share) {
  return row<Answer>(key, [share](const Answer& of) {
    return of.budget ? FigureValue((*of.budget).*share) : FigureValue();
  });
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

std::vector<FigureOf<Answer>> make_answers() {
  using Of = Answer;
  return {
      row<Of>("output_tokens", [](const Of& of) { return of.tokens; }),
      row<Of>("mean_accepted_length", [](const Of& of) { return of.mean_accepted_length; }),
      row<Of>("tokens_per_round", [](const Of& of) { return of.tokens_per_round; }),
      row<Of>("acceptance_rate", [](const Of& of) { return of.acceptance_rate; }),
      row<Of>("drafting_share", [](const Of& of) { return of.drafting_share; }),
      row<Of>("draft_steps_per_round", [](const Of& of) { return of.steps_per_round; }),
      row<Of>("target_step_ns", [](const Of& of) { return of.target_step_ns; }),
      row<Of>("draft_cost", [](const Of& of) { return of.c; }),
      row<Of>("verify_cost", [](const Of& of) { return of.v; }),
      row<Of>("overhead", [](const Of& of) { return of.o; }),
      row<Of>("vanilla_decode_tokens_per_second", [](const Of& of) { return of.vanilla_tokens_per_second; }),
      row<Of>("decode_tokens_per_second", [](const Of& of) { return of.tokens_per_second; }),
      row<Of>("speedup", [](const Of& of) { return of.speedup.min_drafted.value; }),
      row<Of>("speedup_max_drafted",
              [](const Of& of) {
                return of.speedup.max_drafted ? FigureValue(of.speedup.max_drafted->value) : FigureValue();
              }),
      row<Of>("request_mean", [](const Of& of) { return of.speedup.min_drafted.cluster_mean; }),
      row<Of>("interval_80", [](const Of& of) { return figure_value(of.speedup.interval_80()); }),
      row<Of>("interval_95", [](const Of& of) { return figure_value(of.speedup.interval_95()); }),
      row<Of>("no_interval_reason", [](const Of& of) { return of.speedup.min_drafted.no_interval_reason; }),
      row<Of>("decode_tokens_per_second_interval_80",
              [](const Of& of) { return figure_value(of.rate.interval_80()); }),
      row<Of>("decode_tokens_per_second_interval_95",
              [](const Of& of) { return figure_value(of.rate.interval_95()); }),
      row<Of>("memory_need_bytes",
              [](const Of& of) { return of.memory ? FigureValue(of.memory->total()) : FigureValue(); }),
      row<Of>("memory_usable_bytes", [](const Of& of) { return figure_value(of.usable_memory); }),
      row<Of>("cost_per_million_tokens",
              [](const Of& of) { return cost_of_million(of, of.tokens_per_second); }),
      row<Of>("vanilla_cost_per_million_tokens",
              [](const Of& of) { return cost_of_million(of, of.vanilla_tokens_per_second); }),
      row<Of>("joules_per_token", [](const Of& of) { return joules_per_token(of, of.tokens_per_second); }),
      row<Of>("vanilla_joules_per_token",
              [](const Of& of) { return joules_per_token(of, of.vanilla_tokens_per_second); }),
      budget_row("variance_budget.sigma", &VarianceBudget::sigma),
      budget_row("variance_budget.acceptance", &VarianceBudget::acceptance),
      budget_row("variance_budget.fit", &VarianceBudget::fit),
      budget_row("variance_budget.width", &VarianceBudget::width),
      budget_row("variance_budget.transfer", &VarianceBudget::transfer),
      budget_row("variance_budget.interaction", &VarianceBudget::interaction),
  };
}

std::vector<FigureOf<Answer>> make_predicted() {
  using Of = Answer;
  return {
      row<Of>("speedup", [](const Of& of) { return of.speedup.middle(); }),
      row<Of>("speedup_min_drafted", [](const Of& of) { return of.speedup.min_drafted.value; }),
      row<Of>("speedup_max_drafted",
              [](const Of& of) { return of.speedup.max_drafted.value_or(of.speedup.min_drafted).value; }),
      answer_figure("interval_80"),
      answer_figure("interval_95"),
      answer_figure("no_interval_reason"),
      row<Of>("status", [](const Of& of) { return std::string(answer_status_name(of.status)); }),
      row<Of>("rounds_source", [](const Of& of) { return std::string(round_source_name(of.source)); }),
      answer_figure("target_step_ns"),
      row<Of>("draft_step_ns", [](const Of& of) { return of.draft_step_ns(); }),
      row<Of>("verify_ns", [](const Of& of) { return of.verify_ns(); }),
      answer_figure("tokens_per_round"),
      answer_figure("decode_tokens_per_second"),
      answer_figure("vanilla_decode_tokens_per_second"),
  };
}

std::vector<FigureOf<MeasuredDecoding>> make_measured_decoding() {
  using Of = MeasuredDecoding;
  return {
      row<Of>("speedup", [](const Of& of) { return of.speedup; }),
      row<Of>("by_repeat", [](const Of& of) { return RepeatValues{.values = of.by_repeat}; }),
      row<Of>("prompts", [](const Of& of) { return static_cast<std::int64_t>(of.prompts); }),
      row<Of>("target_step_ns", [](const Of& of) { return of.vanilla_step_ns; }),
      row<Of>("draft_step_ns", [](const Of& of) { return of.draft_step_ns; }),
      row<Of>("verify_ns", [](const Of& of) { return of.verify_ns; }),
      row<Of>("tokens_per_round", [](const Of& of) { return of.tokens_per_round; }),
      row<Of>("decode_tokens_per_second", [](const Of& of) { return of.tokens_per_second; }),
      row<Of>("vanilla_decode_tokens_per_second", [](const Of& of) { return of.vanilla_tokens_per_second; }),
  };
}

constexpr std::array<std::string_view, 11> answer_keys{"mean_accepted_length",
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
  static const std::vector<FigureOf<Answer>> list = make_answers();
  return list;
}

const FigureOf<Answer>& answer_figure(std::string_view key) {
  return figure_at(answer_figures(), key);
}

std::span<const std::string_view> answer_table() {
  return answer_keys;
}

std::span<const std::string_view> answer_price_table() {
  return price_keys;
}

std::span<const FigureOf<Answer>> predicted_decoding_figures() {
  static const std::vector<FigureOf<Answer>> list = make_predicted();
  return list;
}

std::span<const FigureOf<MeasuredDecoding>> measured_decoding_figures() {
  static const std::vector<FigureOf<MeasuredDecoding>> list = make_measured_decoding();
  return list;
}

}  // namespace draftscope::simulator
