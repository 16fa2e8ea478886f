// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Saves a policy to a file that the user chooses, on a worker, because it hashes all bytes of its recording.

#include <draftscope/base/result.h>

#include <QLabel>
#include <functional>
#include <string>

namespace draftscope::gui {

/// Asks for a file, and writes it. `write` is called on a worker, and must own what it reads. `words` shows
/// the outcome, unless the label has been deleted by then.
void save_policy(QLabel& words, std::function<Result<void>(const std::string& path)> write);

}  // namespace draftscope::gui
