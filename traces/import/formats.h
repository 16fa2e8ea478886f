// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The definition of an import format, and the input of its reader.

#include <draftscope/base/result.h>
#include <draftscope/traces/import.h>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foreign/foreign_writer.h"
#include "foreign/json_fields.h"
#include "import/answer_writer.h"
#include "import/file_head.h"
#include "import/text_lines.h"
#include "writing/paced_trace.h"

namespace draftscope::traces {

/// State that the files of one import share.
struct ImportContext {
  const ImportOptions& options;
  PacedTrace& target;
  AnswerWriter& answers;
  ForeignWriter& foreign;
  ImportProgress progress;
  bool is_baseline = false;  ///< Whether the current file is the baseline.
  std::string model;         ///< Model as a file states it; the first one counts.
  /// Figures that a file states about a whole run and that no rows give: specification → JSON object.
  std::map<std::string, std::string> stated_figures;
  std::set<std::pair<std::string, std::int32_t>> taken;  ///< Runs and repeats that a file gave.
  std::map<std::string, std::int64_t> question_numbers;  ///< Numbers of questions that files know by a text.
  std::optional<bool> has_text_ids;  ///< Whether questions are known by texts; unknown before the first one.
  std::int64_t next_ns = 0;          ///< Time to which a file's times are moved if its clock starts anew.
  /// All files of the current file's format in their order; of a baseline only itself.
  std::vector<std::filesystem::path> companions;
};

/// Question that `question_id` names: an integer, or a text, which gets a number that no other text has. No
/// value where the field is absent. Errors: some of an import's ids are texts and others are not, since both
/// could mean one number.
[[nodiscard]] Result<std::optional<std::int64_t>> question_of(const JsonFields& fields,
                                                              ImportContext& context);

/// An import format: its folder defines it as FormatRow format_of_FOLDER().
struct FormatRow {
  std::string_view name;   ///< Name in the command and in `meta`: "spec-bench".
  std::string_view about;  ///< One line for the command's help.
  /// Adds rows to the target and notes data that the file lacks. Errors are one line.
  Result<void> (*read)(const std::filesystem::path& file, ImportContext& context);
  /// Certainty that a file with this beginning has this format; 0 = it has not. The format with the highest
  /// one reads it.
  int (*sureness)(const FileHead& head);
  bool stands_alone = false;  ///< Whether it has its own clock and names its runs.
  bool takes_pairs = false;   ///< Whether two files are one run: the state before it and after it.
};

/// All formats, in the order of the help (traces/CMakeLists.txt).
[[nodiscard]] std::span<const FormatRow> format_rows();

/// Name of this file's run: the option (except for the baseline), or the file's name without its extension.
struct RunName {
  std::string specification;
  std::int32_t repeat = 0;  ///< Repeat from "name.repeat-2.jsonl", as the project's own export writes it.
};
/// Marks the run and repeat as taken. Fails if another file of this import gave the same repeat of the same
/// run.
[[nodiscard]] Result<void> take_run(const std::filesystem::path& file, const RunName& name,
                                    ImportContext& context);
[[nodiscard]] RunName run_name(const std::filesystem::path& file, const ImportContext& context);

}  // namespace draftscope::traces
