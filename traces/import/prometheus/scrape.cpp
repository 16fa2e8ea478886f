// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/prometheus/scrape.h"

#include <draftscope/base/quote.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace draftscope::traces {
namespace {

constexpr std::size_t max_sample_labels = 64;

void skip_label_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t,"), text.size()));
}

/// Takes a quoted label value, with \\, \" and \n; false where its end is missing.
bool take_label_value(std::string_view& text, std::string& value) {
  if (!text.starts_with('"')) return false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return true;
    }
    if (text[i] == '\\' && i + 1 < text.size())
      value += text[++i] == 'n' ? ' ' : text[i];
    else
      value += text[i];
  }
  return false;
}

bool take_sample_value(std::string_view text, double& value) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // A time in milliseconds or an exemplar may follow.
  return error == std::errc() &&
         (end == text.data() + text.size() || *end == ' ' || *end == '\t' || *end == '\r');
}

}  // namespace

std::string Sample::label(std::string_view of) const {
  const auto found = labels.find(of);
  return found == labels.end() ? std::string() : found->second;
}

std::string Sample::key() const {
  std::string text = name;
  for (const auto& [one, of] : labels) text.append(", ").append(one).append("=").append(of);
  return text;
}

Result<Sample> sample_of(std::string_view line, const std::string& where) {
  Sample sample;
  const auto wrong = [&] {
    return fail("{}: is {}, expected a metric as \"name{{label=\"x\"}} 1\"", where, quote(line));
  };
  std::string_view rest = line;
  sample.name = rest.substr(0, rest.find_first_of("{ \t"));
  rest.remove_prefix(sample.name.size());
  if (sample.name.empty()) return wrong();
  if (rest.starts_with('{')) {
    rest.remove_prefix(1);
    for (skip_label_blanks(rest); !rest.starts_with('}'); skip_label_blanks(rest)) {
      const std::size_t equals = rest.find('=');
      if (equals == std::string_view::npos || sample.labels.size() >= max_sample_labels) return wrong();
      std::string key(rest.substr(0, equals));
      rest.remove_prefix(equals + 1);
      if (!take_label_value(rest, sample.labels[std::move(key)])) return wrong();
    }
    rest.remove_prefix(1);
  }
  if (!take_sample_value(rest, sample.value)) return wrong();
  std::ranges::replace(sample.name, ':', '_');
  constexpr std::string_view total = "_total";
  if (sample.name.ends_with(total)) sample.name.resize(sample.name.size() - total.size());
  return sample;
}

}  // namespace draftscope::traces
