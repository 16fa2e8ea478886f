// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/verified_layers.h"

#include <nlohmann/json.hpp>

namespace draftscope::simulator {

namespace {

bool names_above_exit(const nlohmann::json& parameters) {
  if (!parameters.is_object()) return false;
  const auto found = parameters.find("verify");
  return found != parameters.end() && found->is_string() && found->get<std::string>() == "above-exit";
}

}  // namespace

VerifiedLayers verified_layers(const traces::Run& run) {
  const auto parameters = nlohmann::json::parse(run.parameters, nullptr, false);
  if (!parameters.is_object()) return VerifiedLayers::all;
  const auto tuned = parameters.find("parameters");
  const bool above = names_above_exit(parameters) || (tuned != parameters.end() && names_above_exit(*tuned));
  return above ? VerifiedLayers::above_exit : VerifiedLayers::all;
}

}  // namespace draftscope::simulator
