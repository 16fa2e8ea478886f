// SPDX-License-Identifier: GPL-3.0-or-later
#include "decision_pictures.h"

#include <fmt/format.h>

#include <algorithm>

namespace draftscope::gui {

namespace {

using Shape = PictureShape;

constexpr std::string_view swift = "swift, mask=swift";
constexpr std::string_view del = "del, mask=del";

constexpr std::array<DecisionPicture, 20> pictures{{
    {.key = "matchness",
     .title = "Matchness of candidates",
     .shape = Shape::lines,
     .kind = "layer set",
     .source = "SWIFT, Fig. 6",
     .recorded_by = swift,
     .lines = {{{"matchness"}, {"best_matchness"}}},
     .words = "origin",
     .phase_kind = "phase",
     .phase_words = "to",
     .first_phase = "search",
     .is_share = true},
    {.key = "cosine",
     .title = "Cosine of the kept layers",
     .shape = Shape::lines,
     .kind = "layer set",
     .source = "CLaSp",
     .recorded_by = "clasp, mask=clasp",
     .lines = {{{"cosine"}, {}}},
     .is_share = true},
    {.key = "persistence",
     .title = "How long skipped layers persist",
     .shape = Shape::gaps,
     .kind = "layer set",
     .source = "CLaSp, Fig. 3a",
     .recorded_by = "clasp, mask=clasp"},
    {.key = "agreement",
     .title = "Agreement of the chosen sublayers",
     .shape = Shape::lines,
     .kind = "layer set",
     .source = "KnapSpec",
     .recorded_by = "knapspec, mask=knapspec",
     .lines = {{{"agreement"}, {}}},
     .is_share = true},
    {.key = "lambda",
     .title = "λ of the confidences",
     .shape = Shape::lines,
     .kind = "layer set",
     .source = "ConfLayers",
     .recorded_by = "conflayers, mask=conflayers",
     .lines = {{{"lambda"}, {}}}},
    {.key = "tpl",
     .title = "TPL of the choice",
     .shape = Shape::lines,
     .kind = "exit",
     .source = "DEL",
     .recorded_by = del,
     .lines = {{{"tpl"}, {}}}},
    {.key = "exit",
     .title = "Exit and γ",
     .shape = Shape::lines,
     .kind = "exit",
     .source = "DEL, Fig. 4c",
     .recorded_by = del,
     .lines = {{{"exit"}, {"gamma"}}}},
    {.key = "exit-tpl",
     .title = "TPL of every exit",
     .shape = Shape::exits,
     .kind = "exit",
     .source = "DEL",
     .recorded_by = del,
     .lines = {{{"exit_tpl"}, {}}}},
    {.key = "exit-acceptance",
     .title = "α of every exit",
     .shape = Shape::exits,
     .kind = "exit",
     .source = "DEL",
     .recorded_by = del,
     .lines = {{{"exit_acceptance"}, {}}},
     .is_share = true},
    {.key = "exit-threshold",
     .title = "τ of every exit",
     .shape = Shape::exits,
     .kind = "exit",
     .source = "DEL, Fig. 4a",
     .recorded_by = del,
     .lines = {{{"exit_threshold"}, {}}},
     .is_share = true},
    {.key = "exits-by-category",
     .title = "Exits by category",
     .shape = Shape::categories,
     .kind = "exit",
     .source = "DEL",
     .recorded_by = del},
    {.key = "exits-by-segment",
     .title = "Exits by stretch of the output",
     .shape = Shape::segments,
     .kind = "exit",
     .source = "DEL",
     .recorded_by = del},
    {.key = "threshold",
     .title = "Threshold and acceptance",
     .shape = Shape::lines,
     .kind = "threshold",
     .source = "Draft & Verify, Fig. 5",
     .recorded_by = "dv, draft-verify, stop=adaptive, stop=roc",
     .lines = {{{"threshold"}, {"recent_acceptance"}}},
     .is_share = true},
    {.key = "length",
     .title = "Speculation length",
     .shape = Shape::lines,
     .kind = "speculation length",
     .recorded_by = "fs, length=fs, length=heuristic",
     .lines = {{{"gamma"}, {}}}},
    {.key = "gain",
     .title = "Gain, expected and realised",
     .shape = Shape::lines,
     .kind = "draft choice",
     .recorded_by = "auto",
     .lines = {{{"expected_gain"}, {"realised_gain"}}},
     .words = "choice"},
    {.key = "choice-length",
     .title = "Length and tokens by drafter",
     .shape = Shape::lines,
     .kind = "draft choice",
     .recorded_by = "auto",
     .lines = {{{"length"}, {"tokens"}}},
     .words = "drafter"},
    {.key = "choices",
     .title = "Share of each draft",
     .shape = Shape::shares,
     .kind = "draft choice",
     .recorded_by = "auto",
     .words = "choice"},
    {.key = "reasons",
     .title = "Share of each reason",
     .shape = Shape::shares,
     .kind = "draft choice",
     .recorded_by = "auto",
     .words = "reason"},
    {.key = "guard",
     .title = "Stops and returns of a guard",
     .shape = Shape::lines,
     .kind = "guard",
     .recorded_by = "any strategy with guard=",
     .lines = {{{"may_lose"}, {}}},
     .words = "state",
     .phase_kind = "guard",
     .phase_words = "state",
     .first_phase = "on"},
    {.key = "search",
     .title = "A search of tune",
     .shape = Shape::search,
     .kind = "",
     .source = "Draft & Verify",
     .recorded_by = "draftscope tune"},
}};

bool has_series(const simulator::DecisionsOfKind& decisions, std::string_view key) {
  // A computed series needs the series it is computed from.
  if (key == "realised_gain") key = "expected_gain";
  if (key == "exit_tpl") key = "exit_acceptance";
  return std::any_of(decisions.series.begin(), decisions.series.end(),
                     [&](const simulator::DecisionSeries& series) { return series.row->key == key; });
}

/// The strategies that record decisions of any kind, each once.
std::string strategies() {
  std::string all;
  std::string_view last;
  for (const DecisionPicture& picture : pictures) {
    if (picture.shape == Shape::search || picture.recorded_by == last) continue;
    last = picture.recorded_by;
    all += fmt::format("{}{}", all.empty() ? "" : "; ", last);
  }
  return all;
}

}  // namespace

std::span<const DecisionPicture> decision_pictures() {
  return pictures;
}

bool has_picture(const RunHistory& run, const DecisionPicture& picture) {
  const simulator::DecisionsOfKind* decisions = run.kind(picture.kind);
  switch (picture.shape) {
    case Shape::gaps:
      return !run.decisions.persistence.empty();
    case Shape::categories:
    case Shape::segments:
      return !run.decisions.exits.empty();
    case Shape::search:
      return false;
    case Shape::shares:
      return decisions != nullptr && std::any_of(decisions->words.begin(), decisions->words.end(),
                                                 [&](const simulator::DecisionWords& words) {
                                                   return words.row->key == picture.words;
                                                 });
    case Shape::lines:
    case Shape::exits:
      break;
  }
  return decisions != nullptr && has_series(*decisions, picture.lines.front().key);
}

std::size_t first_picture(const RunHistory& run) {
  for (std::size_t i = 0; i < pictures.size(); ++i)
    if (has_picture(run, pictures[i])) return i;
  return 0;
}

std::string why_no_picture(const RunHistory& run, const DecisionPicture& picture) {
  if (picture.shape == Shape::search)
    return "Open the policy file that draftscope tune wrote to see its search.";
  std::string others;
  for (const DecisionPicture& other : pictures)
    if (has_picture(run, other)) others += fmt::format("{}{}", others.empty() ? "" : "; ", other.title);
  return others.empty()
             ? fmt::format("This run decided nothing that was recorded. Decisions are made by: {}.",
                           strategies())
             : fmt::format("This run made no such decision; {} does. It has: {}.", picture.recorded_by,
                           others);
}

}  // namespace draftscope::gui
