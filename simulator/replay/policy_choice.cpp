// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/policy_choice.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "replay/policies.h"
#include "replay/policy_del.h"
#include "replay/policy_settings.h"

namespace draftscope::simulator {

namespace {

constexpr std::int32_t max_length = 63;  // and the root: the widest verification that is batch-invariant

using Defaults = std::vector<std::pair<std::string_view, std::string_view>>;

/// A strategy as a mix of parts, with the defaults that differ from the parts' own.
struct Preset {
  std::string_view name, mask, length, stop;
  Defaults defaults;
};

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{
      {"layerskip", "exit", "fixed", "none", {}},
      {"fs", "exit", "fs", "none", {}},
      {"dv", "exit", "fixed", "adaptive", {{"gamma", "18"}, {"target", "0.8"}, {"rule", "del"}}},
      {"del", "del", "del", "del", {}},
      {"mix", "exit", "fixed", "none", {}}};
  return all;
}

/// Of the parts, whichever of them a mix has.
const Defaults& part_defaults() {
  static const Defaults all{{"gamma", "6"},       {"least", "1"},           {"longest", "63"},
                            {"schedule", "kept"}, {"threshold", "0.6"},     {"target", "0.9"},
                            {"epsilon", "0.01"},  {"beta1", "0.5"},         {"beta2", "0.9"},
                            {"rule", "paper"},    {"mode", "repaired"},     {"most", "18"},
                            {"omega", "0.95"},    {"verify", "all-layers"}, {"prompt-window", "32"}};
  return all;
}

/// Parameters of each part.
const std::vector<std::pair<std::string_view, std::vector<std::string_view>>>& part_parameters() {
  static const std::vector<std::string_view> del{"mode", "most", "omega", "prompt-window"};
  static const std::vector<std::pair<std::string_view, std::vector<std::string_view>>> all{
      {"mask=exit", {"exit"}},
      {"mask=del", del},
      {"length=fixed", {"gamma"}},
      {"length=fs", {"gamma", "least", "longest"}},
      {"length=heuristic", {"gamma", "schedule"}},
      {"length=del", del},
      {"stop=none", {}},
      {"stop=threshold", {"threshold"}},
      {"stop=adaptive", {"threshold", "target", "epsilon", "beta1", "beta2", "rule"}},
      {"stop=del", del},
      {"shape=chain", {"verify"}}};
  return all;
}

/// Strategies whose rounds no shadow table tells, and why.
const Defaults& without_table() {
  static const Defaults all{
      {"draft-verify",
       "a draft without some middle sublayers reads its own K/V behind its first token, which shadow tokens "
       "do not have"},
      {"swift",
       "it searches for the sublayers to skip by drafting, and a draft without middle sublayers reads its "
       "own "
       "K/V behind its first token, which shadow tokens do not have"},
      {"clasp",
       "its layers follow from hidden states, and a draft without middle layers reads its own K/V behind its "
       "first token, which shadow tokens do not have"},
      {"two-model", "another model drafts; its run lengths need a draft from every start of the text"},
      {"prompt-lookup",
       "it drafts no prefix of the model's layers; its guesses follow from the text (replay_lookup.h)"},
      {"jacobi", "its guesses come from what the target said about earlier guesses, which is not recorded"},
      {"lookahead",
       "its guesses come from what the target said about earlier guesses, which is not recorded"}};
  return all;
}

PolicyChoice none(AnswerStatus status, std::string_view reason) {
  return {status, std::string(reason), nullptr};
}

Result<std::unique_ptr<Policy>> exit_part(const PolicySettings& settings, const ReplayModel& model) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t exit, settings.integer("exit", 1, model.n_layers - 1));
  return std::make_unique<FixedExit>(exit);
}

Result<std::unique_ptr<Policy>> length_part(const PolicySettings& settings, const std::string& name) {
  if (name == "fixed") {
    DRAFTSCOPE_TRY_ASSIGN(const std::int32_t length, settings.integer("gamma", 0, max_length));
    return std::make_unique<FixedLength>(length);
  }
  if (name == "fs") {
    FiniteStateLength::Options options;
    DRAFTSCOPE_TRY_ASSIGN(options.least, settings.integer("least", 0, max_length));
    DRAFTSCOPE_TRY_ASSIGN(options.most, settings.integer("longest", options.least, max_length));
    DRAFTSCOPE_TRY_ASSIGN(options.start, settings.integer("gamma", options.least, options.most));
    return std::make_unique<FiniteStateLength>(options);
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t start, settings.integer("gamma", 1, max_length));
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t schedule, settings.one_of("schedule", {"kept", "transient"}));
  return std::make_unique<HeuristicLength>(start, schedule == 1);
}

Result<std::unique_ptr<Policy>> stop_part(const PolicySettings& settings, const std::string& name) {
  DRAFTSCOPE_TRY_ASSIGN(const double threshold, settings.number("threshold", 0.0, 1.0));
  if (name == "threshold") return std::make_unique<FixedThreshold>(threshold);
  AdaptiveThreshold::Options options;
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t rule, settings.one_of("rule", {"paper", "code", "del"}));
  options.rule = static_cast<AdaptiveThreshold::Rule>(rule);
  options.start = threshold;
  DRAFTSCOPE_TRY_ASSIGN(options.target, settings.number("target", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(options.epsilon, settings.number("epsilon", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(options.beta1, settings.number("beta1", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(options.beta2, settings.number("beta2", 0.0, 1.0));
  return std::make_unique<AdaptiveThreshold>(options);
}

Result<std::unique_ptr<Policy>> del_part(const PolicySettings& settings, const ReplayModel& model,
                                         const DelPolicy::Parts& decides) {
  DelPolicy::Options options;
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t mode, settings.one_of("mode", {"repaired", "published"}));
  options.mode = mode == 1 ? DelPolicy::Mode::published : DelPolicy::Mode::repaired;
  DRAFTSCOPE_TRY_ASSIGN(options.most, settings.integer("most", 1, max_length));
  DRAFTSCOPE_TRY_ASSIGN(options.omega, settings.number("omega", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(options.prompt_window, settings.integer("prompt-window", 0, 64));
  options.head_in_layers = model.head_in_layers;
  options.decides = decides;
  return std::make_unique<DelPolicy>(options);
}

/// Keys that the strategy does not have are the user's mistakes; a recorded run has none.
Result<void> check_keys(const PolicySettings& settings, const Preset& preset,
                        const std::array<std::string, 4>& parts) {
  std::string known;
  for (const auto& [key, value] : settings.values()) {
    bool is_known =
        preset.name == "mix" && (key == "mask" || key == "length" || key == "stop" || key == "shape");
    for (const auto& [part, parameters] : part_parameters())
      is_known = is_known || (std::find(parts.begin(), parts.end(), part) != parts.end() &&
                              std::find(parameters.begin(), parameters.end(), key) != parameters.end());
    if (is_known) continue;
    for (const auto& [part, parameters] : part_parameters())
      if (std::find(parts.begin(), parts.end(), part) != parts.end())
        for (const std::string_view parameter : parameters) (known += known.empty() ? "" : ", ") += parameter;
    return fail("strategy {}: unknown parameter \"{}\", expected one of: {}", settings.strategy(), key,
                known);
  }
  return {};
}

Result<PolicyChoice> mixed(PolicySettings settings, const Preset& preset, const ReplayModel& model) {
  const auto part_name = [&](const char* kind, std::string_view of_preset) {
    return preset.name == "mix" && settings.has(kind) ? settings.text(kind) : std::string(of_preset);
  };
  const std::string mask = part_name("mask", preset.mask);
  const std::string length = part_name("length", preset.length);
  const std::string stop = part_name("stop", preset.stop);
  const std::string shape = part_name("shape", "chain");
  if (mask == "skip-set") return none(AnswerStatus::approximate, without_table()[0].second);
  if (mask == "swift") return none(AnswerStatus::approximate, without_table()[1].second);
  if (mask == "clasp") return none(AnswerStatus::approximate, without_table()[2].second);
  if (shape == "tree")
    return none(AnswerStatus::approximate,
                "it drafts siblings, whose tokens and ranks shadow tokens do not hold");
  const std::array<std::string, 4> parts{"mask=" + mask, "length=" + length, "stop=" + stop,
                                         "shape=" + shape};
  for (const std::string& part : parts)
    if (std::none_of(part_parameters().begin(), part_parameters().end(),
                     [&](const auto& known) { return known.first == part; }))
      return fail("strategy {}: found {}, expected a part of the engine's", settings.strategy(), part);
  DRAFTSCOPE_TRY(check_keys(settings, preset, parts));
  for (const auto& [key, value] : preset.defaults) settings.set_default(std::string(key), std::string(value));
  for (const auto& [key, value] : part_defaults()) settings.set_default(std::string(key), std::string(value));
  settings.set_default("exit", std::to_string(std::max(1, model.n_layers / 4)));
  if (model.n_layers < 2)
    return fail("strategy {}: the model has {} layers, expected at least 2", settings.strategy(),
                model.n_layers);

  std::vector<std::unique_ptr<Policy>> policies;
  const DelPolicy::Parts del{mask == "del", length == "del", stop == "del"};
  if (del.exit || del.length || del.threshold) {
    DRAFTSCOPE_TRY_ASSIGN(auto part, del_part(settings, model, del));
    policies.push_back(std::move(part));
  }
  if (!del.exit) {
    DRAFTSCOPE_TRY_ASSIGN(auto part, exit_part(settings, model));
    policies.push_back(std::move(part));
  }
  if (!del.length) {
    DRAFTSCOPE_TRY_ASSIGN(auto part, length_part(settings, length));
    policies.push_back(std::move(part));
  }
  if (!del.threshold && stop != "none") {
    DRAFTSCOPE_TRY_ASSIGN(auto part, stop_part(settings, stop));
    policies.push_back(std::move(part));
  }
  return PolicyChoice{AnswerStatus::exact, "", std::make_unique<MixedPolicy>(std::move(policies))};
}

/// The strategy's own answer, if no table has one.
std::optional<PolicyChoice> table_free(std::string_view strategy) {
  if (strategy == "vanilla") return PolicyChoice{AnswerStatus::exact, "", std::make_unique<NoDraft>()};
  for (const auto& [name, reason] : without_table())
    if (name == strategy) return none(AnswerStatus::approximate, reason);
  return std::nullopt;
}

Result<PolicyChoice> choose(PolicySettings settings, const ReplayModel& model) {
  for (const Preset& preset : presets())
    if (preset.name == settings.strategy()) return mixed(std::move(settings), preset, model);
  std::string names = "vanilla";
  for (const Preset& preset : presets()) (names += ", ") += preset.name;
  for (const auto& [name, reason] : without_table()) (names += ", ") += name;
  return fail("strategy: unknown name \"{}\", expected one of: {}", settings.strategy(), names);
}

std::string_view name_of(std::string_view specification) {
  return specification.substr(0, specification.find(':'));
}

}  // namespace

Result<PolicyChoice> policy_of_specification(std::string_view specification, const ReplayModel& model) {
  // Errors quote what they found, and are one line.
  if (std::any_of(specification.begin(), specification.end(),
                  [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return fail("strategy: found a control character, expected name:key=value,…");
  const std::string_view name = name_of(specification);
  if (name == "tuned")
    return fail("strategy tuned: found a policy file, expected the strategy that it names");
  if (name == "vanilla" && specification.size() > name.size() + 1)
    return fail("strategy vanilla: found \"{}\", expected no parameters",
                specification.substr(name.size() + 1));
  if (auto choice = table_free(name)) return *std::move(choice);
  const std::string_view text =
      name.size() == specification.size() ? "" : specification.substr(name.size() + 1);
  DRAFTSCOPE_TRY_ASSIGN(PolicySettings settings, PolicySettings::of_text(name, text));
  return choose(std::move(settings), model);
}

Result<PolicyChoice> policy_of_run(const traces::Run& run, const ReplayModel& model) {
  std::string strategy = run.strategy;
  std::string parameters = run.parameters;
  if (strategy == "tuned") {
    const nlohmann::json json = nlohmann::json::parse(parameters, nullptr, false);
    const bool is_complete = json.is_object() && json.contains("strategy") && json["strategy"].is_string() &&
                             json.contains("parameters");
    if (!is_complete)
      return fail("run {}: parameters are \"{}\", expected strategy and parameters of what was tuned", run.id,
                  run.parameters);
    strategy = name_of(json["strategy"].get_ref<const std::string&>());
    parameters = json["parameters"].dump();
  }
  if (auto choice = table_free(strategy)) return *std::move(choice);
  DRAFTSCOPE_TRY_ASSIGN(PolicySettings settings, PolicySettings::of_json(strategy, parameters));
  return choose(std::move(settings), model);
}

PolicyChoice text_choice(const traces::Recording& recording) {
  const auto value = [&](const std::string& key) {
    const auto found = recording.meta.find(key);
    return found == recording.meta.end() ? std::string() : found->second;
  };
  const std::string temperature = value("temperature");
  if (temperature.empty() || temperature == "0") return {};
  if (value("coupling") == "gumbel")
    return none(AnswerStatus::approximate,
                "sampled with coupled noise: the text is every policy's, but shadow tokens are the best, not "
                "what a draft would have drawn");
  return none(AnswerStatus::invalid, "sampled without coupled noise: another policy writes another text");
}

Result<ReplayModel> replay_model(const traces::Recording& recording) {
  const auto shape = recording.meta.find("model_shape");
  const nlohmann::json json =
      shape == recording.meta.end() ? nlohmann::json{} : nlohmann::json::parse(shape->second, nullptr, false);
  const auto field = [&](const char* name) -> Result<double> {
    if (!json.is_object() || !json.contains(name) || !json[name].is_number())
      return fail("{}: meta model_shape has no number {}, expected one", recording.path.string(), name);
    const auto number = json[name].get<double>();
    if (!(number >= 1.0 && number <= 1e9))
      return fail("{}: meta model_shape: {} is {}, expected 1 to 1e9", recording.path.string(), name, number);
    return number;
  };
  DRAFTSCOPE_TRY_ASSIGN(const double layers, field("n_layers"));
  DRAFTSCOPE_TRY_ASSIGN(const double width, field("d_model"));
  DRAFTSCOPE_TRY_ASSIGN(const double heads, field("n_heads"));
  DRAFTSCOPE_TRY_ASSIGN(const double kv_heads, field("n_kv_heads"));
  DRAFTSCOPE_TRY_ASSIGN(const double head_width, field("head_dim"));
  DRAFTSCOPE_TRY_ASSIGN(const double d_ff, field("d_ff"));
  DRAFTSCOPE_TRY_ASSIGN(const double vocab, field("vocab"));
  const double layer = width * (2.0 * heads * head_width + 2.0 * kv_heads * head_width) + 3.0 * width * d_ff;
  return ReplayModel{static_cast<std::int32_t>(layers), width * vocab / layer};
}

}  // namespace draftscope::simulator
