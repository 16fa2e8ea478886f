// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number_text.h>
#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/simulator/answers/advice_text.h>
#include <fmt/format.h>
#include <algorithm>
#include <functional>
#include <string>

namespace draftscope::simulator {

namespace {

/// Machine name in a sentence; tables call it "as recorded batch 4".
std::string machine_words(const std::string& name) {
  constexpr std::string_view recorded = "as recorded";
  return name.starts_with(recorded) ? "the recorded machine" + name.substr(recorded.size()) : name;
}

std::string among_words(const Advice& advice) {
  if (advice.among == Considered::everything) return {};
  std::string words = advice.among == Considered::early_exits ? ", of early exits" : ", of recorded runs";
  if (advice.besides.empty()) return words + " alone";
  constexpr std::size_t max_named = 3;
  if (advice.besides.size() > max_named)
    return words + fmt::format(" and {} other strategies", advice.besides.size());
  for (const std::string& strategy : advice.besides)
    words += (&strategy == &advice.besides.back() ? " and " : ", ") + strategy;
  return words;
}

std::string range_words(const std::optional<Interval>& interval, Characters characters) {
  return interval ? "95 % " + range_text(interval->low, interval->high, characters) : "no interval";
}

std::string gain_words(const Advice& advice, Characters characters) {
  std::string words = fmt::format("{} over vanilla decoding, {}", speedup_text(advice.speedup, characters),
                                  range_words(advice.interval_95, characters));
  const RatioEstimate& held_out = advice.held_out.speedup;
  if (advice.held_out.folds > 1)
    words +=
        fmt::format("; chosen on some prompts and judged on others {}, {}",
                    speedup_text(held_out.value, characters), range_words(held_out.interval_95, characters));
  if (advice.measured)
    words += fmt::format("; measured in this recording {}, {}{}",
                         speedup_text(advice.measured->run.speedup, characters),
                         range_words(advice.measured->run.interval_95, characters),
                         advice.measured->differs ? ", which the prediction misses" : "");
  return words;
}

AdviceLine gain_line(const Advice& advice, Characters characters) {
  const std::string gain = gain_words(advice, characters);
  if (advice.verdict == Verdict::speculate) return {"gain", gain};
  const std::string there =
      advice.exit_there ? fmt::format(" (exit {} there)", *advice.exit_there) : std::string();
  return {"fastest", advice.fastest + there + ": " + gain};
}

std::string sure_words(const Advice& advice, Characters characters) {
  const auto prompts = advice.answer.speedup.min_drafted.clusters;
  std::string words = fmt::format(
      "rounds {} and {}, times modelled; {} candidates, {} prompt{}", round_source_name(advice.answer.source),
      answer_status_name(advice.answer.status), advice.considered, prompts, prompts == 1 ? "" : "s");
  if (const auto& ties = advice.near_ties)
    words += fmt::format("; near ties at {} of {} positions, {} however they fall", ties->at_risk,
                         ties->positions, speedups_text(ties->rejected, ties->accepted, characters));
  return words;
}

std::string runner_up_words(const Advice& advice, Characters characters) {
  if (!advice.runner_up) return "none of another kind that is faster than vanilla decoding";
  const RatioEstimate& lead = advice.runner_up->lead;
  return fmt::format("{}: {}; it takes {:.3f} times as long ({})", advice.runner_up->strategy,
                     speedup_text(advice.runner_up->speedup, characters), lead.value,
                     range_words(lead.interval_95, characters));
}

std::string break_even_words(const Advice& advice, Characters characters) {
  std::string words = break_even_text(advice.break_even, advice.answer);
  if (advice.break_even && advice.break_even->alpha)
    words += fmt::format("; iid {} {:.3f}", characters == Characters::unicode ? "α" : "alpha",
                         *advice.break_even->alpha);
  return words;
}

std::string neighbours_words(const Advice& advice, Characters characters) {
  std::string words;
  for (const Neighbour& neighbour : advice.neighbours)
    words += fmt::format("{}{} {} %", words.empty() ? "" : ", ", change_text(neighbour.change, characters),
                         signed_text(100.0 * neighbour.relative, 1, characters));
  return words.empty() ? "none: it is no early exit" : words;
}

std::string category_words(const Advice& advice, Characters characters) {
  std::string words;
  for (const CategoryChoice& choice : advice.by_category)
    words += fmt::format("{}{}: {} {}", words.empty() ? "" : "; ", category_name(choice.category),
                         choice.strategy, speedup_text(choice.speedup, characters));
  return words + " (chosen and judged on the same prompts)";
}

std::string batch_words(const BatchLimit& batch) {
  const std::string words = batch.last < 1 ? "speculation pays at no batch"
                            : batch.last >= batch.searched
                                ? fmt::format("speculation pays at every batch up to {}", batch.searched)
                                : fmt::format("speculation pays up to batch {}", batch.last);
  return words + (batch.is_extrapolated ? " (extrapolated from the recorded rows)" : "");
}

std::string context_words(const ContextLimit& context) {
  if (!context.more_rows)
    return fmt::format("the same up to {} rows more (acceptance taken to be as recorded)",
                       count_text(context.searched));
  return fmt::format("from {} rows more on {} is faster, by {}{}", count_text(*context.more_rows),
                     context.strategy, percent_text(context.gain),
                     context.is_extrapolated ? " (extrapolated)" : "");
}

std::string limits_words(const std::optional<WaterfallGaps>& gaps, Characters characters) {
  if (!gaps) return "not known without shadow tokens";
  std::vector<NamedGap> named = named_gaps(*gaps);
  std::ranges::stable_sort(named, std::greater<>(), [](const NamedGap& gap) { return gap.figure.value; });
  std::string words;
  for (const NamedGap& gap : named)
    words += fmt::format("{}{} gap {}", words.empty() ? "" : ", ", gap.name,
                         signed_text(gap.figure.value, 2, characters));
  return words + " (in speedup; simulate --waterfall and What if say more)";
}

}  // namespace

std::string advice_headline(const Advice& advice) {
  // A choice among some kinds does not tell whether to speculate at all.
  const bool is_whole = advice.among == Considered::everything;
  const std::string_view verdict =
      !is_whole && advice.verdict == Verdict::do_not_speculate ? "none pays" : verdict_name(advice.verdict);
  const std::string what = advice.verdict == Verdict::speculate
                               ? "set " + advice.strategy
                               : fmt::format("{} ({})", verdict, advice.reason);
  return fmt::format("On {}{}: {}", machine_words(advice.machine), among_words(advice), what);
}

std::string change_text(const std::string& change, Characters characters) {
  constexpr std::string_view gamma = "gamma";
  const bool is_greek = characters == Characters::unicode && change.starts_with(gamma);
  return is_greek ? "γ" + change.substr(gamma.size()) : change;
}

std::vector<AdviceLine> advice_lines(const Advice& advice, Characters characters) {
  const std::string record = fmt::format("{}", fmt::join(advice.to_record, "; "));
  std::vector<AdviceLine> lines{gain_line(advice, characters),
                                {"sure", sure_words(advice, characters)},
                                {"runner-up", runner_up_words(advice, characters)},
                                {"break-even", break_even_words(advice, characters)},
                                {"neighbours", neighbours_words(advice, characters)},
                                {"batch", batch_words(advice.batch)},
                                {"context", context_words(advice.context)},
                                {"limits", limits_words(advice.gaps, characters)},
                                {"record", record.empty() ? "nothing that would tell more" : record}};
  if (!advice.by_category.empty())
    lines.insert(lines.begin() + 3, {"by category", category_words(advice, characters)});
  return lines;
}

std::string break_even_text(const std::optional<BreakEven>& even, const Answer& answer) {
  if (!even) return "none, no draft step is taken";
  if (even->acceptance_rate > 1.0) return "never, whatever is accepted";
  return fmt::format("pays from M {:.2f} on (here {:.2f}), {} of the draft tokens accepted (here {})",
                     even->mean_accepted_length, answer.mean_accepted_length,
                     percent_text(even->acceptance_rate), percent_text(answer.acceptance_rate));
}

std::vector<std::string> cost_note_lines(const Answer& answer) {
  std::vector<std::string> lines;
  int undetermined = 0;
  for (const CostNote& note : answer.cost_notes) {
    if (note.provenance == Provenance::undetermined)
      ++undetermined;
    else
      lines.push_back((note.provenance == Provenance::extrapolated ? "extrapolated: " : "") + note.text);
  }
  if (undetermined > 0)
    lines.push_back(fmt::format(
        "{} cost parameters are not determined by the recording (draftscope simulate --json names them)",
        undetermined));
  return lines;
}

}  // namespace draftscope::simulator
