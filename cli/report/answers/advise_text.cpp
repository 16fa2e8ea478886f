// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/advise_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::Advice;
using simulator::Verdict;

std::string range(const std::optional<simulator::Interval>& interval, const Glyphs& glyphs) {
  if (!interval) return "no interval";
  return fmt::format("95 % {:.2f}{}{:.2f}", interval->low, glyphs.range(), interval->high);
}

std::string line(std::string_view about, const std::string& text) {
  return fmt::format("  {:<11} {}\n", about, text);
}

std::string headline(const Advice& advice) {
  const std::string what =
      advice.verdict == Verdict::speculate
          ? "set " + printable(advice.strategy)
          : fmt::format("{} ({})", verdict_name(advice.verdict), printable(advice.reason));
  return fmt::format("{}: {}\n", printable(advice.machine), what);
}

std::string gain_line(const Advice& advice, const Glyphs& glyphs) {
  std::string text = fmt::format("{} over vanilla decoding, {}", factor(advice.speedup, glyphs),
                                 range(advice.interval_95, glyphs));
  if (advice.held_out.folds > 1)
    text += fmt::format("; chosen on some prompts and judged on others {}, {}",
                        factor(advice.held_out.speedup.value, glyphs),
                        range(advice.held_out.speedup.interval_95, glyphs));
  if (advice.verdict == Verdict::speculate) return line("gain", text);
  const std::string there =
      advice.exit_there ? fmt::format(" (exit {} there)", *advice.exit_there) : std::string();
  return line("fastest", printable(advice.fastest) + there + ": " + text);
}

std::string sure_line(const Advice& advice, const Glyphs& glyphs) {
  std::string text =
      fmt::format("rounds {} and {}, times modelled; {} candidates, {} prompts",
                  round_source_name(advice.answer.source), answer_status_name(advice.answer.status),
                  advice.considered, advice.answer.speedup.min_drafted.total.clusters);
  if (const auto& ties = advice.near_ties)
    text += fmt::format("; near ties at {} of {} positions, {}{}{} however they fall", ties->at_risk,
                        ties->positions, factor(std::min(ties->rejected, ties->accepted), glyphs),
                        glyphs.range(), factor(std::max(ties->rejected, ties->accepted), glyphs));
  return line("sure", text);
}

std::string runner_up_line(const Advice& advice, const Glyphs& glyphs) {
  if (!advice.runner_up) return line("runner-up", "none of another kind");
  const simulator::RatioEstimate& lead = advice.runner_up->lead;
  return line(
      "runner-up",
      fmt::format("{}: {}, which takes {:.3f} times as long ({})", printable(advice.runner_up->strategy),
                  factor(advice.runner_up->speedup, glyphs), lead.value, range(lead.interval_95, glyphs)));
}

std::string break_even_line(const Advice& advice) {
  if (!advice.break_even) return line("break-even", "none: it takes no draft step");
  const simulator::BreakEven& even = *advice.break_even;
  std::string text =
      fmt::format("pays from M {:.2f} on (here {:.2f}), {} of what is drafted accepted (here {})",
                  even.mean_accepted_length, advice.answer.mean_accepted_length,
                  percent(even.acceptance_rate), percent(advice.answer.acceptance_rate));
  if (even.alpha) text += fmt::format("; iid alpha {:.3f}", *even.alpha);
  return line("break-even", text);
}

std::string neighbours_line(const Advice& advice) {
  std::string text;
  for (const simulator::Neighbour& neighbour : advice.neighbours)
    text += fmt::format("{}{} {} %", text.empty() ? "" : ", ", neighbour.change,
                        signed_number(100.0 * neighbour.relative, 1));
  return line("neighbours", text.empty() ? "none: it is no early exit" : text);
}

std::string batch_line(const Advice& advice) {
  const simulator::BatchLimit& batch = advice.batch;
  std::string text;
  if (batch.last < 1)
    text = "speculation is off at every batch";
  else if (batch.last >= batch.searched)
    text = fmt::format("speculation pays at every batch up to {}", batch.searched);
  else
    text = fmt::format("speculation is off above batch {}", batch.last);
  return line("batch", text + (batch.is_extrapolated ? " (extrapolated from the recorded rows)" : ""));
}

std::string context_line(const Advice& advice) {
  const simulator::ContextLimit& context = advice.context;
  if (!context.more_rows)
    return line("context", fmt::format("the same up to {} rows more (acceptance taken to be as recorded)",
                                       count(context.searched)));
  return line("context", fmt::format("from {} rows more on {} is faster, by {}{}", count(*context.more_rows),
                                     printable(context.strategy), percent(context.gain),
                                     context.is_extrapolated ? " (extrapolated)" : ""));
}

std::string limits_line(const Advice& advice) {
  if (!advice.gaps) return line("limits", "not known without shadow tokens");
  std::vector<simulator::NamedGap> gaps = named_gaps(*advice.gaps);
  std::stable_sort(gaps.begin(), gaps.end(), [](const simulator::NamedGap& a, const simulator::NamedGap& b) {
    return a.figure.value > b.figure.value;
  });
  std::string text;
  for (const simulator::NamedGap& gap : gaps)
    text +=
        fmt::format("{}{} gap {}", text.empty() ? "" : ", ", gap.name, signed_number(gap.figure.value, 2));
  return line("limits", text + " (in speedup; simulate --waterfall says more)");
}

std::string record_line(const Advice& advice) {
  std::string text;
  for (const std::string& what : advice.to_record) text += (text.empty() ? "" : "; ") + printable(what);
  return line("record", text.empty() ? "nothing that would tell more" : text);
}

}  // namespace

std::string advise_text(const Advices& advices, bool quiet, const Glyphs& glyphs) {
  std::string text;
  for (const Advice& advice : advices.machines) {
    if (!text.empty()) text += '\n';
    text += headline(advice) + gain_line(advice, glyphs) + sure_line(advice, glyphs) +
            runner_up_line(advice, glyphs) + break_even_line(advice) + neighbours_line(advice) +
            batch_line(advice) + context_line(advice) + limits_line(advice) + record_line(advice);
    if (quiet) continue;
    for (const std::string& reason : advice.left_out) text += line("left out", printable(reason));
  }
  if (quiet) return text;
  for (const Refusal& refusal : advices.refusals)
    text += line("no answer", printable(refusal.machine) + ": " + printable(refusal.reason));
  return text;
}

}  // namespace draftscope::cli
