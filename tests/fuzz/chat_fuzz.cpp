// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a chat template, a zero byte, then the contents of messages with a zero byte between them. Any input
// is rendered within its limits or refused in one line.

#include <algorithm>
#include <cstdint>

#include "promises.h"
#include "tokenizer/jinja/render.h"

namespace {

using namespace draftscope;
using namespace draftscope::engine::jinja;
using namespace draftscope::fuzz;

/// The limits are small, so that inputs which reach them take no time.
constexpr Limits limits{
    .steps = 100'000, .value_bytes = std::size_t{4} << 20U, .depth = 100, .output_bytes = 1U << 20U};

Value text(std::string_view content) {
  return {std::string(content), Charge()};
}

Variables variables(std::string_view contents) {
  static constexpr std::string_view roles[] = {"system", "user", "assistant"};
  List messages;
  while (!contents.empty() && messages.size() < 50) {
    const std::string_view role = roles[messages.empty() ? 0 : 1 + (messages.size() - 1) % 2];
    messages.emplace_back(Dictionary{{"role", text(role)}, {"content", text(take_part(contents))}}, Charge());
  }
  return {{"bos_token", text("<s>")},
          {"eos_token", text("</s>")},
          {"messages", Value(std::move(messages), Charge())},
          {"tools", None{}},
          {"add_generation_prompt", true}};
}

/// A message quotes at most 120 bytes, and may write a byte as four characters.
void require_short_line(const Error& error) {
  require_one_line(error);
  require(error.message.size() < 600, error.message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto block = parse_template(take_part(input));
  if (!block) {
    require_short_line(block.error());
    return 0;
  }
  const auto rendered = render(*block, variables(input), limits);
  if (rendered)
    require(rendered->size() <= limits.output_bytes, "the output is longer than its limit");
  else
    require_short_line(rendered.error());
  return 0;
}
