// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every part that a mix can have, by kind and name, with its parameters. A parameter means the same wherever
// its name occurs; of several parts that share one (DEL's), a mix has it once.

#include <memory>
#include <span>
#include <string_view>

#include "strategies/del.h"
#include "strategies/parts.h"
#include "strategies/specification.h"

namespace draftscope::engine {

enum class PartKind : std::uint8_t { mask, length, stop, shape };
inline constexpr int part_kind_count = 4;
[[nodiscard]] std::string_view part_kind_name(PartKind kind);

/// A mix under construction.
struct Mixing {
  Parts parts;
  std::shared_ptr<Del> del;  ///< made by the first of its parts
};

struct PartEntry {
  PartKind kind = PartKind::mask;
  StrategyDescription description;
  /// May complete defaults that depend on the model; fails on values out of range.
  Result<void> (*add)(Parameters& parameters, const speculation::ModelShape& shape, Mixing& mixing);
};

[[nodiscard]] std::span<const PartEntry> part_entries();
/// Null if there is none.
[[nodiscard]] const PartEntry* find_part(PartKind kind, std::string_view name);

}  // namespace draftscope::engine
