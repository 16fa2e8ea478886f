// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A small CSV file with a header line, as the project's data files and others' exports are: RFC 4180, quoted
// fields may hold commas and line breaks. Everything is text until it is asked for as a number.

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
  /// `name` is what errors call it, the file's name. Errors: no header, a column twice, a row with more or
  /// fewer fields than the header, malformed quotes. Empty lines are skipped.
  [[nodiscard]] static Result<CsvTable> parse(std::string_view text, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] bool has(std::string_view column) const;

  /// Errors of all three name the file, the row (1 = the first after the header) and the column. row <
  /// rows().
  [[nodiscard]] Result<std::string> text(std::size_t row, std::string_view column) const;
  /// Absent where the field is empty. Finite.
  [[nodiscard]] Result<std::optional<double>> number(std::size_t row, std::string_view column) const;
  [[nodiscard]] Result<std::optional<std::int64_t>> integer(std::size_t row, std::string_view column) const;

 private:
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace draftscope
