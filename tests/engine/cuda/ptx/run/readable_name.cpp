// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/readable_name.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace draftscope::ptx {

namespace {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part))
    text.erase(at, part.size());
  return text;
}

}  // namespace

std::string readable_name(std::string_view name) {
  struct Freed {
    void operator()(char* text) const { std::free(text); }
  };
  int status = 0;
  const std::unique_ptr<char, Freed> demangled(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status));
  if (status != 0 || demangled == nullptr) return std::string(name);
  std::string readable = without(demangled.get(), "(anonymous namespace)::");
  readable = readable.substr(0, readable.find('('));
  for (std::size_t at = readable.find("::"); at != std::string::npos; at = readable.find("::")) {
    std::size_t begin = at;
    while (begin > 0 && is_of_name(readable[begin - 1])) --begin;
    readable.erase(begin, at + 2 - begin);
  }
  if (const std::size_t result = readable.find(' '); result < readable.find('<'))
    readable.erase(0, result + 1);
  for (std::size_t at = readable.find("> >"); at != std::string::npos; at = readable.find("> >"))
    readable.erase(at + 1, 1);
  return readable;
}

}  // namespace draftscope::ptx
