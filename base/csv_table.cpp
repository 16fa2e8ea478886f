// SPDX-License-Identifier: GPL-3.0-or-later
#include <csv.h>
#include <draftscope/base/csv_table.h>
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>

#include <algorithm>
#include <set>

namespace draftscope {

namespace {

struct Lines {
  std::vector<std::string> fields;
  std::vector<std::vector<std::string>> lines;
};

void end_field(void* field, std::size_t size, void* state) {
  static_cast<Lines*>(state)->fields.emplace_back(static_cast<const char*>(field), size);
}

void end_line(int /*terminator*/, void* state) {
  auto& lines = *static_cast<Lines*>(state);
  lines.lines.push_back(std::move(lines.fields));
  lines.fields.clear();
}

/// Frees libcsv's parser on destruction.
struct Parser {
  csv_parser state{};
  ~Parser() { csv_free(&state); }
};

}  // namespace

Result<CsvTable> CsvTable::parse(std::string_view text, std::string name) {
  Parser parser;
  if (csv_init(&parser.state, CSV_STRICT | CSV_STRICT_FINI) != 0) return fail("{}: out of memory", name);
  Lines parsed;
  const std::size_t read = csv_parse(&parser.state, text.data(), text.size(), end_field, end_line, &parsed);
  if (read != text.size() || csv_fini(&parser.state, end_field, end_line, &parsed) != 0)
    return fail("{}: row {}: {}, expected fields as RFC 4180 has them", name, parsed.lines.size(),
                csv_strerror(csv_error(&parser.state)));
  if (parsed.lines.empty()) return fail("{}: found no line, expected a header", name);
  CsvTable table;
  table.name_ = std::move(name);
  table.columns_ = std::move(parsed.lines.front());
  std::set<std::string_view> seen;
  for (const std::string& column : table.columns_)
    if (!seen.insert(column).second)
      return fail("{}: found column {} twice, expected once", table.name_, excerpt(column));
  for (std::size_t i = 1; i < parsed.lines.size(); ++i) {
    if (parsed.lines[i].size() != table.columns_.size())
      return fail("{}: row {}: found {} fields, expected {}", table.name_, i, parsed.lines[i].size(),
                  table.columns_.size());
    table.rows_.push_back(std::move(parsed.lines[i]));
  }
  return table;
}

bool CsvTable::has(std::string_view column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

Result<std::string> CsvTable::text(std::size_t row, std::string_view column) const {
  const auto place = std::find(columns_.begin(), columns_.end(), column);
  if (place == columns_.end()) return fail("{}: found no column {}, expected one", name_, column);
  return rows_[row][static_cast<std::size_t>(place - columns_.begin())];
}

Result<std::optional<double>> CsvTable::number(std::size_t row, std::string_view column) const {
  DRAFTSCOPE_TRY_ASSIGN(const std::string field, text(row, column));
  if (field.empty()) return std::nullopt;
  const auto value = parse_number<double>(field);
  if (!value)
    return fail("{}: row {}: column {}: found {}, expected a number", name_, row + 1, column, quote(field));
  return value;
}

Result<std::optional<std::int64_t>> CsvTable::integer(std::size_t row, std::string_view column) const {
  DRAFTSCOPE_TRY_ASSIGN(const std::string field, text(row, column));
  if (field.empty()) return std::nullopt;
  const auto value = parse_number<std::int64_t>(field);
  if (!value)
    return fail("{}: row {}: column {}: found {}, expected an integer", name_, row + 1, column, quote(field));
  return value;
}

}  // namespace draftscope
