// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One reader a format. Each adds rows to the target and notes what its file lacks; errors are one line.

#include <draftscope/base/result.h>
#include <draftscope/traces/import.h>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>

#include "foreign/foreign_writer.h"
#include "import/answer_writer.h"
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
  bool is_baseline = false;  ///< of the file at hand
  std::string model;         ///< as a file says it; the first one counts
  /// Figures that a file states of a whole run and that no rows give: specification → JSON object.
  std::map<std::string, std::string> stated_figures;
  std::set<std::pair<std::string, std::int32_t>> taken;  ///< runs and repeats that a file gave
  std::int64_t next_ns = 0;  ///< where a file's times are moved to, whose clock begins anew
};

[[nodiscard]] Result<void> import_spec_bench(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_swift(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_layerskip(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_acceptance(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_chrome(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_nsys(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_llama_cpp(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_llama_answers(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_sglang(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_trtllm(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_aiperf(const std::filesystem::path& file, ImportContext& context);
[[nodiscard]] Result<void> import_rounds(const std::filesystem::path& file, ImportContext& context);

/// Name of the run of this file: the option (which is not the baseline's), or the file's name without
/// its ending.
struct RunName {
  std::string specification;
  std::int32_t repeat = 0;  ///< from "name.repeat-2.jsonl", as the project's own export writes it
};
/// Fails if another file of this import gave the same repeat of the same run.
[[nodiscard]] Result<void> take_run(const std::filesystem::path& file, const RunName& name,
                                    ImportContext& context);
[[nodiscard]] RunName run_name(const std::filesystem::path& file, const ImportContext& context);

}  // namespace draftscope::traces
