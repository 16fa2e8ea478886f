// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/replayed_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

#include "rounds/drafts/same_draft.h"
#include "rounds/searches/search_schedule.h"
#include "rounds/searches/set_agreement.h"

namespace draftscope::simulator {

namespace {

/// Number of times that the age doubled: 0 at 0 tokens, 1 from 1 on, 2 from 3 on, 3 from 7 on.
std::int32_t doublings(std::int32_t age_tokens) {
  return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(age_tokens) + 1U)) - 1;
}

/// Calls `visit(round index, token of the round, index of the position)` for each position of a request.
template <typename Visit>
void visit_positions(const RequestRows& rows, const DraftedPositions& positions, const Visit& visit) {
  std::size_t position = 0;
  for (std::size_t round = 0; round < rows.rounds.size(); ++round)
    for (std::int32_t token = 0; token < rows.rounds[round].emitted && position < positions.size(); ++token)
      visit(round, token, position++);
}

/// Group of positions that change alike.
using ChangeKey = std::tuple<RoundSet, std::size_t, std::size_t>;

ChangeKey change_of(const SearchedRound& round, std::int32_t token) {
  if (round.draft == RoundSet::known) return {round.draft, round.recorded_set, round.asked_set};
  if (round.draft != RoundSet::other_age) return {round.draft, 0, 0};
  const auto recorded = static_cast<std::size_t>(doublings(round.recorded_age + token));
  const auto asked = static_cast<std::size_t>(doublings(round.asked_age + token));
  return recorded == asked ? ChangeKey{RoundSet::recorded, 0, 0} : ChangeKey{round.draft, recorded, asked};
}

/// Agreement of the asked set at places where the recorded one was seen: that one's, times what the two
/// differ by.
ExpectedAgreement of_another_set(const Seen& seen, const TriedSet& recorded, const TriedSet& asked,
                                 const SetAgreement* sets) {
  if (sets == nullptr) return agreement_of_cost(seen.cost(), doubt_of_a_schedule * seen.cost());
  const auto cost = [](const ExpectedAgreement& agreement) { return -std::log(agreement.mean); };
  const auto error = [](const ExpectedAgreement& agreement) {
    return std::log(agreement.mean / agreement.low);
  };
  const ExpectedAgreement before = sets->of(recorded);
  const ExpectedAgreement after = sets->of(asked);
  return agreement_of_cost(std::max(seen.cost() + cost(after) - cost(before), 0.0),
                           std::hypot(error(before), error(after)));
}

ExpectedAgreement at_another_age(const Seen& seen, double doublings_more, const AgeSlope& slope,
                                 std::int64_t searches) {
  const double share = std::exp(-seen.cost());
  const double mean = std::clamp(share - slope.wrong_per_doubling * doublings_more, 0.01, 0.999);
  const double of_sets = doubt_of_a_set * seen.cost() * share /
                         std::sqrt(static_cast<double>(std::max<std::int64_t>(searches, 1)));
  const double error = std::hypot(2.0 * slope.error * doublings_more, of_sets);
  return {mean, std::max(mean - error, 0.01), std::min(mean + error, 1.0)};
}

}  // namespace

std::int64_t rounds_that_draft(const ReplayedSearch& search, RoundSet draft) {
  std::int64_t rounds = 0;
  for (const std::vector<SearchedRound>& request : search.rounds)
    rounds += std::ranges::count(request, draft, &SearchedRound::draft);
  return rounds;
}

bool searches_as_recorded(const ReplayedSearch& search, const RunRows& run) {
  for (std::size_t request = 0; request < search.rounds.size(); ++request)
    for (std::size_t round = 0; round < search.rounds[request].size(); ++round)
      if (search.rounds[request][round].is_followed != (run.requests[request].rounds[round].optimise_ns > 0))
        return false;
  return true;
}

bool searches_differ_only_in(const speculation::StrategySpecification& asked,
                             const speculation::StrategySpecification& recorded,
                             std::initializer_list<std::string_view> parameters) {
  return std::ranges::all_of(parameter_differences(asked, recorded), [&](const ParameterDifference& other) {
    return !parameter_row(asked, other.name).is_of_search ||
           std::ranges::find(parameters, std::string_view(other.name)) != parameters.end();
  });
}

ReplayedSearch replayed_schedule(const RecordedSearch& recorded,
                                 const speculation::StrategySpecification& asked) {
  ReplayedSearch search;
  SearchSchedule schedule(asked, recorded.n_layers, -1);
  for (const RequestRows& rows : recorded.run.requests) {
    schedule.begin_request();
    std::vector<SearchedRound>& rounds = search.rounds.emplace_back();
    std::int32_t recorded_age = 0;
    std::int32_t asked_age = 0;
    bool is_same = true;
    for (const traces::Round& round : rows.rounds) {
      // After a request's last round there is nothing to search for.
      const bool is_last = &round == &rows.rounds.back();
      const bool follows = schedule.follows(round) && !is_last;
      const bool followed = round.optimise_ns > 0;
      rounds.push_back({.draft = is_same ? RoundSet::recorded : RoundSet::other_age,
                        .recorded_age = recorded_age,
                        .asked_age = asked_age,
                        .is_followed = follows});
      search.searches += follows ? 1 : 0;
      recorded_age = followed ? 0 : recorded_age + round.emitted;
      asked_age = follows ? 0 : asked_age + round.emitted;
      is_same = is_same && follows == followed;
    }
  }
  return search;
}

void AgeRegression::add(const RunRows& run, const std::vector<DraftedPositions>& positions) {
  using Point = std::array<double, 3>;  // Doublings of the age and of the place in the output; wrong.
  for (std::size_t request = 0; request < run.requests.size(); ++request) {
    const RequestRows& rows = run.requests[request];
    std::vector<Point> points;
    std::int32_t begin = 0;  // First position since the search.
    visit_positions(rows, positions[request], [&](std::size_t round, std::int32_t token, std::size_t i) {
      const auto place = static_cast<std::int32_t>(i);
      if (token == 0 && round > 0 && rows.rounds[round - 1].optimise_ns > 0) begin = place;
      const AcceptanceBit bit = positions[request][i].bit;
      if (bit == AcceptanceBit::unseen) return;
      points.push_back({static_cast<double>(doublings(place - begin)), static_cast<double>(doublings(place)),
                        bit == AcceptanceBit::rejected ? 1.0 : 0.0});
    });
    Point mean{};
    for (const Point& point : points)
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += point[i] / static_cast<double>(points.size());
    for (const Point& point : points) {
      const Point off{point[0] - mean[0], point[1] - mean[1], point[2] - mean[2]};
      age_age_ += off[0] * off[0];
      age_place_ += off[0] * off[1];
      place_place_ += off[1] * off[1];
      age_wrong_ += off[0] * off[2];
      place_wrong_ += off[1] * off[2];
      judged_ += 1.0;
      wrong_ += point[2];
    }
  }
}

AgeSlope AgeRegression::slope() const {
  const AgeSlope prior;
  const double of_place = place_place_ > 0.0 ? age_place_ / place_place_ : 0.0;
  const double squares = age_age_ - of_place * age_place_;
  // With one search a request, the age is the place in the output, and nothing tells them apart.
  constexpr double told_apart = 1e-6;
  if (squares <= told_apart * age_age_) return prior;
  const double seen = (age_wrong_ - of_place * place_wrong_) / squares;
  const double share = (wrong_ + 0.5) / (judged_ + 1.0);
  const double weight = squares / (share * (1.0 - share));
  const double prior_weight = 1.0 / (prior.error * prior.error);
  return {(prior.wrong_per_doubling * prior_weight + seen * weight) / (prior_weight + weight),
          1.0 / std::sqrt(prior_weight + weight)};
}

PositionGroups groups_of(const ReplayedSearch& search, const RunRows& run,
                         const std::vector<DraftedPositions>& positions, const SetAgreement* sets,
                         const AgeSlope& slope) {
  PositionGroups groups;
  std::map<ChangeKey, std::int32_t> numbers;
  std::vector<TriedSet> tried = search.sets;
  for (std::size_t request = 0; request < run.requests.size(); ++request) {
    std::vector<std::int32_t>& group =
        groups.group.emplace_back(positions[request].size(), PositionGroups::as_seen);
    visit_positions(
        run.requests[request], positions[request], [&](std::size_t round, std::int32_t token, std::size_t i) {
          const SearchedRound& searched = search.rounds[request][round];
          if (searched.recorded_set < tried.size()) {
            Seen seen;
            add(positions[request][i], seen);
            tried[searched.recorded_set].judged += seen.judged;
            tried[searched.recorded_set].right += seen.right;
          }
          const ChangeKey key = change_of(searched, token);
          if (std::get<RoundSet>(key) == RoundSet::recorded) return;
          group[i] = numbers.try_emplace(key, static_cast<std::int32_t>(numbers.size())).first->second;
        });
  }
  groups.agreement.resize(numbers.size());
  const std::vector<Seen> seen = seen_by_group(positions, groups);
  for (const auto& [key, number] : numbers) {
    const auto [draft, recorded, asked] = key;
    const Seen& of_group = seen[static_cast<std::size_t>(number)];
    ExpectedAgreement& agreement = groups.agreement[static_cast<std::size_t>(number)];
    if (draft == RoundSet::known)
      agreement = of_another_set(of_group, tried[recorded], tried[asked], sets);
    else if (draft == RoundSet::other_age)
      agreement = at_another_age(of_group, static_cast<double>(asked) - static_cast<double>(recorded), slope,
                                 search.searches);
    else
      agreement = agreement_of_cost(of_group.cost(), doubt_of_a_schedule * of_group.cost());
  }
  return groups;
}

std::vector<std::string> notes_of(const ReplayedSearch& search, const PositionGroups& groups,
                                  const AgeSlope& slope) {
  std::vector<std::string> notes;
  const auto count = [&](RoundSet draft) { return rounds_that_draft(search, draft); };
  const std::int64_t all = count(RoundSet::recorded) + count(RoundSet::known) + count(RoundSet::other_age) +
                           count(RoundSet::unknown);
  if (const std::int64_t known = count(RoundSet::known); known > 0)
    notes.push_back(
        fmt::format("{} of {} recorded rounds would have drafted with another set that the search tried: the "
                    "two cases are what that set got right, at two standard errors",
                    known, all));
  if (const std::int64_t aged = count(RoundSet::other_age); aged > 0)
    notes.push_back(
        fmt::format("{} of {} recorded rounds would have drafted with a set that is older or younger: with "
                    "each doubling of its age {:+.1f} ± {:.1f} % of the tokens turn wrong",
                    aged, all, 100.0 * slope.wrong_per_doubling, 200.0 * slope.error));
  if (const std::int64_t unknown = count(RoundSet::unknown); unknown > 0)
    notes.push_back(fmt::format(
        "the sets of {} of {} rounds do not follow from the recording: the two cases are layers that cost "
        "{:.0f} % more and less agreement than the recorded ones",
        unknown, all, 100.0 * doubt_of_a_schedule));
  if (!search.is_exact && groups.agreement.empty())
    notes.emplace_back("scores are the recorded ones, taken at other places or of a part of their window");
  return notes;
}

}  // namespace draftscope::simulator
