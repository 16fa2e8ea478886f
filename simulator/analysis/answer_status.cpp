// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/answer_status.h>

#include <array>

namespace draftscope::simulator {

std::string_view answer_status_name(AnswerStatus status) {
  constexpr std::array<std::string_view, 4> names{"exact", "bounded", "approximate", "invalid"};
  return names[static_cast<std::size_t>(status)];
}

}  // namespace draftscope::simulator
