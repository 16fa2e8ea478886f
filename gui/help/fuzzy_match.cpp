// SPDX-License-Identifier: GPL-3.0-or-later
#include "fuzzy_match.h"

#include <QString>
#include <algorithm>
#include <limits>
#include <vector>

namespace draftscope::gui {

namespace {

constexpr int none = std::numeric_limits<int>::min() / 2;
constexpr int letter = 1;
constexpr int adjacent_bonus = 8;
constexpr int at_word = 6;
constexpr int at_front = 4;

bool begins_word(QStringView text, qsizetype at) {
  return at == 0 || (text[at].isLetterOrNumber() && !text[at - 1].isLetterOrNumber());
}

}  // namespace

std::optional<int> fuzzy_score(QStringView pattern, QStringView text) {
  const QString folded = text.toString().toCaseFolded();
  // [place] Best score of the letters so far if the last of them is at this place.
  std::vector<int> before(static_cast<std::size_t>(folded.size()), none);
  bool is_first = true;
  for (const QChar wanted : pattern.toString().toCaseFolded()) {
    if (wanted.isSpace()) continue;
    std::vector<int> now(before.size(), none);
    int best_before = is_first ? 0 : none;  // Best previous score further left.
    for (std::size_t at = 0; at < now.size(); ++at) {
      const auto place = static_cast<qsizetype>(at);
      if (folded[place] == wanted) {
        const int follows =
            at > 0 && !is_first && before[at - 1] > none ? before[at - 1] + adjacent_bonus : none;
        const int found = std::max(best_before, follows);
        if (found > none)
          now[at] = found + letter + (begins_word(folded, place) ? at_word : 0) + (at == 0 ? at_front : 0);
      }
      if (!is_first) best_before = std::max(best_before, before[at]);
    }
    before = std::move(now);
    is_first = false;
  }
  if (is_first) return 0;
  const auto best = std::max_element(before.begin(), before.end());
  if (best == before.end() || *best <= none) return std::nullopt;
  return *best;
}

}  // namespace draftscope::gui
