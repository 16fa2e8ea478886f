// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a tokenizer.json, a zero byte, a text, a zero byte, a chat template. Any input is read or refused,
// ids stay within the vocabulary, and a stream decodes to the same text as the whole.

#include <draftscope/engine/tokenizer.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>

#include "promises.h"

namespace {

using draftscope::engine::Message;
using draftscope::engine::StreamDecoder;
using draftscope::engine::Tokenizer;
using draftscope::fuzz::require;
using draftscope::fuzz::take_part;

void check_text(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  if (!ids) return;
  for (const bool skip : {false, true}) {
    StreamDecoder decoder(tokenizer, skip);
    std::string joined;
    for (const auto id : *ids) {
      require(id >= 0 && id < tokenizer.vocab_size());
      joined += decoder.next(id);
    }
    joined += decoder.finish();
    require(joined == tokenizer.decode(*ids, skip));
    require(Tokenizer::bytes(256).encode(joined).has_value());  // it refuses invalid UTF-8
  }
}

std::string configuration(std::string_view chat_template) {
  const nlohmann::json json{{"bos_token", "<s>"}, {"chat_template", std::string(chat_template)}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view tokenizer_json = take_part(input);
  // A hostile expression may take its full allowance of steps at every byte, so the text is kept short.
  const std::string_view text = take_part(input).substr(0, 256);
  const auto tokenizer = Tokenizer::parse(tokenizer_json, configuration(input));
  if (!tokenizer) return 0;
  check_text(*tokenizer, text);
  const Message messages[] = {
      {"system", "be brief"}, {"user", " hi "}, {"assistant", "yes"}, {"user", std::string(text)}};
  std::ignore = tokenizer->apply_chat_template(messages);
  return 0;
}
