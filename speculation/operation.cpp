// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/operation.h>

#include <array>
#include <utility>

namespace draftscope::speculation {

std::string_view operation_name(Operation operation) {
  constexpr std::array<std::string_view, operation_count> names{
      "qkv", "output projection", "gate up", "down", "head", "attention", "small operations"};
  return names[static_cast<std::size_t>(operation)];
}

std::span<const std::pair<std::string_view, Operation>> operation_spans() {
  static constexpr std::array<std::pair<std::string_view, Operation>, 9> spans{
      {{"qkv", Operation::qkv},
       {"output projection", Operation::output},
       {"gate up", Operation::gate_up},
       {"down", Operation::down},
       {"head", Operation::head},
       {"attention", Operation::attention},
       {"attention norm", Operation::small},
       {"mlp norm", Operation::small},
       {"rope", Operation::small}}};
  return spans;
}

std::optional<Operation> operation_of_span(std::string_view span_name) {
  const std::string_view name = span_name.substr(0, span_name.find(':'));
  for (const auto& [span, operation] : operation_spans())
    if (span == name) return operation;
  return std::nullopt;
}

}  // namespace draftscope::speculation
