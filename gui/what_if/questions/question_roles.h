// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Roles of the data that entries of a question's boxes have beside their words.

#include <Qt>

namespace draftscope::gui {

inline constexpr int kind_role = Qt::UserRole;          ///< Kind of a strategy.
inline constexpr int recorded_role = Qt::UserRole + 1;  ///< Specification of a strategy's run.
inline constexpr int file_role = Qt::UserRole + 1;      ///< Index of a machine or model into the opened ones.

}  // namespace draftscope::gui
