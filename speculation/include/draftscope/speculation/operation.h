// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The operations in a pass over a decoder layer, under the names that recorded spans and kernels have. All
// functions are thread-safe.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace draftscope::speculation {

/// An operation of a layer, or the head. The first product_count are matrix products; `small` are norms,
/// rotary embedding, gates and residuals, which move activations only.
enum class Operation : std::uint8_t { qkv, output, gate_up, down, head, attention, small };
inline constexpr std::size_t operation_count = 7;
inline constexpr std::size_t product_count = 5;

/// Spans per layer that `small` sums up.
inline constexpr double small_spans_per_layer = 3.0;

/// Name of an operation: "qkv", "output projection", …, "small operations".
[[nodiscard]] std::string_view operation_name(Operation operation);

/// Every span name of an operation, paired with the operation.
[[nodiscard]] std::span<const std::pair<std::string_view, Operation>> operation_spans();

/// The operation of a span or of a kernel's short name: the text before a colon decides, "qkv: wide product".
/// None for anything else, such as a whole layer.
[[nodiscard]] std::optional<Operation> operation_of_span(std::string_view span_name);

}  // namespace draftscope::speculation
