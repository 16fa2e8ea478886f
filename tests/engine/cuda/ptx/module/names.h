// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The names of a kernel's body, by the braces that they are declared in.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "module/module.h"

namespace draftscope::ptx {

/// Names of registers, variables and labels. A name is looked for from the innermost scope outwards.
class Names {
 public:
  /// A branch that is not resolved yet: an operand of an instruction.
  struct LabelUse {
    std::size_t instruction;
    std::size_t operand;
    std::string_view label;
  };

  void open();
  /// Resolves what branches to this scope's labels; the rest is the enclosing scope's. Returns what no scope
  /// has, once the outermost one is closed.
  std::optional<LabelUse> close(Entry& entry);
  [[nodiscard]] bool is_open() const { return !scopes_.empty(); }

  void add_register(Entry& entry, std::string_view name, Type type);
  /// `name` with each of the numbers 0 … count - 1.
  void add_registers(Entry& entry, std::string_view name, std::int32_t count, Type type);
  /// False if the scope has that label already.
  bool add_label(std::string_view name, std::int32_t instruction);
  void add_variable(std::string_view name, std::int32_t index);
  void use_label(const LabelUse& use) { scopes_.back().uses.push_back(use); }

  [[nodiscard]] std::optional<std::int32_t> find_register(std::string_view name) const;
  [[nodiscard]] std::optional<std::int32_t> find_variable(std::string_view name) const;

 private:
  struct Numbered {
    std::int32_t count;
    std::int32_t first;
  };
  using Indices = std::unordered_map<std::string_view, std::int32_t>;
  struct Scope {
    Indices registers;
    std::unordered_map<std::string_view, Numbered> numbered;
    Indices variables;
    Indices labels;
    std::vector<LabelUse> uses;
  };
  std::vector<Scope> scopes_;
};

}  // namespace draftscope::ptx
