// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Trace files for the tests of commands, and a way to run a command and capture its output.

#include <draftscope/traces/reader.h>
#include <gtest/gtest.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "../temporary_folder.h"
#include "command_words.h"

namespace draftscope::cli {

using test::TemporaryFolder;

/// Writes the recording with traces::Writer. Ids must count up from 1 in each table, as the writer assigns
/// them. Kernels go to one stream.
void write_trace(const std::filesystem::path& path, const traces::Recording& recording,
                 const std::vector<traces::Span>& phase_spans,
                 const std::vector<traces::Kernel>& kernels = {});

/// Runs SQL that changes a file without the library's knowledge.
void change_rows(const std::filesystem::path& path, const std::string& sql);

/// A handmade recording of vanilla and one LayerSkip run on two prompts, with round numbers that a reader can
/// check mentally.
[[nodiscard]] traces::Recording small_recording();
[[nodiscard]] std::vector<traces::Span> small_spans();

/// A test of small_recording() in a file.
class SmallTrace : public ::testing::Test {
 protected:
  SmallTrace() { write_trace(path_, small_recording(), small_spans()); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "small.dstrace";
};

/// Makes the folder a model: the shipped demo-layerskip, with a chat template.
void give_chat_template(const TemporaryFolder& folder, const std::string& chat_template);

/// Arguments of `draftscope record` for a shipped model on shipped prompts, with one thread. `options` is a
/// command line that is split at its blanks.
[[nodiscard]] std::vector<std::string> record_arguments(const std::filesystem::path& trace,
                                                        std::string_view options,
                                                        const std::string& prompts = "demo",
                                                        const std::string& model = "demo-layerskip");

/// Records a trace with record_arguments(). Expects that it succeeds.
void record_trace(const std::filesystem::path& trace, std::string_view options,
                  const std::string& prompts = "demo", const std::string& model = "demo-layerskip");

struct CommandResult {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// Runs `draftscope <arguments>` in this process.
[[nodiscard]] CommandResult run_command(const std::vector<std::string>& arguments);

/// Runs `draftscope <line>`, whose words are those of words_of().
template <typename... Values>
[[nodiscard]] CommandResult run_line(std::string_view line, const Values&... values) {
  return run_command(words_of(line, {std::string(values)...}));
}

/// Expects that the command succeeded.
void expect_success(const CommandResult& result);

/// Text that run_line() prints. Expects that it succeeds.
template <typename... Values>
[[nodiscard]] std::string printed_text(std::string_view line, const Values&... values) {
  const CommandResult result = run_line(line, values...);
  expect_success(result);
  return result.out;
}

/// The document that run_line() prints. Expects that it succeeds.
template <typename... Values>
[[nodiscard]] nlohmann::json printed_json(std::string_view line, const Values&... values) {
  return nlohmann::json::parse(printed_text(line, values...), nullptr, false);
}

/// Expects that the command failed, and that the reason is one line that contains `says`.
void expect_one_line(const CommandResult& result, const std::string& says);

/// Expects that the command line was refused, in one line that contains `says`.
void expect_usage_error(const CommandResult& result, const std::string& says);

}  // namespace draftscope::cli
