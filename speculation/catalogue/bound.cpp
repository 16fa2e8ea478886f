// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/speculation/catalogue/bound.h>

namespace draftscope::speculation {

std::optional<std::int64_t> bound_of(std::string_view text, std::int32_t n_layers) {
  if (!text.starts_with('L')) return parse_number<std::int64_t>(text);
  if (text.size() == 1) return n_layers;
  const auto by = parse_number<std::int64_t>(text.substr(2));
  if (!by) return std::nullopt;
  if (text[1] == '-') return n_layers - *by;
  if (text[1] == '/' && *by > 0) return n_layers / *by;
  return std::nullopt;
}

}  // namespace draftscope::speculation
