// SPDX-License-Identifier: GPL-3.0-or-later
#include "imported.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "../sample.h"

namespace draftscope::traces {

std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/fuzz/corpus/import" / name;
}

std::string Seed::test_name() const {
  std::string name = fixture;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
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
  result.summary = value_of(import_recordings(files, options, target));
  auto reader = value_of(Reader::open(target));
  expect_sound(reader);
  result.recording = value_of(reader.recording());
  result.strings = value_of(reader.strings());
  const auto collect = [](auto& rows) {
    return [&rows](const auto& row) {
      rows.push_back(row);
      return true;
    };
  };
  EXPECT_TRUE(reader.spans(collect(result.spans)));
  EXPECT_TRUE(reader.kernels(collect(result.kernels)));
  EXPECT_TRUE(reader.counters(collect(result.counters)));
  return result;
}

Imported import_fixture(const std::string& name, const ImportOptions& options) {
  const test::TemporaryFolder folder;
  return import_soundly({fixture(name)}, options, folder / "out.dstrace");
}

Imported import_text(const std::string& name, std::string_view text, const ImportOptions& options) {
  const ImportFolder folder;
  return import_soundly({folder.write(name, text)}, options, folder / "out.dstrace");
}

nlohmann::json stated_figures(const Imported& imported) {
  const auto all = nlohmann::json::parse(imported.recording.meta.at("stated_figures"), nullptr, false);
  return all.is_object() && !all.empty() ? all.begin().value() : nlohmann::json();
}

void expect_stated(const Imported& imported,
                   std::initializer_list<std::pair<const char*, nlohmann::json>> expected) {
  const nlohmann::json stated = stated_figures(imported);
  for (const auto& [name, value] : expected) EXPECT_EQ(stated.value(name, nlohmann::json()), value) << name;
}

}  // namespace draftscope::traces
