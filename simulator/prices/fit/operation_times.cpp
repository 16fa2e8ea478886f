// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/operation_times.h"

#include <draftscope/simulator/analysis/operations.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace draftscope::simulator {

namespace {

constexpr std::uint64_t rows_between_questions = 4096;
constexpr std::size_t layer_slot = speculation::operation_count;
constexpr std::size_t slots = speculation::operation_count + 1;

/// Slot of an operation, or of a whole layer; absent for other names.
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

/// Times of one round: [0] its draft, [1] its verification.
using SlotTimes = std::array<std::array<Slot, slots>, 2>;

double executions(std::size_t slot, bool draft, const OperationRound& round) {
  const double steps = draft ? round.draft_steps : 1.0;
  if (slot == static_cast<std::size_t>(speculation::Operation::head)) return steps;
  if (!draft) return round.n_layers;
  const bool is_mlp = slot == static_cast<std::size_t>(speculation::Operation::gate_up) ||
                      slot == static_cast<std::size_t>(speculation::Operation::down);
  return steps * (is_mlp ? round.draft.mlp : round.draft.attention);
}

using VisitOperation = std::function<void(const TimedOperation&, std::int32_t rows, double context)>;

/// Sums of the times of the current round. Rows come by track and start, so those of a round are adjacent;
/// several streams give several parts.
class OperationSums {
 public:
  OperationSums(bool on_gpu, const OperationRounds& rounds,
                const std::unordered_map<traces::StringId, std::string>& strings, const VisitOperation& visit)
      : on_gpu_(on_gpu), rounds_(rounds), visit_(visit) {
    for (const auto& [id, text] : strings)
      if (const auto slot = slot_of(text)) slot_of_name_.emplace(id, *slot);
  }

  void add(traces::RoundId round_id, traces::StringId name_id, traces::Phase phase, std::int64_t ns) {
    if (round_id.is_none() || (phase != traces::Phase::draft && phase != traces::Phase::verify)) return;
    const auto slot = slot_of_name_.find(name_id);
    if (slot == slot_of_name_.end()) return;
    if (round_id != current_id_) {
      finish_round();
      current_id_ = round_id;
      times_ = {};
    }
    Slot& sum = times_[phase == traces::Phase::draft ? 0 : 1][slot->second];
    sum.ns += static_cast<double>(ns);
    sum.spans += 1.0;
  }

  void finish_round() const {
    const auto found = rounds_.find(current_id_);
    if (found == rounds_.end()) return;
    visit_all(found->second, true);
    if (!found->second.mixed_rows) visit_all(found->second, false);
  }

 private:
  void visit_all(const OperationRound& round, bool draft) const {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const Slot& sum = times_[draft ? 0 : 1][slot];
      if (sum.spans == 0.0) continue;
      const bool is_small = slot == static_cast<std::size_t>(speculation::Operation::small);
      const double count = on_gpu_ ? executions(slot, draft, round) : sum.spans / (is_small ? 3.0 : 1.0);
      if (count <= 0.0) continue;
      TimedOperation timed{.is_layer = slot == layer_slot, .ns = sum.ns / count};
      if (!timed.is_layer) timed.operation = static_cast<speculation::Operation>(slot);
      visit_(timed, draft ? 1 : round.verify_rows,
             round.root + (draft ? 0.5 * (round.draft_steps - 1) : 0.0));
    }
  }

  bool on_gpu_;
  const OperationRounds& rounds_;
  const VisitOperation& visit_;
  std::unordered_map<traces::StringId, std::size_t> slot_of_name_;
  traces::RoundId current_id_;
  SlotTimes times_{};
};

}  // namespace

Result<void> visit_operation_times(
    traces::Reader& reader, const traces::Recording& recording, bool on_gpu, const OperationRounds& rounds,
    const std::function<void(const TimedOperation&, std::int32_t rows, double context)>& visit,
    const std::function<bool()>& go_on) {
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  OperationSums sums(on_gpu, rounds, strings, visit);
  std::uint64_t seen = 0;
  bool stopped = false;
  const auto ask = [&] {
    stopped = go_on && ++seen % rows_between_questions == 0 && !go_on();
    return !stopped;
  };
  if (on_gpu) {
    const OperationTracks tracks = operation_tracks(recording);
    std::unordered_map<traces::TrackId, OperationClock> clocks;
    DRAFTSCOPE_TRY(reader.kernels([&](const traces::Kernel& kernel) {
      if (tracks.ids.contains(kernel.track_id)) {
        OperationClock& clock = clocks.try_emplace(kernel.track_id, tracks.timed_by_device).first->second;
        sums.add(kernel.round_id, kernel.short_name_id, kernel.phase, clock.add(kernel));
      }
      return ask();
    }));
  } else {
    DRAFTSCOPE_TRY(reader.spans([&](const traces::Span& span) {
      if (span.depth > 0) sums.add(span.round_id, span.name_id, span.phase, span.end_ns - span.start_ns);
      return ask();
    }));
  }
  if (stopped) return fail("reading times of operations was stopped");
  sums.finish_round();
  return {};
}

}  // namespace draftscope::simulator
