// SPDX-License-Identifier: GPL-3.0-or-later
// Input: the body of a request to a server. Either API reads it within its limits or refuses it in one line.

#include <draftscope/engine/sampling.h>
#include <draftscope/engine/stop_strings.h>

#include <cstdint>

#include "promises.h"
#include "serve/completion_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace draftscope;
  using namespace draftscope::fuzz;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const cli::CompletionKind kind : {cli::CompletionKind::text, cli::CompletionKind::chat}) {
    const auto request = cli::parse_completion_request(body, kind, {});
    require_value_or_line(request);
    if (!request) {
      require(cli::field_of_error(request.error().message).size() < 64, "a field without an end");
      continue;
    }
    require(request->decoding.max_tokens > 0, "no tokens");
    require(engine::check(request->decoding.sampling).has_value(), "sampling out of its range");
    require(engine::check_stop_strings(request->decoding.stop_strings).has_value(), "a wrong stop string");
    require(request->decoding.stop_strings.size() <= cli::max_stop_strings, "too many stop strings");
    require(request->messages.size() <= cli::max_messages, "too many messages");
    const bool is_chat = kind == cli::CompletionKind::chat;
    require(is_chat != request->messages.empty(), "messages where none belong, or none");
    require(is_chat || request->prompt.empty() != request->prompt_tokens.empty(), "two prompts, or none");
  }
  return 0;
}
