// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recordings of a known population: requests as synthetic_requests.h draws them, times as its prices have
// them, with noise.

#include <draftscope/simulator/prices/prices.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <filesystem>

namespace draftscope::simulator {

struct ClusteredOptions {
  int requests = 40;
  int repeats = 1;
  bool second_run = false;  ///< beside vanilla and γ = 4 a run of the same exit with γ = 2
  double noise = 0.03;      ///< standard deviation of the logarithm of each time
};

/// Vanilla and "layerskip:exit=3,gamma=4" of a model of 12 layers; prompts alternate between the categories
/// "even" and "odd". Deterministic in the seed.
[[nodiscard]] traces::Recording clustered_recording(std::uint64_t seed, const ClusteredOptions& options = {});

/// Through the trace writer. Expects that the file can be written.
void write_recording(const traces::Recording& recording, const std::filesystem::path& path);

/// A file name of this process alone in the temporary folder; the file is removed with the object.
class TemporaryTrace {
 public:
  explicit TemporaryTrace(const std::string& name);
  TemporaryTrace(const TemporaryTrace&) = delete;
  TemporaryTrace& operator=(const TemporaryTrace&) = delete;
  ~TemporaryTrace();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace draftscope::simulator
