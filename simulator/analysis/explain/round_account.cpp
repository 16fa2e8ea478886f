// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/explain/evidence.h"
#include "analysis/figures/request_rows.h"

#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

namespace draftscope::simulator {

namespace {

using traces::MissingData;

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Mean rows of a verification; absent where a source does not give them.
std::optional<double> mean_rows(const RunRows& run) {
  double rows = 0.0;
  double rounds = 0.0;
  for (const RequestRows& request : run.requests)
    for (const traces::Round& round : request.rounds) {
      if (round.verify_rows < 1) return std::nullopt;
      rows += round.verify_rows;
      rounds += 1.0;
    }
  return rounds > 0.0 ? std::optional(rows / rounds) : std::nullopt;
}

double phase_ns(const Figures& figures, traces::Phase phase) {
  return static_cast<double>(figures.breakdown.by_phase[static_cast<std::size_t>(phase)]);
}

/// Time of all phases except the prefill.
double decoding_ns(const Figures& figures) {
  double ns = 0.0;
  for (const std::int64_t phase : figures.breakdown.by_phase) ns += static_cast<double>(phase);
  return ns - phase_ns(figures, traces::Phase::prefill);
}

/// Decoding time of a run that has first-token times; else that of its rounds, which baseline_step_ns() takes
/// then too.
double time_of_rounds_ns(const Figures& figures, const RunRows& rows) {
  if (figures.throughput.decode_ns > 0 || figures.cost.target_step != TargetStep::baseline_rounds)
    return static_cast<double>(figures.throughput.decode_ns);
  double ns = 0.0;
  for (const RequestRows& request : rows.requests)
    ns += static_cast<double>(sum_of_rounds(request).rounds_ns);
  return ns;
}

/// Sets unit and time of a round from the best available data: decoding times of both runs, the times of
/// rounds, the phases only, wall times of both runs.
void put_time(const Figures& figures, const RunRows& rows, RoundAccount& round) {
  const auto rounds = static_cast<double>(round.rounds);
  const double decode_ns = time_of_rounds_ns(figures, rows);
  const double verify_ns = phase_ns(figures, traces::Phase::verify);
  const std::optional<double> decode =
      figures.speedup ? figures.speedup->decode_value : std::optional<double>();
  if (round.yields && decode && *decode > 0.0 && decode_ns > 0.0) {
    round.unit = RoundUnit::vanilla_step;
    round.takes = *round.yields / *decode;
    round.unit_ns = decode_ns / rounds / *round.takes;
  } else if (figures.cost.target_step != TargetStep::unknown && decode_ns > 0.0) {
    round.unit = figures.cost.target_step == TargetStep::baseline_rounds ? RoundUnit::vanilla_step
                                                                         : RoundUnit::own_verification;
    round.unit_ns = figures.cost.target_step_ns;
    round.takes = decode_ns / rounds / round.unit_ns;
  } else if (figures.breakdown.source == BreakdownSource::spans && verify_ns > 0.0) {
    round.unit = RoundUnit::own_verification;
    round.unit_ns = verify_ns / rounds;
    round.takes = decoding_ns(figures) / verify_ns;
  } else if (round.yields && figures.speedup && figures.speedup->value > 0.0) {
    round.unit = RoundUnit::vanilla_step;
    round.takes = *round.yields / figures.speedup->value;
    round.has_prefill = true;
  }
  if (round.takes && !(std::isfinite(*round.takes) && *round.takes > 0.0)) {
    round.takes.reset();
    round.unit = RoundUnit::unknown;
    round.unit_ns = 0.0;
    round.has_prefill = false;
  }
  if (round.takes && round.yields && round.unit == RoundUnit::vanilla_step)
    round.speedup = finite(*round.yields / *round.takes);
}

void put_parts(const Figures& figures, RoundAccount& round) {
  if (!round.takes || round.has_prefill || !(round.unit_ns > 0.0) ||
      figures.breakdown.source == BreakdownSource::none)
    return;
  const auto per_round = [&](traces::Phase phase) {
    return phase_ns(figures, phase) / static_cast<double>(round.rounds) / round.unit_ns;
  };
  RoundParts parts{.draft = per_round(traces::Phase::draft),
                   .verify = per_round(traces::Phase::verify),
                   .decide = per_round(traces::Phase::optimise) + per_round(traces::Phase::control),
                   .accept = per_round(traces::Phase::accept)};
  const double known = parts.draft + parts.verify + parts.decide + parts.accept;
  if (!(known > 0.0) || !std::isfinite(known)) return;
  parts.outside = *round.takes - known;
  if (parts.outside < 0.0) {  // Phases before the first token, as a first search, are in no round.
    for (double* const part : {&parts.draft, &parts.verify, &parts.decide, &parts.accept})
      *part *= *round.takes / known;
    parts.outside = 0.0;
  }
  round.parts = parts;
}

/// Text such as " (it lacks round times, phase times)" about these data; empty for the project's own
/// recordings.
std::string lacking(const traces::Meta& meta, std::initializer_list<MissingData> of) {
  std::string names;
  for (const MissingData missing : of)
    if (traces::is_missing(meta, missing))
      names += (names.empty() ? "" : ", ") + std::string(traces::missing_data_name(missing));
  return names.empty() ? names : fmt::format(" (it lacks {})", names);
}

std::string lacking_times(const traces::Meta& meta) {
  return lacking(meta, {MissingData::wall_times, MissingData::first_token_times, MissingData::round_times,
                        MissingData::phase_times});
}

std::string parts_text(const RoundParts& parts) {
  std::string text =
      fmt::format("draft {}, verification {}", amount_text(parts.draft), amount_text(parts.verify));
  constexpr double worth_naming = 0.005;
  if (parts.decide >= worth_naming) text += fmt::format(", deciding {}", amount_text(parts.decide));
  if (parts.accept + parts.outside >= worth_naming)
    text += fmt::format(", the rest {}", amount_text(parts.accept + parts.outside));
  return text;
}

std::string speedup_text(const RoundAccount& round, const Figures& figures) {
  std::string text = speedup_text(*round.speedup, Characters::ascii);
  if (round.has_prefill) return text + " with the prefill";
  constexpr double worth_naming = 0.03;
  if (figures.speedup && std::abs(figures.speedup->value - *round.speedup) >= worth_naming)
    text += fmt::format(" ({} with the prefill)", speedup_text(figures.speedup->value, Characters::ascii));
  return text;
}

std::string yields_text(const RoundAccount& round, const Figures& figures, const Figures* baseline,
                        const traces::Meta& meta) {
  if (!round.yields)
    return fmt::format("; what it yields is not in the recording{}.",
                       lacking(meta, {MissingData::rounds, MissingData::accepted_lengths}));
  const std::string yields = fmt::format(" and yields {} tokens", amount_text(*round.yields));
  if (round.speedup) return fmt::format("{}: {}.", yields, speedup_text(round, figures));
  if (baseline == nullptr) return yields + ". There is no vanilla run to compare it with.";
  return fmt::format("{}. What a vanilla step takes on its prompts is not in the recording{}.", yields,
                     lacking_times(meta));
}

std::string first_sentence(const RoundAccount& round, const Figures& figures, const Figures* baseline,
                           const traces::Meta& meta) {
  if (!round.takes && !round.yields)
    return fmt::format("It has {}; what one takes and yields is not in the recording{}.",
                       count_text(round.rounds, "round"), lacking_times(meta));
  if (!round.takes)
    return fmt::format("A round yields {} tokens; what it takes is not in the recording{}.",
                       amount_text(*round.yields), lacking_times(meta));
  std::string text = "A round takes " + steps_text(*round.takes, round.unit);
  if (round.parts) text += fmt::format(" ({})", parts_text(*round.parts));
  text += yields_text(round, figures, baseline, meta);
  if (!round.parts)
    text += fmt::format(" How its time splits is not in the recording{}.", lacking_times(meta));
  return text;
}

/// "Verification is 65 % of it, for 10.6 rows, and 22 % of the 9.6 draft tokens are kept."
std::string second_sentence(const RoundAccount& round, const Figures& figures) {
  std::string text;
  if (round.parts) {
    text = fmt::format("Verification is {} of it", share_text(round.parts->verify / *round.takes));
    if (round.rows) text += fmt::format(", for {} rows", amount_text(*round.rows));
  }
  if (round.kept) {
    const auto per_round = [&](std::int64_t count) {
      return amount_text(static_cast<double>(count) / static_cast<double>(round.rounds));
    };
    const Acceptance& acceptance = figures.acceptance;
    const bool branches = acceptance.draft_steps < acceptance.drafted_tokens;
    text +=
        fmt::format("{}f the {} draft {} per round{} {} are kept", text.empty() ? "O" : "; o",
                    per_round(acceptance.draft_steps), branches ? "steps" : "tokens",
                    branches ? fmt::format(", {} tokens with branches,", per_round(acceptance.drafted_tokens))
                             : std::string(),
                    share_text(*round.kept));
  }
  return text.empty() ? text : " " + text + ".";
}

/// Sentences about an imported run as a whole: "It gives 70.0 tokens/s. Its source reports no speculation."
std::string whole_run_sentences(const Figures& figures, const traces::Meta& meta) {
  const Throughput& speed = figures.throughput;
  std::string text = "Its speed is not in the recording" + lacking_times(meta) + ".";
  if (speed.tokens_per_second) {
    text = fmt::format("It gives {} tokens/s", number_text(*speed.tokens_per_second));
    if (figures.run->is_baseline)
      text += " without speculation";
    else if (figures.speedup)
      text +=
          fmt::format(", {} over vanilla decoding", speedup_text(figures.speedup->value, Characters::ascii));
    text += '.';
  }
  if (const auto& first = speed.time_to_first_token)
    text += fmt::format(" Its first token comes after {} on average.",
                        duration_text(first->mean_ns, Characters::ascii));
  if (figures.run->is_baseline) return text;
  if (reports_no_speculation(figures, meta)) return text + " Its source reports no speculation.";
  const Acceptance& drafts = figures.acceptance;
  std::string stated;
  if (drafts.mean_accepted_length)
    stated = fmt::format("a verification yields {} tokens", amount_text(*drafts.mean_accepted_length));
  if (drafts.acceptance_rate)
    stated += fmt::format("{}{} of the draft tokens are kept", stated.empty() ? "" : " and ",
                          share_text(*drafts.acceptance_rate));
  if (!stated.empty()) text += fmt::format(" Its source states that {}.", stated);
  return text + fmt::format(
                    " What a round takes is not in the recording{}.",
                    lacking(meta, {MissingData::rounds, MissingData::round_times, MissingData::phase_times}));
}

}  // namespace

std::string_view round_unit_name(RoundUnit unit) {
  constexpr std::array<std::string_view, 3> names{"unknown", "vanilla_step", "own_verification"};
  return names[static_cast<std::size_t>(unit)];
}

std::optional<double> RoundAccount::speedup_without(double cost) const {
  if (!speedup || !(*takes - cost > 0.0)) return std::nullopt;
  return finite(*yields / (*takes - cost));
}

RoundAccount round_account(const Figures& figures, const RunRows& rows, const traces::Meta& meta) {
  const bool has_rounds = !figures.stated.contains("rounds");
  RoundAccount round{.rounds = has_rounds ? figures.acceptance.rounds : 0};
  if (round.rounds < 1) return round;
  round.rows = mean_rows(rows);
  round.kept = figures.acceptance.step_acceptance;
  round.yields = figures.acceptance.emitted_per_round;
  if (round.yields && !(*round.yields > 0.0)) round.yields.reset();
  if (!traces::is_missing(meta, MissingData::wall_times)) put_time(figures, rows, round);
  put_parts(figures, round);
  if (round.parts && round.speedup && round.parts->verify > 1.0)
    round.speedup_with_free_rows = round.speedup_without(round.parts->verify - 1.0);
  return round;
}

Judgement no_vanilla_step(const Evidence& of) {
  if (of.baseline == nullptr) return unjudged("there is no finished vanilla run to compare it with");
  if (of.round.unit == RoundUnit::vanilla_step)
    return unjudged("what a round yields is not in the recording");
  return unjudged(fmt::format("what a vanilla step takes on its prompts is not in the recording{}",
                              lacking_times(of.meta)));
}

std::string summary_of(const Diagnosis& diagnosis, const Figures& figures, const Figures* baseline,
                       const traces::Meta& meta) {
  const RoundAccount& round = diagnosis.round;
  if (traces::is_imported(meta) && (round.rounds < 1 || figures.run->is_baseline))
    return whole_run_sentences(figures, meta);
  if (round.rounds < 1) return "It has no finished request with rounds, so that there is nothing to explain.";
  std::string text = first_sentence(round, figures, baseline, meta) + second_sentence(round, figures);
  constexpr double worth_saying = 1.005;
  if (round.speedup_with_free_rows && round.parts->verify > worth_saying)
    text +=
        fmt::format(" If a verification took one vanilla step, whatever its rows, the speedup would be {}.",
                    speedup_text(*round.speedup_with_free_rows, Characters::ascii));
  if (diagnosis.faster)
    text += fmt::format(" The fastest run of this recording is {}: {}.", diagnosis.faster->run->specification,
                        speedup_text(diagnosis.faster->speedup, Characters::ascii));
  return text;
}

}  // namespace draftscope::simulator
