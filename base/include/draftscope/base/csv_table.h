// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A small CSV file with a header line, such as the project's data files and other tools' exports. Follows RFC
// 4180: quoted fields may contain commas and line breaks. Every field is text until it is read as a number.

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope {

class CsvTable {
 public:
  /// Parses a table; errors use `name`, the file's name. Errors: no header, a repeated column, a row with
  /// more or fewer fields than the header, malformed quotes. Empty lines are skipped.
  [[nodiscard]] static Result<CsvTable> parse(std::string_view text, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] bool has(std::string_view column) const;
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }

  /// Text of a field, with row < rows(). Errors of this and the next two functions name the file, the row (1
  /// = the first after the header) and the column.
  [[nodiscard]] Result<std::string> text(std::size_t row, std::string_view column) const;
  /// Finite number in a field; absent if the field is empty.
  [[nodiscard]] Result<std::optional<double>> number(std::size_t row, std::string_view column) const;
  [[nodiscard]] Result<std::optional<std::int64_t>> integer(std::size_t row, std::string_view column) const;

 private:
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace draftscope
