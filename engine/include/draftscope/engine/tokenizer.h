// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A tokenizer from tokenizer.json, or from the equivalent keys of a GGUF file, of the BPE kinds that
// Llama-family models use. These are byte-level (Llama 3, Qwen2, DeepSeek-Coder split patterns, run by PCRE2)
// and SentencePiece-style with byte fallback (Llama 2, Mistral, Yi, CodeLlama). Token ids equal those of
// Hugging Face tokenizers. A file that asks for something not implemented here is refused at load, by name.
//
// Thread-safety: immutable after loading; encode and decode may run concurrently.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

struct EncodeOptions {
  bool add_special_tokens = true;  ///< Whether to add the post-processor's BOS / EOS.
  /// Whether "<|eot_id|>" in the text becomes the token; otherwise it is plain text.
  bool parse_special_tokens = true;
};

struct Message {
  std::string role;  ///< "system", "user", "assistant"
  std::string content;
};

class Tokenizer {
 public:
  /// Reads a folder's tokenizer.json, and its tokenizer_config.json if there is one; or the tokenizer of a
  /// GGUF file (of the first part if the file is split).
  [[nodiscard]] static Result<Tokenizer> load(const std::filesystem::path& path);
  /// Loads from the text of a tokenizer.json (for tests and fuzzing).
  [[nodiscard]] static Result<Tokenizer> parse(std::string_view tokenizer_json,
                                               std::string_view tokenizer_config_json = {});
  /// A tokenizer for synthetic models, whose text means nothing: bytes have ids 0–255; other ids decode as
  /// ⟨id⟩.
  [[nodiscard]] static Tokenizer bytes(std::int32_t vocab);

  /// Converts text to token ids. Fails on text that is not valid UTF-8 (names the byte offset).
  [[nodiscard]] Result<std::vector<std::int32_t>> encode(std::string_view text,
                                                         const EncodeOptions& options = {}) const;
  [[nodiscard]] std::string decode(std::span<const std::int32_t> tokens,
                                   bool skip_special_tokens = true) const;

  /// Text of one token after other text; U+FFFD for a part of a character. A special token gives its name.
  [[nodiscard]] std::string text_of(std::int32_t token) const;

  /// Highest id of a token, plus 1.
  [[nodiscard]] std::int32_t vocab_size() const;
  /// Highest id of a piece that is no added token, plus 1. A model's table may lack rows of added tokens.
  [[nodiscard]] std::int32_t model_vocab_size() const;
  /// Sentences about what the file holds and is not used, for display. Valid as long as the tokenizer.
  [[nodiscard]] std::span<const std::string> notes() const;
  /// The token as its file writes it; none = no token has this id. Valid as long as the tokenizer.
  [[nodiscard]] std::optional<std::string_view> piece(std::int32_t token) const;
  [[nodiscard]] std::optional<std::int32_t> token_id(std::string_view piece) const;
  [[nodiscard]] bool is_special(std::int32_t token) const;
  /// Name of the kind for display: "byte-level BPE", "BPE with byte fallback", "BPE", "bytes".
  [[nodiscard]] std::string_view kind() const;

  /// Whether the checkpoint has a chat template; chat_template_problem() tells whether it can be rendered.
  [[nodiscard]] bool has_chat_template() const;
  /// Why the chat template cannot be rendered for a user's message; nothing if it can, or if there is none.
  [[nodiscard]] std::optional<std::string> chat_template_problem() const;
  /// Sets variables of the chat template: a JSON object of their values. Fails without a template, for
  /// another text and for the name "messages".
  [[nodiscard]] Result<void> set_template_arguments(std::string_view json);
  /// The prompt text for a conversation, ending where the assistant answers; encode it with
  /// add_special_tokens = false. It runs the template itself, as jinja2 does in Hugging Face's setting. Fails
  /// on names that Jinja does not have, if they are reached, and on exceptions that the template raises.
  [[nodiscard]] Result<std::string> apply_chat_template(std::span<const Message> messages) const;

  class Implementation;

 private:
  friend class StreamDecoder;
  explicit Tokenizer(std::shared_ptr<const Implementation> implementation);
  std::shared_ptr<const Implementation> implementation_;
  std::string template_arguments_;  ///< JSON object; empty = none
};

/// Decodes a growing sequence to text that is valid UTF-8 at every step: bytes of an unfinished character are
/// held back. The concatenation of all pieces and finish() equals Tokenizer::decode of the whole.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special_tokens = true);
  ~StreamDecoder();
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;

  [[nodiscard]] std::string next(std::int32_t token);
  [[nodiscard]] std::string finish();

 private:
  struct State;
  Tokenizer tokenizer_;
  bool skip_special_tokens_;
  std::unique_ptr<State> state_;
};

}  // namespace draftscope::engine
