// SPDX-License-Identifier: GPL-3.0-or-later
// One CSV a table, as RFC 4180 has it: CRLF, quotes doubled, a header row. Enumerations are words, a missing
// reference or number is an empty field, lists are space-separated integers.

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/atomic_folder.h>
#include <draftscope/traces/exporters.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "export/timeline.h"
#include "storage/tables.h"

namespace draftscope::traces {
namespace {

std::string_view word(Phase phase) {
  return phase_name(phase);
}
std::string_view word(DraftStop stop) {
  return draft_stop_name(stop);
}
std::string_view word(RequestStop stop) {
  return request_stop_name(stop);
}
std::string_view word(LaneOf lane) {
  return lane_of_name(lane);
}

/// Builds one line; with `header` the names instead of the fields.
class CsvLine {
 public:
  explicit CsvLine(bool header) : header_(header) {}

  template <typename Tag>
  void id(std::string_view name, Id<Tag> field) {
    number(name, field.value());
  }
  template <typename Tag>
  void key(std::string_view name, Id<Tag> field, std::string_view /*table*/) {
    number(name, field.value());
  }
  template <typename Tag>
  void reference(std::string_view name, Id<Tag> field, std::string_view /*table*/) {
    if (field.is_none() && !header_)
      add({});
    else
      number(name, field.value());
  }
  template <typename Field>
  void enumeration(std::string_view name, Field field, int /*values*/, std::string_view /*table*/) {
    add(header_ ? name : word(field));
  }
  void millionths(std::string_view name, double field) {
    if (header_)
      add(name);
    else if (std::isnan(field))
      add({});
    else
      number(name, std::llround(field * 1e6));
  }
  template <typename Field>
  void value(std::string_view name, const Field& field) {
    if (header_)
      add(name);
    else
      value_field(name, field);
  }

  template <typename Field>
  void value_field(std::string_view name, const Field& field) {
    if constexpr (std::is_same_v<Field, std::string>) {
      add(field);
    } else if constexpr (std::is_same_v<Field, bool>) {
      add(field ? "1" : "0");
    } else if constexpr (std::is_floating_point_v<Field>) {
      add(std::isnan(field) ? std::string() : fmt::format("{}", field));
    } else if constexpr (std::is_integral_v<Field>) {
      number(name, field);
    } else {
      add(fmt::format("{}", fmt::join(field, " ")));
    }
  }

  std::string_view end() { return line_.append("\r\n"); }

 private:
  template <typename Number>
  void number(std::string_view name, Number field) {
    if (header_)
      add(name);
    else
      add(std::string_view(fmt::format_int(field).c_str()));
  }

  void add(std::string_view field) {
    if (!first_) line_.push_back(',');
    first_ = false;
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
      line_.append(field);
      return;
    }
    line_.push_back('"');
    for (const char c : field) {
      if (c == '"') line_.push_back('"');
      line_.push_back(c);
    }
    line_.push_back('"');
  }

  bool header_;
  bool first_ = true;
  std::string line_;
};

class CsvFolder {
 public:
  CsvFolder(std::filesystem::path folder, const Progress& progress, std::int64_t all)
      : folder_(std::move(folder)), progress_(progress), all_(all) {}

  /// `rows` calls its argument with each record until that returns false.
  template <typename Record, typename Rows>
  Result<void> write(Rows rows) {
    DRAFTSCOPE_TRY_ASSIGN(AtomicFile file,
                          AtomicFile::create(folder_ / (std::string(table_name<Record>) + ".csv")));
    const Record names{};
    CsvLine header(true);
    visit_columns(names, header);
    file.write(header.end());
    bool cancelled = false;
    DRAFTSCOPE_TRY(rows([&](const Record& row) {
      CsvLine line(false);
      visit_columns(row, line);
      file.write(line.end());
      cancelled = ++done_ % rows_per_progress == 0 && progress_ && !progress_(done_, all_);
      return !cancelled && !file.failed();
    }));
    if (cancelled) return fail("export cancelled");
    return file.commit();
  }

  template <typename Record>
  Result<void> write(const std::vector<Record>& records) {
    return write<Record>([&](const auto& visit) -> Result<void> {
      for (const Record& record : records)
        if (!visit(record)) break;
      return {};
    });
  }

  Result<void> write_meta(const Meta& meta) {
    DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(folder_ / "meta.csv"));
    file.write("key,value\r\n");
    for (const auto& [key, text] : meta) {
      CsvLine line(false);
      line.value("key", key);
      line.value("value", text);
      file.write(line.end());
    }
    return file.commit();
  }

 private:
  std::filesystem::path folder_;
  const Progress& progress_;
  std::int64_t all_;
  std::int64_t done_ = 0;
};

/// The reader's function that streams a table; none for tables that are held in memory.
template <typename Record>
constexpr auto streamed_by = nullptr;
template <>
constexpr auto streamed_by<Decision> = &Reader::decisions;
template <>
constexpr auto streamed_by<ShadowToken> = &Reader::shadow_tokens;
template <>
constexpr auto streamed_by<Span> = &Reader::spans;
template <>
constexpr auto streamed_by<Kernel> = &Reader::kernels;
template <>
constexpr auto streamed_by<Counter> = &Reader::counters;

/// The tables that are small enough to be held in memory.
struct HeldTables {
  Recording recording;
  std::vector<StringRow> strings;
  std::vector<TokenText> token_texts;
  Overview overview;  ///< as it was stored, be it what the rows give or not

  template <typename Record>
  [[nodiscard]] const std::vector<Record>& list() const {
    return std::get<const std::vector<Record>&>(
        std::tie(recording.runs, recording.prompts, recording.requests, recording.layer_sets,
                 recording.rounds, recording.draft_tokens, recording.tracks, strings, token_texts,
                 overview.lanes, overview.rounds, overview.requests));
  }
};

Result<HeldTables> read_held_tables(Reader& reader) {
  HeldTables tables;
  DRAFTSCOPE_TRY_ASSIGN(tables.recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  for (const auto& [id, text] : strings) tables.strings.push_back({id, text});
  std::ranges::sort(tables.strings, {}, &StringRow::id);
  DRAFTSCOPE_TRY_ASSIGN(const auto token_texts, reader.token_texts());
  for (const auto& [token, text] : token_texts) tables.token_texts.push_back({token, text});
  std::ranges::sort(tables.token_texts, {}, &TokenText::token);
  DRAFTSCOPE_TRY_ASSIGN(std::optional<Overview> stored, reader.overview());
  tables.overview = std::move(stored).value_or(Overview{});
  return tables;
}

/// Rows of every table but `meta`, for Progress.
Result<std::int64_t> count_all_rows(Reader& reader) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<TableCount> counts, reader.row_counts());
  std::int64_t rows = 0;
  for (const TableCount& count : counts)
    if (count.table != "meta") rows += count.rows;
  return rows;
}

}  // namespace

Result<void> export_csv(Reader& reader, const std::filesystem::path& target, const Progress& progress) {
  DRAFTSCOPE_TRY_ASSIGN(AtomicFolder whole, AtomicFolder::create(target));
  DRAFTSCOPE_TRY_ASSIGN(const HeldTables held, read_held_tables(reader));
  std::int64_t all = 0;
  if (progress) {
    DRAFTSCOPE_TRY_ASSIGN(all, count_all_rows(reader));
  }
  CsvFolder folder(whole.path(), progress, all);
  DRAFTSCOPE_TRY(folder.write_meta(held.recording.meta));
  DRAFTSCOPE_TRY(try_each_table([&]<typename Record>(const Table<Record>& /*table*/) {
    if constexpr (std::is_null_pointer_v<std::remove_const_t<decltype(streamed_by<Record>)>>)
      return folder.write(held.list<Record>());
    else
      return folder.write<Record>([&](const auto& visit) { return (reader.*streamed_by<Record>)(visit); });
  }));
  if (progress && !progress(all, all)) return fail("export cancelled");
  return whole.commit();
}

}  // namespace draftscope::traces
