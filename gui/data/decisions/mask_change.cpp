// SPDX-License-Identifier: GPL-3.0-or-later
#include "mask_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace draftscope::gui {

namespace {

/// A kind of decisions that choose a mask: for the round itself, or for the rounds after it.
struct MaskKind {
  std::string_view kind;
  bool is_of_its_round = false;
};
constexpr std::array<MaskKind, 5> mask_kinds{
    {{"draft choice", true}, {"cascade", true}, {"layer set", false}, {"phase", false}, {"exit", false}}};

/// Last decision of a kind that began by `by_ns` and took effect; the number of decisions if there is none.
std::size_t last_adopted(const simulator::DecisionsOfKind& decisions, std::int64_t by_ns) {
  auto at = std::upper_bound(decisions.start_ns.begin(), decisions.start_ns.end(), by_ns) -
            decisions.start_ns.begin();
  while (at > 0 && !decisions.adopted[static_cast<std::size_t>(at - 1)]) --at;
  return at == 0 ? decisions.start_ns.size() : static_cast<std::size_t>(at - 1);
}

}  // namespace

std::optional<MaskChange> mask_change(const OpenedRecording& opened, std::size_t run_index,
                                      std::size_t place) {
  const std::vector<std::uint32_t>& rounds = opened.runs()[run_index].rounds;
  const traces::LayerSet* now = place < rounds.size() ? opened.layer_set(rounds[place]) : nullptr;
  if (now == nullptr) return std::nullopt;
  std::size_t before = place;
  const traces::LayerSet* then = nullptr;
  while (before > 0 && then == nullptr) then = opened.layer_set(rounds[--before]);
  if (then == nullptr || then->id == now->id) return std::nullopt;
  MaskChange change{.before = static_cast<std::uint32_t>(before), .sublayers = 2 * now->n_layers};
  std::int32_t both = 0;
  std::int32_t either = 0;
  for (std::size_t i = 0; i < std::max(now->skipped.size(), then->skipped.size()); ++i) {
    const unsigned a = i < now->skipped.size() ? now->skipped[i] : 0U;
    const unsigned b = i < then->skipped.size() ? then->skipped[i] : 0U;
    both += std::popcount(a & b);
    either += std::popcount(a | b);
  }
  change.differing = either - both;
  if (either > 0) change.in_common = static_cast<double>(both) / either;
  return change;
}

std::optional<DecisionPlace> mask_decision(const DecisionHistory& history, std::size_t run_index,
                                           std::size_t place) {
  const RunHistory& run = history.runs[run_index];
  const traces::Round& round = history.recording->round(history.recording->runs()[run_index].rounds[place]);
  std::optional<DecisionPlace> found;
  std::int64_t found_ns = 0;
  for (const MaskKind& mask : mask_kinds) {
    const std::size_t kind = run.kind_index(mask.kind);
    if (kind == run.decisions.kinds.size()) continue;
    const simulator::DecisionsOfKind& decisions = run.decisions.kinds[kind];
    if (mask.is_of_its_round) {
      // A round's own decision is logged at the end of the round.
      const std::size_t index = last_adopted(decisions, round.end_ns);
      if (index < decisions.start_ns.size() && run.places[kind][index] == place)
        return DecisionPlace{kind, index};
      continue;
    }
    const std::size_t index = last_adopted(decisions, round.start_ns);
    if (index == decisions.start_ns.size() || (found && decisions.start_ns[index] < found_ns)) continue;
    found = DecisionPlace{kind, index};
    found_ns = decisions.start_ns[index];
  }
  return found;
}

std::string mask_change_text(const DecisionHistory& history, std::size_t run_index, std::size_t place) {
  const std::optional<MaskChange> change = mask_change(*history.recording, run_index, place);
  if (!change) return {};
  std::string words = fmt::format(
      "the mask changed in {} of {} sublayers from round {}'s ({:.0f} % of the skipped in common)",
      change->differing, change->sublayers, change->before, 100.0 * change->in_common);
  const std::optional<DecisionPlace> decision = mask_decision(history, run_index, place);
  if (!decision) return words;
  const RunHistory& run = history.runs[run_index];
  return fmt::format("{}, because after round {} {}", words, run.places[decision->kind][decision->index],
                     decision_text(run.decisions.kinds[decision->kind], decision->index));
}

}  // namespace draftscope::gui
