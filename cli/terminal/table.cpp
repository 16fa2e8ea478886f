// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/table.h"

#include <utf8proc.h>

#include <algorithm>

namespace draftscope::cli {

namespace {

constexpr std::string_view column_gap = "  ";

/// Next code point of `text` at `offset`, which is advanced; U+FFFD for a byte that is not UTF-8.
utf8proc_int32_t next_code_point(std::string_view text, std::size_t& offset) {
  utf8proc_int32_t code_point = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + offset);
  const utf8proc_ssize_t length =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - offset), &code_point);
  offset += length > 0 ? static_cast<std::size_t>(length) : 1;
  return length > 0 ? code_point : 0xFFFD;
}

void append_cell(std::string& line, std::string_view cell, std::size_t width, Align align) {
  const std::size_t used = display_width(cell);
  const std::string padding(width > used ? width - used : 0, ' ');
  line += align == Align::right ? padding : "";
  line += cell;
  line += align == Align::left ? padding : "";
}

std::vector<std::size_t> column_widths(const std::vector<Column>& columns,
                                       const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(display_width(columns[i].title));
    for (const auto& row : rows) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  return widths;
}

/// Groups of columns that stand side by side: as many as fit, at least one beside the leading ones.
std::vector<std::vector<std::size_t>> blocks(const std::vector<Column>& columns,
                                             const std::vector<std::size_t>& widths, std::size_t indent,
                                             std::size_t line_width) {
  std::vector<std::size_t> leading;
  std::size_t leading_width = indent;
  while (leading.size() < columns.size() && columns[leading.size()].align == Align::left) {
    leading_width += widths[leading.size()] + column_gap.size();
    leading.push_back(leading.size());
  }
  std::vector<std::vector<std::size_t>> result{leading};
  std::size_t used = leading_width;
  for (std::size_t i = leading.size(); i < columns.size(); ++i) {
    const bool fits = used + widths[i] <= line_width;
    if (!fits && result.back().size() > leading.size()) {
      result.push_back(leading);
      used = leading_width;
    }
    result.back().push_back(i);
    used += widths[i] + column_gap.size();
  }
  return result;
}

}  // namespace

Table::Table(const std::vector<std::string>& names, const std::vector<std::string>& values,
             const std::vector<std::string>& texts) {
  for (const std::string& title : names) columns_.push_back({title, Align::left});
  for (const std::string& title : values) columns_.push_back({title, Align::right});
  for (const std::string& title : texts) columns_.push_back({title, Align::left});
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t offset = 0; offset < text.size();)
    width += static_cast<std::size_t>(std::max(utf8proc_charwidth(next_code_point(text, offset)), 0));
  return width;
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t start = offset;
    const utf8proc_int32_t code_point = next_code_point(text, offset);
    const bool is_invalid = code_point == 0xFFFD;
    const bool is_control = utf8proc_category(code_point) == UTF8PROC_CATEGORY_CC;
    if (is_invalid || is_control)
      result += '?';
    else
      result += text.substr(start, offset - start);
  }
  return result;
}

std::string Table::text(std::size_t indent, std::size_t line_width) const {
  std::vector<std::vector<std::string>> rows = rows_;
  for (std::vector<std::string>& row : rows) row.resize(columns_.size());
  const std::vector<std::size_t> widths = column_widths(columns_, rows);
  std::string result;
  for (const std::vector<std::size_t>& block : blocks(columns_, widths, indent, line_width)) {
    const auto add_line = [&](const auto& cell_of) {
      std::string line(indent, ' ');
      for (const std::size_t i : block) {
        if (i != block.front()) line += column_gap;
        append_cell(line, cell_of(i), widths[i], columns_[i].align);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      result += line + '\n';
    };
    if (!result.empty()) result += '\n';
    add_line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
    for (const auto& row : rows) add_line([&](std::size_t i) -> const std::string& { return row[i]; });
  }
  return result;
}

}  // namespace draftscope::cli
