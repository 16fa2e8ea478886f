// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Damage to a trace that leaves it a database: cells, rows and tables, not bytes.

#include <cstddef>
#include <filesystem>
#include <span>

namespace draftscope::fuzz {

/// Changes the trace at `path` as the input determines: cells become odd values (of other types, too), are
/// copied from other rows or incremented, rows are deleted or doubled, columns get one value. An edit that
/// SQLite refuses is skipped.
void damage(const std::filesystem::path& path, std::span<const std::byte> input);

/// Writes a recording of four strategies on two prompts with every layer's predictions, cut from a shipped
/// one. Ends the process if that fails.
void write_small_recording(const std::filesystem::path& path);

}  // namespace draftscope::fuzz
