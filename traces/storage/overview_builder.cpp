// SPDX-License-Identifier: GPL-3.0-or-later
#include "storage/overview_builder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "storage/columns.h"

namespace draftscope::traces {

namespace {

/// Adds without overflow, because damaged rows may have any time.
template <typename Number>
void add_to(Number& sum, std::int64_t number) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(static_cast<std::int64_t>(sum), number, &result) ||
      !std::in_range<Number>(result))
    result = number > 0 ? std::numeric_limits<Number>::max() : std::numeric_limits<Number>::min();
  sum = static_cast<Number>(result);
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_mul_overflow(a, b, &result)) return result;
  return (a < 0) == (b < 0) ? std::numeric_limits<std::int64_t>::max()
                            : std::numeric_limits<std::int64_t>::min();
}

std::int64_t kept_sublayers(const LayerSet& set) {
  const std::int64_t bits = 2 * std::int64_t{set.n_layers};
  std::int64_t skipped = 0;
  for (std::size_t byte = 0; byte < set.skipped.size(); ++byte) {
    const std::int64_t left = bits - 8 * static_cast<std::int64_t>(byte);
    if (left <= 0) break;
    const unsigned mask = left >= 8 ? 0xFFU : (1U << static_cast<unsigned>(left)) - 1U;
    skipped += std::popcount(set.skipped[byte] & mask);
  }
  return bits - skipped;
}

}  // namespace

void ColumnSums::reach(std::int64_t column) {
  if (partly_ns_.empty()) first_ = column;
  if (column < first_) {
    const auto more = static_cast<std::ptrdiff_t>(first_ - column);
    partly_ns_.insert(partly_ns_.begin(), static_cast<std::size_t>(more), 0);
    whole_change_.insert(whole_change_.begin(), static_cast<std::size_t>(more), 0);
    first_ = column;
  }
  const auto size = static_cast<std::size_t>(column - first_) + 1;
  if (partly_ns_.size() >= size) return;
  partly_ns_.resize(size);
  whole_change_.resize(size);
}

void ColumnSums::add(std::int64_t start_ns, std::int64_t end_ns, int shift) {
  const std::int64_t from = start_ns >> shift;
  const std::int64_t to = (end_ns - 1) >> shift;
  reach(from);
  reach(to);
  const auto place = [&](std::int64_t column) { return static_cast<std::size_t>(column - first_); };
  if (from == to) {
    add_to(partly_ns_[place(from)], end_ns - start_ns);
    return;
  }
  add_to(partly_ns_[place(from)], ((from + 1) << shift) - start_ns);
  add_to(partly_ns_[place(to)], end_ns - (to << shift));
  ++whole_change_[place(from + 1)];
  --whole_change_[place(to)];
}

template <typename Visit>
void ColumnSums::visit(int shift, Visit visit) const {
  std::int64_t whole = 0;
  for (std::size_t i = 0; i < partly_ns_.size(); ++i) {
    whole += whole_change_[i];
    std::int64_t sum = partly_ns_[i];
    add_to(sum, product(whole, std::int64_t{1} << shift));
    if (sum != 0) visit(first_ + static_cast<std::int64_t>(i), sum);
  }
}

void ColumnSums::widen(int shift) {
  ColumnSums wider;
  visit(shift, [&](std::int64_t column, std::int64_t ns) {
    wider.reach(column >> 1);
    add_to(wider.partly_ns_[static_cast<std::size_t>((column >> 1) - wider.first_)], ns);
  });
  *this = std::move(wider);
}

void OverviewBuilder::include(std::int64_t first_ns, std::int64_t last_ns) {
  first_ns_ = has_times_ ? std::min(first_ns_, first_ns) : first_ns;
  last_ns_ = has_times_ ? std::max(last_ns_, last_ns) : last_ns;
  has_times_ = true;
  widen_to(max_columns);
}

void OverviewBuilder::widen_to(std::int64_t columns) {
  while ((last_ns_ >> shift_) - (first_ns_ >> shift_) >= columns) {
    for (auto& [key, sums] : sums_) sums.widen(shift_);
    std::map<std::pair<RunId, std::int64_t>, Rounds> wider;
    for (const auto& [key, rounds] : rounds_) {
      Rounds& sum = wider[{key.first, key.second >> 1}];
      add_to(sum.rounds, rounds.rounds);
      add_to(sum.emitted, rounds.emitted);
      sum.max_emitted = std::max(sum.max_emitted, rounds.max_emitted);
    }
    rounds_ = std::move(wider);
    ++shift_;
  }
}

void OverviewBuilder::add_interval(const Key& key, std::int64_t start_ns, std::int64_t end_ns) {
  if (end_ns <= start_ns || has_too_many_) return;
  include(start_ns, end_ns - 1);
  if (last_sums_ == nullptr || key != last_key_) {
    last_sums_ = &sums_[key];
    last_key_ = key;
    has_too_many_ = sums_.size() > max_sums;
  }
  last_sums_->add(start_ns, end_ns, shift_);
}

void OverviewBuilder::add(const LayerSet& layer_set) {
  sublayers_.insert_or_assign(layer_set.id, kept_sublayers(layer_set));
}

void OverviewBuilder::add(const Request& request) {
  requests_.insert_or_assign(request.id, RequestTime{request.run_id, request.start_ns, request.end_ns});
}

void OverviewBuilder::add(const Round& round) {
  ++rows_;
  const auto request = requests_.find(round.request_id);
  if (request == requests_.end() || has_too_many_) return;
  include(round.start_ns, round.start_ns);
  const bool drafts = round.drafted > 0 && round.draft_ns > round.verify_ns;
  add_interval({LaneOf::rounds, request->second.run_id.value(), 0, drafts ? Phase::draft : Phase::verify},
               round.start_ns, round.end_ns);
  Rounds& column = rounds_[{request->second.run_id, round.start_ns >> shift_}];
  ++column.rounds;
  add_to(column.emitted, round.emitted);
  column.max_emitted = std::max(column.max_emitted, round.emitted);

  RequestSum& sum = request_sums_[round.request_id];
  add_round(sum, round);
  const auto kept = sublayers_.find(round.layer_set_id);
  add_to(sum.draft_sublayers,
         product(round.tree_depth,
                 kept == sublayers_.end() ? 2 * std::int64_t{round.exit_layer} : kept->second));
}

void add_round(RequestSum& sum, const Round& round) {
  ++sum.rounds;
  add_to(sum.drafted, round.drafted);
  add_to(sum.accepted, round.accepted);
  add_to(sum.emitted, round.emitted);
  add_to(sum.draft_steps, round.tree_depth);
  add_to(sum.rounds_ns, std::max<std::int64_t>(round.end_ns - round.start_ns, 0));
  add_to(sum.draft_ns, round.draft_ns);
  add_to(sum.verify_ns, round.verify_ns);
  add_to(sum.accept_ns, round.accept_ns);
  add_to(sum.optimise_ns, round.optimise_ns);
  add_to(sum.control_ns, round.control_ns);
}

void OverviewBuilder::add(const Decision& decision) {
  ++rows_;
  add_interval({LaneOf::decisions, 0, 0, Phase::optimise}, decision.start_ns, decision.end_ns);
}

void OverviewBuilder::add(const Span& span) {
  ++rows_;
  add_interval({LaneOf::spans, span.track_id.value(), span.depth, span.phase}, span.start_ns, span.end_ns);
}

void OverviewBuilder::add(const Kernel& kernel) {
  ++rows_;
  add_interval({LaneOf::kernels, kernel.track_id.value(), 0, kernel.phase}, kernel.start_ns, kernel.end_ns);
}

std::optional<Overview> OverviewBuilder::finish() {
  for (const auto& [id, request] : requests_)
    add_interval({LaneOf::requests, request.run_id.value(), 0, Phase::control}, request.start_ns,
                 request.end_ns);
  if (!has_times_ || has_too_many_) return std::nullopt;
  widen_to(std::clamp(rows_ / rows_per_column, min_columns, max_columns));
  Overview overview;
  overview.column_ns = std::int64_t{1} << shift_;
  for (const auto& [key, sums] : sums_) {
    const auto& [lane, owner, depth, phase] = key;
    sums.visit(shift_, [&, &lane = lane, &owner = owner, &depth = depth, &phase = phase](std::int64_t column,
                                                                                         std::int64_t ns) {
      overview.lanes.push_back({.lane = lane,
                                .owner = owner,
                                .depth = depth,
                                .start_ns = column << shift_,
                                .phase = phase,
                                .busy_ns = ns});
    });
  }
  std::ranges::sort(overview.lanes, {}, [](const LaneColumn& row) { return primary_key(row); });
  for (const auto& [key, rounds] : rounds_)
    overview.rounds.push_back({.run_id = key.first,
                               .start_ns = key.second << shift_,
                               .rounds = rounds.rounds,
                               .emitted = rounds.emitted,
                               .max_emitted = rounds.max_emitted});
  for (const auto& [request_id, sum] : request_sums_) {
    overview.requests.push_back(sum);
    overview.requests.back().request_id = request_id;
  }
  return overview;
}

}  // namespace draftscope::traces
