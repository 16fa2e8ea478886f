// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Bodies of a server's answers: JSON in the shapes of OpenAI's API, and metrics in Prometheus' text format
// with the names that vLLM uses.

#include <cstdint>
#include <string>
#include <string_view>

#include "serve/exchange.h"

namespace draftscope::cli {

/// Identity of one completion, which each of its replies repeats.
struct ReplyHeader {
  CompletionKind kind = CompletionKind::text;
  std::int64_t number = 0;
  std::int64_t created_s = 0;  ///< Seconds since 1970.
  std::string model;
  std::int64_t prompt_tokens = 0;
};

/// The whole reply, for a client that does not stream.
[[nodiscard]] std::string whole_reply(const ReplyHeader& header, std::string_view text,
                                      const CompletionResult& result);

/// Events of a stream for its first piece of text, and for a later one.
[[nodiscard]] std::string first_events(const ReplyHeader& header, UsageEvents usage);
[[nodiscard]] std::string text_event(const ReplyHeader& header, std::string_view text,
                                     std::int64_t completion_tokens, UsageEvents usage);
/// Events that end a stream; those of an error if the text did not end by itself.
[[nodiscard]] std::string last_events(const ReplyHeader& header, const CompletionResult& result,
                                      UsageEvents usage);

/// Body of an answer with this status, from 400. `field` is the field at fault; "" = none.
[[nodiscard]] std::string error_reply(int status, std::string_view message, std::string_view field = "");
/// Status for a completion that ended with abort or error.
[[nodiscard]] int status_of(const CompletionResult& result);
/// One line that says why a completion did not end by itself.
[[nodiscard]] std::string reason_of(const CompletionResult& result);

/// The list of the one model.
[[nodiscard]] std::string model_reply(std::string_view model, std::int64_t created_s);
[[nodiscard]] std::string models_reply(std::string_view model, std::int64_t created_s);
[[nodiscard]] std::string metrics_text(const ServedCounts& counts, std::string_view model);

}  // namespace draftscope::cli
