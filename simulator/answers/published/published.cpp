// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/backtest.h>

#include <draftscope/base/csv_table.h>
#include <draftscope/base/number.h>
#include <algorithm>

namespace draftscope::simulator {

extern const std::string_view published_csv;  // made from simulator/data/published.csv by the build

namespace {

std::optional<std::int32_t> as_count(std::string_view text) {
  const auto value = parse_number<std::int32_t>(text);
  return value && *value >= 1 ? value : std::nullopt;
}

tl::unexpected<Error> bad_field(const CsvTable& table, std::size_t row, const char* column,
                                std::string_view found, const char* expected) {
  return fail("{}: row {}: column {}: found '{}', expected {}", table.name(), row + 1, column, found,
              expected);
}

/// "E=7", "E=dyn", "r=0.45", or nothing.
Result<void> read_draft(const CsvTable& table, std::size_t row, PublishedRow& result) {
  constexpr const char* column = "layers_exit_or_skip_ratio";
  DRAFTSCOPE_TRY_ASSIGN(const std::string field, table.text(row, column));
  if (field.empty() || field == "E=dyn") return {};
  const std::string_view value = std::string_view(field).substr(std::min<std::size_t>(2, field.size()));
  if (field.starts_with("E=")) result.exit_layer = as_count(value);
  if (field.starts_with("r=")) result.skip_ratio = parse_number<double>(value);
  const bool is_share = result.skip_ratio && *result.skip_ratio >= 0.0 && *result.skip_ratio < 1.0;
  if (!result.exit_layer && !is_share)
    return bad_field(table, row, column, field, "E=layers, E=dyn or r=skip ratio");
  return {};
}

/// A fixed length, or a cap ("max=25") that is no γ.
Result<void> read_gamma(const CsvTable& table, std::size_t row, PublishedRow& result) {
  constexpr const char* column = "gamma";
  DRAFTSCOPE_TRY_ASSIGN(const std::string field, table.text(row, column));
  if (field.empty()) return {};
  constexpr std::string_view cap = "max=";
  if (field.starts_with(cap)) {
    if (as_count(std::string_view(field).substr(cap.size()))) return {};
  } else {
    result.gamma = as_count(field);
    if (result.gamma) return {};
  }
  return bad_field(table, row, column, field, "a length from 1 or max=length");
}

Result<PublishedRow> read_row(const CsvTable& table, std::size_t row) {
  PublishedRow result;
  DRAFTSCOPE_TRY_ASSIGN(result.paper, table.text(row, "paper"));
  DRAFTSCOPE_TRY_ASSIGN(result.model, table.text(row, "model"));
  DRAFTSCOPE_TRY_ASSIGN(result.task, table.text(row, "task"));
  DRAFTSCOPE_TRY_ASSIGN(result.method, table.text(row, "method"));
  DRAFTSCOPE_TRY_ASSIGN(result.setting, table.text(row, "setting"));
  DRAFTSCOPE_TRY_ASSIGN(result.source, table.text(row, "source_table"));
  DRAFTSCOPE_TRY_ASSIGN(const std::string layers, table.text(row, "L"));
  if (!layers.empty()) {
    result.n_layers = as_count(layers);
    if (!result.n_layers) return bad_field(table, row, "L", layers, "a number of layers from 1");
  }
  DRAFTSCOPE_TRY(read_draft(table, row, result));
  if (result.exit_layer && (!result.n_layers || *result.exit_layer > *result.n_layers))
    return bad_field(table, row, "L", layers, "at least the exit layer");
  DRAFTSCOPE_TRY(read_gamma(table, row, result));
  DRAFTSCOPE_TRY_ASSIGN(result.mean_accepted_length, table.number(row, "M_or_tau"));
  DRAFTSCOPE_TRY_ASSIGN(result.acceptance_rate, table.number(row, "alpha"));
  DRAFTSCOPE_TRY_ASSIGN(result.etpl, table.number(row, "eTPL"));
  DRAFTSCOPE_TRY_ASSIGN(result.expected_speedup, table.number(row, "expected_speedup"));
  DRAFTSCOPE_TRY_ASSIGN(result.measured_speedup, table.number(row, "measured_speedup"));
  return result;
}

}  // namespace

Result<std::vector<PublishedRow>> read_published(std::string_view csv, std::string name) {
  DRAFTSCOPE_TRY_ASSIGN(const CsvTable table, CsvTable::parse(csv, std::move(name)));
  std::vector<PublishedRow> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    DRAFTSCOPE_TRY_ASSIGN(PublishedRow read, read_row(table, row));
    rows.push_back(std::move(read));
  }
  return rows;
}

Result<std::vector<PublishedRow>> published_rows() {
  return read_published(published_csv, "published.csv");
}

Result<std::optional<double>> setting_number(const PublishedRow& row, std::string_view key) {
  constexpr std::string_view separator = "; ";
  for (std::string_view rest = row.setting; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(separator));
    rest.remove_prefix(std::min(entry.size() + separator.size(), rest.size()));
    if (!entry.starts_with(key) || entry.substr(key.size(), 1) != "=") continue;
    const std::string_view value = entry.substr(key.size() + 1);
    if (const auto number = parse_number<double>(value)) return number;
    return fail("{}, {}, {}: setting {}: found '{}', expected a number", row.paper, row.model, row.method,
                key, value);
  }
  return std::nullopt;
}

}  // namespace draftscope::simulator
