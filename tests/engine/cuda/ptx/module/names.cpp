// SPDX-License-Identifier: GPL-3.0-or-later
#include "module/names.h"

#include <charconv>
#include <utility>

namespace draftscope::ptx {

void Names::open() {
  scopes_.emplace_back();
}

std::optional<Names::LabelUse> Names::close(Entry& entry) {
  const Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  for (const LabelUse& use : closed.uses) {
    const auto found = closed.labels.find(use.label);
    if (found != closed.labels.end())
      entry.instructions[use.instruction].operands[use.operand].index = found->second;
    else if (scopes_.empty())
      return use;
    else
      scopes_.back().uses.push_back(use);
  }
  return std::nullopt;
}

void Names::add_register(Entry& entry, std::string_view name, Type type) {
  scopes_.back().registers[name] = static_cast<std::int32_t>(entry.registers.size());
  entry.registers.push_back({name, -1, type});
}

void Names::add_registers(Entry& entry, std::string_view name, std::int32_t count, Type type) {
  scopes_.back().numbered[name] = {count, static_cast<std::int32_t>(entry.registers.size())};
  for (std::int32_t i = 0; i < count; ++i) entry.registers.push_back({name, i, type});
}

bool Names::add_label(std::string_view name, std::int32_t instruction) {
  return scopes_.back().labels.emplace(name, instruction).second;
}

void Names::add_variable(std::string_view name, std::int32_t index) {
  scopes_.back().variables[name] = index;
}

std::optional<std::int32_t> Names::find_register(std::string_view name) const {
  const std::size_t last_letter = name.find_last_not_of("0123456789");
  const std::size_t digits = last_letter == std::string_view::npos ? 0 : last_letter + 1;
  std::int32_t number = -1;
  if (digits < name.size()) std::from_chars(name.data() + digits, name.data() + name.size(), number);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->registers.find(name); found != scope->registers.end()) return found->second;
    if (number < 0) continue;
    const auto found = scope->numbered.find(name.substr(0, digits));
    if (found != scope->numbered.end() && number < found->second.count) return found->second.first + number;
  }
  return std::nullopt;
}

std::optional<std::int32_t> Names::find_variable(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->variables.find(name); found != scope->variables.end()) return found->second;
  return std::nullopt;
}

}  // namespace draftscope::ptx
