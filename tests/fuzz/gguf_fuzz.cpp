// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a GGUF file. Any input is a model and a tokenizer or is refused in one line. A loaded model can be
// read to its last byte, and encoded text decodes to the same in a stream and as a whole.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/tokenizer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "promises.h"

namespace {

using draftscope::engine::Checkpoint;
using draftscope::engine::StreamDecoder;
using draftscope::engine::Tokenizer;
using draftscope::fuzz::require;
using draftscope::fuzz::require_one_line;

void check_model(const Checkpoint& checkpoint) {
  const auto& shape = checkpoint.shape;
  require(draftscope::speculation::check_shape(shape, "loaded").has_value(), "a shape that is sound");
  require(shape.bos_token >= -1 && shape.bos_token < shape.vocab, "the first token");
  for (const auto token : shape.eos_tokens) require(token >= 0 && token < shape.vocab, "a last token");
  require(checkpoint.hash.size() == 32, "a hash");
  std::ignore = draftscope::engine::check_finite(checkpoint);  // reads every weight
}

void check_tokenizer(const Tokenizer& tokenizer) {
  for (const std::string_view text : {" Hello, world\n 123", "<s>\u00e9\u4f60\U0001f642'll"}) {
    const auto ids = tokenizer.encode(text);
    if (!ids) {
      require_one_line(ids.error());
      continue;
    }
    StreamDecoder decoder(tokenizer, false);
    std::string joined;
    for (const auto id : *ids) {
      require(id >= 0 && id < tokenizer.vocab_size(), "an id of the vocabulary");
      joined += decoder.next(id);
    }
    joined += decoder.finish();
    require(joined == tokenizer.decode(*ids, false), "the same text in a stream");
  }
  const draftscope::engine::Message messages[] = {{"user", "hi"}};
  std::ignore = tokenizer.apply_chat_template(messages);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const draftscope::fuzz::InputFile file(".gguf", {reinterpret_cast<const char*>(data), size});
  if (const auto checkpoint = draftscope::engine::load_gguf(file.path())) {
    check_model(*checkpoint);
  } else {
    require_one_line(checkpoint.error());
  }
  if (const auto tokenizer = Tokenizer::load(file.path())) {
    check_tokenizer(*tokenizer);
  } else {
    require_one_line(tokenizer.error());
  }
  return 0;
}
