// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/advise_text.h"

#include <draftscope/simulator/answers/advice_text.h>
#include <fmt/format.h>

#include "terminal/table.h"

namespace draftscope::cli {

namespace {

std::string line(std::string_view about, const std::string& text) {
  return fmt::format("  {:<11} {}\n", about, printable(text));
}

}  // namespace

std::string advise_text(const Advices& advices, bool quiet, const Glyphs& glyphs) {
  std::string text;
  for (const simulator::Advice& advice : advices.machines) {
    if (!text.empty()) text += '\n';
    text += printable(advice_headline(advice)) + '\n';
    for (const simulator::AdviceLine& said : advice_lines(advice, glyphs.characters()))
      text += line(said.about, said.words);
    if (quiet) continue;
    for (const std::string& reason : advice.left_out) text += line("left out", reason);
  }
  if (quiet) return text;
  for (const Refusal& refusal : advices.refusals)
    text += line("no answer", refusal.machine + ": " + refusal.reason);
  return text;
}

}  // namespace draftscope::cli
