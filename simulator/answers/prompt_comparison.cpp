// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/statistics.h>
#include <draftscope/simulator/answers/what_if.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "answers/prompt_statistics.h"

namespace draftscope::simulator {

namespace {

constexpr std::size_t max_bytes = 16384;

/// Prefix and suffix that all texts share, from a chat template or from the kind of text.
struct Frame {
  std::string_view before, behind;
};

Frame common_frame(std::span<const std::string_view> texts) {
  Frame frame{texts.front(), texts.front()};
  for (const std::string_view text : texts) {
    const auto begin = std::mismatch(frame.before.begin(), frame.before.end(), text.begin(), text.end());
    frame.before = frame.before.substr(0, static_cast<std::size_t>(begin.first - frame.before.begin()));
    const auto end = std::mismatch(frame.behind.rbegin(), frame.behind.rend(), text.rbegin(), text.rend());
    const auto same = static_cast<std::size_t>(end.first - frame.behind.rbegin());
    frame.behind = frame.behind.substr(frame.behind.size() - same);
  }
  return frame;
}

/// The beginning of the text inside the frame; without the frame, the beginning of the text.
std::string_view framed_text(std::string_view text, const Frame& frame) {
  if (text.size() > frame.before.size() + frame.behind.size() && text.starts_with(frame.before) &&
      text.ends_with(frame.behind)) {
    text.remove_prefix(frame.before.size());
    text.remove_suffix(frame.behind.size());
  }
  return text.substr(0, max_bytes);
}

/// The distinct texts of first turns that were decoded.
std::set<std::string_view> recorded_texts(const traces::Recording& recording) {
  std::unordered_set<traces::PromptId> decoded;
  for (const traces::Request& request : recording.requests) decoded.insert(request.prompt_id);
  std::set<std::string_view> texts;
  for (const traces::Prompt& prompt : recording.prompts)
    if (prompt.turn == 0 && !prompt.text.empty() && decoded.contains(prompt.id)) texts.insert(prompt.text);
  return texts;
}

/// The recorded text that equals `asked` inside its frame; empty if there is none.
std::string_view same_text(std::string_view asked, std::span<const std::string_view> recorded) {
  const auto found = std::find_if(recorded.begin(), recorded.end(), [&](std::string_view text) {
    return 2 * text.size() > asked.size() && asked.find(text) != std::string_view::npos;
  });
  return found == recorded.end() ? std::string_view() : *found;
}

constexpr std::size_t statistic_count = 3;

/// Values of one statistic for all prompts.
struct Statistic {
  const char* name = "";
  const char* unit = "";
  std::vector<double> recorded, asked;
};

/// The statistics of a text, under the counts of all recorded ones except `known`.
std::array<double, statistic_count> statistics_of(std::string_view text, const ByteTrigrams& all,
                                                  std::string_view known) {
  return {static_cast<double>(text.size()), 100.0 * repeated_share(text),
          all.entropy(text, ByteTrigrams(known))};
}

/// Probability that an asked prompt's value is above a recorded one's (Mann and Whitney 1947); ties count
/// half.
double share_above(const Statistic& statistic) {
  double above = 0.0;
  for (const double asked : statistic.asked)
    for (const double recorded : statistic.recorded)
      above += asked > recorded ? 1.0 : asked == recorded ? 0.5 : 0.0;
  return above /
         (static_cast<double>(statistic.asked.size()) * static_cast<double>(statistic.recorded.size()));
}

/// Minimum distance of a share from one half that distinguishes two kinds.
double min_distance(std::size_t asked_count, std::size_t recorded_count) {
  constexpr double three_of_four = 0.25;
  constexpr double normal_99 = 2.576;
  const auto asked = static_cast<double>(asked_count);
  const auto recorded = static_cast<double>(recorded_count);
  const double error = std::sqrt((asked + recorded + 1.0) / (12.0 * asked * recorded));
  return std::max(three_of_four, normal_99 * error);
}

constexpr std::size_t orders = 3;  ///< Number of orders: contexts of 0, 1 and 2 bytes.

/// Key of the last `order` bytes before place `i`; `with_byte` adds the byte at `i` and gives a distinct key.
std::uint32_t key_at(std::string_view text, std::size_t i, std::size_t order, bool with_byte) {
  std::uint32_t key = static_cast<std::uint32_t>(2 * order) + (with_byte ? 1U : 0U);
  for (std::size_t k = i - order; k < i + (with_byte ? 1 : 0); ++k)
    key = (key << 8U) | static_cast<unsigned char>(text[k]);
  return key;
}

}  // namespace

Result<PromptComparison> compare_prompts(const traces::Recording& recording,
                                         std::span<const std::string> asked) {
  const std::set<std::string_view> texts = recorded_texts(recording);
  const double least = texts.empty() || asked.empty() ? 1.0 : min_distance(asked.size(), texts.size());
  if (least > 0.5)
    return fail(
        "prompts: found {} with a text recorded and {} asked about, expected more to tell kinds apart",
        texts.size(), asked.size());
  std::vector<std::string_view> recorded(texts.begin(), texts.end());
  const Frame frame = common_frame(recorded);
  for (std::string_view& text : recorded) text = framed_text(text, frame);
  ByteTrigrams all;
  for (const std::string_view text : recorded) all.add(text);
  std::array<Statistic, statistic_count> statistics{
      {{"length", "bytes"}, {"repeated share", "%"}, {"entropy under the recorded ones", "bits per byte"}}};
  for (const std::string_view text : recorded) {
    const std::array<double, statistic_count> values = statistics_of(text, all, text);
    for (std::size_t i = 0; i < statistic_count; ++i) statistics[i].recorded.push_back(values[i]);
  }
  for (const std::string& text : asked) {
    const std::string_view begin = framed_text(text, frame);
    const std::array<double, statistic_count> values = statistics_of(begin, all, same_text(begin, recorded));
    for (std::size_t i = 0; i < statistic_count; ++i) statistics[i].asked.push_back(values[i]);
  }
  PromptComparison comparison;
  for (Statistic& statistic : statistics) {
    if (std::abs(share_above(statistic) - 0.5) < least) continue;
    comparison.is_other_kind = true;
    comparison.difference += fmt::format(
        "{}{} {:.3g} {}, recorded {:.3g}", comparison.difference.empty() ? "" : "; ", statistic.name,
        upper_median(statistic.asked), statistic.unit, upper_median(statistic.recorded));
  }
  return comparison;
}

double repeated_share(std::string_view text) {
  constexpr std::size_t length = 8;
  if (text.size() <= length) return 0.0;
  std::unordered_set<std::uint64_t> seen;
  std::uint64_t window = 0;
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    window = (window << 8U) | static_cast<unsigned char>(text[i]);
    if (i + 1 >= length && !seen.insert(window).second) ++repeated;
  }
  return static_cast<double>(repeated) / static_cast<double>(text.size() - length + 1);
}

void ByteTrigrams::add(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    for (std::size_t order = 0; order < orders && order <= i; ++order) {
      ++counts_[key_at(text, i, order, false)];
      ++counts_[key_at(text, i, order, true)];
    }
}

double ByteTrigrams::count(std::uint32_t key) const {
  const auto found = counts_.find(key);
  return found == counts_.end() ? 0.0 : found->second;
}

double ByteTrigrams::entropy(std::string_view text, const ByteTrigrams& without) const {
  constexpr double of_any = 0.02 / 256.0;
  constexpr std::array<double, orders> weights{0.18, 0.3, 0.5};
  if (text.empty()) return 0.0;
  double bits = 0.0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    double chance = of_any;
    double known = 0.02;
    for (std::size_t order = 0; order < orders && order <= i; ++order) {
      const std::uint32_t context = key_at(text, i, order, false);
      const double before = count(context) - without.count(context);
      if (before <= 0.0) break;
      const std::uint32_t whole = key_at(text, i, order, true);
      chance += weights[order] * (count(whole) - without.count(whole)) / before;
      known += weights[order];
    }
    bits -= std::log2(chance / known);
  }
  return bits / static_cast<double>(text.size());
}

}  // namespace draftscope::simulator
