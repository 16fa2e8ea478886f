// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Limits of one rendering. A chat template is a program that comes with a model from an unknown source.

#include <draftscope/base/result.h>
#include <cstddef>
#include <string>
#include <string_view>

#include "tokenizer/jinja/charge.h"
#include "tokenizer/jinja/value.h"

namespace draftscope::engine::jinja {

/// A published template takes about 100 steps per message and uses memory of a few times the conversation.
struct Limits {
  std::size_t steps = 50'000'000;
  std::size_t value_bytes = std::size_t{256} << 20U;
  int depth = 100;   ///< nesting of lists and dictionaries, which are freed recursively
  int levels = 600;  ///< nesting of statements, expressions and calls, which use the stack
  std::size_t output_bytes = std::size_t{16} << 20U;
};

/// Max bytes of a text.
inline constexpr std::size_t longest_text = std::size_t{16} << 20U;

/// Counts the resources of a rendering. It must outlive the values that the rendering makes.
class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits) {}

  /// Sets the line that messages name.
  void at_line(std::size_t line) { line_ = line; }

  /// Counts statements, turns of loops, expressions, and the members that an operation looks at.
  [[nodiscard]] Result<void> steps(std::size_t count);
  /// Counts the steps of an operation that reads or copies this number of bytes of text.
  [[nodiscard]] Result<void> bytes_read(std::size_t bytes) { return steps(bytes / bytes_per_step); }

  /// Checks for room; call it before a value of known size is made.
  [[nodiscard]] Result<void> room(std::size_t bytes) const;
  [[nodiscard]] Result<void> room_for_members(std::size_t count) const { return room(count * sizeof(Value)); }

  [[nodiscard]] Result<Value> text(std::string text, Form form = Form::plain);
  /// Refuses a namespace and a loop among the members.
  [[nodiscard]] Result<Value> list(List list, Form form = Form::plain);
  [[nodiscard]] Result<Value> dictionary(Dictionary entries);
  /// An object whose items and name count; they are not to grow later.
  [[nodiscard]] Result<Value> object(Object object);
  [[nodiscard]] Result<Value> generator(List items);

  /// Counts levels of statements, expressions and calls within each other; a macro may call itself.
  [[nodiscard]] Result<void> enter();
  void leave() { --levels_; }

  /// Appends to an output; those of blocks that are still open count together.
  [[nodiscard]] Result<void> append(std::string& output, std::string_view text);
  /// Ends an output that was appended to.
  void close(const std::string& output) { open_output_bytes_ -= output.size(); }

 private:
  static constexpr std::size_t bytes_per_step = 16;

  template <typename Content>
  Result<Value> hold(Content content, std::size_t bytes, Form form);
  [[nodiscard]] Result<Value> checked(Value value) const;

  Limits limits_;
  std::size_t line_ = 1;
  std::size_t steps_ = 0;
  std::size_t held_bytes_ = 0;
  std::size_t open_output_bytes_ = 0;
  int levels_ = 0;
};

}  // namespace draftscope::engine::jinja
