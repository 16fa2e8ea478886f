// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/search_schedule.h"

#include <draftscope/speculation/rules/rules_of.h>

#include <algorithm>
#include <string>

namespace draftscope::simulator {

SearchSchedule::SearchSchedule(const speculation::StrategySpecification& strategy, std::int32_t n_layers,
                               std::int64_t max_searches)
    : max_searches_(max_searches) {
  if (!strategy.has_parts()) return;
  const std::string& mask = strategy.part(speculation::PartKind::mask);
  if (mask == "clasp") {
    kind_ = Kind::clasp;
    interval_ = strategy.integer("interval");
    counts_tokens_ = strategy.text("unit") == "tokens";
    carries_ = strategy.text("carry-set") == "yes";
  } else if (mask == "knapspec") {
    kind_ = Kind::knapspec;
    interval_ = strategy.integer("interval");
  } else if (mask == "swift") {
    kind_ = Kind::swift;
    interval_ = strategy.integer("every");
    window_ = strategy.integer("window");
    const std::int64_t most = strategy.integer("max-iterations");
    max_searches_ = max_searches < 0 ? most : std::min(max_searches, most);
  } else if (mask == "conflayers") {
    kind_ = Kind::conflayers;
    confidences_.emplace(speculation::confidence_options(strategy, n_layers));
  }
}

void SearchSchedule::begin_request() {
  if (!carries_) since_ = 0;
  rounds_ = 0;
  emitted_ = 1;
  if (confidences_) confidences_->begin_request();
}

bool SearchSchedule::follows(const traces::Round& round) {
  if (kind_ == Kind::clasp) return follows_clasp(round.emitted);
  // The search behind the prefill begins the count anew.
  if (kind_ == Kind::knapspec) return ++rounds_ % interval_ == 0;
  if (kind_ == Kind::conflayers) return follows_conflayers(round);
  return kind_ == Kind::swift && follows_swift(round.emitted);
}

bool SearchSchedule::follows_clasp(std::int32_t emitted) {
  // It is planned before the round, which keeps the states that the search begins with.
  const bool is_due = since_ + 1 >= interval_;
  since_ += counts_tokens_ ? emitted : 1;
  if (is_due) since_ = 0;
  return is_due;
}

bool SearchSchedule::follows_swift(std::int32_t emitted) {
  ++rounds_;
  emitted_ += emitted;
  const bool has_ended = max_searches_ >= 0 && searches_ >= max_searches_;
  if (has_ended || rounds_ % interval_ != 0 || emitted_ <= window_ + 1) return false;
  ++searches_;
  return true;
}

bool SearchSchedule::follows_conflayers(const traces::Round& round) {
  const std::int32_t tried = confidences_->least();
  const bool follows = confidences_->follows(
      {.emitted = round.emitted, .accepted = round.accepted, .steps = round.tree_depth}, tried);
  if (follows) confidences_->found(tried);
  return follows;
}

}  // namespace draftscope::simulator
