// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The primary key of a row: what its table is stored in the order of. A record with an id has no other.

#include <draftscope/traces/overview.h>
#include <draftscope/traces/records.h>
#include <tuple>

namespace draftscope::traces {

template <typename Record>
[[nodiscard]] auto primary_key(const Record& row) {
  return std::tuple(row.id);
}
[[nodiscard]] inline auto primary_key(const DraftToken& row) {
  return std::tuple(row.round_id, row.index);
}
[[nodiscard]] inline auto primary_key(const ShadowToken& row) {
  return std::tuple(row.request_id, row.layer, row.position);
}
[[nodiscard]] inline auto primary_key(const TokenText& row) {
  return std::tuple(row.token);
}
[[nodiscard]] inline auto primary_key(const LaneColumn& row) {
  return std::tuple(row.lane, row.owner, row.depth, row.start_ns, row.phase);
}
[[nodiscard]] inline auto primary_key(const RoundColumn& row) {
  return std::tuple(row.run_id, row.start_ns);
}
[[nodiscard]] inline auto primary_key(const RequestSum& row) {
  return std::tuple(row.request_id);
}

}  // namespace draftscope::traces
