// SPDX-License-Identifier: GPL-3.0-or-later
#include "operation_times.h"

#include <array>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace draftscope::simulator {

namespace {

constexpr std::uint64_t rows_between_questions = 4096;
constexpr std::size_t layer_slot = speculation::operation_count;
constexpr std::size_t slots = speculation::operation_count + 1;

/// The slot of an operation, or of a whole layer.
std::optional<std::size_t> slot_of(std::string_view name) {
  if (const auto operation = speculation::operation_of_span(name))
    return static_cast<std::size_t>(*operation);
  if (name.substr(0, name.find(':')) == "layer") return layer_slot;
  return std::nullopt;
}

struct Slot {
  double ns = 0.0;
  double spans = 0.0;
};

/// Of one round: [0] its draft, [1] its verification.
using RoundTimes = std::array<std::array<Slot, slots>, 2>;

double executions(std::size_t slot, bool draft, const OperationRound& round) {
  const double steps = draft ? round.draft_steps : 1.0;
  if (slot == static_cast<std::size_t>(speculation::Operation::head)) return steps;
  if (!draft) return round.n_layers;
  const bool is_mlp = slot == static_cast<std::size_t>(speculation::Operation::gate_up) ||
                      slot == static_cast<std::size_t>(speculation::Operation::down);
  return steps * (is_mlp ? round.draft.mlp : round.draft.attention);
}

}  // namespace

Result<void> visit_operation_times(
    traces::Reader& reader, const traces::Recording& recording, bool on_gpu, const OperationRounds& rounds,
    const std::function<void(const TimedOperation&, std::int32_t rows, double context)>& visit,
    const std::function<bool()>& go_on) {
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  std::unordered_map<std::int64_t, std::size_t> slot_of_name;
  for (const auto& [id, text] : strings)
    if (const auto slot = slot_of(text)) slot_of_name.emplace(id, *slot);
  std::unordered_set<std::int64_t> streams;
  for (const traces::Track& track : recording.tracks)
    if (track.kind == "stream") streams.insert(track.id);

  // Rows come by track and start, so that a round's are together; several streams give several parts.
  std::int64_t current = 0;
  RoundTimes times{};
  const auto flush = [&] {
    const auto found = rounds.find(current);
    if (found == rounds.end()) return;
    const OperationRound& round = found->second;
    for (const bool draft : {true, false}) {
      if (!draft && round.mixed_rows) continue;
      for (std::size_t slot = 0; slot < slots; ++slot) {
        const Slot& sum = times[draft ? 0 : 1][slot];
        if (sum.spans == 0.0) continue;
        const bool is_small = slot == static_cast<std::size_t>(speculation::Operation::small);
        const double count = on_gpu ? executions(slot, draft, round) : sum.spans / (is_small ? 3.0 : 1.0);
        if (count <= 0.0) continue;
        TimedOperation timed{.is_layer = slot == layer_slot, .ns = sum.ns / count};
        if (!timed.is_layer) timed.operation = static_cast<speculation::Operation>(slot);
        visit(timed, draft ? 1 : round.verify_rows,
              round.root + (draft ? 0.5 * (round.draft_steps - 1) : 0.0));
      }
    }
  };
  const auto add = [&](std::int64_t round, std::int64_t name, traces::Phase phase, std::int64_t ns) {
    if (round == 0 || (phase != traces::Phase::draft && phase != traces::Phase::verify)) return;
    const auto slot = slot_of_name.find(name);
    if (slot == slot_of_name.end()) return;
    if (round != current) {
      flush();
      current = round;
      times = {};
    }
    Slot& sum = times[phase == traces::Phase::draft ? 0 : 1][slot->second];
    sum.ns += static_cast<double>(ns);
    sum.spans += 1.0;
  };
  std::uint64_t seen = 0;
  bool stopped = false;
  const auto ask = [&] {
    stopped = go_on && ++seen % rows_between_questions == 0 && !go_on();
    return !stopped;
  };
  if (on_gpu) {
    DRAFTSCOPE_TRY(reader.kernels([&](const traces::Kernel& kernel) {
      if (streams.contains(kernel.track))
        add(kernel.round, kernel.short_name, kernel.phase, kernel.end_ns - kernel.start_ns);
      return ask();
    }));
  } else {
    DRAFTSCOPE_TRY(reader.spans([&](const traces::Span& span) {
      if (span.depth > 0) add(span.round, span.name, span.phase, span.end_ns - span.start_ns);
      return ask();
    }));
  }
  if (stopped) return fail("reading times of operations was stopped");
  flush();
  return {};
}

}  // namespace draftscope::simulator
