// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of strategies that search for layers by a demo model: each is asked about other parameters of
// its search, and compared with a recording of these.
#include <draftscope/simulator/answers/what_if.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/cli/trace_files.h"

namespace draftscope::simulator {
namespace {

/// A recording of vanilla and these strategies, with what it answers.
class RecordedRuns {
 public:
  explicit RecordedRuns(const std::vector<std::string>& strategies) {
    const std::filesystem::path file = folder_ / "run.dstrace";
    // Portable kernels decode the same text on every machine.
    std::vector<std::string> arguments = cli::record_arguments(
        file, "--quiet --kernels portable --max-tokens 48 --repeats 1 --strategy vanilla", "demo",
        "demo-plain");
    for (const std::string& strategy : strategies)
      arguments.insert(arguments.end(), {"--strategy", strategy});
    const cli::CommandResult result = cli::run_command(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    auto reader = traces::Reader::open(file).value();
    recording_ = std::make_unique<traces::Recording>(reader.recording().value());
    what_if_ = std::make_unique<WhatIf>(WhatIf::train(reader, *recording_).value());
  }

  [[nodiscard]] StrategyRounds rounds(const std::string& strategy) const {
    auto found = what_if_->rounds(strategy);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *std::move(found) : StrategyRounds{};
  }

 private:
  cli::TemporaryFolder folder_;
  std::unique_ptr<traces::Recording> recording_;
  std::unique_ptr<WhatIf> what_if_;
};

std::int64_t own_passes(const RoundStatistics& request) {
  std::int64_t passes = 0;
  for (const PassCount& own : request.auxiliary) passes += own.passes;
  return passes;
}

/// All that a request's rounds are, but their times.
std::string facts_of(const RoundStatistics& request) {
  std::string facts =
      fmt::format("{} tokens, {} rounds, {} of {} accepted, {} passes of its own; verified:", request.tokens,
                  request.rounds, request.accepted, request.drafted, own_passes(request));
  for (const DraftStatistics& draft : request.drafts)
    for (std::size_t rows = 0; rows < draft.verify.size(); ++rows)
      facts += fmt::format(" {}×{}", rows, draft.verify[rows].passes);
  return facts;
}

struct Case {
  std::string recorded;
  std::vector<std::string> asked;
  std::size_t min_exact = 0;  ///< Settings that are answered exactly.
  double near = 0.0;  ///< Share of the rounds by which the other answers may miss both of their cases.
};

/// Googletest names a case by its recorded setting.
void PrintTo(const Case& of, std::ostream* out) {
  *out << of.recorded;
}

class SearchAskedOtherwise : public testing::TestWithParam<Case> {};

TEST_P(SearchAskedOtherwise, IsAsRecordedWhereItIsExactAndNearWhereItIsNot) {
  const Case& chosen = GetParam();
  const RecordedRuns known({chosen.recorded});
  const RecordedRuns truth(chosen.asked);
  std::size_t exact = 0;
  for (const std::string& setting : chosen.asked) {
    const StrategyRounds asked = known.rounds(setting);
    const StrategyRounds measured = truth.rounds(setting);
    ASSERT_EQ(measured.setting.status, AnswerStatus::exact);
    const std::vector<RoundStatistics>& answer = asked.setting.min_drafted;
    ASSERT_EQ(answer.size(), measured.setting.min_drafted.size());
    if (asked.setting.status == AnswerStatus::exact) {
      ++exact;
      for (std::size_t i = 0; i < answer.size(); ++i)
        EXPECT_EQ(facts_of(answer[i]), facts_of(measured.setting.min_drafted[i]))
            << setting << ", request " << i;
      continue;
    }
    const auto rounds = static_cast<double>(sum_of(measured.setting.min_drafted).rounds);
    const auto least = static_cast<double>(sum_of(answer).rounds);
    const auto most = static_cast<double>(sum_of(asked.setting.max_drafted).rounds);
    RecordProperty(setting, fmt::format("{} to {} rounds, {} measured", least, most, rounds));
    EXPECT_LE(least, rounds * (1.0 + chosen.near)) << setting;
    EXPECT_GE(most, rounds * (1.0 - chosen.near)) << setting;
    EXPECT_LE(most, 2.0 * least) << setting << ": cases so far apart say nothing";
    EXPECT_EQ(sum_of(answer).tokens, sum_of(measured.setting.min_drafted).tokens);
  }
  EXPECT_GE(exact, chosen.min_exact);
}

INSTANTIATE_TEST_SUITE_P(
    Of, SearchAskedOtherwise,
    testing::Values(
        Case{"swift:window=8,max-score=1",
             {"swift:window=8,max-score=1,max-iterations=4000",
              "swift:window=8,max-score=1,max-tolerance=3000", "swift:window=8,max-score=1,max-iterations=0",
              "swift:window=8,max-score=1,max-iterations=10", "swift:window=8,max-score=1,max-iterations=60",
              "swift:window=8,max-score=0.7", "swift:window=8,max-score=1,max-tolerance=20",
              "swift:window=5,max-score=1", "swift:window=8,max-score=1,every=3"},
             2,
             0.05},
        Case{"clasp:interval=12",
             {"clasp:interval=12,threshold=0.7", "clasp:interval=4", "clasp:interval=40",
              "clasp:interval=500", "clasp:interval=3,unit=verifications"},
             1,
             0.05},
        Case{"clasp:interval=200",
             {"clasp:interval=100", "clasp:interval=50,unit=verifications", "clasp:interval=16"},
             2,
             0.05},
        Case{"conflayers:window=8,interval=6",
             {"conflayers:window=8,interval=6,max-score=1",
              "conflayers:window=8,interval=6,max-iterations=500",
              "conflayers:window=8,interval=6,max-iterations=2", "conflayers:window=8,interval=3"},
             2,
             0.05}),
    [](const auto& parameter) {
      const std::string& name = parameter.param.recorded;
      return name.substr(0, name.find(':')) + std::to_string(parameter.index);
    });

}  // namespace
}  // namespace draftscope::simulator
