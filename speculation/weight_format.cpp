// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/weight_format.h>

#include <draftscope/base/quote.h>
#include <algorithm>
#include <iterator>

namespace draftscope::speculation {

const WeightFormatRow* find_weight_format(std::string_view name) {
  const auto row = std::ranges::find(all_weight_formats, name, &WeightFormatRow::name);
  return row == std::end(all_weight_formats) ? nullptr : &*row;
}

Result<WeightFormat> parse_weight_format(std::string_view name) {
  if (const WeightFormatRow* row = find_weight_format(name)) return row->format;
  std::string names;
  for (const WeightFormatRow& row : all_weight_formats)
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return fail("weights: found {}, expected one of: {}", quote(name), names);
}

std::optional<double> leading_bits(std::string_view formats) {
  const WeightFormatRow* row = find_weight_format(formats.substr(0, formats.find(',')));
  return row == nullptr ? std::nullopt : std::optional(row->bits);
}

std::string made_weight_formats(MadeBy by) {
  std::string names;
  for (const WeightFormatRow& row : all_weight_formats)
    if (makes(by, row)) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

}  // namespace draftscope::speculation
