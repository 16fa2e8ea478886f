// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the entries of a question's boxes carry beside their words.

#include <Qt>

namespace draftscope::gui {

inline constexpr int kind_role = Qt::UserRole;          ///< of strategies
inline constexpr int recorded_role = Qt::UserRole + 1;  ///< of strategies: the run's specification
inline constexpr int file_role = Qt::UserRole + 1;  ///< of machines and models: an index into those opened

}  // namespace draftscope::gui
