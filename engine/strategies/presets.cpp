// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/presets.h"

#include <algorithm>
#include <array>
#include <utility>

#include "strategies/part_catalogue.h"

namespace draftscope::engine {

namespace {

/// By PartKind.
using PartNames = std::array<std::string, part_kind_count>;

struct Preset {
  std::string name, summary, source;
  PartNames parts;
  std::vector<std::pair<std::string, std::string>> defaults;  ///< other than the parts' own
};

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{
      {"layerskip",
       "drafts with the first E layers, a fixed number of tokens a round",
       "Elhoushi et al. 2024, LayerSkip, §4.3",
       {"exit", "fixed", "none", "chain"},
       {}},
      {"fs",
       "layerskip with a length that grows on a full accept and shrinks otherwise",
       "DEL's baseline FSM (Entezari Zarch et al. 2025)",
       {"exit", "fs", "none", "chain"},
       {}},
      {"dv",
       "layerskip with Draft & Verify's adaptive threshold",
       "DEL's baseline DV (Entezari Zarch et al. 2025)",
       {"exit", "fixed", "adaptive", "chain"},
       {{"gamma", "18"}, {"target", "0.8"}, {"rule", "del"}}},
      {"draft-verify",
       "skips a set of sublayers found before; adaptive draft-exit threshold",
       "Zhang et al. 2024, Draft & Verify (Self-SD)",
       {"skip-set", "fixed", "adaptive", "chain"},
       {{"gamma", "12"}}},
      {"swift",
       "searches the sublayers to skip while it decodes; early stop, token tree",
       "Xia et al. 2025, SWIFT",
       {"swift", "fixed", "threshold", "tree"},
       {{"gamma", "25"}, {"threshold", "0.8"}}},
      {"clasp",
       "chooses the layers to skip by dynamic programming over hidden states",
       "Chen et al. 2025, CLaSp",
       {"clasp", "fixed", "threshold", "chain"},
       {{"gamma", "8"}, {"threshold", "0.7"}}},
      {"del",
       "chooses exit, length and threshold from what every layer would have drafted",
       "Entezari Zarch et al. 2025, DEL",
       {"del", "del", "del", "chain"},
       {}}};
  return all;
}

const PartEntry& part_of(const PartNames& names, int kind) {
  return *find_part(static_cast<PartKind>(kind), names[static_cast<std::size_t>(kind)]);
}

std::string names_of(PartKind kind) {
  std::string names;
  for (const PartEntry& entry : part_entries())
    if (entry.kind == kind) names += (names.empty() ? "" : ", ") + entry.description.name;
  return names;
}

/// Every parameter of the parts, each name once.
void add_parameters(const PartNames& names, std::vector<ParameterDescription>& parameters) {
  for (int kind = 0; kind < part_kind_count; ++kind)
    for (const ParameterDescription& parameter : part_of(names, kind).description.parameters)
      if (std::none_of(parameters.begin(), parameters.end(),
                       [&](const ParameterDescription& known) { return known.name == parameter.name; }))
        parameters.push_back(parameter);
}

Result<std::unique_ptr<Strategy>> make_mix(const PartNames& names, Parameters& parameters,
                                           const speculation::ModelShape& shape) {
  Mixing mixing;
  for (int kind = 0; kind < part_kind_count; ++kind)
    DRAFTSCOPE_TRY(part_of(names, kind).add(parameters, shape, mixing));
  const std::string& mask = names[static_cast<std::size_t>(PartKind::mask)];
  if (mixing.parts.verification == Verification::above_exit && (mask != "exit" || mixing.del != nullptr))
    return fail(
        "strategy {}: verify is above-exit, expected all-layers but with mask=exit and no part of del",
        parameters.strategy());
  return make_mixed(std::move(mixing.parts));
}

StrategyEntry entry_of(const Preset& preset) {
  StrategyEntry entry;
  entry.description = {preset.name, preset.summary, preset.source, {}};
  add_parameters(preset.parts, entry.description.parameters);
  for (const auto& [name, value] : preset.defaults)
    for (ParameterDescription& parameter : entry.description.parameters)
      if (parameter.name == name) parameter.default_value = value;
  entry.make = [parts = preset.parts](Parameters& parameters, const speculation::ModelShape& shape,
                                      const StrategyResources& /*resources*/) {
    return make_mix(parts, parameters, shape);
  };
  return entry;
}

PartNames default_mix() {
  return {"exit", "fixed", "none", "chain"};
}

/// `mix` with the parts that the text asks for: which parameters there are depends on them.
Result<StrategyEntry> mix_of(std::string_view text) {
  PartNames names = default_mix();
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    for (int kind = 0; kind < part_kind_count; ++kind) {
      const std::string_view key = part_kind_name(static_cast<PartKind>(kind));
      if (!item.starts_with(key) || item.substr(key.size(), 1) != "=") continue;
      const std::string_view name = item.substr(key.size() + 1);
      if (find_part(static_cast<PartKind>(kind), name) == nullptr)
        return fail("strategy mix: {} is \"{}\", expected one of: {}", key, name,
                    names_of(static_cast<PartKind>(kind)));
      names[static_cast<std::size_t>(kind)] = name;
    }
  }
  StrategyEntry entry = mix_entry();
  for (std::size_t kind = 0; kind < names.size(); ++kind)
    entry.description.parameters[kind].default_value = names[kind];
  add_parameters(names, entry.description.parameters);
  entry.make = [names](Parameters& parameters, const speculation::ModelShape& shape,
                       const StrategyResources& /*resources*/) { return make_mix(names, parameters, shape); };
  return entry;
}

}  // namespace

StrategyEntry mix_entry() {
  StrategyEntry entry;
  entry.description = {"mix",
                       "any parts of the others together, with those parts' parameters; beside another mask, "
                       "del's length and stop are those of the exit that del would choose, learnt up to each "
                       "round's first rejected draft token",
                       "",
                       {}};
  for (int kind = 0; kind < part_kind_count; ++kind) {
    const auto which = static_cast<PartKind>(kind);
    entry.description.parameters.push_back({std::string(part_kind_name(which)),
                                            default_mix()[static_cast<std::size_t>(kind)], "",
                                            "one of: " + names_of(which)});
  }
  entry.specialise = mix_of;
  return entry;
}

std::vector<StrategyEntry> preset_entries() {
  std::vector<StrategyEntry> entries;
  for (const Preset& preset : presets()) entries.push_back(entry_of(preset));
  return entries;
}

}  // namespace draftscope::engine
