// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/shifted_positions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

namespace draftscope::simulator {

namespace {

/// A seen position with the order in which its token turns wrong, or right.
struct Place {
  double confidence = 0.0;
  std::size_t request = 0;
  std::size_t position = 0;
};

/// Turns the first |change| places of a group: right ones wrong if `change` < 0, else wrong ones right.
void turn(std::vector<DraftedPositions>& requests, const PositionGroups& groups, std::int32_t group,
          double change) {
  const AcceptanceBit from = change < 0.0 ? AcceptanceBit::accepted : AcceptanceBit::rejected;
  const AcceptanceBit to = change < 0.0 ? AcceptanceBit::rejected : AcceptanceBit::accepted;
  std::vector<Place> places;
  for (std::size_t request = 0; request < requests.size(); ++request)
    for (std::size_t i = 0; i < requests[request].size(); ++i) {
      const DraftedPosition& position = requests[request][i];
      if (position.bit != from || groups.group[request][i] != group) continue;
      const double confidence = std::isnan(position.confidence) ? 0.5 : position.confidence;
      places.push_back({change < 0.0 ? confidence : -confidence, request, i});
    }
  const auto turned = std::min(places.size(), static_cast<std::size_t>(std::abs(change)));
  std::ranges::sort(places, {}, [](const Place& place) {
    return std::tuple(place.confidence, place.request, place.position);
  });
  for (std::size_t i = 0; i < turned; ++i) {
    DraftedPosition& position = requests[places[i].request][places[i].position];
    // Nothing is known of the siblings that a wrong token would have.
    position = {.bit = to, .confidence = position.confidence};
  }
}

}  // namespace

double Seen::cost() const {
  return -std::log((right + 0.5) / (judged + 1.0));
}

void add(const DraftedPosition& position, Seen& seen) {
  if (position.bit == AcceptanceBit::unseen) return;
  seen.judged += 1.0;
  seen.right += position.bit == AcceptanceBit::accepted ? 1.0 : 0.0;
}

Seen seen_of(const std::vector<DraftedPositions>& requests) {
  Seen seen;
  for (const DraftedPositions& positions : requests)
    for (const DraftedPosition& position : positions) add(position, seen);
  return seen;
}

std::vector<Seen> seen_by_group(const std::vector<DraftedPositions>& requests, const PositionGroups& groups) {
  std::vector<Seen> seen(groups.agreement.size());
  for (std::size_t request = 0; request < requests.size(); ++request)
    for (std::size_t i = 0; i < requests[request].size(); ++i)
      if (const std::int32_t group = groups.group[request][i]; group != PositionGroups::as_seen)
        add(requests[request][i], seen[static_cast<std::size_t>(group)]);
  return seen;
}

std::vector<DraftedPositions> shifted(std::vector<DraftedPositions> requests, const PositionGroups& groups,
                                      const std::vector<double>& agreement) {
  const std::vector<Seen> seen = seen_by_group(requests, groups);
  for (std::size_t group = 0; group < seen.size(); ++group)
    turn(requests, groups, static_cast<std::int32_t>(group),
         std::round(agreement[group] * seen[group].judged) - seen[group].right);
  return requests;
}

PositionGroups one_group(const std::vector<DraftedPositions>& requests, const ExpectedAgreement& agreement) {
  PositionGroups groups{.group = {}, .agreement = {agreement}};
  for (const DraftedPositions& positions : requests) groups.group.emplace_back(positions.size(), 0);
  return groups;
}

}  // namespace draftscope::simulator
