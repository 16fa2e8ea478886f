// SPDX-License-Identifier: GPL-3.0-or-later
#include "distinct_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace draftscope::gui {

namespace {

struct Parts {
  std::string strategy;
  std::vector<std::string> parameters;
};

Parts parts_of(std::string_view specification) {
  const std::size_t colon = std::min(specification.find(':'), specification.size());
  Parts parts{std::string(specification.substr(0, colon)), {}};
  for (std::size_t at = colon + 1; at < specification.size();) {
    const std::size_t end = std::min(specification.find(',', at), specification.size());
    parts.parameters.emplace_back(specification.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::vector<std::string> distinct_names(const std::vector<std::string>& specifications) {
  std::vector<Parts> all;
  std::map<std::string, std::size_t> runs_of;                          // [strategy]
  std::map<std::string, std::map<std::string, std::size_t>> users_of;  // [strategy][parameter]
  for (const std::string& specification : specifications) {
    all.push_back(parts_of(specification));
    ++runs_of[all.back().strategy];
    const std::set<std::string> parameters(all.back().parameters.begin(), all.back().parameters.end());
    for (const std::string& parameter : parameters) ++users_of[all.back().strategy][parameter];
  }
  std::vector<std::string> names;
  std::map<std::string, std::set<std::string>> meanings;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string name = all[i].strategy;
    for (const std::string& parameter : all[i].parameters)
      if (users_of[all[i].strategy][parameter] < runs_of[all[i].strategy]) name += ' ' + parameter;
    meanings[name].insert(specifications[i]);
    names.push_back(std::move(name));
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (meanings[names[i]].size() > 1) names[i] = specifications[i];
  return names;
}

}  // namespace draftscope::gui
