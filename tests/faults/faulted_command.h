// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The commands that are run while something fails, and what must be true of each afterwards.

#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "../cli/process.h"

namespace draftscope::test {

/// Files that a command leaves in its output folder.
enum class Output {
  same,        ///< the same bytes whenever it runs; or nothing
  prediction,  ///< the same but for its date and what follows from it
  recording    ///< a trace of the same tokens; after a failure, a trace of what was recorded until then
};

struct FaultedCommand {
  std::string name;
  std::vector<std::string> arguments;  ///< IN and OUT stand for the folders
  Output output = Output::same;

  /// For GoogleTest, which would print bytes.
  friend void PrintTo(const FaultedCommand& command, std::ostream* stream) { *stream << command.name; }
};

/// The commands on a small case. IN must hold what make_inputs() puts there.
[[nodiscard]] std::vector<FaultedCommand> faulted_commands();

/// Records what the other commands read. Returns what went wrong, if anything did.
[[nodiscard]] std::optional<std::string> make_inputs(const std::filesystem::path& folder);

/// Runs one command in folders of its own, made and emptied by it.
class FaultedRun {
 public:
  /// `folder` must not be there; the names of all of one command's folders are of one length, as an
  /// allocation is known by its size.
  FaultedRun(const FaultedCommand& command, const std::filesystem::path& inputs, std::filesystem::path folder,
             const std::vector<std::string>& environment);

  [[nodiscard]] const cli::ProcessResult& ended() const { return ended_; }
  [[nodiscard]] std::filesystem::path output() const { return folder_ / "out"; }

  /// Words for what is wrong with how a run ended in which something failed: it must have failed in one line
  /// and left nothing behind, or have done the whole of its work, which `whole` did without a failure.
  [[nodiscard]] std::optional<std::string> objection(const FaultedRun& whole) const;

  /// Its error, with the run's own folder left out.
  [[nodiscard]] std::string message() const;

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
