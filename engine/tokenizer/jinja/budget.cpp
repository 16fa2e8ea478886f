// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/budget.h"

#include <utility>

namespace draftscope::engine::jinja {

Result<void> Budget::steps(std::size_t count) {
  if (count > limits_.steps - steps_)
    return fail("line {}: more than {} steps, expected at most {}", line_, limits_.steps, limits_.steps);
  steps_ += count;
  return {};
}

Result<void> Budget::room(std::size_t bytes) const {
  if (bytes > limits_.value_bytes - held_bytes_)
    return fail("line {}: more than {} bytes of values, expected at most {}", line_, limits_.value_bytes,
                limits_.value_bytes);
  return {};
}

template <typename Content>
Result<Value> Budget::hold(Content content, std::size_t bytes) {
  bytes += sizeof(Shared<Content>) + 2 * sizeof(void*);  // Includes the reference counts.
  DRAFTSCOPE_TRY(room(bytes));
  Value value(std::move(content), Charge(bytes, held_bytes_));
  if (value.depth() > limits_.depth)
    return fail("line {}: values nested more than {} deep, expected at most {}", line_, limits_.depth,
                limits_.depth);
  return value;
}

Result<Value> Budget::text(std::string text) {
  const std::size_t bytes = text.capacity();
  return hold(std::move(text), bytes);
}

Result<Value> Budget::list(List list) {
  const std::size_t bytes = list.capacity() * sizeof(Value);
  return hold(std::move(list), bytes);
}

Result<Value> Budget::dictionary(Dictionary entries) {
  std::size_t bytes = entries.capacity() * sizeof(Dictionary::value_type);
  for (const auto& [key, value] : entries) bytes += key.capacity();
  return hold(std::move(entries), bytes);
}

Result<void> Budget::append(std::string& output, std::string_view text) {
  if (text.size() > limits_.output_bytes - output.size())
    return fail("line {}: more than {} bytes of output, expected at most {}", line_, limits_.output_bytes,
                limits_.output_bytes);
  output += text;
  return bytes_read(text.size());
}

}  // namespace draftscope::engine::jinja
