// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Aligned columns for a terminal.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftscope::cli {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::right;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Creates left-aligned columns that name the row, right-aligned ones, and left-aligned ones at the end.
  Table(const std::vector<std::string>& names, const std::vector<std::string>& values,
        const std::vector<std::string>& texts = {});

  void add_column(std::string title, Align align = Align::right) {
    columns_.push_back({std::move(title), align});
  }
  /// Adds a row; missing cells are empty, and surplus cells are dropped.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Adds a cell to the last row.
  void add_cell(std::string cell) { rows_.back().push_back(std::move(cell)); }

  /// Title line and rows, with columns two spaces apart; each line ends with '\n' and has no trailing spaces.
  /// A table wider than `line_width` cells is split into blocks below one another, each with the leading
  /// left-aligned columns (which name the row).
  [[nodiscard]] std::string text(std::size_t indent = 0,
                                 std::size_t line_width = static_cast<std::size_t>(-1)) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Terminal cells of UTF-8 text: wide East Asian characters take two, combining marks none.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Copy of `text` with control characters replaced, so that a name from a file can't steer the terminal or
/// break a table.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace draftscope::cli
