// SPDX-License-Identifier: GPL-3.0-or-later
// Compares decisions at their rounds, and the pictures made from them, with plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "data/decisions/decision_history.h"
#include "data/decisions/rounds_picture.h"
#include "data/decisions/summary_pictures.h"
#include "of_sample.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

const simulator::SeriesRow& series_row(std::string_view kind, std::string_view key) {
  for (const simulator::SeriesRow& row : simulator::decision_series())
    if (row.kind == kind && row.key == key) return row;
  throw std::runtime_error(std::string(key));
}

const simulator::WordsRow& words_row(std::string_view kind, std::string_view key) {
  for (const simulator::WordsRow& row : simulator::decision_words())
    if (row.kind == kind && row.key == key) return row;
  throw std::runtime_error(std::string(key));
}

const DecisionPicture& picture_of(std::string_view key) {
  for (const DecisionPicture& picture : decision_pictures())
    if (picture.key == key) return picture;
  throw std::runtime_error(std::string(key));
}

class Decisions : public OfSample {
 protected:
  void SetUp() override { open({.seed = 5, .runs = 2, .requests_per_run = 3, .max_rounds = 30}); }

  /// A decision at each of some rounds of the second run, in time order.
  simulator::DecisionsOfKind made(const std::string& kind, const std::vector<std::uint32_t>& places) const {
    simulator::DecisionsOfKind decisions;
    decisions.kind = kind;
    for (const std::uint32_t place : places) {
      const traces::Round& round = opened_->round(opened_->runs()[1].rounds[place]);
      decisions.requests.push_back(round.request_id);
      decisions.rounds.push_back(round.index);
      decisions.start_ns.push_back(round.start_ns);
      decisions.duration_ns.push_back(0);
      decisions.adopted.push_back(true);
    }
    return decisions;
  }

  [[nodiscard]] DecisionHistory history_of(std::vector<simulator::DecisionsOfKind> kinds) const {
    std::vector<simulator::RunDecisions> runs(2);
    runs[0].run = opened_->runs()[0].run;
    runs[1].run = opened_->runs()[1].run;
    runs[1].kinds = std::move(kinds);
    return decision_history(opened_, std::move(runs));
  }
};

TEST_F(Decisions, StandAtTheRoundThatTheyBelongTo) {
  const DecisionHistory history = read_decision_history(opened_, [] { return true; }).value();
  ASSERT_EQ(history.runs.size(), 2U);
  std::size_t checked = 0;
  for (std::size_t run = 0; run < 2; ++run)
    for (std::size_t kind = 0; kind < history.runs[run].decisions.kinds.size(); ++kind) {
      const simulator::DecisionsOfKind& decisions = history.runs[run].decisions.kinds[kind];
      for (std::size_t i = 0; i < decisions.rounds.size(); ++i) {
        const std::uint32_t place = history.runs[run].places[kind][i];
        if (place == no_index) continue;
        const traces::Round& round = opened_->round(opened_->runs()[run].rounds[place]);
        EXPECT_EQ(round.request_id, decisions.requests[i]);
        EXPECT_EQ(round.index, std::max(decisions.rounds[i], 0));
        ++checked;
      }
    }
  EXPECT_GT(checked, 10U);
  EXPECT_FALSE(read_decision_history(opened_, [] { return false; }));
}

TEST_F(Decisions, AreLinesWithAValueWhereOneWasMade) {
  const std::size_t rounds = opened_->runs()[1].rounds.size();
  ASSERT_GT(rounds, 12U);
  const std::vector<std::uint32_t> places{1, 4, 4, 9};
  simulator::DecisionsOfKind sets = made("layer set", places);
  sets.series.push_back({&series_row("layer set", "matchness"), 0, {0.5, 0.6, 0.7, std::nan("")}});
  sets.words.push_back({&words_row("layer set", "origin"), {"random", "", "bayesian", "random"}});
  simulator::DecisionsOfKind phases = made("phase", {4});
  phases.words.push_back({&words_row("phase", "to"), {"plain"}});
  const DecisionHistory history = history_of({sets, phases});
  const RoundsPicture picture = rounds_picture(history, *opened_, 1, picture_of("matchness"));
  ASSERT_EQ(picture.rounds(), rounds);
  ASSERT_EQ(picture.values.size(), 1U);
  EXPECT_FLOAT_EQ(picture.values[0][1], 0.5F);
  EXPECT_FLOAT_EQ(picture.values[0][4], 0.7F);  // a round with two decisions shows the last one
  EXPECT_TRUE(std::isnan(picture.values[0][9]));
  EXPECT_TRUE(std::isnan(picture.values[0][0]));
  EXPECT_THAT(picture.places, testing::ElementsAre(1, 4, 9));
  EXPECT_EQ(picture.words.at(picture.word[4]), "bayesian");
  ASSERT_EQ(picture.phases.size(), 2U);
  EXPECT_EQ(picture.phases[0].name, "search");
  EXPECT_EQ(picture.phases[0].last, 5U);
  EXPECT_EQ(picture.phases[1].name, "plain");
  // Compare the neighbours with a linear search.
  for (std::size_t place = 0; place < rounds; ++place) {
    std::uint32_t before = no_index;
    std::uint32_t after = no_index;
    for (const std::uint32_t at : picture.places) {
      if (at < place) before = at;
      if (at > place && after == no_index) after = at;
    }
    EXPECT_EQ(picture.place_near(place, -1), before) << place;
    EXPECT_EQ(picture.place_near(place, 1), after) << place;
    EXPECT_NE(picture.place_near(place, 0), no_index);
  }
  EXPECT_TRUE(has_picture(history.runs[1], picture_of("matchness")));
  EXPECT_FALSE(has_picture(history.runs[1], picture_of("cosine")));
  EXPECT_THAT(why_no_picture(history.runs[1], picture_of("tpl")), HasSubstr("Matchness of candidates"));
  EXPECT_THAT(why_no_picture(history.runs[0], picture_of("tpl")), HasSubstr("del"));
}

TEST_F(Decisions, StandAmongTheRoundsThatAFilterLeaves) {
  const std::vector<std::uint32_t>& rounds = opened_->runs()[1].rounds;
  simulator::DecisionsOfKind lengths = made("speculation length", {1, 4, 5, 8});
  lengths.series.push_back({&series_row("speculation length", "gamma"), 0, {1.0, 4.0, 5.0, 8.0}});
  std::vector<bool> keeps(opened_->recording().rounds.size(), true);
  for (const std::uint32_t number : {0U, 1U, 5U}) keeps[rounds[number]] = false;
  const RecordingPointer left = opened_->filtered(keeps);
  const RoundsPicture picture = rounds_picture(history_of({lengths}), *left, 1, picture_of("length"));
  ASSERT_EQ(picture.rounds(), rounds.size() - 3);
  EXPECT_THAT(picture.places, testing::ElementsAre(2, 5));  // the places of rounds 4 and 8
  for (const std::uint32_t place : picture.places)
    EXPECT_FLOAT_EQ(picture.values[0][place],
                    static_cast<float>(left->number_in_run(left->runs()[1].rounds[place])));
}

TEST_F(Decisions, HaveTheSameGainWhereAFilterLeavesNoVanillaRounds) {
  simulator::DecisionsOfKind choices = made("draft choice", {1, 4, 8});
  choices.series.push_back({&series_row("draft choice", "expected_gain"), 0, {1.0, 2.0, 3.0}});
  const DecisionHistory history = history_of({choices});
  ASSERT_TRUE(opened_->runs()[0].run->is_baseline);
  std::vector<bool> keeps;
  for (std::uint32_t i = 0; i < opened_->recording().rounds.size(); ++i)
    keeps.push_back(opened_->run_of(i) == 1);
  const RoundsPicture whole = rounds_picture(history, *opened_, 1, picture_of("gain"));
  const RoundsPicture left = rounds_picture(history, *opened_->filtered(keeps), 1, picture_of("gain"));
  ASSERT_EQ(left.values.size(), 2U);
  ASSERT_THAT(left.places, testing::ElementsAre(1, 4, 8));
  // Equal only if there is a gain at all.
  for (const std::uint32_t place : left.places)
    EXPECT_FLOAT_EQ(left.values[1][place], whole.values[1][place]) << place;
}

TEST_F(Decisions, ShareTheirRoundsAmongWords) {
  const std::size_t rounds = opened_->runs()[1].rounds.size();
  std::vector<std::uint32_t> places(rounds);
  std::iota(places.begin(), places.end(), 0U);
  simulator::DecisionsOfKind choices = made("draft choice", places);
  std::mt19937 random(3);
  std::vector<std::string> said;
  const std::vector<std::string> words{"vanilla", "model", "text", ""};
  for (std::size_t i = 0; i < rounds; ++i) said.push_back(words[random() % 4]);
  choices.words.push_back({&words_row("draft choice", "choice"), said});
  const RoundsPicture picture = rounds_picture(history_of({choices}), *opened_, 1, picture_of("choices"));
  ASSERT_EQ(picture.words.size(), 3U);
  for (std::size_t first = 0; first < rounds; ++first)
    for (std::size_t last = first; last <= rounds; ++last) {
      double sum = 0.0;
      for (std::size_t word = 0; word < 3; ++word) {
        const double all =
            static_cast<double>(last - first) -
            static_cast<double>(std::count(said.begin() + static_cast<std::ptrdiff_t>(first),
                                           said.begin() + static_cast<std::ptrdiff_t>(last), ""));
        const auto mine = std::count(said.begin() + static_cast<std::ptrdiff_t>(first),
                                     said.begin() + static_cast<std::ptrdiff_t>(last), picture.words[word]);
        const double share = picture.share(word, first, last);
        EXPECT_DOUBLE_EQ(share, all > 0.0 ? static_cast<double>(mine) / all : 0.0);
        sum += share;
      }
      EXPECT_TRUE(sum == 0.0 || std::abs(sum - 1.0) < 1e-12);
    }
}

TEST_F(Decisions, HaveEveryExitsTplAtItsBestLength) {
  simulator::DecisionsOfKind exits = made("exit", {2});
  exits.series.push_back({&series_row("exit", "exit"), 0, {2.0}});
  exits.series.push_back({&series_row("exit", "gamma"), 0, {3.0}});
  exits.series.push_back({&series_row("exit", "exit_acceptance"), 1, {0.5}});
  exits.series.push_back({&series_row("exit", "exit_acceptance"), 2, {0.9}});
  exits.series.push_back({&series_row("exit", "exit_acceptance"), 3, {std::nan("")}});
  const RoundsPicture picture = rounds_picture(history_of({exits}), *opened_, 1, picture_of("exit-tpl"));
  ASSERT_EQ(picture.values.size(), 3U);
  // A model of four layers has three exits. Exit 1 with α = 0.5 is best at one token, and exit 2 with α = 0.9
  // at none.
  const auto tpl = [](double alpha, int gamma, int exit) {
    double tokens = 0.0;
    for (int k = 0; k <= gamma; ++k) tokens += std::pow(alpha, k);
    return tokens / (gamma * exit + 4);
  };
  for (int exit : {1, 2}) {
    double best = 0.0;
    for (int gamma = 0; gamma <= 3; ++gamma) best = std::max(best, tpl(exit == 1 ? 0.5 : 0.9, gamma, exit));
    EXPECT_NEAR(picture.values[static_cast<std::size_t>(exit - 1)][2], best, 1e-6) << exit;
  }
  EXPECT_TRUE(std::isnan(picture.values[2][2]));
  EXPECT_FLOAT_EQ(picture.chosen[2], 2.0F);
}

TEST_F(Decisions, SayHowFarAMaskIsFromTheOneBefore) {
  const std::vector<std::uint32_t>& rounds = opened_->runs()[1].rounds;
  const DecisionHistory none = history_of({});
  std::size_t changes = 0;
  const traces::LayerSet* last = nullptr;
  std::uint32_t last_place = no_index;
  for (std::uint32_t place = 0; place < rounds.size(); ++place) {
    const traces::LayerSet* set = opened_->layer_set(rounds[place]);
    const auto change = mask_change(*opened_, 1, place);
    const bool is_change = set != nullptr && last != nullptr && set->id != last->id;
    ASSERT_EQ(change.has_value(), is_change) << place;
    EXPECT_EQ(mask_change_text(none, 1, place).empty(), !is_change);
    if (is_change) {
      ++changes;
      int differing = 0;
      for (int bit = 0; bit < 2 * set->n_layers; ++bit) {
        const auto skips = [bit](const traces::LayerSet& of) {
          return (of.skipped[static_cast<std::size_t>(bit / 8)] >> (bit % 8)) & 1;
        };
        differing += skips(*set) != skips(*last) ? 1 : 0;
      }
      EXPECT_EQ(change->differing, differing);
      EXPECT_EQ(change->before, last_place);
      EXPECT_EQ(change->sublayers, 2 * set->n_layers);
    }
    if (set != nullptr) {
      last = set;
      last_place = place;
    }
  }
  EXPECT_GT(changes, 0U);
}

TEST_F(Decisions, AreNamedWhereTheyChoseAMask) {
  simulator::DecisionsOfKind sets = made("layer set", {0, 3, 6});
  sets.adopted[1] = false;
  sets.series.push_back({&series_row("layer set", "matchness"), 0, {0.25, 0.5, 0.75}});
  const DecisionHistory history = history_of({sets});
  EXPECT_EQ(mask_decision(history, 1, 5), (DecisionPlace{0, 0}));  // the decision between them had no effect
  EXPECT_EQ(mask_decision(history, 1, 7), (DecisionPlace{0, 2}));
  EXPECT_FALSE(mask_decision(history_of({}), 1, 5));
  EXPECT_EQ(decision_text(sets, 1), "layer set: matchness 0.5; did not take effect");
}

TEST_F(Decisions, CountEachDraftingRoundOnceInAGrid) {
  const ExitGrid grid = exits_by_segment(*opened_, 1);
  std::int64_t counted = 0;
  for (std::size_t column = 0; column < grid.columns.size(); ++column) {
    double sum = 0.0;
    for (std::size_t row = 0; row < grid.exits.size(); ++row) {
      counted += grid.cells[row][column].rounds;
      sum += grid.share(row, column);
    }
    EXPECT_TRUE(sum == 0.0 || std::abs(sum - 1.0) < 1e-12);
  }
  std::int64_t drafting = 0;
  for (const std::uint32_t round_index : opened_->runs()[1].rounds)
    drafting += opened_->round(round_index).drafted > 0 ? 1 : 0;
  EXPECT_EQ(counted, drafting);
  EXPECT_GT(drafting, 0);
}

TEST(DecisionPictures, HaveOneKeyEachAndSeriesThatThereAre) {
  std::set<std::string_view> keys;
  for (const DecisionPicture& picture : decision_pictures()) {
    EXPECT_TRUE(keys.insert(picture.key).second) << picture.key;
    EXPECT_FALSE(picture.recorded_by.empty()) << picture.key;
    for (const std::string_view line : {picture.line, picture.other_line}) {
      if (line.empty() || line == "realised_gain" || line == "exit_tpl") continue;
      EXPECT_NO_THROW((void)series_row(picture.kind, line)) << picture.key;
    }
    if (!picture.words.empty()) {
      EXPECT_NO_THROW((void)words_row(picture.kind, picture.words)) << picture.key;
    }
    if (!picture.phase_words.empty()) {
      EXPECT_NO_THROW((void)words_row(picture.phase_kind, picture.phase_words)) << picture.key;
    }
  }
}

TEST(SearchPicture, HasAPlaceATrial) {
  speculation::PolicyFile policy;
  for (const double score : {0.5, 1.25, 0.75}) {
    speculation::Trial trial;
    trial.setting = "layerskip:exit=3";
    trial.prompts = 6;
    trial.measured.score = score;
    policy.trials.push_back(trial);
  }
  const NumberedPicture picture = search_picture(policy);
  ASSERT_EQ(picture.labels.size(), 3U);
  ASSERT_EQ(picture.lines.size(), 2U);
  EXPECT_THAT(picture.lines[0].values, testing::ElementsAre(0.5, 1.25, 0.75));
  EXPECT_THAT(picture.lines[1].values, testing::ElementsAre(0.5, 1.25, 1.25));
  EXPECT_DOUBLE_EQ(picture.top, 1.25);
  EXPECT_THAT(picture.details[1], HasSubstr("layerskip:exit=3"));
}

}  // namespace
}  // namespace draftscope::gui
