// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number_text.h>
#include <draftscope/simulator/answers/answer_text.h>
#include <fmt/format.h>

namespace draftscope::simulator {

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
