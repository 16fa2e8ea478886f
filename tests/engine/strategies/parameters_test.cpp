// SPDX-License-Identifier: GPL-3.0-or-later
// Every strategy and mix refuses invalid parameters in one line.

#include <draftscope/engine/strategy.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/strategy_text.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

namespace draftscope::engine {
namespace {

speculation::ModelShape shape_of(std::int32_t n_layers) {
  speculation::ModelShape shape;
  shape.n_layers = n_layers;
  shape.d_model = 8;
  shape.d_ff = 8;
  shape.vocab = 16;
  return shape;
}

/// The error of a strategy on a model of twelve layers, which is one line.
std::string error_of(const std::string& specification) {
  const auto strategy = make_strategy(specification, shape_of(12));
  if (strategy) return "made";
  EXPECT_THAT(strategy.error().message, testing::Not(testing::HasSubstr("\n"))) << specification;
  return strategy.error().message;
}

void expect_refused_values(const std::string& base, const speculation::ParameterRow& row) {
  using speculation::ParameterType;
  const bool is_integer = row.type == ParameterType::integer;
  if (!is_integer && row.type != ParameterType::number && row.type != ParameterType::choice) return;
  for (const char* const value :
       {"-9000000000000000000", "9000000000000000000", "x", "nan", "inf", "1e", "0.5x", ""}) {
    const std::string specification = speculation::with_parameter(base, row.name, value);
    const std::string expected =
        row.type == ParameterType::choice
            ? fmt::format("expected one of: {}", fmt::join(row.choices, ", "))
            : fmt::format("expected {} from ", is_integer ? "an integer" : "a number");
    EXPECT_THAT(error_of(specification),
                testing::HasSubstr(fmt::format("{} is '{}', {}", row.name, value, expected)))
        << specification;
  }
}

TEST(Parameters, OutOfRangeAreRefusedInOneLine) {
  const speculation::StrategyCatalogue& catalogue = speculation::strategy_catalogue();
  std::size_t parameters = 0;
  for (const speculation::StrategyRow& row : catalogue.strategies()) {
    std::vector<speculation::ParameterRow> all = row.parameters;
    if (row.has_parts())
      for (const speculation::ParameterRow& of_part : catalogue.parameters_of(row.parts))
        all.push_back(of_part);
    for (const speculation::ParameterRow& parameter : all) expect_refused_values(row.name, parameter);
    parameters += all.size();
  }
  for (const speculation::PartRow& part : catalogue.parts())
    for (const speculation::ParameterRow& parameter : part.parameters)
      expect_refused_values(
          speculation::with_parameter("mix", speculation::part_kind_name(part.kind), part.name), parameter);
  EXPECT_GT(parameters, 60U);
}

struct Refusal {
  const char* specification;
  const char* message;
};

TEST(Parameters, ThatDoNotFitEachOtherAreRefusedInOneLine) {
  const Refusal refusals[] = {
      {"", "unknown name ''"},
      {"turbo", "unknown name 'turbo', expected one of: vanilla, layerskip"},
      {"vanilla:gamma=3", "unknown parameter 'gamma', expected one of: none"},
      {"layerskip:exit=3,exit=4", "'exit' is given twice"},
      {"layerskip:exit", "found 'exit', expected key=value"},
      {"layerskip:=3", "found '=3', expected key=value"},
      {"layerskip:exit=12", "strategy layerskip: exit is '12', expected an integer from 1 to 11"},
      {"layerskip:gamma=99999999999999999999", "gamma is"},
      {"fs:min-gamma=5,max-gamma=4", "max-gamma is '4', expected an integer from 5 to 255"},
      {"fs:gamma=9,max-gamma=8", "gamma is '9', expected an integer from 1 to 8"},
      {"fs:threshold=0.5",
       "unknown parameter 'threshold', expected one of: exit, weights, gamma, min-gamma, max-gamma, verify"},
      {"draft-verify", "skip-set is missing, expected a file"},
      {"draft-verify:skip-set=/nowhere.json", "/nowhere.json"},
      {"clasp:skip=13", "skip is '13', expected an integer from 0 to 12"},
      {"clasp:verify=above-exit", "verify is above-exit, expected all-layers"},
      {"del:exits=0", "exits is '0', expected layers from 1 to 11"},
      {"auto:exits=4+12", "exits is '4+12', expected layers from 1 to 11"},
      {"del:exits=first-1", "exits is 'first-1', expected one from 1 to 11 at least"},
      {"del:exits=four", "exits is 'four', expected layers as 4-31, 4+8+12 or every-2"},
      {"del:exits=9-12", "exits is '9-12', expected layers as 3+5+8"},
      {"prompt-lookup:ngram=2,smallest-ngram=3", "smallest-ngram is '3', expected an integer from 1 to 2"},
      {"lookahead:window=200,ngram=7", "expected at most 1024"},
      {"lookahead:window=150,ngram=8", "expected at most 1024"},
      {"lookahead:window=2,ngram=64", "expected at most 1024"},
      {"mix:mask=some",
       "strategy mix: mask is 'some', expected one of: full, exit, skip-set, swift, clasp, knapspec, "
       "conflayers, del"},
      {"mix:threshold=0.5",
       "unknown parameter 'threshold', expected one of: mask, length, stop, shape, guard, exit, weights, "
       "gamma, "
       "verify"},
      {"mix:mask=clasp,exit=3", "unknown parameter 'exit'"},
      {"mix:mask=swift,verify=above-exit", "verify is above-exit, expected all-layers"},
      {"mix:mask=exit,shape=tree,verify=above-exit", "unknown parameter 'verify'"},
      {"mix:length=heuristic,gamma=0", "gamma is '0', expected an integer from 1 to 63"},
      {"mix:gamma=3,", "found '', expected key=value"},
      {"mix:gamma=3,,exit=2", "found '', expected key=value"},
      {"mix:gamma=3\n4", "found a control character"},
      {"mi\nx", "found a control character"},
      {"fs:least=2,min-gamma=2", "parameter 'min-gamma' is given twice"},
      {"draft-verify:skip-attention=every-0", "skip-attention is 'every-0', expected layers as 3+5+8"},
      {"draft-verify:skip-mlp=every-", "skip-mlp is 'every-'"},
      {"draft-verify:skip-mlp=first-13", "skip-mlp is 'first-13', expected layers as 3+5+8"},
      {"draft-verify:skip-mlp=random-3-x", "skip-mlp is 'random-3-x'"},
      {"draft-verify:skip-mlp=some-3", "skip-mlp is 'some-3'"},
      {"draft-verify:skip-mlp=7-4", "skip-mlp is '7-4'"},
  };
  for (const Refusal& refusal : refusals)
    EXPECT_THAT(error_of(refusal.specification), testing::HasSubstr(refusal.message))
        << refusal.specification;
}

TEST(Parameters, ModelsThatAreTooShallowAreRefused) {
  for (const char* name : {"layerskip", "fs", "dv", "del", "mix", "mix:mask=clasp,stop=del"})
    EXPECT_FALSE(make_strategy(name, shape_of(1))) << name;
  EXPECT_FALSE(make_strategy("swift", shape_of(2)));
  for (const char* name : {"layerskip", "fs", "dv", "del", "mix"})
    EXPECT_TRUE(make_strategy(name, shape_of(2))) << name;
  EXPECT_TRUE(make_strategy("swift", shape_of(3)));
  EXPECT_TRUE(make_strategy("clasp", shape_of(1)));
}

}  // namespace
}  // namespace draftscope::engine
