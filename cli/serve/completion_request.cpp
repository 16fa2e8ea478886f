// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/completion_request.h"

#include <draftscope/base/closest_names.h>
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/engine/sampling.h>
#include <draftscope/engine/stop_strings.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

namespace draftscope::cli {

namespace {

constexpr std::string_view whole_body = "request";
constexpr std::int32_t max_integer = std::numeric_limits<std::int32_t>::max();

using FieldReader = Result<void> (*)(const JsonField&, CompletionRequest&);

constexpr Range<double> temperatures{0.0, 1000.0};
constexpr Range<double> shares{0.0, 1.0};
constexpr Range<double> count_penalties{-engine::max_count_penalty, engine::max_count_penalty};
constexpr Range<double> repetition_penalties{engine::min_repetition_penalty, engine::max_repetition_penalty};

/// Reads a member of the request as `read` does.
template <auto member, auto read>
Result<void> read_member(const JsonField& field, CompletionRequest& request) {
  DRAFTSCOPE_TRY_ASSIGN(request.*member, (field.*read)());
  return {};
}

/// Reads a number into a member of the sampling options.
template <double engine::SamplingOptions::*member, const Range<double>& range>
Result<void> read_sampling(const JsonField& field, CompletionRequest& request) {
  DRAFTSCOPE_TRY_ASSIGN(request.decoding.sampling.*member, field.number(range));
  return {};
}

Result<void> read_top_p(const JsonField& field, CompletionRequest& request) {
  constexpr double first_token_alone = 1e-9;  // Less than any vocabulary's likeliest token has.
  DRAFTSCOPE_TRY_ASSIGN(const double share, field.number(shares));
  request.decoding.sampling.top_p = std::max(share, first_token_alone);
  return {};
}

Result<void> read_top_k(const JsonField& field, CompletionRequest& request) {
  // Other servers also take -1 for all tokens.
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t count, field.integer<std::int32_t>({-1, max_integer}));
  request.decoding.sampling.top_k = std::max(count, 0);
  return {};
}

/// Reads an object of token ids, as texts, and what is added to their logits.
Result<void> read_logit_bias(const JsonField& field, CompletionRequest& request) {
  constexpr Range<double> biases{-engine::max_logit_bias, engine::max_logit_bias};
  std::vector<engine::TokenBias>& all = request.decoding.sampling.logit_bias;
  all.clear();
  DRAFTSCOPE_TRY_ASSIGN(const auto members, field.members());
  all.reserve(members.size());
  std::unordered_set<std::int32_t> named;
  for (const auto& [name, member] : members) {
    const auto token = parse_number<std::int32_t>(name);
    if (!token || *token < 0)
      return fail("{}: logit_bias names {}, expected the id of a token", whole_body, quote(name));
    DRAFTSCOPE_TRY_ASSIGN(const double bias, member.number(biases));
    if (!named.insert(*token).second)
      return fail("{}: logit_bias names token {} twice, expected each token once", whole_body, *token);
    all.push_back({*token, bias});
  }
  return {};
}

Result<void> read_max_tokens(const JsonField& field, CompletionRequest& request) {
  DRAFTSCOPE_TRY_ASSIGN(request.decoding.max_tokens, field.integer<std::int32_t>({1, max_integer}));
  return {};
}

Result<void> read_seed(const JsonField& field, CompletionRequest& request) {
  if (field.value().is_number_unsigned()) {
    DRAFTSCOPE_TRY_ASSIGN(request.decoding.seed, field.integer<std::uint64_t>());
    return {};
  }
  // The API's seeds are signed.
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t seed, field.integer<std::int64_t>());
  request.decoding.seed = static_cast<std::uint64_t>(seed);
  return {};
}

Result<void> read_stop(const JsonField& field, CompletionRequest& request) {
  engine::StopStrings& strings = request.decoding.stop_strings;
  strings.clear();
  if (field.value().is_string()) {
    DRAFTSCOPE_TRY_ASSIGN(std::string text, field.text());
    strings.push_back(std::move(text));
  } else {
    DRAFTSCOPE_TRY_ASSIGN(strings, field.texts());
  }
  if (strings.size() > max_stop_strings)
    return fail("{}: stop has {} texts, expected at most {}", whole_body, strings.size(), max_stop_strings);
  if (const auto checked = engine::check_stop_strings(strings); !checked)
    return fail("{}: {}", whole_body, checked.error().message);
  return {};
}

Result<void> read_stream_options(const JsonField& field, CompletionRequest& request) {
  DRAFTSCOPE_TRY_ASSIGN(const auto members, field.members());
  for (const auto& [name, member] : members)
    if (name != "include_usage" && name != "continuous_usage_stats" && name != "include_obfuscation")
      return fail("{}: {} is not known, expected include_usage or continuous_usage_stats", whole_body,
                  member.path());
  DRAFTSCOPE_TRY_ASSIGN(const bool includes_usage, field["include_usage"].boolean_or(false));
  // vLLM's name, which GuideLLM sends: the numbers so far in each event.
  DRAFTSCOPE_TRY_ASSIGN(const bool is_continuous, field["continuous_usage_stats"].boolean_or(false));
  if (includes_usage) request.usage = is_continuous ? UsageEvents::all : UsageEvents::last;
  return {};
}

/// Reads a text, a list of token ids, or a list of one of either.
Result<void> read_prompt(const JsonField& field, CompletionRequest& request) {
  if (field.value().is_string()) {
    DRAFTSCOPE_TRY_ASSIGN(request.prompt, field.text());
    if (request.prompt.empty()) return field.wrong("at least one character");
    return {};
  }
  if (!field.value().is_array()) return field.wrong("a text or a list of token ids");
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<JsonField> elements, field.list());
  if (elements.empty()) return field.wrong("a text, or a list of at least one token id");
  const nlohmann::json& first = elements.front().value();
  if (first.is_string() || first.is_array()) {
    if (elements.size() != 1)
      return fail("{}: prompt has {} texts, expected one: the server decodes one prompt per request",
                  whole_body, elements.size());
    // A list of lists goes no deeper than this.
    if (first.is_array() && !first.empty() && !first.front().is_number())
      return elements.front().wrong("a list of token ids");
    return read_prompt(elements.front(), request);
  }
  request.prompt_tokens.reserve(elements.size());
  for (const JsonField& element : elements) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int32_t token, element.integer<std::int32_t>({0, max_integer}));
    request.prompt_tokens.push_back(token);
  }
  return {};
}

/// Text of a message: a string, or the texts of its parts one after the other.
Result<std::string> content_text(const JsonField& content) {
  if (content.value().is_string()) return content.text();
  if (!content.value().is_array()) return content.wrong("a text or a list of text parts");
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<JsonField> parts, content.list());
  std::string text;
  for (const JsonField& part : parts) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string type, part["type"].text());
    if (type != "text") return part["type"].wrong("'text'");
    DRAFTSCOPE_TRY_ASSIGN(const std::string piece, part["text"].text());
    text += piece;
  }
  return text;
}

Result<engine::Message> message_of(const JsonField& field) {
  DRAFTSCOPE_TRY_ASSIGN(const auto members, field.members());
  // A reply that a client sends back has further members, which are empty for a plain text.
  const auto is_empty = [](const nlohmann::json& value) {
    return value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty();
  };
  for (const auto& [name, member] : members)
    if (name != "role" && name != "content" && name != "name" && !is_empty(member.value()))
      return fail("{}: {} is given, expected role, content and name alone", whole_body, member.path());
  engine::Message message;
  DRAFTSCOPE_TRY_ASSIGN(message.role, field["role"].text());
  if (message.role == "developer") message.role = "system";  // Its newer name in this API.
  if (message.role != "system" && message.role != "user" && message.role != "assistant")
    return field["role"].wrong("system, developer, user or assistant");
  // The name of who speaks is no part of the prompt.
  DRAFTSCOPE_TRY(field["name"].text_or(""));
  // Only a reply may lack a content.
  if (message.role == "assistant" && field["content"].is_missing()) return message;
  DRAFTSCOPE_TRY_ASSIGN(message.content, content_text(field["content"]));
  return message;
}

Result<void> read_messages(const JsonField& field, CompletionRequest& request) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<JsonField> messages, field.list());
  if (messages.empty() || messages.size() > max_messages)
    return fail("{}: messages has {} elements, expected from 1 to {}", whole_body, messages.size(),
                max_messages);
  request.messages.reserve(messages.size());
  for (const JsonField& one : messages) {
    DRAFTSCOPE_TRY_ASSIGN(engine::Message message, message_of(one));
    request.messages.push_back(std::move(message));
  }
  return {};
}

Result<void> read_template_arguments(const JsonField& field, CompletionRequest& request) {
  DRAFTSCOPE_TRY(field.object());
  if (!field.value().empty()) request.template_arguments = field.value().dump();
  return {};
}

enum class Of : std::uint8_t { both, text, chat };

/// One field of a request. Without a reader it is only accepted with its neutral value, as JSON, which
/// changes nothing; with neither it has no influence on the text, and any value is accepted.
struct RequestField {
  std::string_view name;
  FieldReader read = nullptr;
  std::string_view neutral;
  Of of = Of::both;
};

using engine::SamplingOptions;

constexpr RequestField request_fields[] = {
    {"model", read_member<&CompletionRequest::model, &JsonField::text>},
    {"prompt", read_prompt, {}, Of::text},
    {"messages", read_messages, {}, Of::chat},
    {"chat_template_kwargs", read_template_arguments, {}, Of::chat},
    {"max_tokens", read_max_tokens},
    {"max_completion_tokens", read_max_tokens},
    {"temperature", read_sampling<&SamplingOptions::temperature, temperatures>},
    {"top_p", read_top_p},
    {"top_k", read_top_k},
    {"repetition_penalty", read_sampling<&SamplingOptions::repetition_penalty, repetition_penalties>},
    {"seed", read_seed},
    {"stop", read_stop},
    {"ignore_eos", read_member<&CompletionRequest::ignores_end, &JsonField::boolean>},
    {"stream", read_member<&CompletionRequest::streams, &JsonField::boolean>},
    {"stream_options", read_stream_options},
    {"min_p", read_sampling<&SamplingOptions::min_p, shares>},
    {"presence_penalty", read_sampling<&SamplingOptions::presence_penalty, count_penalties>},
    {"frequency_penalty", read_sampling<&SamplingOptions::frequency_penalty, count_penalties>},
    {"logit_bias", read_logit_bias},
    {"n", nullptr, "1"},
    {"best_of", nullptr, "1", Of::text},
    {"echo", nullptr, "false", Of::text},
    {"suffix", nullptr, "\"\"", Of::text},
    {"logprobs", nullptr, "false"},
    {"top_logprobs", nullptr, "0", Of::chat},
    {"min_tokens", nullptr, "0"},
    {"response_format", nullptr, R"({"type":"text"})"},
    {"modalities", nullptr, R"(["text"])", Of::chat},
    {"tools", nullptr, "[]", Of::chat},
    {"tool_choice", nullptr, "\"none\"", Of::chat},
    {"functions", nullptr, "[]", Of::chat},
    {"function_call", nullptr, "\"none\"", Of::chat},
    {"parallel_tool_calls"},
    {"user"},
    {"metadata"},
    {"store"},
    {"service_tier"},
    {"safety_identifier"},
    {"prompt_cache_key"},
};

/// Gives one form to what clients write in several: a member that is null is left open, and a whole number
/// may have a decimal point.
void unify(nlohmann::json& value) {
  constexpr double max_exact = 0x1p53;
  if (value.is_number_float() && std::abs(value.get<double>()) <= max_exact &&
      std::trunc(value.get<double>()) == value.get<double>())
    value = value.get<std::int64_t>();
  if (value.is_object())
    std::erase_if(value.get_ref<nlohmann::json::object_t&>(),
                  [](const auto& member) { return member.second.is_null(); });
  if (!value.is_structured()) return;
  for (nlohmann::json& element : value) unify(element);
}

bool takes(const RequestField& field, CompletionKind kind) {
  return field.of == Of::both || (field.of == Of::chat) == (kind == CompletionKind::chat);
}

Result<void> read_field(const RequestField& row, const JsonField& field, CompletionRequest& request) {
  if (field.is_missing()) return {};
  if (row.read != nullptr) return row.read(field, request);
  if (row.neutral.empty() || field.value() == nlohmann::json::parse(row.neutral)) return {};
  return fail("{}: {} is not supported, expected {} or nothing", whole_body, row.name, row.neutral);
}

}  // namespace

Result<CompletionRequest> parse_completion_request(std::string_view body, CompletionKind kind,
                                                   const engine::DecodingOptions& defaults) {
  DRAFTSCOPE_TRY_ASSIGN(nlohmann::json json, parse_json_object(body, whole_body));
  unify(json);
  std::vector<std::string> known;
  for (const RequestField& row : request_fields)
    if (takes(row, kind)) known.emplace_back(row.name);
  for (const auto& [name, value] : json.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fail("{}: {} is no field of it, expected {}", whole_body, quote(name),
                  closest_names(name, known));
  if (const auto old = json.find("max_tokens"), now = json.find("max_completion_tokens");
      old != json.end() && now != json.end() && *old != *now)
    return fail("{}: max_completion_tokens is {} and max_tokens {}, expected one of them", whole_body,
                now->dump(), old->dump());
  CompletionRequest request{.kind = kind, .decoding = defaults};
  const JsonField root(json, whole_body);
  for (const RequestField& row : request_fields)
    if (takes(row, kind)) DRAFTSCOPE_TRY(read_field(row, root[row.name], request));
  if (kind == CompletionKind::chat ? request.messages.empty()
                                   : request.prompt.empty() && request.prompt_tokens.empty())
    return fail("{}: {} is missing, expected it", whole_body,
                kind == CompletionKind::chat ? "messages" : "prompt");
  if (request.usage != UsageEvents::none && !request.streams)
    return fail("{}: stream_options is given without stream, expected both", whole_body);
  if (const auto checked = engine::check(request.decoding.sampling); !checked)
    return fail("{}: {}", whole_body, checked.error().message);
  return request;
}

std::string field_of_error(std::string_view message) {
  if (!message.starts_with(whole_body) || message.size() < whole_body.size() + 2) return {};
  const std::string_view rest = message.substr(whole_body.size() + 2);
  // A field that is unknown stands in quotes; one longer than any is not repeated.
  constexpr std::size_t max_name_bytes = 63;
  if (const std::size_t end = rest.find("' is no field"); rest.starts_with('\'') && end <= max_name_bytes)
    return std::string(rest.substr(1, end - 1));
  const std::string_view name = rest.substr(0, rest.find_first_of(" .[:"));
  const auto* const row = std::find_if(std::begin(request_fields), std::end(request_fields),
                                       [&](const RequestField& one) { return one.name == name; });
  return row == std::end(request_fields) ? std::string() : std::string(name);
}

}  // namespace draftscope::cli
