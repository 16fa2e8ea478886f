// SPDX-License-Identifier: GPL-3.0-or-later
#include "decision_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace draftscope::gui {

namespace {

using Shape = PictureShape;

constexpr std::string_view del = "del, mask=del";

// Key, title, shape, kind of the decisions, source, strategies, whether values are shares; lines and words.
constexpr std::array<DecisionPicture, 20> pictures{{
    {"matchness", "Matchness of candidates", Shape::lines, "layer set", "SWIFT, Fig. 6", "swift, mask=swift",
     true, "matchness", "best_matchness", "origin", "phase", "to", "search"},
    {"cosine", "Cosine of the kept layers", Shape::lines, "layer set", "CLaSp", "clasp, mask=clasp", true,
     "cosine"},
    {"persistence", "How long skipped layers persist", Shape::gaps, "layer set", "CLaSp, Fig. 3a",
     "clasp, mask=clasp", false},
    {"agreement", "Agreement of the chosen sublayers", Shape::lines, "layer set", "KnapSpec",
     "knapspec, mask=knapspec", true, "agreement"},
    {"lambda", "λ of the confidences", Shape::lines, "layer set", "ConfLayers", "conflayers, mask=conflayers",
     false, "lambda"},
    {"tpl", "TPL of the choice", Shape::lines, "exit", "DEL", del, false, "tpl"},
    {"exit", "Exit and γ", Shape::lines, "exit", "DEL, Fig. 4c", del, false, "exit", "gamma"},
    {"exit-tpl", "TPL of every exit", Shape::exits, "exit", "DEL", del, false, "exit_tpl"},
    {"exit-acceptance", "α of every exit", Shape::exits, "exit", "DEL", del, true, "exit_acceptance"},
    {"exit-threshold", "τ of every exit", Shape::exits, "exit", "DEL, Fig. 4a", del, true, "exit_threshold"},
    {"exits-by-category", "Exits by category", Shape::categories, "exit", "DEL", del, false},
    {"exits-by-segment", "Exits by stretch of the output", Shape::segments, "exit", "DEL", del, false},
    {"threshold", "Threshold and acceptance", Shape::lines, "threshold", "Draft & Verify, Fig. 5",
     "dv, draft-verify, stop=adaptive, stop=roc", true, "threshold", "recent_acceptance"},
    {"length", "Speculation length", Shape::lines, "speculation length", "",
     "fs, length=fs, length=heuristic", false, "gamma"},
    {"gain", "Gain, expected and realised", Shape::lines, "draft choice", "", "auto", false, "expected_gain",
     "realised_gain", "choice"},
    {"choice-length", "Length and tokens by drafter", Shape::lines, "draft choice", "", "auto", false,
     "length", "tokens", "drafter"},
    {"choices", "Share of each draft", Shape::shares, "draft choice", "", "auto", false, "", "", "choice"},
    {"reasons", "Share of each reason", Shape::shares, "draft choice", "", "auto", false, "", "", "reason"},
    {"guard", "Stops and returns of a guard", Shape::lines, "guard", "", "any strategy with guard=", false,
     "may_lose", "", "state", "guard", "state", "on"},
    {"search", "A search of tune", Shape::search, "", "Draft & Verify", "draftscope tune", false},
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
  return decisions != nullptr && has_series(*decisions, picture.line);
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
