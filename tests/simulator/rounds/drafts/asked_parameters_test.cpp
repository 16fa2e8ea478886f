// SPDX-License-Identifier: GPL-3.0-or-later
// Asks every strategy of the catalogue with every parameter at another value than the recorded one: the
// parameter changes the answer, or is refused by its name, or its row says that it does not matter.
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/strategy_text.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "../../answers/advice/learnt.h"

namespace draftscope::simulator {
namespace {

using speculation::ParameterRow;
using speculation::ParameterType;
using speculation::StrategyRow;

/// A setting of the strategy that can be recorded.
std::string recorded_setting(const StrategyRow& row) {
  if (row.drafts_with_other_model) return two_models;
  if (row.name == "draft-verify") return "draft-verify:skip-attention=2+3,skip-mlp=2+3";
  return row.name;
}

std::vector<std::string> values_of(const ParameterRow& parameter) {
  switch (parameter.type) {
    case ParameterType::integer:
      return {"0", "1", "3", "6", "9", "40", "1024"};
    case ParameterType::number:
      return {"0", "0.05", "0.3", "0.55", "0.75", "0.97", "1"};
    case ParameterType::choice:
      return parameter.choices;
    case ParameterType::layers:
      return {"2+4", "3-5", "every-2"};
    case ParameterType::text:
      break;
  }
  return {"other", "none", "q4_0"};
}

/// All that prices take from rounds.
std::string facts_of(const StrategyRounds& rounds) {
  std::string facts = fmt::format("{} {}", static_cast<int>(rounds.verified_layers), rounds.drafts.size());
  for (const speculation::DraftSublayers& draft : rounds.drafts)
    facts += fmt::format(" d{}+{}", draft.attention, draft.mlp);
  for (const AuxiliaryPass& pass : rounds.auxiliary_passes)
    facts += fmt::format(" p{}:{}+{}", pass.rows, pass.attention, pass.mlp);
  for (const auto* side : {&rounds.setting.min_drafted, &rounds.setting.max_drafted})
    for (const RoundStatistics& request : *side) {
      facts += fmt::format(" r{},{},{}", request.rounds, request.drafted, request.accepted);
      for (const DraftStatistics& draft : request.drafts)
        facts += fmt::format(" e{}:{}", draft.exit, draft.steps.passes);
      for (const PassCount& own : request.auxiliary) facts += fmt::format(" a{}", own.passes);
    }
  return facts;
}

/// Answers and refusals of other values of one parameter.
struct Asked {
  int answers = 0;
  int changed = 0;
  int refusals = 0;
  std::string unnamed;  ///< A refusal that names neither the parameter nor what is asked.
};

Asked ask(const WhatIf& what_if, const std::string& setting, const ParameterRow& parameter,
          const std::string& recorded) {
  Asked asked;
  for (const std::string& value : values_of(parameter)) {
    const std::string text = speculation::set_parameter(setting, parameter.name, value);
    const auto parsed = speculation::parse_strategy(text, shadowed_layers);
    if (!parsed || parsed->json() == speculation::parse_strategy(setting, shadowed_layers)->json()) continue;
    const auto rounds = what_if.rounds(text);
    if (!rounds) {
      ++asked.refusals;
      if (rounds.error().message.find(parameter.name) == std::string::npos)
        asked.unnamed = rounds.error().message;
      continue;
    }
    ++asked.answers;
    asked.changed += facts_of(*rounds) != recorded ? 1 : 0;
  }
  return asked;
}

TEST(AskedParameters, AreNeverDroppedInSilence) {
  ShadowedRecording what{
      .prompts = 24, .tokens = 60, .strategies = {"vanilla"}, .is_complete = true, .with_two_models = true};
  std::vector<const StrategyRow*> rows;
  for (const StrategyRow& row : speculation::strategy_catalogue().strategies()) {
    // A baseline has no parameters, and a file those of another strategy.
    if (row.is_baseline || row.names_another || row.goes_by_times) continue;
    rows.push_back(&row);
    if (!row.drafts_with_other_model) what.strategies.push_back(recorded_setting(row));
  }
  const Learnt learnt(what);
  int asked = 0;
  for (const StrategyRow* const row : rows) {
    const std::string setting = recorded_setting(*row);
    const auto recorded = learnt.what_if().rounds(setting);
    ASSERT_TRUE(recorded) << recorded.error().message;
    for (const ParameterRow& parameter : row->parameters) {
      const Asked found = ask(learnt.what_if(), setting, parameter, facts_of(*recorded));
      const std::string name = setting + ", " + parameter.name;
      asked += found.answers + found.refusals > 0 ? 1 : 0;
      EXPECT_EQ(found.unnamed, "") << name;
      EXPECT_TRUE(found.answers == 0 || found.changed > 0 || parameter.is_of_draws)
          << name << ": " << found.answers << " answers as recorded";
    }
  }
  EXPECT_GT(asked, 100);
}

}  // namespace
}  // namespace draftscope::simulator
