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
#include "../value_of.h"

namespace draftscope::traces {

struct SampleOptions {
  std::uint32_t seed = 1;
  int runs = 2;
  int requests_per_run = 3;
  int max_rounds = 8;
  bool kernels = true;
  bool operations = false;  ///< Whether to add rows that a device timed, one per kernel.
  int max_drafted = 6;      ///< Maximum draft tokens of a round.
};

/// Number of layers with shadow tokens in a request: 2, 4, 6 and 8.
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
  std::vector<std::string> strings;  ///< [id - 1].
};

/// Writes a recording that satisfies every rule of the schema; returns its content.
Sample write_sample(Writer& writer, const SampleOptions& options = {});

/// Writes a sample into a file and closes it.
Sample make_sample_file(const std::filesystem::path& path, const SampleOptions& options = {});

using TestFolder = test::TemporaryFolder;

/// A sample in the file "trace.dstrace" of a folder.
struct SampleFile {
  explicit SampleFile(const SampleOptions& options = {}) : sample(make_sample_file(path, options)) {}

  [[nodiscard]] Reader open() const { return value_of(Reader::open(path)); }

  TestFolder folder;
  std::filesystem::path path = folder / "trace.dstrace";
  Sample sample;
};

/// Names of a folder's files, in order.
[[nodiscard]] std::vector<std::string> names_in(const TestFolder& folder);

/// Copies a recording that was cut off: the file and its log.
void copy_with_log(const std::filesystem::path& from, const std::filesystem::path& to);

/// A folder in memory if there is one, for tests with so many files that syncing them takes long.
[[nodiscard]] std::filesystem::path parent_in_memory();

/// The whole content of a file.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& content);

/// Runs SQL that changes a file without the library's knowledge.
void change(const std::filesystem::path& path, const std::string& sql);

/// Expects that the recording keeps every rule of the schema.
void expect_sound(Reader& reader);

/// Rows of a query on a file, as text.
std::vector<std::vector<std::string>> query(const std::filesystem::path& path, const std::string& sql);

}  // namespace draftscope::traces
