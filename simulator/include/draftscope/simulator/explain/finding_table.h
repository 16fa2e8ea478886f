// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every check that explain() makes, a row each: what it looks at, by which threshold it is judged and why,
// what it says, where to look and what to try. docs/explain.md is held to this table. Safe from any thread.

#include <draftscope/traces/missing_data.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

struct Evidence;
struct Judgement;

struct FindingRow {
  std::string_view key;        ///< name for programs
  std::string_view title;      ///< a few words for people
  std::string_view figure;     ///< what is looked at
  std::string_view threshold;  ///< when it is a finding
  std::string_view because;    ///< why there
  std::string_view sentence;   ///< with {names} for what the judgement fills in
  std::string_view look;       ///< where to look
  std::string_view remedy;     ///< what to try
  /// Why nothing is simulated; empty where what to try is a setting.
  std::string_view no_simulation;
  std::vector<traces::MissingData> needs;    ///< not judged where the recording lacks one of these
  std::vector<std::string_view> covered_by;  ///< not said beside a finding of one of these keys
  Judgement (*judge)(const Evidence&) = nullptr;
};

/// The last row says that nothing is wrong: it is found where no other is.
[[nodiscard]] std::span<const FindingRow> finding_table();

/// The table as docs/explain.md has it, in Markdown.
[[nodiscard]] std::string findings_markdown();

}  // namespace draftscope::simulator
