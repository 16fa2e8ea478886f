// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/unread_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace draftscope::cli {

namespace {

/// An option that work asks for.
struct AskedOption {
  CLI::Option* option = nullptr;
  std::string value;  ///< Its value, or with a final '=' the beginning of one; empty = any.
};

std::vector<AskedOption> parse_work(CLI::App& command, const std::string& work) {
  std::vector<AskedOption> asked;
  for (std::size_t begin = 0; begin < work.size();) {
    const std::size_t end = std::min(work.find(' ', begin), work.size());
    const std::string word = work.substr(begin, end - begin);
    if (asked.empty() || word.starts_with("--"))
      asked.push_back({command.get_option(word), ""});
    else
      asked.back().value = word;
    begin = end + 1;
  }
  return asked;
}

bool is_asked(const AskedOption& asked) {
  std::vector<std::string> values = asked.option->results();
  if (asked.value.empty()) return !values.empty();
  if (values.empty()) values.push_back(asked.option->get_default_str());
  return std::any_of(values.begin(), values.end(), [&](const std::string& value) {
    return value == asked.value || (asked.value.ends_with('=') && value.starts_with(asked.value));
  });
}

bool is_asked(const std::vector<AskedOption>& work) {
  return std::all_of(work.begin(), work.end(), [](const AskedOption& asked) { return is_asked(asked); });
}

/// Refuses the option with the line, where it is given and `is_unread` says so. CLI11 checks the values of an
/// option once it has read the whole command line.
void refuse(CLI::App& command, const std::string& option, std::function<bool()> is_unread, std::string line) {
  const AskedOption refused = parse_work(command, option).front();
  refused.option->check([refused, is_unread = std::move(is_unread),
                         line = std::move(line)](const std::string& /*value*/) -> std::string {
    if (is_asked(refused) && is_unread())
      throw CLI::ExcludesError(line, CLI::ExitCodes::ExcludesError);  // CLI11 has no other way to say it.
    return {};
  });
}

}  // namespace

void unread_with(CLI::App& command, const std::string& work, const std::vector<std::string>& options,
                 const std::string& expected) {
  const std::vector<AskedOption> asked = parse_work(command, work);
  for (const std::string& option : options)
    refuse(
        command, option, [asked] { return is_asked(asked); },
        fmt::format("found {} with {}, expected {}", option, work, expected));
}

void read_only_with(CLI::App& command, const std::vector<std::string>& works,
                    const std::vector<std::string>& options) {
  std::vector<std::vector<AskedOption>> all;
  all.reserve(works.size());
  for (const std::string& work : works) all.push_back(parse_work(command, work));
  for (const std::string& option : options)
    refuse(
        command, option,
        [all] {
          return std::none_of(all.begin(), all.end(),
                              [](const std::vector<AskedOption>& work) { return is_asked(work); });
        },
        fmt::format("found {}, expected it only with {}", option, fmt::join(works, " or ")));
}

}  // namespace draftscope::cli
