// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A policy goes into a file that is asked for, on a worker: it names its recording by a hash of all its
// bytes.

#include <draftscope/base/result.h>

#include <QLabel>
#include <functional>
#include <string>

namespace draftscope::gui {

/// Asks for a file, and writes it: `write` is called on a worker, and must hold what it reads. `words` says
/// what became of it, unless the label has gone by then.
void save_policy(QLabel& words, std::function<Result<void>(const std::string& path)> write);

}  // namespace draftscope::gui
