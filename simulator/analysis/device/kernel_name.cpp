// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/device_timeline.h>

#include <array>
#include <cctype>
#include <utility>

namespace draftscope::simulator {

namespace {

constexpr std::string_view anonymous = "(anonymous namespace)::";
/// Kernels of the engine that compute one operation alone, by a word of their names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> operations_by_word{
    {{"QkvOp", "qkv"},
     {"FinishWideQkv", "qkv"},
     {"AttentionKernel", "attention"},
     {"PrefillAttentionKernel", "attention"},
     {"OutputOp", "output projection"},
     {"GateUpOp", "gate up"},
     {"FinishWideGate", "gate up"},
     {"DownOp", "down"},
     {"HeadOp", "head"},
     {"FinishHead", "head"},
     {"LoadInputs", "embedding"}}};

bool is_of_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Length of the namespace that `text` begins with, its colons included; 0 if it begins with none.
std::size_t namespace_length(std::string_view text) {
  if (text.starts_with(anonymous)) return anonymous.size();
  std::size_t length = 0;
  while (length < text.size() && is_of_identifier(text[length])) ++length;
  return length > 0 && text.substr(length).starts_with("::") ? length + 2 : 0;
}

/// The name without its parameters, which begin at the first parenthesis outside of template arguments.
std::string_view without_parameters(std::string_view name) {
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(anonymous))
      i += anonymous.size() - 1;
    else if (name[i] == '<')
      ++depth;
    else if (name[i] == '>')
      --depth;
    else if (name[i] == '(' && depth == 0 && i > 0 && (is_of_identifier(name[i - 1]) || name[i - 1] == '>'))
      return name.substr(0, i);
  }
  return name;
}

/// Operation of one of the engine's kernels, by the words of its name; empty for others.
std::string_view operation_of(std::string_view name) {
  for (const auto& [word, operation] : operations_by_word)
    for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1))
      if ((at == 0 || !is_of_identifier(name[at - 1])) &&
          (at + word.size() == name.size() || !is_of_identifier(name[at + word.size()])))
        return operation;
  return {};
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  if (name.find(anonymous) == std::string_view::npos && name.find('<') == std::string_view::npos)
    return std::string(name);
  const std::size_t colon = name.find(": ");
  const std::size_t begin = colon == std::string_view::npos ? 0 : colon + 2;
  std::string short_name(name.substr(0, begin));
  const bool is_of_engine = name.find("draftscope::engine::") != std::string_view::npos;
  name.remove_prefix(begin);
  if (name.starts_with("void ")) name.remove_prefix(5);
  name = without_parameters(name);
  if (is_of_engine) {
    if (const std::string_view operation = operation_of(name); begin == 0 && !operation.empty())
      short_name.append(operation).append(": ");
    const std::size_t arguments = name.find('<') + 1;
    if (name.substr(0, arguments).ends_with("::entry<") && name.ends_with('>')) {
      name.remove_prefix(arguments);
      name.remove_suffix(name.ends_with(" >") ? 2 : 1);
    }
  }
  for (bool is_begun = false; !name.empty();) {
    if (const std::size_t length = is_begun ? 0 : namespace_length(name); length > 0) {
      name.remove_prefix(length);
      continue;
    }
    is_begun = is_of_identifier(name.front());
    if (!name.starts_with(" >") || !short_name.ends_with('>')) short_name += name.front();
    name.remove_prefix(1);
  }
  return short_name;
}

std::string_view operation_of_kernel(std::string_view short_name) {
  if (const std::size_t colon = short_name.find(": "); colon != std::string_view::npos)
    return short_name.substr(0, colon);
  const std::size_t arguments = short_name.find('<');
  return arguments == 0 ? short_name : short_name.substr(0, arguments);
}

}  // namespace draftscope::simulator
