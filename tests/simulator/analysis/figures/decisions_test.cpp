// SPDX-License-Identifier: GPL-3.0-or-later
// Series of decisions from a trace whose decisions are known.

#include <draftscope/simulator/analysis/decisions.h>
#include <draftscope/traces/writer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>

#include "../../../temporary_folder.h"

namespace draftscope::simulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::NanSensitiveDoubleEq;

/// Writes a run with the given rounds and decisions, and reads its decisions.
class WrittenDecisions : public ::testing::Test {
 protected:
  WrittenDecisions() {
    writer_ = traces::Writer::create(folder_ / "trace.dstrace", {}).value();
    request_.id = writer_->next_request_id();
    request_.run_id = writer_->add(traces::Run{0, "any", "any", "{}", false});
    traces::Prompt prompt;
    prompt.category = "coding";
    request_.prompt_id = writer_->add(prompt);
    writer_->begin(request_);
  }

  traces::RoundId add_round(std::int32_t exit, std::int32_t drafted, std::int32_t accepted) {
    traces::Round round;
    round.id = writer_->next_round_id();
    round.request_id = request_.id;
    round.index = rounds_++;
    round.exit_layer = exit;
    round.drafted = round.tree_depth = drafted;
    round.accepted = accepted;
    round.emitted = accepted + 1;
    writer_->add(round, {});
    return round.id;
  }

  void decide(traces::RoundId round, const std::string& kind, double score, const std::string& detail) {
    traces::Decision decision;
    decision.request_id = request_.id;
    decision.round_id = round;
    decision.kind_id = writer_->intern(kind);
    decision.start_ns = now_;
    decision.end_ns = now_ += 10;
    decision.score = score;
    decision.adopted = true;
    decision.detail = detail;
    static_cast<void>(writer_->add(decision));
  }

  RunDecisions read() {
    request_.end_ns = now_ + 1;
    writer_->finish(request_);
    EXPECT_TRUE(writer_->close());
    auto reader = traces::Reader::open(folder_ / "trace.dstrace");
    EXPECT_TRUE(reader);
    recording_ = reader->recording().value();
    return read_decisions(*reader, recording_).value().at(0);
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<traces::Writer> writer_;
  traces::Recording recording_;
  traces::Request request_;
  std::int32_t rounds_ = 0;
  std::int64_t now_ = 100;
};

const DecisionSeries* series(const DecisionsOfKind& decisions, std::string_view key, std::int32_t exit = 0) {
  for (const DecisionSeries& one : decisions.series)
    if (one.row->key == key && one.exit == exit) return &one;
  return nullptr;
}

TEST_F(WrittenDecisions, OfCandidatesHaveTheirMatchnessAndOrigin) {
  const traces::RoundId round = add_round(0, 4, 2);
  decide(round, "layer set", 0.5, R"({"candidate":"random","best_before":0.25,"tolerance":3})");
  decide(round, "layer set", 0.75, R"({"candidate":"bayesian","best_before":0.5,"tolerance":0})");
  const RunDecisions found = read();
  ASSERT_EQ(found.kinds.size(), 1U);
  const DecisionsOfKind& sets = found.kinds[0];
  ASSERT_EQ(sets.words.size(), 1U);
  EXPECT_EQ(sets.words[0].row->key, "origin");
  EXPECT_THAT(sets.words[0].values, ElementsAre("random", "bayesian"));
  EXPECT_THAT(sets.rounds, ElementsAre(0, 0));
  EXPECT_THAT(sets.duration_ns, ElementsAre(10, 10));
  EXPECT_THAT(series(sets, "matchness")->values, ElementsAre(0.5, 0.75));
  EXPECT_THAT(series(sets, "best_matchness")->values, ElementsAre(0.25, 0.5));
  EXPECT_EQ(series(sets, "cosine"), nullptr);
}

TEST_F(WrittenDecisions, OfExitsHaveASeriesAnExit) {
  const traces::RoundId first = add_round(2, 4, 2);
  decide(first, "exit", 0.1,
         R"({"exit":3,"gamma":5,"tpl":0.1,"acceptance_rates":[0.5,0.6],"thresholds":[0.3,null]})");
  const traces::RoundId second = add_round(3, 5, 5);
  decide(second, "exit", 0.2,
         R"({"exit":2,"gamma":1,"tpl":0.2,"acceptance_rates":[0.7,0.8,0.9],"thresholds":[0.4,0.5]})");
  decide(0, "exit", 0.2, "no object");
  const RunDecisions found = read();
  const DecisionsOfKind& exits = found.kinds.at(0);
  const double none = std::nan("");
  EXPECT_THAT(exits.rounds, ElementsAre(0, 1, -1));
  EXPECT_THAT(series(exits, "exit")->values, ElementsAre(3.0, 2.0, NanSensitiveDoubleEq(none)));
  EXPECT_THAT(series(exits, "exit_acceptance", 1)->values, ElementsAre(0.5, 0.7, NanSensitiveDoubleEq(none)));
  EXPECT_THAT(series(exits, "exit_acceptance", 3)->values,
              ElementsAre(NanSensitiveDoubleEq(none), 0.9, NanSensitiveDoubleEq(none)));
  EXPECT_THAT(series(exits, "exit_threshold", 2)->values,
              ElementsAre(NanSensitiveDoubleEq(none), 0.5, NanSensitiveDoubleEq(none)));
  ASSERT_EQ(found.exits.size(), 2U);
  EXPECT_EQ(found.exits[0].exit, 2);
  EXPECT_EQ(found.exits[0].category, "coding");
  EXPECT_EQ(found.exits[1].drafted, 5);
  EXPECT_EQ(found.exits[1].accepted, 5);
}

TEST_F(WrittenDecisions, OfLayersSayHowLongTheyPersist) {
  decide(0, "layer set", 0.9, R"({"skipped":[1,2,3],"anchor_position":10,"cosine":0.9})");
  decide(0, "layer set", 0.8, R"({"skipped":[1,2,4],"anchor_position":11,"cosine":0.8})");
  decide(0, "layer set", 0.7, R"({"skipped":[1,2,3],"anchor_position":13,"cosine":0.7})");
  const RunDecisions found = read();
  EXPECT_THAT(series(found.kinds.at(0), "cosine")->values, ElementsAre(0.9, 0.8, 0.7));
  ASSERT_EQ(found.persistence.size(), 2U);
  EXPECT_EQ(found.persistence[0].min_gap, 1);
  EXPECT_EQ(found.persistence[0].pairs, 1);
  EXPECT_DOUBLE_EQ(found.persistence[0].jaccard, 0.5);
  EXPECT_EQ(found.persistence[1].min_gap, 2);  // 2 and 3 tokens apart
  EXPECT_EQ(found.persistence[1].max_gap, 3);
  EXPECT_EQ(found.persistence[1].pairs, 2);
  EXPECT_DOUBLE_EQ(found.persistence[1].jaccard, (0.5 + 1.0) / 2);
  EXPECT_THAT(found.exits, IsEmpty());
}

TEST_F(WrittenDecisions, OfThresholdsAndLengthsFollowTheirRule) {
  const traces::RoundId round = add_round(2, 4, 2);
  decide(round, "threshold", std::nan(""),
         R"({"before":0.6,"after":0.59,"acceptance_rate":0.9,"target":0.8})");
  decide(round, "speculation length", std::nan(""), R"({"before":6,"after":5})");
  const RunDecisions found = read();
  ASSERT_EQ(found.kinds.size(), 2U);
  EXPECT_THAT(series(found.kinds[0], "threshold")->values, ElementsAre(0.59));
  EXPECT_THAT(series(found.kinds[0], "recent_acceptance")->values, ElementsAre(0.9));
  EXPECT_THAT(series(found.kinds[1], "gamma")->values, ElementsAre(5.0));
}

TEST_F(WrittenDecisions, OfGuardsSayWhyTheyStopAndComeBack) {
  const traces::RoundId round = add_round(2, 4, 2);
  decide(round, "guard", -0.1, R"({"state":"off","reason":"slower","may_lose":-0.1})");
  decide(round, "guard", 0.2, R"({"state":7,"may_lose":0.2})");
  decide(round, "guard", 0.3, R"({"state":"on","may_lose":0.3})");
  const RunDecisions found = read();
  const DecisionsOfKind& guards = found.kinds.at(0);
  ASSERT_EQ(guards.words.size(), 2U);
  EXPECT_EQ(guards.words[0].row->key, "state");
  EXPECT_THAT(guards.words[0].values, ElementsAre("off", "", "on"));
  EXPECT_THAT(guards.words[1].values, ElementsAre("slower", "", ""));
}

TEST(DecisionSeriesRows, HaveOneKeyEachPerKind) {
  std::set<std::pair<std::string_view, std::string_view>> keys;
  for (const SeriesRow& row : decision_series()) {
    EXPECT_TRUE(keys.insert({row.kind, row.key}).second) << row.kind << ' ' << row.key;
    EXPECT_FALSE(row.explanation.empty()) << row.key;
  }
  keys.clear();
  for (const WordsRow& row : decision_words()) {
    EXPECT_TRUE(keys.insert({row.kind, row.key}).second) << row.kind << ' ' << row.key;
    EXPECT_FALSE(row.explanation.empty()) << row.key;
  }
}

}  // namespace
}  // namespace draftscope::simulator
