// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recordings made up from a seed: every record type, every enumeration value, nested spans, awkward text.

#include <draftscope/traces/reader.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "../temporary_folder.h"

namespace draftscope::traces {

struct SampleOptions {
  std::uint32_t seed = 1;
  int runs = 2;
  int requests_per_run = 3;
  int max_rounds = 8;
  bool kernels = true;
  bool operations = false;  ///< rows that a device timed, one beside each kernel
  int max_drafted = 6;      ///< tokens of a round
};

/// Layers that a request has shadow tokens of: 2, 4, 6 and 8.
inline constexpr std::int32_t sample_shadow_layers = 4;

/// Rows that went into the writer.
struct Sample {
  Recording recording;
  std::vector<Decision> decisions;
  std::vector<ShadowToken> shadow_tokens;
  std::vector<TokenText> token_texts;
  std::vector<Span> spans;
  std::vector<Kernel> kernels;
  std::vector<Counter> counters;
  std::vector<std::string> strings;  ///< strings[id - 1]
};

/// Writes a recording that keeps every rule of the schema; returns what it consists of.
Sample write_sample(Writer& writer, const SampleOptions& options = {});

/// The same, into a file that is then closed.
Sample make_sample_file(const std::filesystem::path& path, const SampleOptions& options = {});

using TestFolder = test::TemporaryFolder;

/// A folder in memory where there is one: for tests that make so many files that syncing them takes long.
[[nodiscard]] std::filesystem::path parent_in_memory();

/// The whole content of a file.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& content);

/// Runs SQL that changes a file behind the library's back.
void change(const std::filesystem::path& path, const std::string& sql);

/// Rows of a query on a file, as text.
std::vector<std::vector<std::string>> query(const std::filesystem::path& path, const std::string& sql);

}  // namespace draftscope::traces
