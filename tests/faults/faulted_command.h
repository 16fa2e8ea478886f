// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Commands that run while something fails, and what must be true after each of them.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "../cli/process.h"

namespace draftscope::test {

/// Kind of files that a command leaves in its output folder.
enum class Output {
  same,        ///< identical bytes in every run, or nothing
  prediction,  ///< identical in every run except for its date and what follows from it
  recording    ///< a trace of the same tokens; after a failure, a trace of what was recorded until then
};

struct FaultedCommand {
  std::string name;
  std::vector<std::string> arguments;  ///< IN and OUT stand for the folders
  Output output = Output::same;

  /// Prints the name, since GoogleTest would print bytes.
  friend void PrintTo(const FaultedCommand& command, std::ostream* stream) { *stream << command.name; }
};

/// The commands, applied to a small case. IN must contain the files of make_inputs().
[[nodiscard]] std::vector<FaultedCommand> faulted_commands();

/// Records the files that the other commands read. Returns what went wrong, if anything did.
[[nodiscard]] std::optional<std::string> make_inputs(const std::filesystem::path& folder);

/// Runs one command in separate folders, which it makes and empties.
class FaultedRun {
 public:
  /// `folder` must not exist yet. The folder names of one command must have the same length, because an
  /// allocation is identified by its size. No file may grow beyond `max_file_bytes`; −1 = any size.
  FaultedRun(const FaultedCommand& command, const std::filesystem::path& inputs, std::filesystem::path folder,
             const std::vector<std::string>& environment, std::int64_t max_file_bytes = -1);

  [[nodiscard]] const cli::ProcessResult& ended() const { return ended_; }
  [[nodiscard]] std::filesystem::path output() const { return folder_ / "out"; }

  /// Describes what is wrong with how a run with a failure ended. It must have failed in one line and left no
  /// files, or have done all the work that `whole` did without a failure.
  [[nodiscard]] std::optional<std::string> objection(const FaultedRun& whole) const;

 private:
  [[nodiscard]] std::optional<std::string> objection_to_success(const FaultedRun& whole) const;
  [[nodiscard]] std::optional<std::string> objection_to_failure(const FaultedRun& whole) const;

  Output kind_;
  std::filesystem::path folder_;
  std::filesystem::path inputs_;
  std::map<std::string, std::string> inputs_before_;
  cli::ProcessResult ended_;
};

}  // namespace draftscope::test
