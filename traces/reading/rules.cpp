// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading/validate.h"

#include <fmt/format.h>

#include "storage/tables.h"

namespace draftscope::traces {
namespace {

/// Makes a rule for every column that refers to another table. Declared foreign keys would say the same, but
/// only if the file declares them.
struct ReferenceRules {
  std::vector<Rule>& rules;
  std::string_view table;
  std::string_view row_id;
  bool may_lack_spans;

  void add(std::string_view column, std::string_view target) {
    if (target == "spans" && may_lack_spans) return;
    rules.push_back(
        {table, fmt::format("SELECT row.{0}, printf('{1} is %d, but {2} has no such row', row.\"{1}\") "
                            "FROM {3} AS row WHERE row.\"{1}\" IS NOT NULL AND NOT EXISTS "
                            "(SELECT 1 FROM {2} AS target WHERE target.id = row.\"{1}\")",
                            row_id, column, target, table)});
  }
  template <typename Tag>
  void id(std::string_view /*name*/, Id<Tag> /*field*/) {}
  template <typename Tag>
  void key(std::string_view name, Id<Tag> /*field*/, std::string_view target) {
    add(name, target);
  }
  template <typename Tag>
  void reference(std::string_view name, Id<Tag> /*field*/, std::string_view target) {
    add(name, target);
  }
  template <typename Field>
  void enumeration(std::string_view /*name*/, Field /*field*/, int /*values*/, std::string_view /*target*/) {}
  void millionths(std::string_view /*name*/, double /*field*/) {}
  template <typename Field>
  void value(std::string_view /*name*/, const Field& /*field*/) {}
};

void add_references(std::vector<Rule>& rules, bool may_lack_spans) {
  for_each_table([&]<typename Record>(const Table<Record>& table) {
    const Record record{};
    visit_columns(record, ReferenceRules{rules, table.name, table.key, may_lack_spans});
  });
}

void add_run_rules(std::vector<Rule>& rules) {
  rules.push_back({"meta",
                   "SELECT 0, 'closed_cleanly is missing, expected 0 or 1' WHERE NOT EXISTS "
                   "(SELECT 1 FROM meta WHERE key = 'closed_cleanly' AND value IN ('0', '1'))"});
  rules.push_back({"meta",
                   "SELECT 0, printf('%s nests deeper than readers take', key) FROM meta "
                   "WHERE NOT is_shallow_json(value)"});
  rules.push_back({"runs",
                   "SELECT id, 'parameters is not a JSON object' FROM runs "
                   "WHERE NOT is_json_object(parameters)"});
  rules.push_back({"layer_sets",
                   "SELECT id, printf('exit_layer is %d, expected 0 to n_layers (%d)', exit_layer, n_layers) "
                   "FROM layer_sets WHERE exit_layer NOT BETWEEN 0 AND n_layers"});
  rules.push_back({"layer_sets",
                   "SELECT id, printf('skipped is %d bytes, expected %d for %d layers', length(skipped), "
                   "(2 * n_layers + 7) / 8, n_layers) FROM layer_sets "
                   "WHERE length(skipped) <> (2 * n_layers + 7) / 8"});
  rules.push_back(
      {"tracks",
       "SELECT id, printf('kind is %s, expected host, calls, stream, operations, block, sync, overhead, "
       "rank or counter', "
       "kind) FROM tracks "
       "WHERE kind NOT IN ('host', 'calls', 'stream', 'operations', 'block', 'sync', 'overhead', 'rank', "
       "'counter')"});
  // The search goes down from the outermost tracks. A track that it does not reach is among its own
  // ancestors, or below one that is. For spans, the depth rules that out.
  rules.push_back(
      {"tracks",
       "WITH RECURSIVE reached (id) AS (SELECT id FROM tracks WHERE parent IS NULL OR parent NOT IN (SELECT "
       "id FROM tracks) UNION SELECT tracks.id FROM reached JOIN tracks ON tracks.parent = reached.id) "
       "SELECT id, printf('parent is %d, which leads round in a circle', parent) FROM tracks "
       "WHERE id NOT IN (SELECT id FROM reached)"});
}

void add_request_rules(std::vector<Rule>& rules, bool closed_cleanly) {
  if (closed_cleanly)
    rules.push_back({"requests",
                     "SELECT id, 'end_ns is 0, which only a recording that was cut off may hold' "
                     "FROM requests WHERE end_ns = 0"});
  rules.push_back({"requests",
                   "SELECT id, printf('end_ns is %d, expected at least start_ns (%d)', end_ns, start_ns) "
                   "FROM requests WHERE end_ns <> 0 AND end_ns < start_ns"});
  rules.push_back({"requests",
                   "SELECT id, printf('first_token_ns is %d, expected within %d to %d', first_token_ns, "
                   "start_ns, end_ns) "
                   "FROM requests WHERE first_token_ns <> 0 AND (first_token_ns < start_ns OR "
                   "(end_ns <> 0 AND first_token_ns > end_ns))"});
}

void add_round_rules(std::vector<Rule>& rules) {
  const auto add = [&](std::string_view sql) { rules.push_back({"rounds", std::string(sql)}); };
  add("SELECT id, printf('its phases take %d ns, the round %d ns', phases_ns, length_ns) FROM (SELECT id, "
      "draft_ns + verify_ns + accept_ns + optimise_ns + control_ns AS phases_ns, end_ns - start_ns AS "
      "length_ns FROM rounds) WHERE phases_ns > length_ns");
  // The search goes down the trees, one level per step; since the index rises, it ends in any file.
  add("WITH RECURSIVE reached (round, \"index\", depth) AS (SELECT round, \"index\", 1 FROM draft_tokens "
      "WHERE parent = -1 UNION ALL SELECT token.round, token.\"index\", depth + 1 FROM reached JOIN "
      "draft_tokens AS token ON token.round = reached.round AND token.parent = reached.\"index\" AND "
      "token.\"index\" > reached.\"index\") "
      "SELECT id, printf('tree_depth is %d, but its draft_tokens are %d deep', tree_depth, found) "
      "FROM (SELECT id, tree_depth, coalesce(deepest, 0) AS found FROM rounds LEFT JOIN (SELECT round, "
      "max(depth) AS deepest FROM reached GROUP BY round) ON round = id) WHERE tree_depth <> found");
  // Siblings take no step of the draft, so a tree may have more tokens than were planned.
  add("SELECT id, printf('tree_depth is %d, expected at most planned (%d)', tree_depth, planned) FROM "
      "rounds "
      "WHERE tree_depth > planned");
  add("SELECT id, printf('accepted is %d, expected at most drafted (%d)', accepted, drafted) FROM rounds "
      "WHERE accepted > drafted");
  add("SELECT id, printf('emitted is %d, expected at most accepted + 1 (%d)', emitted, accepted + 1) FROM "
      "rounds "
      "WHERE emitted > accepted + 1");
  add("SELECT id, 'a count or a time is negative' FROM rounds WHERE min(planned, drafted, accepted, emitted, "
      "verify_rows, exit_layer, root_position, draft_ns, verify_ns, accept_ns, control_ns) < 0");
  add("SELECT rounds.id, printf('exit_layer is %d, expected at most %d', rounds.exit_layer, n_layers) "
      "FROM rounds JOIN layer_sets ON layer_sets.id = layer_set WHERE rounds.exit_layer > n_layers");
  add("SELECT id, printf('drafted is %d, but draft_tokens has %d', drafted, tokens) FROM (SELECT id, "
      "drafted, "
      "(SELECT count(*) FROM draft_tokens WHERE round = rounds.id) AS tokens FROM rounds) WHERE drafted <> "
      "tokens");
  add("SELECT id, printf('accepted is %d, but %d draft_tokens are accepted', accepted, tokens) FROM (SELECT "
      "id, "
      "accepted, (SELECT count(*) FROM draft_tokens WHERE round = rounds.id AND draft_tokens.accepted) AS "
      "tokens "
      "FROM rounds) WHERE accepted <> tokens");
}

void add_round_order_rules(std::vector<Rule>& rules) {
  const auto add = [&](std::string_view sql) { rules.push_back({"rounds", std::string(sql)}); };
  add("SELECT id, printf('end_ns is %d, expected at least start_ns (%d)', end_ns, start_ns) FROM rounds "
      "WHERE end_ns < start_ns");
  add("SELECT rounds.id, printf('lies at %d to %d, outside its request (%d to %d)', rounds.start_ns, "
      "rounds.end_ns, requests.start_ns, requests.end_ns) FROM rounds JOIN requests ON requests.id = request "
      "WHERE rounds.start_ns < requests.start_ns OR (requests.end_ns <> 0 AND rounds.end_ns > "
      "requests.end_ns)");
  add("SELECT id, printf('index is %d, expected %d', found, expected) FROM (SELECT id, \"index\" AS found, "
      "row_number() OVER (PARTITION BY request ORDER BY \"index\") - 1 AS expected FROM rounds) "
      "WHERE found <> expected");
  add("SELECT id, printf('starts at %d, before the end of the round before it (%d)', start_ns, before_ns) "
      "FROM "
      "(SELECT id, start_ns, lag(end_ns) OVER (PARTITION BY request ORDER BY \"index\") AS before_ns FROM "
      "rounds) "
      "WHERE start_ns < before_ns");
}

void add_draft_token_rules(std::vector<Rule>& rules) {
  const auto add = [&](std::string_view sql) { rules.push_back({"draft_tokens", std::string(sql)}); };
  add("SELECT round, printf('index is %d, expected %d', found, expected) FROM (SELECT round, \"index\" AS "
      "found, "
      "row_number() OVER (PARTITION BY round ORDER BY \"index\") - 1 AS expected FROM draft_tokens) "
      "WHERE found <> expected");
  add("SELECT round, printf('index %d: parent is %d, expected -1 to %d', \"index\", parent, \"index\" - 1) "
      "FROM draft_tokens WHERE parent < -1 OR parent >= \"index\"");
  add("SELECT round, printf('index %d: accepted without having been tested', \"index\") FROM draft_tokens "
      "WHERE accepted AND NOT tested");
  add("SELECT round, printf('index %d: accepted and its parent is %d, expected %d, the accepted token before "
      "it', \"index\", parent, before) FROM (SELECT round, \"index\", parent, lag(\"index\", 1, -1) OVER "
      "(PARTITION BY round ORDER BY \"index\") AS before FROM draft_tokens WHERE accepted) "
      "WHERE parent <> before");
}

void add_decision_rules(std::vector<Rule>& rules) {
  const auto add = [&](std::string_view sql) { rules.push_back({"decisions", std::string(sql)}); };
  add("SELECT id, 'detail is not a JSON object' FROM decisions "
      "WHERE NOT is_json_object(detail)");
  // A decision may end later, if it is made in parallel with decoding.
  add("SELECT row.id, printf('starts at %d, outside its request (%d to %d)', row.start_ns, "
      "requests.start_ns, "
      "requests.end_ns) FROM decisions AS row JOIN requests ON requests.id = request "
      "WHERE row.start_ns < requests.start_ns OR (requests.end_ns <> 0 AND row.start_ns > requests.end_ns)");
  add("SELECT row.id, printf('starts at %d, before its round %d (%d)', row.start_ns, rounds.id, "
      "rounds.start_ns) FROM decisions AS row JOIN rounds ON rounds.id = row.round "
      "WHERE row.start_ns < rounds.start_ns");
}

void add_shadow_token_rules(std::vector<Rule>& rules) {
  const auto add = [&](std::string_view sql) { rules.push_back({"shadow_tokens", std::string(sql)}); };
  add("SELECT request, printf('layer %d, position %d: token is %d and true_rank is %d, expected layer and "
      "position at least 1, token at least 0, true_rank at least -1', layer, position, token, true_rank) "
      "FROM shadow_tokens WHERE layer < 1 OR position < 1 OR token < 0 OR true_rank < -1");
  add("SELECT request, printf('layer %d, position %d: the model has %d layers', layer, position, layers) "
      "FROM "
      "shadow_tokens JOIN (SELECT max(n_layers) AS layers FROM layer_sets) WHERE layer > layers");
  add("SELECT request, printf('layer %d, position %d: probability_millionths is %d, expected 0 to 1000000', "
      "layer, position, probability_millionths) FROM shadow_tokens WHERE probability_millionths > 1000000");
  add("SELECT request, printf('layer %d has %d positions from %d to %d, its first layer %d from %d to %d', "
      "layer, positions, least, most, first_positions, first_least, first_most) FROM (SELECT *, "
      "first_value(positions) OVER one AS first_positions, first_value(least) OVER one AS first_least, "
      "first_value(most) OVER one AS first_most FROM (SELECT request, layer, count(*) AS positions, "
      "min(position) AS least, max(position) AS most FROM shadow_tokens GROUP BY request, layer) "
      "WINDOW one AS (PARTITION BY request ORDER BY layer)) WHERE positions <> first_positions OR "
      "least <> first_least OR most <> first_most");
  // A shifted position would make every prediction wrong and break no other rule. Past the text there is
  // nothing to compare with, because its end-of-sequence token is not stored.
  add("SELECT request, printf('layer %d, position %d: token is %d and true_rank is %d, which the text "
      "contradicts', layer, position, token, true_rank) FROM (SELECT request, layer, position, token, "
      "true_rank, CASE WHEN 4 * position < length(prompts.tokens) "
      "THEN substr(prompts.tokens, 4 * position + 1, 4) "
      "ELSE substr(requests.tokens, 4 * position - length(prompts.tokens) + 1, 4) END AS bytes "
      "FROM shadow_tokens JOIN requests ON requests.id = request JOIN prompts ON prompts.id = prompt "
      "WHERE requests.end_ns <> 0) WHERE length(bytes) = 4 AND (true_rank = 0) <> (hex(bytes) = "
      "printf('%02X%02X%02X%02X', token & 255, token >> 8 & 255, token >> 16 & 255, token >> 24 & 255))");
  add("SELECT request, printf('layer %d, position %d: the text ends at %d', layer, position, length) FROM "
      "(SELECT request, layer, position, (length(prompts.tokens) + length(requests.tokens)) / 4 AS length "
      "FROM shadow_tokens JOIN requests ON requests.id = request JOIN prompts ON prompts.id = prompt "
      "WHERE requests.end_ns <> 0) WHERE position > length");
}

void add_span_rules(std::vector<Rule>& rules) {
  for (const std::string_view table : {"spans", "kernels", "decisions"}) {
    rules.push_back({table, fmt::format("SELECT id, printf('end_ns is %d, expected at least start_ns (%d)', "
                                        "end_ns, start_ns) FROM {} WHERE end_ns < start_ns",
                                        table)});
    rules.push_back(
        {table, fmt::format("SELECT row.id, printf('request is %d, but its round %d is of request %d', "
                            "row.request, row.round, rounds.request) FROM {} AS row JOIN rounds ON "
                            "rounds.id = row.round WHERE row.request IS NOT rounds.request",
                            table)});
  }
  rules.push_back(
      {"spans",
       "SELECT row.id, printf('lies at %d to %d, outside its parent %d (%d to %d)', row.start_ns, "
       "row.end_ns, "
       "parent.id, parent.start_ns, parent.end_ns) FROM spans AS row JOIN spans AS parent ON "
       "parent.id = row.parent WHERE row.start_ns < parent.start_ns OR row.end_ns > parent.end_ns"});
  rules.push_back({"spans",
                   "SELECT row.id, printf('depth is %d, expected more than its parent %d has (%d)', "
                   "row.depth, parent.id, "
                   "parent.depth) FROM spans AS row JOIN spans AS parent ON parent.id = row.parent "
                   "WHERE row.depth <= parent.depth"});
  rules.push_back({"spans",
                   "SELECT row.id, printf('track is %d, its parent %d is on track %d', row.track, parent.id, "
                   "parent.track) FROM spans AS row JOIN spans AS parent ON parent.id = row.parent "
                   "WHERE row.track <> parent.track"});
  // Phases have no parent in common, and deeper spans do.
  for (const auto& [siblings, depth] :
       {std::pair("track, request", "depth = 0"), std::pair("parent", "depth > 0")})
    rules.push_back(
        {"spans",
         fmt::format("SELECT id, printf('starts at %d, before the end of the span before it (%d)', start_ns, "
                     "before_ns) FROM (SELECT id, start_ns, max(end_ns) OVER (PARTITION BY {} ORDER BY "
                     "start_ns, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns "
                     "FROM spans WHERE {}) WHERE start_ns < before_ns",
                     siblings, depth)});
}

}  // namespace

std::vector<Rule> rules(bool closed_cleanly) {
  std::vector<Rule> all;
  add_references(all, !closed_cleanly);
  add_run_rules(all);
  add_request_rules(all, closed_cleanly);
  add_round_rules(all);
  add_round_order_rules(all);
  add_draft_token_rules(all);
  add_decision_rules(all);
  add_shadow_token_rules(all);
  all.push_back({"token_texts",
                 "SELECT token, printf('token is %d, expected at least 0', token) FROM token_texts "
                 "WHERE token < 0"});
  add_span_rules(all);
  return all;
}

}  // namespace draftscope::traces
