// SPDX-License-Identifier: GPL-3.0-or-later
#include "printed.h"

#include <fstream>
#include <sstream>

namespace draftscope::cli {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

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

}  // namespace draftscope::cli
