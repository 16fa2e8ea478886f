// SPDX-License-Identifier: GPL-3.0-or-later
// Every strategy and mix refuses invalid parameters in one line, and can read back its own specification.

#include <draftscope/engine/search.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/speculation/skip_set_json.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

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

struct Refusal {
  const char* specification;
  const char* message;
};

TEST(Parameters, OutOfRangeAreRefusedInOneLine) {
  const Refusal refusals[] = {
      {"fs:exit=0", "strategy fs: exit is '0', expected an integer from 1 to 11"},
      {"fs:min-gamma=256", "min-gamma is '256', expected an integer from 0 to 255"},
      {"fs:min-gamma=5,max-gamma=4", "max-gamma is '4', expected an integer from 5 to 255"},
      {"fs:max-gamma=256", "max-gamma is '256', expected an integer from 1 to 255"},
      {"fs:gamma=0", "gamma is '0', expected an integer from 1 to 63"},
      {"fs:gamma=9,max-gamma=8", "gamma is '9', expected an integer from 1 to 8"},
      {"fs:threshold=0.5",
       "unknown parameter 'threshold', expected one of: exit, weights, gamma, min-gamma, max-gamma, verify"},
      {"dv:threshold=1.5", "threshold is '1.5', expected a number from 0 to 1"},
      {"dv:threshold=nan", "threshold is 'nan'"},
      {"dv:threshold=-0.1", "threshold is '-0.1'"},
      {"dv:threshold=", "threshold is ''"},
      {"dv:target=2", "target is '2'"},
      {"dv:epsilon=-1", "epsilon is '-1'"},
      {"dv:epsilon=inf", "epsilon is 'inf'"},
      {"dv:beta1=1.01", "beta1 is '1.01'"},
      {"dv:beta2=x", "beta2 is 'x'"},
      {"dv:beta2=0.5x", "beta2 is '0.5x'"},
      {"dv:rule=swift", "rule is 'swift', expected one of: paper, code, del"},
      {"draft-verify", "skip-set is missing, expected a file"},
      {"draft-verify:skip-set=/nowhere.json", "/nowhere.json"},
      {"draft-verify:exit=3", "unknown parameter 'exit'"},
      {"swift:ratio=1.5", "ratio is '1.5', expected a number from 0 to 1"},
      {"swift:window=0", "window is '0', expected an integer from 1 to 256"},
      {"swift:window=257", "window is '257'"},
      {"swift:every=0", "every is '0'"},
      {"swift:gp-interval=-1", "gp-interval is '-1'"},
      {"swift:max-score=1.1", "max-score is '1.1'"},
      {"swift:max-iterations=8001", "max-iterations is '8001'"},
      {"swift:max-tolerance=0", "max-tolerance is '0'"},
      {"swift:search-seed=-1", "search-seed is '-1'"},
      {"swift:widths=broad", "widths is 'broad', expected one of: paper, greedy-code"},
      {"swift:verify=above-exit", "unknown parameter 'verify'"},
      {"clasp:skip=13", "skip is '13', expected an integer from 0 to 12"},
      {"clasp:skip=-1", "skip is '-1'"},
      {"clasp:interval=0", "interval is '0'"},
      {"clasp:verify=above-exit", "verify is above-exit, expected all-layers"},
      {"del:mode=fixed", "mode is 'fixed', expected one of: paper, code, repaired"},
      {"del:d-max=0", "d-max is '0', expected an integer from 1 to 255"},
      {"del:omega=1.5", "omega is '1.5'"},
      {"del:prompt-window=65", "prompt-window is '65'"},
      {"del:gamma=3", "unknown parameter 'gamma'"},
      {"del:exits=0", "exits is '0', expected one from 1 to 11 at least"},
      {"del:exits=four", "exits is 'four', expected layers as 4-31, 4+8+12 or every-2"},
      {"del:exits=9-12", "exits is '9-12', expected layers as 3+5+8"},
      {"mix:mask=some",
       "strategy mix: mask is 'some', expected one of: full, exit, skip-set, swift, clasp, knapspec, "
       "conflayers, del"},
      {"mix:length=long", "length is 'long', expected one of: fixed, fs, heuristic, del"},
      {"mix:stop=now", "stop is 'now', expected one of: none, threshold, adaptive, roc, entropy, del"},
      {"mix:shape=bush", "shape is 'bush', expected one of: chain, tree"},
      {"mix:mask=", "mask is ''"},
      {"mix:mask=exit,mask=exit", "'mask' is given twice"},
      {"mix:threshold=0.5",
       "unknown parameter 'threshold', expected one of: mask, length, stop, shape, guard, exit, weights, "
       "gamma, "
       "verify"},
      {"mix:mask=clasp,exit=3", "unknown parameter 'exit'"},
      {"mix:mask=clasp,verify=above-exit", "verify is above-exit, expected all-layers"},
      {"mix:mask=swift,verify=above-exit", "verify is above-exit, expected all-layers"},
      {"mix:mask=exit,shape=tree,verify=above-exit", "unknown parameter 'verify'"},
      {"mix:length=heuristic,gamma=0", "gamma is '0', expected an integer from 1 to 63"},
      {"mix:length=heuristic,schedule=never", "schedule is 'never', expected one of: kept, transient"},
      {"mix:masks=exit", "unknown parameter 'masks'"},
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
  for (const Refusal& refusal : refusals) {
    const auto strategy = make_strategy(refusal.specification, shape_of(12));
    ASSERT_FALSE(strategy) << refusal.specification;
    EXPECT_THAT(strategy.error().message, testing::HasSubstr(refusal.message)) << refusal.specification;
    EXPECT_THAT(strategy.error().message, testing::Not(testing::HasSubstr("\n"))) << refusal.specification;
  }
}

TEST(Parameters, AreStillReadByTheirEarlierNames) {
  for (const auto& [earlier, now] : {std::pair{"fs:least=0,longest=9", "fs:min-gamma=0,max-gamma=9"},
                                     {"del:most=9", "del:d-max=9"},
                                     {"mix:mask=del,length=fs,most=9", "mix:mask=del,length=fs,d-max=9"}}) {
    const auto first = make_strategy(earlier, shape_of(12));
    const auto second = make_strategy(now, shape_of(12));
    ASSERT_TRUE(first && second) << earlier;
    EXPECT_EQ(first->parameters, second->parameters);
    EXPECT_EQ(first->specification, second->specification);
  }
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

void expect_round_trip(const std::string& specification) {
  const auto first = make_strategy(specification, shape_of(12));
  ASSERT_TRUE(first) << first.error().message;
  const auto second = make_strategy(first->specification, shape_of(12));
  ASSERT_TRUE(second) << first->specification << '\n' << second.error().message;
  EXPECT_EQ(first->name, second->name);
  EXPECT_EQ(first->specification, second->specification);
  EXPECT_EQ(first->parameters, second->parameters);
  // The parameters contain everything that was specified.
  const auto parameters = nlohmann::json::parse(first->parameters);
  std::string_view rest = specification;
  rest.remove_prefix(std::min(rest.size(), first->name.size() + 1));
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const std::string key(item.substr(0, item.find('=')));
    const std::string text(item.substr(key.size() + 1));
    const nlohmann::json& value = parameters[key];
    EXPECT_TRUE(value.is_string() ? value == text : value == nlohmann::json::parse(text)) << item;
  }
}

TEST(Parameters, AStrategyIsConfiguredAgainByItsSpecification) {
  const auto file = std::filesystem::path(testing::TempDir()) / "parameters_test_sets.json";
  std::ofstream(file) << nlohmann::json{{"default", speculation::skip_set_json(swift_initial_set(12))}};
  const std::string skip_set = "skip-set=" + file.string();
  for (const std::string& specification :
       {std::string("vanilla"), std::string("layerskip:exit=4,gamma=0,verify=above-exit"),
        std::string("fs:gamma=2,min-gamma=0,max-gamma=9"),
        std::string("dv:rule=code,beta1=0.25,epsilon=1e-3"), "draft-verify:" + skip_set + ",gamma=7",
        std::string("swift:ratio=0.3,window=50,widths=greedy-code"), std::string("clasp:skip=12,interval=1"),
        std::string("del:mode=code,d-max=9,omega=0.5"), std::string("mix")})
    expect_round_trip(specification);
  int mixes = 0;
  for (const std::string mask : {"exit", "skip-set", "swift", "clasp", "del"})
    for (const std::string length : {"fixed", "fs", "heuristic", "del"})
      for (const std::string stop : {"none", "threshold", "adaptive", "roc", "entropy", "del"})
        for (const std::string shape : {"chain", "tree"}) {
          std::string specification = "mix:mask=" + mask + ",length=" + length + ",stop=" + stop;
          specification += ",shape=" + shape;
          if (mask == "skip-set") specification += "," + skip_set;
          if (stop == "threshold") specification += ",threshold=0.125";
          expect_round_trip(specification);
          ++mixes;
        }
  EXPECT_EQ(mixes, 240);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace draftscope::engine
