// SPDX-License-Identifier: GPL-3.0-or-later
#include "catalogue/earlier_keys.h"

#include <array>
#include <span>
#include <utility>

namespace draftscope::simulator {

namespace {

using Renamed = std::pair<const char*, const char*>;  // from, to

constexpr std::array<Renamed, 3> law_keys{{{"ns_a_byte", "ns_per_byte"},
                                           {"ns_a_byte_sigma", "ns_per_byte_sigma"},
                                           {"residual_greatest", "residual_max"}}};

/// A file that has the new key keeps it.
template <typename Json>
void rename(Json& object, std::span<const Renamed> keys) {
  if (!object.is_object()) return;
  for (const auto& [from, to] : keys) {
    if (!object.contains(from) || object.contains(to)) continue;
    Json value = object[from];
    object.erase(from);
    object[to] = std::move(value);
  }
}

/// Calls `visit` with the member of every object in the list `list` of `file`.
template <typename Json, typename Visit>
void for_each_member(Json& file, const char* list, const char* member, const Visit& visit) {
  if (!file.is_object() || !file.contains(list) || !file[list].is_array()) return;
  for (Json& element : file[list])
    if (element.is_object() && element.contains(member)) visit(element[member]);
}

}  // namespace

void rename_earlier_calibration_keys(nlohmann::json& file) {
  for_each_member(file, "shapes", "laws", [](nlohmann::json& laws) {
    if (!laws.is_object()) return;
    for (nlohmann::json& law : laws) rename(law, law_keys);
  });
}

}  // namespace draftscope::simulator
