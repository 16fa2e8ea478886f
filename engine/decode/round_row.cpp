// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/round_row.h"

#include <algorithm>
#include <cstddef>

namespace draftscope::engine {

void set_durations(const RoundTimes& times, traces::Round& row) {
  row.start_ns = times.plan_ns;
  row.end_ns = times.end_ns;
  row.optimise_ns = times.optimise_ns < 0 ? 0 : times.end_ns - times.optimise_ns;
  row.draft_ns = times.verify_ns - times.draft_ns;
  row.verify_ns = times.accept_ns - times.verify_ns;
  row.accept_ns = times.observe_ns - times.accept_ns;
  row.control_ns = (row.end_ns - row.start_ns) - (times.observe_ns - times.draft_ns) - row.optimise_ns;
}

void set_draft_size(std::span<const DraftNode> nodes, std::size_t extra_rows, traces::Round& row) {
  row.drafted = static_cast<std::int32_t>(nodes.size());
  for (const DraftNode& node : nodes) row.tree_depth = std::max(row.tree_depth, node.depth);
  row.verify_rows = row.drafted + 1 + static_cast<std::int32_t>(extra_rows);
}

void describe_layers(const RoundPlan& plan, traces::LayerSet& set, traces::Round& row) {
  set.n_layers = set.exit_layer = 0;
  set.skipped.clear();
  set.origin.clear();
  if (row.drafted == 0 || plan.mask == nullptr) return;
  set.n_layers = plan.mask->n_layers();
  set.exit_layer = row.exit_layer = plan.mask->exit_layer();
  plan.mask->pack(set.skipped);
  set.origin = plan.origin;
}

void describe_draft(std::span<const DraftNode> nodes, const Verdict& verdict, traces::RoundId round_id,
                    std::vector<traces::DraftToken>& tokens) {
  tokens.clear();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    tokens.push_back({.round_id = round_id,
                      .index = static_cast<std::int32_t>(i),
                      .parent = nodes[i].parent,
                      .token = nodes[i].token,
                      .confidence = nodes[i].confidence,
                      .probability = nodes[i].probability,
                      .accepted = false,
                      .tested = verdict.tested[i] != 0});
  for (const std::int32_t node : verdict.path) tokens[static_cast<std::size_t>(node)].accepted = true;
}

}  // namespace draftscope::engine
