// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figure.h>
#include <fmt/format.h>

#include <array>
#include <functional>
#include <string_view>
#include <utility>

namespace draftscope::simulator {

namespace {

using Format = FigureFormat;
using Measured = std::vector<MeasuredFigure>;

std::int64_t whole(std::size_t count) {
  return static_cast<std::int64_t>(count);
}

std::string_view target_step_name(TargetStep source) {
  constexpr std::array<std::string_view, 3> names{"unknown", "baseline_rounds", "verification"};
  return names[static_cast<std::size_t>(source)];
}

FigureValue breakdown_source(const Figures& of) {
  if (of.breakdown.source == BreakdownSource::none) return {};
  return of.breakdown.source == BreakdownSource::spans ? "spans" : "rounds";
}

FigureValue first_token(const Figures& of, double TimeSummary::*part) {
  const auto& summary = of.throughput.time_to_first_token;
  return summary ? FigureValue((*summary).*part) : FigureValue();
}

const std::vector<FigureOf<Speedup>>& ratio_catalogue() {
  static const std::vector<FigureOf<Speedup>> list{
      {"value", "speedup", "",
       "Ratio of tokens per second on the same prompts, prefill included: over vanilla decoding in the same "
       "recording, or over the first recording",
       Format::speedup, [](const Speedup& of) { return of.value; }},
      {"estimator", "estimator", "",
       "`total_wall_time`: total wall time of one / of the other, where outputs are equally long; "
       "`prompt_mean`: "
       "geometric mean over prompts of the ratio of tokens per second, where they are not",
       Format::text,
       [](const Speedup& of) {
         return of.estimator == SpeedupEstimator::total_wall_time ? "total_wall_time" : "prompt_mean";
       }},
      {"decode_value", "decode speedup", "",
       "The same ratio from the first token to the end, prefill left out", Format::number,
       [](const Speedup& of) { return figure_value(of.decode_value); }},
      {"prompts", "prompts", "", "Prompts that both decoded", Format::count,
       [](const Speedup& of) { return whole(of.prompts); }},
      {"request_pairs", "request pairs", "", "Requests of both with the same prompt and repeat",
       Format::count, [](const Speedup& of) { return whole(of.pairs); }},
      {"unpaired_requests", "unpaired", "", "Requests of either side without a partner", Format::count,
       [](const Speedup& of) { return whole(of.unpaired); }},
      {"by_repeat", "repeats", "", "The ratio from each repeat alone; tables show its median and range",
       Format::repeats,
       [](const Speedup& of) {
         return RepeatValues{of.by_repeat, of.repeat_median, of.repeat_minimum, of.repeat_maximum};
       }},
      {"repeat_median", "median of repeats", "", "Median of `by_repeat`", Format::number,
       [](const Speedup& of) { return of.repeat_median; }},
      {"repeat_min", "min of repeats", "", "Least of `by_repeat`", Format::number,
       [](const Speedup& of) { return of.repeat_minimum; }},
      {"repeat_max", "max of repeats", "", "Greatest of `by_repeat`", Format::number,
       [](const Speedup& of) { return of.repeat_maximum; }},
      {"interval_95", "95 % of prompts", "",
       "95 % percentile bootstrap interval of the ratio over prompts; absent below six prompts",
       Format::interval, [](const Speedup& of) { return figure_value(of.interval); }},
      {"decode_interval_95", "95 % of prompts, decode", "",
       "The same of the ratio from the first token to the end", Format::interval,
       [](const Speedup& of) { return figure_value(of.decode_interval); }},
      {"p_value", "p", "",
       "Two-sided Wilcoxon signed-rank test over prompts that both are equally fast; absent below six "
       "prompts",
       Format::p_value, [](const Speedup& of) { return figure_value(of.p_value); }},
  };
  return list;
}

const std::vector<FigureOf<OutputIdentity>>& identity_catalogue() {
  static const std::vector<FigureOf<OutputIdentity>> list{
      {"same_text", "same text", "", "Whether the outputs are the baseline's, token for token", Format::match,
       [](const OutputIdentity& of) {
         return of.compared_prompts > 0 ? FigureValue(PromptMatch{of.differing_prompts, of.compared_prompts})
                                        : FigureValue();
       }},
      {"compared_prompts", "compared prompts", "", "Prompts that both decoded", Format::count,
       [](const OutputIdentity& of) { return whole(of.compared_prompts); }},
      {"differing_prompts", "differing prompts", "", "Those whose output tokens differ", Format::count,
       [](const OutputIdentity& of) { return whole(of.differing_prompts); }},
      {"compared_requests", "compared requests", "", "Requests that both decoded", Format::count,
       [](const OutputIdentity& of) { return whole(of.compared_requests); }},
      {"differing_requests", "differing requests", "", "Those whose output tokens differ", Format::count,
       [](const OutputIdentity& of) { return whole(of.differences.size()); }},
  };
  return list;
}

void add_throughput(Measured& list) {
  list.insert(
      list.end(),
      {{"requests", "requests", "", "Finished requests; others count nowhere", Format::count,
        [](const Figures& of) { return of.throughput.requests; }},
       {"unfinished_requests", "unfinished", "", "Requests that are left out of every figure", Format::count,
        [](const Figures& of) { return of.throughput.unfinished_requests; }},
       {"output_tokens", "tokens", "", "Output tokens of all requests", Format::count,
        [](const Figures& of) { return of.throughput.output_tokens; }},
       {"wall_ns", "wall time", "ns", "Σ (end − start) of the requests, prefill included", Format::duration,
        [](const Figures& of) { return of.throughput.wall_ns; }},
       {"decode_ns", "decode time", "ns", "Σ (end − first token) of the requests", Format::duration,
        [](const Figures& of) { return of.throughput.decode_ns; }},
       {"tokens_per_second", "tokens/s", "tokens/s", "All output tokens / all wall time, prefill included",
        Format::number, [](const Figures& of) { return figure_value(of.throughput.tokens_per_second); }},
       {"decode_tokens_per_second", "decode tokens/s", "tokens/s",
        "Σ (output tokens − 1) / decode time: prefill and its token left out", Format::number,
        [](const Figures& of) { return figure_value(of.throughput.decode_tokens_per_second); }},
       {"time_to_first_token.mean_ns", "first token, mean", "ns", "Mean of first token − start over requests",
        Format::duration, [](const Figures& of) { return first_token(of, &TimeSummary::mean_ns); }},
       {"time_to_first_token.median_ns", "first token", "ns", "Median of first token − start over requests",
        Format::duration, [](const Figures& of) { return first_token(of, &TimeSummary::median_ns); }},
       {"time_to_first_token.min_ns", "first token, min", "ns", "Least of first token − start over requests",
        Format::duration, [](const Figures& of) { return first_token(of, &TimeSummary::minimum_ns); }},
       {"time_to_first_token.max_ns", "first token, max", "ns",
        "Greatest of first token − start over requests", Format::duration,
        [](const Figures& of) { return first_token(of, &TimeSummary::maximum_ns); }}});
}

void add_acceptance(Measured& list) {
  list.insert(
      list.end(),
      {{"rounds", "rounds", "", "Target forwards after prefill", Format::count,
        [](const Figures& of) { return of.acceptance.rounds; }},
       {"drafted_tokens", "drafted", "", "Draft tokens of all rounds", Format::count,
        [](const Figures& of) { return of.acceptance.drafted_tokens; }},
       {"accepted_tokens", "accepted", "", "Draft tokens that the target agreed with, up to the text's end",
        Format::count, [](const Figures& of) { return of.acceptance.accepted_tokens; }},
       {"draft_steps", "draft steps", "",
        "Forwards of the draft: the depth of each round's token tree, which for a chain is the draft length",
        Format::count, [](const Figures& of) { return of.acceptance.draft_steps; }},
       {"mean_accepted_length", "M", "",
        "Tokens of the text that a target forward yields, bonus and end-of-sequence tokens included, those "
        "after the text's end left out; τ is M − 1",
        Format::number, [](const Figures& of) { return figure_value(of.acceptance.mean_accepted_length); }},
       {"acceptance_rate", "acceptance", "",
        "α = accepted / drafted tokens; every node of a token tree counts as drafted", Format::percent,
        [](const Figures& of) { return figure_value(of.acceptance.acceptance_rate); }},
       {"step_acceptance", "per step", "",
        "Accepted tokens / draft steps: along the path of a token tree (SWIFT's α); a chain's is "
        "`acceptance_rate`",
        Format::percent, [](const Figures& of) { return figure_value(of.acceptance.step_acceptance); }},
       {"tested_rate", "tested", "", "Accepted / draft tokens that verification got to", Format::percent,
        [](const Figures& of) { return figure_value(of.acceptance.tested_rate); }},
       {"tokens_per_round", "tokens/round", "",
        "Emitted tokens / rounds: M without the end-of-sequence token (Spec-Bench's accept lengths)",
        Format::number, [](const Figures& of) { return figure_value(of.acceptance.emitted_per_round); }},
       {"draft_steps_per_round", "steps/round", "", "γ̄ = draft steps / rounds", Format::number,
        [](const Figures& of) { return figure_value(of.acceptance.steps_per_round); }}});
}

void add_layers(Measured& list) {
  list.insert(
      list.end(),
      {{"n_layers", "layers", "", "L, layers of the model", Format::count,
        [](const Figures& of) {
          return of.layers.n_layers > 0 ? FigureValue(std::int64_t{of.layers.n_layers}) : FigureValue();
        }},
       {"loaded_layers", "loaded layers", "", "Layers that all draft steps and verifications loaded",
        Format::number, [](const Figures& of) { return of.layers.loaded_layers; }},
       {"etpl", "eTPL", "", "Tokens per loaded layer, observed: mean of the requests' (DEL's definition)",
        Format::number, [](const Figures& of) { return figure_value(of.layers.etpl); }},
       {"etpl_pooled", "eTPL, pooled", "", "All tokens / all loaded layers", Format::number,
        [](const Figures& of) { return figure_value(of.layers.etpl_pooled); }},
       {"layer_count_speedup", "layer-count speedup", "",
        "L · pooled eTPL: the speedup if time were loaded layers alone", Format::number,
        [](const Figures& of) { return figure_value(of.layers.layer_count_speedup); }}});
}

void add_costs(Measured& list) {
  list.insert(
      list.end(),
      {{"draft_ns_per_round", "draft/round", "ns", "Mean time of the draft phase of a round",
        Format::duration_if_any, [](const Figures& of) { return figure_value(of.cost.draft_ns_per_round); }},
       {"draft_ns_per_step", "draft/step", "ns", "Mean time of a draft step", Format::duration,
        [](const Figures& of) { return figure_value(of.cost.draft_ns_per_step); }},
       {"verify_ns_per_round", "verify/round", "ns", "Mean time of the verification of a round",
        Format::duration, [](const Figures& of) { return figure_value(of.cost.verify_ns_per_round); }},
       {"target_step_ns", "target step", "ns", "The unit of the costs c, v and o", Format::duration,
        [](const Figures& of) {
          return of.cost.target_step == TargetStep::unknown ? FigureValue()
                                                            : FigureValue(of.cost.target_step_ns);
        }},
       {"target_step_source", "target step is", "",
        "`baseline_rounds`: a vanilla round on the same prompts, its part of the time between rounds "
        "included; "
        "`verification`: this run's own mean verification, without a baseline; `unknown`",
        Format::text, [](const Figures& of) { return std::string(target_step_name(of.cost.target_step)); }},
       {"draft_cost", "c", "", "Draft-cost coefficient: a draft step / a target step", Format::ratio,
        [](const Figures& of) { return figure_value(of.cost.c); }},
       {"verify_cost", "v", "", "A verification / a target step, a mean over all rounds", Format::ratio,
        [](const Figures& of) { return figure_value(of.cost.v); }},
       {"overhead", "o", "",
        "The rest of a round / a target step: accepting, optimising, control, time of no phase, time between "
        "rounds",
        Format::ratio, [](const Figures& of) { return figure_value(of.cost.o); }},
       {"closed_form_speedup", "M/(gc+v+o)", "",
        "The speedup that the costs imply, g = draft steps per round; to compare with the measured decode "
        "speedup; absent without a baseline",
        Format::number, [](const Figures& of) { return figure_value(of.cost.closed_form_speedup); }},
       {"tpt", "TPT", "",
        "Tokens per target-step time: M / (steps/round · c + v + o), with or without a baseline; absent "
        "where nothing was drafted",
        Format::number,
        [](const Figures& of) { return figure_value(observed_tpt(of.cost, of.acceptance)); }}});
}

void add_distributions(Measured& list) {
  list.push_back({"acceptance_by_position", "acceptance by position", "",
                  "For each draft `position` from 0: rounds that `drafted`, `reached` and `accepted` there; "
                  "`accepted_of_drafted`, `accepted_of_reached`",
                  Format::list, [](const Figures& of) { return of.acceptance.by_position; }});
  list.push_back({"rounds_by_draft_length", "draft lengths", "",
                  "Rounds by draft steps, from 0: a token tree's are its depth", Format::list,
                  [](const Figures& of) { return of.acceptance.draft_lengths; }});
  for (std::size_t i = 0; i < static_cast<std::size_t>(draft_stop_count); ++i) {
    const std::string_view name = traces::draft_stop_name(static_cast<traces::DraftStop>(i));
    list.push_back({fmt::format("rounds_by_draft_stop.{}", name), fmt::format("stop: {}", name), "",
                    fmt::format("Rounds whose draft ended by `{}`", name), Format::count,
                    [i](const Figures& of) { return of.acceptance.draft_stops[i]; }});
  }
}

void add_breakdown(Measured& list) {
  list.push_back({"breakdown.source", "breakdown from", "",
                  "`spans`, or `rounds` (round rows) where no spans were recorded", Format::text,
                  breakdown_source});
  for (std::size_t i = 0; i < std::size_t{traces::phase_count}; ++i) {
    const std::string_view name = traces::phase_name(static_cast<traces::Phase>(i));
    list.push_back({fmt::format("breakdown.{}_ns", name), fmt::format("{} time", name), "ns",
                    fmt::format("Wall time of phase `{}`; all phases add up to `wall_ns` exactly", name),
                    Format::duration, [i](const Figures& of) {
                      return of.breakdown.source == BreakdownSource::none
                                 ? FigureValue()
                                 : FigureValue(of.breakdown.by_phase[i]);
                    }});
  }
}

void add_device(Measured& list) {
  const auto add = [&list](std::string key, std::string title, std::string unit, std::string explanation,
                           std::int64_t DeviceTime::*part) {
    const Format format = unit.empty() ? Format::count : Format::duration;
    list.push_back({"device." + std::move(key), std::move(title), std::move(unit), std::move(explanation),
                    format, [part](const Figures& of) { return of.device.*part; }});
  };
  add("rounds", "device rounds", "", "Rounds whose work on the device was recorded", &DeviceTime::rounds);
  add("activities", "device activities", "", "Kernels, copies and graphs of those rounds",
      &DeviceTime::activities);
  add("wall_ns", "device wall time", "ns", "Wall time of those rounds: busy + gap + host, exactly",
      &DeviceTime::wall_ns);
  add("busy_ns", "device busy", "ns", "Time in which some activity of the round ran", &DeviceTime::busy_ns);
  add("gap_ns", "device gaps", "ns", "Idle time between a round's first and last activity",
      &DeviceTime::gap_ns);
  add("gap_launch_ns", "device gaps before launches", "ns",
      "Gaps that the begin of a launch ends; the rest lies between its kernels", &DeviceTime::gap_launch_ns);
  add("host_ns", "host alone", "ns", "Time before a round's first and after its last activity",
      &DeviceTime::host_ns);
  add("outside_ns", "device outside", "ns",
      "Device time beyond the round's own times: 0 where the clocks agree", &DeviceTime::outside_ns);
  for (std::size_t i = 0; i < std::size_t{traces::phase_count}; ++i) {
    const std::string_view name = traces::phase_name(static_cast<traces::Phase>(i));
    list.push_back({fmt::format("device.busy_{}_ns", name), fmt::format("device busy, {}", name), "ns",
                    fmt::format("Busy time of phase `{}`", name), Format::duration,
                    [i](const Figures& of) { return of.device.busy_by_phase[i]; }});
  }
}

void add_memory(Measured& list) {
  const auto add = [&list](std::string key, std::string title, std::string explanation,
                           std::function<FigureValue(const RunMemory&)> get) {
    list.push_back(
        {"memory." + std::move(key), std::move(title), "bytes", std::move(explanation), Format::bytes,
         [get = std::move(get)](const Figures& of) { return of.memory ? get(*of.memory) : FigureValue(); }});
  };
  add("peak_bytes", "peak memory",
      "Largest resident size of the process while this run's requests were decoded; of a device its "
      "allocations",
      [](const RunMemory& of) { return figure_value(of.peak_bytes); });
  add("weight_bytes", "weights", "Weights as they are held; mapped ones become resident as they are read",
      [](const RunMemory& of) { return of.weight_bytes; });
  add("draft_weight_bytes", "draft's weights",
      "The draft's own weights: a second model, or layers in another type",
      [](const RunMemory& of) { return of.draft_weight_bytes; });
  add("kv_bytes", "K/V cache", "The caches of the target and of a second model, as allocated",
      [](const RunMemory& of) { return of.kv_bytes; });
  add("workspace_bytes", "buffers", "The backends' buffers",
      [](const RunMemory& of) { return of.workspace_bytes; });
  add("other_bytes", "rest", "The peak less all of these: program, tables, what strategies keep",
      [](const RunMemory& of) { return figure_value(of.other_bytes()); });
}

/// Rows of a part's catalogue, with keys below its name.
template <typename Part>
void add_part(Measured& list, const std::string& name, const std::vector<FigureOf<Part>>& part,
              std::optional<Part> Figures::*member) {
  for (const FigureOf<Part>& figure : part)
    list.push_back({name + '.' + figure.key, figure.title, figure.unit, figure.explanation, figure.format,
                    [&figure, member](const Figures& of) {
                      return of.*member ? figure.get(*(of.*member)) : FigureValue();
                    }});
}

Measured make_measured() {
  Measured list;
  add_throughput(list);
  add_acceptance(list);
  add_layers(list);
  add_costs(list);
  add_distributions(list);
  add_breakdown(list);
  add_device(list);
  add_memory(list);
  add_part(list, "speedup", ratio_catalogue(), &Figures::speedup);
  add_part(list, "identity", identity_catalogue(), &Figures::identity);
  for (MeasuredFigure& figure : list)
    figure.get = [key = figure.key, get = std::move(figure.get)](const Figures& of) {
      return is_unknown(of, key) ? FigureValue() : get(of);
    };
  return list;
}

constexpr std::array<std::string_view, 10> speed_keys{"requests",
                                                      "output_tokens",
                                                      "wall_ns",
                                                      "tokens_per_second",
                                                      "decode_tokens_per_second",
                                                      "time_to_first_token.median_ns",
                                                      "speedup.value",
                                                      "speedup.interval_95",
                                                      "speedup.by_repeat",
                                                      "identity.same_text"};

constexpr std::array<std::string_view, 12> speed_by_category_keys{"requests",
                                                                  "output_tokens",
                                                                  "wall_ns",
                                                                  "tokens_per_second",
                                                                  "decode_tokens_per_second",
                                                                  "time_to_first_token.median_ns",
                                                                  "mean_accepted_length",
                                                                  "acceptance_rate",
                                                                  "speedup.value",
                                                                  "speedup.interval_95",
                                                                  "speedup.by_repeat",
                                                                  "identity.same_text"};

constexpr std::array<std::string_view, 16> drafting_keys{"rounds",
                                                         "drafted_tokens",
                                                         "accepted_tokens",
                                                         "mean_accepted_length",
                                                         "acceptance_rate",
                                                         "step_acceptance",
                                                         "tested_rate",
                                                         "etpl",
                                                         "draft_steps_per_round",
                                                         "draft_ns_per_round",
                                                         "verify_ns_per_round",
                                                         "draft_cost",
                                                         "verify_cost",
                                                         "overhead",
                                                         "closed_form_speedup",
                                                         "speedup.decode_value"};

constexpr std::array<std::string_view, 11> comparison_keys{
    "output_tokens",        "tokens_per_second", "decode_tokens_per_second",
    "mean_accepted_length", "acceptance_rate",   "etpl",
    "draft_cost",           "speedup.value",     "speedup.interval_95",
    "speedup.p_value",      "identity.same_text"};

constexpr std::array<std::string_view, 10> comparison_csv_keys{"output_tokens",
                                                               "wall_ns",
                                                               "tokens_per_second",
                                                               "decode_tokens_per_second",
                                                               "mean_accepted_length",
                                                               "acceptance_rate",
                                                               "etpl",
                                                               "draft_cost",
                                                               "speedup.value",
                                                               "identity.differing_prompts"};

constexpr std::array<std::string_view, 6> memory_keys{"memory.peak_bytes",         "memory.weight_bytes",
                                                      "memory.draft_weight_bytes", "memory.kv_bytes",
                                                      "memory.workspace_bytes",    "memory.other_bytes"};

constexpr std::array<std::string_view, 10> app_keys{"tokens_per_second",
                                                    "speedup.value",
                                                    "mean_accepted_length",
                                                    "acceptance_rate",
                                                    "draft_cost",
                                                    "verify_cost",
                                                    "overhead",
                                                    "time_to_first_token.median_ns",
                                                    "speedup.by_repeat",
                                                    "identity.same_text"};

}  // namespace

std::span<const MeasuredFigure> measured_figures() {
  static const Measured list = make_measured();
  return list;
}

std::span<const FigureOf<Speedup>> ratio_figures() {
  return ratio_catalogue();
}

std::span<const FigureOf<OutputIdentity>> identity_figures() {
  return identity_catalogue();
}

const MeasuredFigure& measured_figure(std::string_view key) {
  return figure_at(measured_figures(), key);
}

const FigureOf<Speedup>& ratio_figure(std::string_view key) {
  return figure_at(ratio_figures(), key);
}

const FigureOf<OutputIdentity>& identity_figure(std::string_view key) {
  return figure_at(identity_figures(), key);
}

std::span<const std::string_view> figure_table(FigureTable table) {
  static const std::array<std::span<const std::string_view>, 7> tables{
      speed_keys,      speed_by_category_keys, drafting_keys, memory_keys,
      comparison_keys, comparison_csv_keys,    app_keys};
  return tables[static_cast<std::size_t>(table)];
}

}  // namespace draftscope::simulator
