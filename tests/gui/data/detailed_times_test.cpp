// SPDX-License-Identifier: GPL-3.0-or-later
// Compares time by layer and by operation, and acceptance by draft position, with plain computations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "data/rounds/detailed_times.h"
#include "data/rounds/draft_confidences.h"
#include "of_sample.h"

namespace draftscope::gui {
namespace {

using Sums = std::map<std::string, std::int64_t>;

Sums sums_of(const DetailedTimes::Side& side, std::size_t first, std::size_t last) {
  Sums sums;
  const std::vector<std::int64_t> row = side.times.sum(first, last);
  for (std::size_t part = 0; part < row.size(); ++part)
    if (row[part] != 0) sums[side.times.names()[part]] += row[part];
  return sums;
}

/// Adds the time between every two neighbouring edges to the deepest span that covers it.
void add_by_spans(const traces::Round& round, const traces::Sample& sample, Sums& layers, Sums& operations) {
  std::set<std::int64_t> edges{round.start_ns, round.end_ns};
  std::map<traces::SpanId, const traces::Span*> by_id;
  std::vector<const traces::Span*> spans;
  for (const traces::Span& span : sample.spans) {
    if (span.round_id != round.id) continue;
    by_id[span.id] = &span;
    spans.push_back(&span);
    for (const std::int64_t edge : {span.start_ns, span.end_ns})
      edges.insert(std::clamp(edge, round.start_ns, round.end_ns));
  }
  for (auto edge = edges.begin(); std::next(edge) != edges.end(); ++edge) {
    const std::int64_t from = *edge;
    const std::int64_t to = *std::next(edge);
    const traces::Span* deepest = nullptr;
    for (const traces::Span* span : spans)
      if (span->start_ns <= from && to <= span->end_ns &&
          (deepest == nullptr || span->depth > deepest->depth))
        deepest = span;
    std::string layer = spans.empty() ? "not recorded" : deepest == nullptr ? "idle" : "no layer";
    std::string operation = spans.empty() ? "not recorded" : deepest == nullptr ? "idle" : "no operation";
    for (const traces::Span* span = deepest; span != nullptr;
         span = span->parent_id == 0 ? nullptr : by_id.at(span->parent_id)) {
      const std::string& name = sample.strings[static_cast<std::size_t>(span->name_id.value() - 1)];
      if (layer == "no layer" && span->layer >= 0) layer = "layer " + std::to_string(span->layer);
      if (operation == "no operation" && span->depth > 0 && name != "layer") operation = name;
    }
    layers[layer] += to - from;
    operations[operation] += to - from;
  }
}

/// Kind of the gap at the end of which a kernel begins, or a later one after gaps and moments.
std::string gap_at(std::vector<const traces::Kernel*> kernels, const traces::Round& round, std::int64_t at) {
  std::stable_sort(kernels.begin(), kernels.end(), [](const traces::Kernel* a, const traces::Kernel* b) {
    return std::pair(a->start_ns, a->end_ns) < std::pair(b->start_ns, b->end_ns);
  });
  const auto next = std::find_if(kernels.begin(), kernels.end(), [&](const traces::Kernel* kernel) {
    return std::clamp(kernel->start_ns, round.start_ns, round.end_ns) >= at;
  });
  const auto launch_of = [](const traces::Kernel& kernel) {
    return kernel.correlation_id != 0 ? std::int64_t{kernel.correlation_id} : kernel.span_id.value();
  };
  return launch_of(**std::prev(next)) == launch_of(**next) ? "between kernels" : "launch";
}

/// Adds the time between every two neighbouring edges to the running kernel that began first.
void add_by_kernels(const traces::Round& round, const traces::Sample& sample, Sums& layers) {
  std::set<std::int64_t> edges{round.start_ns, round.end_ns};
  std::vector<const traces::Kernel*> kernels;
  std::int64_t first_ns = round.end_ns;
  std::int64_t last_ns = round.start_ns;
  for (const traces::Kernel& kernel : sample.kernels) {
    if (kernel.round_id != round.id) continue;
    kernels.push_back(&kernel);
    first_ns = std::min(first_ns, std::clamp(kernel.start_ns, round.start_ns, round.end_ns));
    last_ns = std::max(last_ns, std::clamp(kernel.end_ns, round.start_ns, round.end_ns));
    for (const std::int64_t edge : {kernel.start_ns, kernel.end_ns})
      edges.insert(std::clamp(edge, round.start_ns, round.end_ns));
  }
  for (auto edge = edges.begin(); std::next(edge) != edges.end(); ++edge) {
    const std::int64_t from = *edge;
    const std::int64_t to = *std::next(edge);
    const traces::Kernel* running = nullptr;
    for (const traces::Kernel* kernel : kernels)
      if (kernel->start_ns <= from && to <= kernel->end_ns &&
          (running == nullptr || kernel->start_ns < running->start_ns))
        running = kernel;
    std::string part = kernels.empty()                            ? "not recorded"
                       : running != nullptr && running->layer < 0 ? "no layer"
                       : running != nullptr                       ? "layer " + std::to_string(running->layer)
                       : from >= first_ns && to <= last_ns        ? gap_at(kernels, round, to)
                                                                  : "host";
    layers[part] += to - from;
  }
}

class Details : public OfSample, public testing::WithParamInterface<unsigned> {
 protected:
  void open_sample(bool kernels, int max_rounds) {
    // Reports leave out requests that were cancelled or failed, so let none be.
    open({.seed = GetParam(), .runs = 3, .requests_per_run = 3, .max_rounds = max_rounds, .kernels = kernels},
         "UPDATE requests SET stop = 0");
  }
  DetailedTimes read(std::size_t run) {
    auto times = read_detailed_times({opened_, run}, [] { return true; });
    EXPECT_TRUE(times) << times.error().message;
    return *std::move(times);
  }
};

TEST_P(Details, OfSpansAreTheInnermostOnesTime) {
  open_sample(false, 25);
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    const std::vector<std::uint32_t>& rounds = opened_->runs()[run].rounds;
    const DetailedTimes times = read(run);
    if (times.by_layer.source == TimeSource::none) continue;
    ASSERT_EQ(times.by_layer.source, TimeSource::spans);
    for (std::size_t first = 0; first < rounds.size(); first += 7) {
      const std::size_t last = std::min(rounds.size(), first + 1 + first % 5);
      Sums layers;
      Sums operations;
      for (std::size_t place = first; place < last; ++place)
        add_by_spans(opened_->round(rounds[place]), sample_, layers, operations);
      EXPECT_EQ(sums_of(times.by_layer, first, last), layers);
      EXPECT_EQ(sums_of(times.by_operation, first, last), operations);
    }
  }
}

TEST_P(Details, OfKernelsAreTheTimeOfTheOneThatBeganFirst) {
  open_sample(true, 25);
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    const std::vector<std::uint32_t>& rounds = opened_->runs()[run].rounds;
    const DetailedTimes times = read(run);
    if (times.by_layer.source != TimeSource::kernels) continue;
    EXPECT_EQ(times.by_operation.times.names().front(), "skinny_product<8>");
    for (std::size_t place = 0; place < rounds.size(); ++place) {
      Sums layers;
      add_by_kernels(opened_->round(rounds[place]), sample_, layers);
      EXPECT_EQ(sums_of(times.by_layer, place, place + 1), layers);
    }
  }
}

TEST_P(Details, CanBeCancelledAndNeverFailOtherwise) {
  open_sample(true, 300);
  const auto times = read_detailed_times({opened_, 1}, [] { return false; });
  EXPECT_TRUE(times || times.error().message == "cancelled");
}

TEST_P(Details, AcceptanceByPositionIsTheReportsOverTheWholeRun) {
  open_sample(false, 300);
  std::mt19937_64 random(GetParam());
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    const std::vector<std::uint32_t>& rounds = opened_->runs()[run].rounds;
    const AcceptanceByPosition positions(*opened_, run);
    const auto counts = positions.count(0, rounds.size());
    const auto& reported = opened_->measured().figures.runs[run].all.acceptance.by_position;
    ASSERT_EQ(counts.size(), reported.size());
    for (std::size_t k = 0; k < counts.size(); ++k) {
      EXPECT_EQ(counts[k].drafted, reported[k].drafted);
      EXPECT_EQ(counts[k].reached, reported[k].reached);
      EXPECT_EQ(counts[k].accepted, reported[k].accepted);
      EXPECT_EQ(counts[k].of_reached(), reported[k].of_reached());
    }
    for (int trial = 0; trial < 20 && !rounds.empty(); ++trial) {
      const std::size_t first = random() % rounds.size();
      const std::size_t last = first + random() % (rounds.size() - first + 1);
      const auto some = positions.count(first, last);
      for (std::size_t k = 0; k < some.size(); ++k) {
        std::int64_t drafted = 0;
        std::int64_t reached = 0;
        std::int64_t accepted = 0;
        for (std::size_t place = first; place < last; ++place) {
          const traces::Round& round = opened_->round(rounds[place]);
          const auto steps = static_cast<std::size_t>(round.tree_depth);
          const bool finds_end = opened_->request_of(rounds[place]).stop == traces::RequestStop::eos &&
                                 round.emitted <= round.accepted;
          const auto kept = static_cast<std::size_t>(round.emitted) + (finds_end ? 1 : 0);
          drafted += k < steps ? 1 : 0;
          reached += k < steps && k < kept ? 1 : 0;
          accepted += k < steps && k < std::min(kept, static_cast<std::size_t>(round.accepted)) ? 1 : 0;
        }
        EXPECT_EQ(some[k].drafted, drafted);
        EXPECT_EQ(some[k].reached, reached);
        EXPECT_EQ(some[k].accepted, accepted);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Details, testing::Range(1U, 7U));

TEST(PartedTimes, KeepTimesThatAreLongerThanTheirEntries) {
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  const PartedTimes times({"a", "b"}, 2, {{1, 0, most}, {0, 1, 3}, {1, 0, most}, {0, 1, 4}, {1, 0, 5}});
  EXPECT_THAT(times.sum(0, 1), testing::ElementsAre(0, 7));
  EXPECT_THAT(times.sum(1, 2), testing::ElementsAre(2 * std::int64_t{most} + 5, 0));
  EXPECT_THAT(times.sum(1, 1), testing::ElementsAre(0, 0));
}

}  // namespace
}  // namespace draftscope::gui
