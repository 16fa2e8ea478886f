// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a tokenizer_config.json, next to a sound tokenizer. Any input is read or refused in one line, and
// its chat template renders a conversation or gives the reason why not.

#include <draftscope/engine/tokenizer.h>

#include <cstdint>

#include "promises.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace draftscope;
  using namespace draftscope::fuzz;
  static constexpr std::string_view sound =
      R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})";
  require(engine::Tokenizer::parse(sound).has_value(), "the tokenizer is not sound");
  const auto tokenizer = engine::Tokenizer::parse(sound, {reinterpret_cast<const char*>(data), size});
  require_value_or_line(tokenizer);
  if (!tokenizer) return 0;
  const engine::Message messages[] = {{"system", "be brief"}, {"user", " hi "}, {"assistant", "yes"}};
  require_value_or_line(tokenizer->apply_chat_template(messages));
  return 0;
}
