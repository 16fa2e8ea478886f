// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Requests for a completion as OpenAI's API words them: https://platform.openai.com/docs/api-reference/chat
// and …/completions. Bodies are untrusted. A field that would change the text and can't be served is refused
// by its name, and so is an unknown one. Anything that is null is left open.

#include <draftscope/base/result.h>
#include <draftscope/engine/recording/run_identity.h>
#include <draftscope/engine/tokenizer.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::cli {

inline constexpr std::size_t max_body_bytes = std::size_t{4} << 20U;
inline constexpr std::size_t max_messages = 1000;
inline constexpr std::size_t max_stop_strings = 16;

enum class CompletionKind : std::uint8_t { text, chat };

/// Events of a stream that hold the numbers of tokens.
enum class UsageEvents : std::uint8_t { none, last, all };

struct CompletionRequest {
  CompletionKind kind = CompletionKind::text;
  std::string model;   ///< Model that the client names; "" = any.
  std::string prompt;  ///< Text to continue, unless `prompt_tokens` or `messages` have it.
  std::vector<std::int32_t> prompt_tokens;  ///< Prompt as token ids, which are not checked yet.
  std::vector<engine::Message> messages;    ///< Conversation of a chat.
  /// JSON object of the chat template's variables; "" = the server's, as where a client's object is empty.
  std::string template_arguments;
  engine::DecodingOptions decoding;
  bool ignores_end = false;  ///< Whether the text goes on after an end-of-sequence token.
  bool streams = false;
  UsageEvents usage = UsageEvents::none;
};

/// Reads the body of a request; what it leaves open is as in `defaults`. Errors, with the field's name: a
/// body that is no JSON object, and a field that is unknown, missing, of another type or out of its range.
[[nodiscard]] Result<CompletionRequest> parse_completion_request(std::string_view body, CompletionKind kind,
                                                                 const engine::DecodingOptions& defaults);

/// Field that an error of parse_completion_request() names, known or not; "" if it is about the whole body.
[[nodiscard]] std::string field_of_error(std::string_view message);

}  // namespace draftscope::cli
