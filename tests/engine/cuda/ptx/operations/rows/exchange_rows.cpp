// SPDX-License-Identifier: GPL-3.0-or-later
// What lanes of a warp do together: shfl, vote, match, redux, elect, activemask, bar.warp (PTX ISA 9.0, Data
// Movement and Parallel Synchronization). The scheduler calls these once all members are there.

#include <algorithm>
#include <cstdint>
#include <string>

#include "operations/rows.h"

namespace draftscope::ptx {

namespace {

using Word = std::uint32_t;

/// Lanes hold no value where it comes from a lane that is not there.
template <typename SourceLane>
void shuffle(Warp& warp, const Step& step, Mask lanes) {
  const Lanes<Word> a = load_lanes<Word>(warp, step.a);
  const Lanes<Word> b = load_lanes<Word>(warp, step.b);
  const Lanes<Word> c = load_lanes<Word>(warp, step.c);
  Lanes<Word> d{};
  Mask within = 0;
  Mask from_written = 0;
  for (Word lane = 0; lane < warp_lanes; ++lane) {
    const Word segment = c[lane] >> 8U & 31U;
    const Word clamp = c[lane] & 31U;
    const Word first = lane & segment;
    const Word last = first | (clamp & ~segment);
    const SourceLane from(lane, b[lane] & 31U, first, last, segment);
    const Word source = from.is_within ? from.lane : lane;
    within |= static_cast<Mask>(from.is_within) << lane;
    d[lane] = a[source];
    from_written |= (written_lanes(warp, step.a) & lanes) >> source << 31U >> 31U << lane;
  }
  const Mask written = from_written & written_lanes(warp, step.b) & written_lanes(warp, step.c);
  store_lanes(warp, step.d, d, lanes);
  note_written(warp, step.d, lanes, written, step.place + 1);
  if (step.second == 0) return;
  store_predicate(warp, step.second, within, lanes);
  pass_on_written(warp, step.second, lanes, step.b, step.c);
}

// Where a lane's value comes from, and whether that is within its segment.
struct Up {
  Up(Word at, Word b, Word, Word last, Word)
      : lane(at - b), is_within(static_cast<std::int32_t>(at - b) >= static_cast<std::int32_t>(last)) {}
  Word lane;
  bool is_within;
};
struct Down {
  Down(Word at, Word b, Word, Word last, Word) : lane(at + b), is_within(at + b <= last) {}
  Word lane;
  bool is_within;
};
struct Butterfly {
  Butterfly(Word at, Word b, Word, Word last, Word) : lane(at ^ b), is_within((at ^ b) <= last) {}
  Word lane;
  bool is_within;
};
struct Indexed {
  Indexed(Word, Word b, Word first, Word last, Word segment)
      : lane(first | (b & ~segment)), is_within((first | (b & ~segment)) <= last) {}
  Word lane;
  bool is_within;
};

/// All lanes get a value made of all of them, which holds none if one of theirs does not.
void note_of_all(Warp& warp, const Step& step, Slot d, Mask lanes) {
  const bool is_written = (written_lanes(warp, step.a) & lanes) == lanes;
  note_written(warp, d, lanes, is_written ? all_lanes : 0U, step.place + 1);
}

/// Lanes whose predicate is set.
Mask votes(const Warp& warp, const Step& step, Mask lanes) {
  return (load_predicate(warp, step.a) ^ (step.negates ? all_lanes : 0U)) & lanes;
}

template <typename F>
void vote(Warp& warp, const Step& step, Mask lanes) {
  store_predicate(warp, step.d, F{}(votes(warp, step, lanes), lanes) ? all_lanes : 0U, lanes);
  note_of_all(warp, step, step.d, lanes);
}

void ballot(Warp& warp, const Step& step, Mask lanes) {
  Lanes<Word> d;
  d.fill(votes(warp, step, lanes));
  store_lanes(warp, step.d, d, lanes);
  note_of_all(warp, step, step.d, lanes);
}

template <typename F>
Row vote_row(const std::string& spelling, F) {
  const Form predicate = form_of<bool>();
  return {.spelling = spelling,
          .execute = vote<F>,
          .operands = {predicate, predicate, form_of<Word>()},
          .control = Control::meet};
}

template <typename T>
void match_any(Warp& warp, const Step& step, Mask lanes) {
  const Lanes<T> a = load_lanes<T>(warp, step.a);
  Lanes<Word> d{};
  for_each_lane(lanes, [&](int lane) {
    for_each_lane(lanes, [&](int other) {
      if (a[static_cast<std::size_t>(lane)] == a[static_cast<std::size_t>(other)])
        d[static_cast<std::size_t>(lane)] |= Word{1} << other;
    });
  });
  store_lanes(warp, step.d, d, lanes);
  note_of_all(warp, step, step.d, lanes);
}

template <typename T>
void match_all(Warp& warp, const Step& step, Mask lanes) {
  const Lanes<T> a = load_lanes<T>(warp, step.a);
  const T first = a[static_cast<std::size_t>(__builtin_ctz(lanes))];
  bool are_equal = true;
  for_each_lane(lanes,
                [&](int lane) { are_equal = are_equal && a[static_cast<std::size_t>(lane)] == first; });
  Lanes<Word> d;
  d.fill(are_equal ? lanes : 0U);
  store_lanes(warp, step.d, d, lanes);
  note_of_all(warp, step, step.d, lanes);
  if (step.second == 0) return;
  store_predicate(warp, step.second, are_equal ? all_lanes : 0U, lanes);
  note_of_all(warp, step, step.second, lanes);
}

template <typename F, typename T>
void reduce(Warp& warp, const Step& step, Mask lanes) {
  const Lanes<T> a = load_lanes<T>(warp, step.a);
  T result = a[static_cast<std::size_t>(__builtin_ctz(lanes))];
  for_each_lane(lanes & (lanes - 1),
                [&](int lane) { result = F{}(result, a[static_cast<std::size_t>(lane)]); });
  Lanes<T> d;
  d.fill(result);
  store_lanes(warp, step.d, d, lanes);
  note_of_all(warp, step, step.d, lanes);
}

template <typename T, typename F>
Row reduce_row(const std::string& spelling, F) {
  return {.spelling = spelling,
          .execute = reduce<F, T>,
          .operands = {form_of<T>(), form_of<T>(), form_of<Word>()},
          .control = Control::meet};
}

void elect(Warp& warp, const Step& step, Mask lanes) {
  const auto leader = static_cast<Word>(__builtin_ctz(lanes));
  Lanes<Word> d;
  d.fill(leader);
  store_lanes(warp, step.d, d, lanes);
  note_written(warp, step.d, lanes, all_lanes, 0);
  if (step.second == 0) return;
  store_predicate(warp, step.second, Mask{1} << leader, lanes);
  note_written(warp, step.second, lanes, all_lanes, 0);
}

void active_lanes(Warp& warp, const Step& step, Mask lanes) {
  Lanes<Word> d;
  d.fill(lanes);
  store_lanes(warp, step.d, d, lanes);
  note_written(warp, step.d, lanes, all_lanes, 0);
}

void add_shuffles(Rows& rows) {
  const std::vector<Form> forms(5, form_of<Word>());
  const auto add = [&](const std::string& mode, Execute execute) {
    rows.push_back({.spelling = "shfl.sync." + mode + ".b32",
                    .execute = execute,
                    .operands = forms,
                    .has_second_destination = true,
                    .control = Control::meet});
  };
  add("up", shuffle<Up>);
  add("down", shuffle<Down>);
  add("bfly", shuffle<Butterfly>);
  add("idx", shuffle<Indexed>);
}

void add_votes(Rows& rows) {
  rows.push_back(vote_row("vote.sync.all.pred", [](Mask set, Mask lanes) { return set == lanes; }));
  rows.push_back(vote_row("vote.sync.any.pred", [](Mask set, Mask) { return set != 0; }));
  rows.push_back(
      vote_row("vote.sync.uni.pred", [](Mask set, Mask lanes) { return set == 0 || set == lanes; }));
  rows.push_back({.spelling = "vote.sync.ballot.b32",
                  .execute = ballot,
                  .operands = {form_of<Word>(), form_of<bool>(), form_of<Word>()},
                  .control = Control::meet});
}

template <typename T>
void add_matches(Rows& rows, const std::string& type) {
  const std::vector<Form> forms = {form_of<Word>(), form_of<T>(), form_of<Word>()};
  rows.push_back({.spelling = "match.any.sync." + type,
                  .execute = match_any<T>,
                  .operands = forms,
                  .control = Control::meet});
  rows.push_back({.spelling = "match.all.sync." + type,
                  .execute = match_all<T>,
                  .operands = forms,
                  .has_second_destination = true,
                  .control = Control::meet});
}

void add_reductions(Rows& rows) {
  using Signed = std::int32_t;
  rows.push_back(reduce_row<Word>("redux.sync.add.u32", [](Word a, Word b) { return a + b; }));
  rows.push_back(reduce_row<Word>("redux.sync.add.s32", [](Word a, Word b) { return a + b; }));
  rows.push_back(reduce_row<Word>("redux.sync.min.u32", [](Word a, Word b) { return std::min(a, b); }));
  rows.push_back(reduce_row<Word>("redux.sync.max.u32", [](Word a, Word b) { return std::max(a, b); }));
  rows.push_back(reduce_row<Signed>("redux.sync.min.s32", [](Signed a, Signed b) { return std::min(a, b); }));
  rows.push_back(reduce_row<Signed>("redux.sync.max.s32", [](Signed a, Signed b) { return std::max(a, b); }));
  rows.push_back(reduce_row<Word>("redux.sync.and.b32", [](Word a, Word b) { return a & b; }));
  rows.push_back(reduce_row<Word>("redux.sync.or.b32", [](Word a, Word b) { return a | b; }));
  rows.push_back(reduce_row<Word>("redux.sync.xor.b32", [](Word a, Word b) { return a ^ b; }));
}

}  // namespace

void add_exchange_rows(Rows& rows) {
  add_shuffles(rows);
  add_votes(rows);
  add_matches<Word>(rows, "b32");
  add_matches<std::uint64_t>(rows, "b64");
  add_reductions(rows);
  rows.push_back({.spelling = "elect.sync",
                  .execute = elect,
                  .operands = {form_of<Word>(), form_of<Word>()},
                  .has_second_destination = true,
                  .control = Control::meet});
  rows.push_back({.spelling = "activemask.b32", .execute = active_lanes, .operands = {form_of<Word>()}});
}

}  // namespace draftscope::ptx
