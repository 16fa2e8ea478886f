// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Aligned columns for a terminal.

#include <cstddef>
#include <string>
#include <string_view>
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

  /// Missing cells are empty; surplus cells are dropped.
  void add_row(std::vector<std::string> cells);

  /// Title line and rows, columns two spaces apart, each line ended by '\n' and free of trailing spaces. A
  /// table wider than `line_width` cells goes on below itself, its leading left-aligned columns (what a row
  /// is about) repeated.
  [[nodiscard]] std::string text(std::size_t indent = 0,
                                 std::size_t line_width = static_cast<std::size_t>(-1)) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Terminal cells that UTF-8 text takes: wide East Asian characters two, combining marks none.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` with control characters replaced, so that a name from a file can't steer the terminal or break a
/// table.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace draftscope::cli
