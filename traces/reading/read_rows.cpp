// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading/read_rows.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <ranges>

#include "reading/references.h"
#include "storage/tables.h"

namespace draftscope::traces {
namespace {

// 512 lanes and phases of 2,048 columns: what a writer stores at most.
constexpr std::size_t max_overview_rows = std::size_t{1} << 20U;

Result<std::int64_t> column_width(const OpenTrace& trace, const std::string& stated) {
  std::int64_t width = 0;
  const auto [end, error] = std::from_chars(stated.data(), stated.data() + stated.size(), width);
  if (error != std::errc() || end != stated.data() + stated.size() || width < 1 || width > max_ns ||
      !std::has_single_bit(static_cast<std::uint64_t>(width)))
    return fail("{}: meta {}: found \"{}\", expected a power of two", trace.path.string(), overview_key,
                stated);
  return width;
}

}  // namespace

Result<Meta> read_meta(OpenTrace& trace) {
  const std::string name = trace.path.string();
  trace.budget->steps_left = trace.budget->steps;
  DRAFTSCOPE_TRY_ASSIGN(const Statement statement,
                        prepare(trace.database.get(), name, "SELECT key, value FROM meta"));
  Meta meta;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW)
    meta.insert_or_assign(std::string(column_bytes(statement.get(), 0)),
                          std::string(column_bytes(statement.get(), 1)));
  if (code != SQLITE_DONE) return fail("{}: table meta: {}", name, sqlite_error(trace.database.get()));
  DRAFTSCOPE_TRY(check_unchanged(trace));
  return meta;
}

Result<Recording> read_outline(OpenTrace& trace) {
  Recording recording;
  recording.path = trace.path;
  DRAFTSCOPE_TRY_ASSIGN(recording.meta, read_meta(trace));
  const auto closed = recording.meta.find("closed_cleanly");
  recording.closed_cleanly = closed != recording.meta.end() && closed->second == "1";
  DRAFTSCOPE_TRY_ASSIGN(recording.runs, read_all<Run>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.prompts, read_all<Prompt>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.requests, read_all<Request>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.layer_sets, read_all<LayerSet>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.tracks, read_all<Track>(trace));
  std::ranges::stable_sort(recording.requests, {}, &Request::start_ns);
  return recording;
}

Result<Recording> read_recording(OpenTrace& trace) {
  DRAFTSCOPE_TRY_ASSIGN(Recording recording, read_outline(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.rounds, read_all<Round>(trace));
  DRAFTSCOPE_TRY_ASSIGN(recording.draft_tokens, read_all<DraftToken>(trace));
  const auto order = [](const Round& row) { return std::pair(row.request_id, row.index); };
  if (!std::ranges::is_sorted(recording.rounds, {}, order))
    std::ranges::stable_sort(recording.rounds, {}, order);
  DRAFTSCOPE_TRY(check_references(recording));
  return recording;
}

Result<std::optional<Overview>> read_overview(OpenTrace& trace) {
  DRAFTSCOPE_TRY_ASSIGN(const Meta meta, read_meta(trace));
  const auto stated = meta.find(std::string(overview_key));
  if (stated == meta.end()) return std::nullopt;
  Overview overview;
  DRAFTSCOPE_TRY_ASSIGN(overview.column_ns, column_width(trace, stated->second));
  DRAFTSCOPE_TRY_ASSIGN(overview.lanes, read_all<LaneColumn>(trace, max_overview_rows));
  DRAFTSCOPE_TRY_ASSIGN(overview.rounds, read_all<RoundColumn>(trace, max_overview_rows));
  DRAFTSCOPE_TRY_ASSIGN(overview.requests, read_all<RequestSum>(trace));
  return overview;
}

Result<std::unordered_map<StringId, std::string>> read_strings(OpenTrace& trace) {
  std::unordered_map<StringId, std::string> strings;
  DRAFTSCOPE_TRY(scan<StringRow>(trace, "", "", [&](const StringRow& row) {
    strings.insert_or_assign(row.id, row.text);
    return true;
  }));
  return strings;
}

Result<std::unordered_map<std::int32_t, std::string>> read_token_texts(OpenTrace& trace) {
  std::unordered_map<std::int32_t, std::string> texts;
  DRAFTSCOPE_TRY(scan<TokenText>(trace, "", "", [&](const TokenText& row) {
    texts.insert_or_assign(row.token, row.text);
    return true;
  }));
  return texts;
}

}  // namespace draftscope::traces
