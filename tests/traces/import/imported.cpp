// SPDX-License-Identifier: GPL-3.0-or-later
#include "imported.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace draftscope::traces {

std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/fuzz/corpus/import" / name;
}

std::vector<Seed> seeds() {
  std::vector<Seed> all;
  for (const auto& folder : std::filesystem::directory_iterator(fixture("")))
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string name = folder.path().filename();
      all.push_back({name, name + "/" + file.path().filename().string()});
      std::ranges::replace(all.back().format, '_', '-');
    }
  std::ranges::sort(all, {}, &Seed::fixture);
  return all;
}

std::filesystem::path ImportFolder::write(const std::string& name, std::string_view text) const {
  std::ofstream(path() / name, std::ios::binary) << text;
  return path() / name;
}

std::size_t ImportFolder::files() const {
  const std::filesystem::directory_iterator entries(path());
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

Imported import_soundly(const std::vector<std::filesystem::path>& files, const ImportOptions& options,
                        const std::filesystem::path& target) {
  Imported result;
  const auto summary = import_recordings(files, options, target);
  if (!summary) {
    ADD_FAILURE() << summary.error().message;
    return result;
  }
  result.summary = *summary;
  auto reader = Reader::open(target);
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    return result;
  }
  const auto violations = reader->validate();
  if (!violations) ADD_FAILURE() << violations.error().message;
  if (violations)
    for (const Violation& violation : *violations)
      ADD_FAILURE() << violation.table << " row " << violation.row << ": " << violation.rule;
  auto recording = reader->recording();
  auto strings = reader->strings();
  if (!recording || !strings) {
    ADD_FAILURE() << "the rows can't be read";
    return result;
  }
  result.recording = std::move(*recording);
  result.strings = std::move(*strings);
  const auto collect = [](auto& rows) {
    return [&rows](const auto& row) {
      rows.push_back(row);
      return true;
    };
  };
  EXPECT_TRUE(reader->spans(collect(result.spans)));
  EXPECT_TRUE(reader->kernels(collect(result.kernels)));
  EXPECT_TRUE(reader->decisions(collect(result.decisions)));
  EXPECT_TRUE(reader->counters(collect(result.counters)));
  return result;
}

nlohmann::json stated_figures(const Imported& imported) {
  const auto all = nlohmann::json::parse(imported.recording.meta.at("stated_figures"), nullptr, false);
  return all.is_object() && !all.empty() ? all.begin().value() : nlohmann::json();
}

}  // namespace draftscope::traces
