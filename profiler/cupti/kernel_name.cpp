// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernel_name.h"

#include <cxxabi.h>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace draftscope::profiler::cupti {

std::string kernel_name(const char* symbol) {
  if (symbol == nullptr || *symbol == '\0') return "kernel";
  if (!std::string_view(symbol).starts_with("_Z")) return symbol;  // Otherwise "f" would demangle to "float".
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  if (status != 0 || demangled == nullptr) return symbol;

  // Parameters begin at the first parenthesis outside template arguments that does not belong to "(anonymous
  // namespace)"; the return type ends with the last blank before the name.
  const std::string_view text = demangled.get();
  constexpr std::string_view anonymous = "(anonymous namespace)";
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(anonymous)) {
      i += anonymous.size() - 1;
    } else if (text[i] == '<' || (text[i] == '(' && depth > 0)) {
      ++depth;
    } else if (text[i] == '>' || (text[i] == ')' && depth > 0)) {
      --depth;
    } else if (text[i] == '(' && depth == 0) {
      return std::string(text.substr(begin, i - begin));
    } else if (text[i] == ' ' && depth == 0) {
      begin = i + 1;
    }
  }
  return std::string(text);
}

}  // namespace draftscope::profiler::cupti
