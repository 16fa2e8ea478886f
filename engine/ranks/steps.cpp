// SPDX-License-Identifier: GPL-3.0-or-later
#include "steps.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/text_file.h>
#include <draftscope/base/to_size.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

namespace draftscope::engine {
namespace {

/// Counts that a rank sends before its steps. Names are one text, a line each.
struct Heading {
  std::uint64_t steps = 0;
  std::uint64_t name_bytes = 0;
  std::uint64_t machine = 0;  // the same where monotonic clocks are; 0 = not known
  std::int64_t now_ns = 0;

  [[nodiscard]] std::size_t bytes() const { return steps * sizeof(RankSteps::Step) + name_bytes; }
};

std::uint64_t machine() {
  constexpr std::size_t max_bytes = 256;
  const auto boot = read_text_file("/proc/sys/kernel/random/boot_id", max_bytes);
  return boot ? XXH3_64bits(boot->data(), boot->size()) : 0;
}

/// Every rank's value, on rank 0.
Result<std::vector<Heading>> gather_headings(Collective& ranks, const Heading& own) {
  std::vector<Heading> all(ranks.rank() == 0 ? to_size(ranks.size()) : 0);
  DRAFTSCOPE_TRY(ranks.gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all))));
  return all;
}

std::int64_t clock_ahead_ns(const Heading& own, const Heading& other) {
  const bool same = own.machine != 0 && own.machine == other.machine;
  return same ? 0 : other.now_ns - own.now_ns;
}

RankSteps unpack(const Heading& heading, std::span<const std::byte> bytes, std::int64_t ahead_ns) {
  RankSteps own;
  own.steps.resize(heading.steps);
  const std::size_t step_bytes = heading.steps * sizeof(RankSteps::Step);
  if (step_bytes > 0) std::memcpy(own.steps.data(), bytes.data(), step_bytes);
  for (RankSteps::Step& step : own.steps) {
    step.start_ns -= ahead_ns;
    step.end_ns -= ahead_ns;
  }
  std::string_view names(reinterpret_cast<const char*>(bytes.data()) + step_bytes, heading.name_bytes);
  while (!names.empty()) {
    const std::size_t end = names.find('\n');
    own.names.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(names.size(), end == std::string_view::npos ? names.size() : end + 1));
  }
  return own;
}

}  // namespace

RankSteps steps_of(profiler::SpanRecorder& recorder) {
  RankSteps own;
  std::map<traces::StringId, std::int32_t> places;
  const std::vector<traces::Span> spans = recorder.take();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const traces::Span& span = spans[i];
    // Parents come before children.
    if (i + 1 < spans.size() && spans[i + 1].parent_id == span.id) continue;
    const auto [place, is_new] =
        places.try_emplace(span.name_id, static_cast<std::int32_t>(own.names.size()));
    if (is_new) own.names.emplace_back(recorder.name(span.name_id));
    own.steps.push_back({static_cast<std::int32_t>(span.round_id.value() - 1), place->second, span.layer,
                         span.start_ns, span.end_ns});
  }
  return own;
}

Result<std::vector<RankSteps>> gather_steps(Collective& ranks, const RankSteps& own) {
  std::string names;
  for (const std::string& name : own.names) names += name + '\n';
  const Heading heading{own.steps.size(), names.size(), machine(), now_ns()};
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<Heading> all, gather_headings(ranks, heading));
  std::uint64_t longest = heading.bytes();
  for (const Heading& other : all) longest = std::max<std::uint64_t>(longest, other.bytes());
  DRAFTSCOPE_TRY(ranks.broadcast(std::as_writable_bytes(std::span(&longest, 1))));
  std::vector<std::byte> bytes(longest);
  const std::size_t step_bytes = own.steps.size() * sizeof(RankSteps::Step);
  if (step_bytes > 0) std::memcpy(bytes.data(), own.steps.data(), step_bytes);
  if (!names.empty()) std::memcpy(bytes.data() + step_bytes, names.data(), names.size());
  std::vector<std::byte> gathered(all.size() * longest);
  DRAFTSCOPE_TRY(ranks.gather(bytes, gathered));
  std::vector<RankSteps> found;
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    found.push_back(unpack(all[rank], std::span<const std::byte>(gathered).subspan(rank * longest, longest),
                           clock_ahead_ns(all.front(), all[rank])));
  return found;
}

}  // namespace draftscope::engine
