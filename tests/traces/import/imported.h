// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Common code of the importers' tests: their files, and an import that must be sound.

#include <draftscope/traces/import.h>
#include <draftscope/traces/reader.h>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../temporary_folder.h"
#include "../../value_of.h"

namespace draftscope::traces {

/// The path of a fixture, which is also a seed of the fuzzers: tests/fuzz/corpus/import/NAME.
[[nodiscard]] std::filesystem::path fixture(const std::string& name);

struct Seed {
  std::string format;   ///< Name of its folder and of the format in the command.
  std::string fixture;  ///< "swift/answers.jsonl".
  /// Its name in a test's.
  [[nodiscard]] std::string test_name() const;
  /// Names the case in a test list.
  friend void PrintTo(const Seed& seed, std::ostream* out) { *out << seed.fixture; }
};
[[nodiscard]] std::vector<Seed> seeds();

class ImportFolder : public test::TemporaryFolder {
 public:
  [[nodiscard]] std::filesystem::path write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::size_t files() const;
};

struct Imported {
  ImportSummary summary;
  Recording recording;
  std::vector<Span> spans;
  std::vector<Kernel> kernels;
  std::vector<Counter> counters;
  std::unordered_map<traces::StringId, std::string> strings;
};

/// Imports, expects every rule of the schema to hold, and reads all rows.
[[nodiscard]] Imported import_soundly(const std::vector<std::filesystem::path>& files,
                                      const ImportOptions& options, const std::filesystem::path& target);

/// import_soundly() of a fixture, into a file that is removed again.
[[nodiscard]] Imported import_fixture(const std::string& name, const ImportOptions& options = {});
/// import_soundly() of a text in a file of this name. Both files are removed again.
[[nodiscard]] Imported import_text(const std::string& name, std::string_view text,
                                   const ImportOptions& options = {});

/// Value of `stated_figures` in `meta`, for its first run.
[[nodiscard]] nlohmann::json stated_figures(const Imported& imported);
/// Expects these among the stated figures.
void expect_stated(const Imported& imported,
                   std::initializer_list<std::pair<const char*, nlohmann::json>> expected);

}  // namespace draftscope::traces
