// SPDX-License-Identifier: GPL-3.0-or-later
#include "printed.h"

#include <draftscope/traces/reader.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace draftscope::cli {

std::set<std::string> keys_of(const nlohmann::json& document, const std::set<std::string>& closed) {
  std::set<std::string> keys;
  if (document.is_array())
    for (const auto& element : document) keys.merge(keys_of(element, closed));
  if (!document.is_object()) return keys;
  for (const auto& [key, inner] : document.items()) {
    keys.insert(key);
    if (!closed.contains(key)) keys.merge(keys_of(inner, closed));
  }
  return keys;
}

void expect_documented(const std::set<std::string>& keys) {
  using ::testing::HasSubstr;
  const std::string document = bytes_of(DRAFTSCOPE_SOURCE_DIR "/cli/OUTPUT.md");
  for (const std::string& key : keys)
    EXPECT_THAT(document, ::testing::AnyOf(HasSubstr("`" + key + "`"), HasSubstr("." + key + "`"),
                                           HasSubstr("`" + key + ".")));
}

void expect_golden(const std::string& name, std::string text) {
  const std::string path = DRAFTSCOPE_SOURCE_DIR "/tests/cli/golden/" + name;
  // A new version of the schema changes no golden file.
  const std::string newest = fmt::format("schema {},", traces::newest_schema_version());
  for (std::size_t at = 0; (at = text.find(newest, at)) != std::string::npos;)
    text.replace(at, newest.size(), "schema NEWEST,");
  if (std::getenv("DRAFTSCOPE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, bytes_of(path)) << name;
}

void expect_on_page(const std::string& page, const std::string& head, const std::string& foot,
                    const std::string& text) {
  const std::string path = DRAFTSCOPE_SOURCE_DIR "/" + page;
  std::string document = bytes_of(path);
  const std::size_t head_at = document.find(head);
  ASSERT_NE(head_at, std::string::npos) << head;
  const std::size_t begin = head_at + head.size();
  const std::size_t end = document.find(foot, begin);
  ASSERT_NE(end, std::string::npos) << head;
  if (std::getenv("DRAFTSCOPE_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << document.replace(begin, end - begin, text);
  else
    EXPECT_EQ(document.substr(begin, end - begin), text) << head;
}

}  // namespace draftscope::cli
