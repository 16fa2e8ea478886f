// SPDX-License-Identifier: GPL-3.0-or-later
#include "matching_rounds.h"

#include <draftscope/base/ascii.h>
#include <algorithm>
#include <unordered_map>

namespace draftscope::gui {

namespace {

constexpr std::uint32_t rounds_per_question = 1 << 14;

std::string_view without_spaces_around(std::string_view words) {
  const auto is_space = [](char letter) { return letter == ' ' || letter == '\n' || letter == '\t'; };
  while (!words.empty() && is_space(words.front())) words.remove_prefix(1);
  while (!words.empty() && is_space(words.back())) words.remove_suffix(1);
  return words;
}

bool holds(const FilterTerm& term, double value) {
  switch (term.test) {
    case FilterTest::contains:
    case FilterTest::equal:
      return value == term.number;
    case FilterTest::unequal:
      return value != term.number;
    case FilterTest::less:
      return value < term.number;
    case FilterTest::at_most:
      return value <= term.number;
    case FilterTest::more:
      return value > term.number;
    case FilterTest::at_least:
      break;
  }
  return value >= term.number;
}

/// A text term, prepared once. Rounds are many but distinct texts are few, so each text is judged once.
class TextTest {
 public:
  explicit TextTest(const FilterTerm& term) : test_(term.test), wanted_(in_lower_case(term.text)) {}

  bool holds(std::string_view text) {
    // Equal texts mostly share their memory, so the address is the key.
    if (const auto known = known_.find(text.data()); known != known_.end()) return known->second;
    const bool is_so = judge(text);
    known_.emplace(text.data(), is_so);
    return is_so;
  }
  [[nodiscard]] bool judge(std::string_view text) const {
    const std::string lower = in_lower_case(text);
    if (test_ == FilterTest::contains) return lower.find(wanted_) != std::string::npos;
    return (lower == wanted_) == (test_ == FilterTest::equal);
  }

 private:
  FilterTest test_;
  std::string wanted_;
  std::unordered_map<const char*, bool> known_;
};

/// Tests whether a round has a token; with !=, whether none of its tokens is the text.
class TokenTest {
 public:
  TokenTest(const OpenedRecording& opened, const FilterTerm& term)
      : opened_(opened),
        is_unequal_(term.test == FilterTest::unequal),
        contains_(term.test == FilterTest::contains),
        wanted_(in_lower_case(contains_ ? std::string_view(term.text) : without_spaces_around(term.text))) {}

  bool holds(std::uint32_t round_index) {
    const std::span<const traces::DraftToken> drafts = opened_.draft_tokens(round_index);
    const bool has = is_it(opened_.round(round_index).bonus_token) ||
                     std::any_of(drafts.begin(), drafts.end(),
                                 [&](const traces::DraftToken& draft) { return is_it(draft.token); });
    return has != is_unequal_;
  }

 private:
  bool is_it(std::int32_t token) {
    if (token < 0) return false;
    const auto [known, is_new] = known_.try_emplace(token, false);
    if (is_new) {
      const std::string text = in_lower_case(opened_.token_text(token));
      known->second =
          contains_ ? text.find(wanted_) != std::string::npos : without_spaces_around(text) == wanted_;
    }
    return known->second;
  }

  const OpenedRecording& opened_;
  bool is_unequal_;
  bool contains_;
  std::string wanted_;
  std::unordered_map<std::int32_t, bool> known_;
};

}  // namespace

std::vector<bool> matching_rounds(const OpenedRecording& opened, const RoundFilter& filter,
                                  const std::function<bool()>& should_continue) {
  const auto count = static_cast<std::uint32_t>(opened.recording().rounds.size());
  std::vector<bool> keeps(count, true);
  for (const FilterTerm& term : filter.terms) {
    TextTest text(term);
    TokenTest tokens(opened, term);
    for (std::uint32_t round_index = 0; round_index < count; ++round_index) {
      if (round_index % rounds_per_question == 0 && !should_continue()) return keeps;
      if (!keeps[round_index]) continue;
      bool is_so = false;
      if (term.field->number != nullptr)
        is_so = holds(term, term.field->number(opened, round_index));
      else if (term.field->text != nullptr)
        is_so = text.holds(term.field->text(opened, round_index));
      else
        is_so = tokens.holds(round_index);
      keeps[round_index] = is_so != term.is_negated;
    }
  }
  return keeps;
}

LeftRounds::LeftRounds(RecordingPointer filtered) : filtered_(std::move(filtered)) {
  const auto starts_before = [&](std::uint32_t a, std::uint32_t b) {
    return filtered_->round(a).start_ns < filtered_->round(b).start_ns;
  };
  std::vector<std::uint32_t> all;
  for (const RunRounds& run : filtered_->runs()) {
    by_run_.push_back(times_of(run.rounds));
    const auto before = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), run.rounds.begin(), run.rounds.end());
    std::inplace_merge(all.begin(), all.begin() + before, all.end(), starts_before);
  }
  all_ = times_of(all);
}

LeftRounds::Times LeftRounds::times_of(const std::vector<std::uint32_t>& rounds) const {
  Times times;
  times.start_ns.reserve(rounds.size());
  times.end_ns.reserve(rounds.size());
  for (const std::uint32_t round_index : rounds) {
    const traces::Round& round = filtered_->round(round_index);
    times.start_ns.push_back(round.start_ns);
    times.end_ns.push_back(times.end_ns.empty() ? round.end_ns : std::max(times.end_ns.back(), round.end_ns));
  }
  return times;
}

bool LeftRounds::any_in(std::size_t run_index, TimeRange time) const {
  const Times& of = run_index < by_run_.size() ? by_run_[run_index] : all_;
  const auto behind = std::lower_bound(of.start_ns.begin(), of.start_ns.end(), time.end_ns);
  if (behind == of.start_ns.begin()) return false;
  return of.end_ns[static_cast<std::size_t>(behind - of.start_ns.begin()) - 1] > time.start_ns;
}

}  // namespace draftscope::gui
