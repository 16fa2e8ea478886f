// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/reply.h"

#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace draftscope::cli {

namespace {

using ReplyJson = nlohmann::ordered_json;

std::string line_of(const ReplyJson& json) {
  return json.dump(-1, ' ', false, ReplyJson::error_handler_t::replace);
}

std::string event_of(const ReplyJson& json) {
  return "data: " + line_of(json) + "\n\n";
}

bool ended_by_itself(const CompletionResult& result) {
  return result.end == CompletionEnd::stop || result.end == CompletionEnd::length;
}

ReplyJson usage_json(const ReplyHeader& header, std::int64_t completion_tokens) {
  return {{"prompt_tokens", header.prompt_tokens},
          {"completion_tokens", completion_tokens},
          {"total_tokens", header.prompt_tokens + completion_tokens}};
}

/// Reply or event with one choice; `finish` null = the text goes on.
ReplyJson with_choice(const ReplyHeader& header, bool is_event, ReplyJson content, ReplyJson finish) {
  const bool is_chat = header.kind == CompletionKind::chat;
  ReplyJson choice{{"index", 0}};
  choice[!is_chat ? "text" : is_event ? "delta" : "message"] = std::move(content);
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = std::move(finish);
  return {{"id", fmt::format("{}-{}", is_chat ? "chatcmpl" : "cmpl", header.number)},
          {"object", !is_chat   ? "text_completion"
                     : is_event ? "chat.completion.chunk"
                                : "chat.completion"},
          {"created", header.created_s},
          {"model", header.model},
          {"choices", ReplyJson::array({std::move(choice)})}};
}

/// Event with one choice. Where the last event alone holds the usage, all others say that they do not.
std::string choice_event(const ReplyHeader& header, ReplyJson content, ReplyJson finish,
                         std::int64_t completion_tokens, UsageEvents usage) {
  ReplyJson event = with_choice(header, true, std::move(content), std::move(finish));
  if (usage != UsageEvents::none)
    event["usage"] = usage == UsageEvents::all ? usage_json(header, completion_tokens) : nullptr;
  return event_of(event);
}

ReplyJson model_json(std::string_view model, std::int64_t created_s) {
  return {{"id", model}, {"object", "model"}, {"created", created_s}, {"owned_by", "draftscope"}};
}

ReplyJson error_json(int status, std::string_view message, std::string_view field) {
  ReplyJson error{{"message", message},
                  {"type", status == 503   ? "service_unavailable"
                           : status >= 500 ? "server_error"
                                           : "invalid_request_error"}};
  error["param"] = field.empty() ? ReplyJson(nullptr) : ReplyJson(field);
  error["code"] = status;
  return {{"error", std::move(error)}};
}

}  // namespace

std::string whole_reply(const ReplyHeader& header, std::string_view text, const CompletionResult& result) {
  ReplyJson content = text;
  if (header.kind == CompletionKind::chat) content = {{"role", "assistant"}, {"content", text}};
  ReplyJson reply = with_choice(header, false, std::move(content), completion_end_name(result.end));
  reply["usage"] = usage_json(header, result.completion_tokens);
  return line_of(reply);
}

std::string first_events(const ReplyHeader& header, UsageEvents usage) {
  if (header.kind != CompletionKind::chat) return {};
  return choice_event(header, {{"role", "assistant"}, {"content", ""}}, nullptr, 0, usage);
}

std::string text_event(const ReplyHeader& header, std::string_view text, std::int64_t completion_tokens,
                       UsageEvents usage) {
  ReplyJson content = text;
  if (header.kind == CompletionKind::chat) content = {{"content", text}};
  return choice_event(header, std::move(content), nullptr, completion_tokens, usage);
}

std::string last_events(const ReplyHeader& header, const CompletionResult& result, UsageEvents usage) {
  if (!ended_by_itself(result)) return event_of(error_json(status_of(result), reason_of(result), ""));
  ReplyJson nothing = header.kind == CompletionKind::chat ? ReplyJson::object() : ReplyJson("");
  std::string events = choice_event(header, std::move(nothing), completion_end_name(result.end),
                                    result.completion_tokens, usage);
  if (usage != UsageEvents::none) {
    ReplyJson last = with_choice(header, true, "", nullptr);
    last["choices"] = ReplyJson::array();
    last["usage"] = usage_json(header, result.completion_tokens);
    events += event_of(last);
  }
  return events + "data: [DONE]\n\n";
}

std::string error_reply(int status, std::string_view message, std::string_view field) {
  return line_of(error_json(status, message, field));
}

int status_of(const CompletionResult& result) {
  return result.end == CompletionEnd::error ? 500 : 503;
}

std::string reason_of(const CompletionResult& result) {
  return result.error.empty() ? "the server ends, expected it to go on" : result.error;
}

std::string model_reply(std::string_view model, std::int64_t created_s) {
  return line_of(model_json(model, created_s));
}

std::string models_reply(std::string_view model, std::int64_t created_s) {
  return line_of({{"object", "list"}, {"data", ReplyJson::array({model_json(model, created_s)})}});
}

std::string metrics_text(const ServedCounts& counts, std::string_view model) {
  // A JSON string escapes all that a label's value must.
  const std::string labels = fmt::format("engine=\"0\",model_name={}", line_of(ReplyJson(model)));
  std::string text;
  const auto head = [&](std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(text), "# HELP vllm:{0} {2}\n# TYPE vllm:{0} {1}\n", name, type, help);
  };
  const auto sample = [&](std::string_view name, std::string_view more_labels, std::int64_t value) {
    fmt::format_to(std::back_inserter(text), "vllm:{}{{{}{}}} {}\n", name, labels, more_labels, value);
  };
  struct Metric {
    std::string_view name;
    std::string_view type;
    std::string_view help;
    std::int64_t value;
  };
  const Metric metrics[] = {
      {"num_requests_running", "gauge", "Completions that are decoded.", counts.running},
      {"num_requests_waiting", "gauge", "Completions that wait.", counts.waiting},
      {"prompt_tokens_total", "counter", "Tokens of the prompts.", counts.prompt_tokens},
      {"generation_tokens_total", "counter", "Tokens of the output.", counts.generation_tokens},
      {"spec_decode_num_drafts_total", "counter", "Rounds with draft tokens.", counts.drafts},
      {"spec_decode_num_draft_tokens_total", "counter", "Draft tokens.", counts.draft_tokens},
      {"spec_decode_num_accepted_tokens_total", "counter", "Accepted draft tokens.", counts.accepted_tokens},
      {"requests_refused_total", "counter", "Completions that found the queue full.", counts.refused}};
  for (const Metric& metric : metrics) {
    head(metric.name, metric.type, metric.help);
    sample(metric.name, "", metric.value);
  }
  head("spec_decode_num_accepted_tokens_per_pos_total", "counter", "Accepted draft tokens by position.");
  for (std::size_t position = 0; position < counts.accepted_per_position.size(); ++position)
    sample("spec_decode_num_accepted_tokens_per_pos_total", fmt::format(",position=\"{}\"", position),
           counts.accepted_per_position[position]);
  head("request_success_total", "counter", "Completions by the reason of their end.");
  for (std::size_t end = 0; end < completion_ends; ++end)
    sample("request_success_total",
           fmt::format(",finished_reason=\"{}\"", completion_end_name(static_cast<CompletionEnd>(end))),
           counts.ended[end]);
  return text;
}

}  // namespace draftscope::cli
