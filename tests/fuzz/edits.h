// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Damage to a trace that leaves it a database: cells, rows and tables, not bytes.

#include <cstddef>
#include <filesystem>
#include <span>

namespace draftscope::fuzz {

/// Changes the trace at `path` as the input says: cells become odd values (of other types, too), are copied
/// from other rows or counted up, rows go or come twice, columns get one value. An edit that SQLite refuses
/// is left out.
void damage(const std::filesystem::path& path, std::span<const std::byte> input);

/// A recording of four strategies on two prompts with every layer's predictions, cut from a shipped one.
/// Ends the process if it can't be made.
void write_small_recording(const std::filesystem::path& path);

}  // namespace draftscope::fuzz
