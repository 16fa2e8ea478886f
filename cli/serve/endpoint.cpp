// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/endpoint.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/quote.h>
#include <draftscope/engine/prompt_tokens.h>

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <span>
#include <thread>
#include <utility>

#include "chat/conversation.h"
#include "serve/completion_request.h"
#include "serve/host_names.h"
#include "serve/listener.h"
#include "serve/reply.h"

namespace draftscope::cli {

namespace {

using namespace std::chrono_literals;

/// Interval between looks at whether a client is still there.
constexpr std::chrono::milliseconds presence_poll{100};
constexpr const char* json_type = "application/json";
constexpr int not_found = 404;
constexpr int too_large = 413;
constexpr int unavailable = 503;
constexpr int bad_request = 400;

std::int64_t seconds_now() {
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  return read_clock_pair().realtime_ns / ns_per_s;
}

void refuse(httplib::Response& response, int status, std::string_view message, std::string_view field = "") {
  response.status = status;
  response.set_content(error_reply(status, message, field), json_type);
}

/// The client of a completion, from its place in the queue to the end of its answer.
class Client {
 public:
  Client(Exchange& exchange, std::shared_ptr<Completion> completion, ReplyHeader header)
      : exchange_(exchange), completion_(std::move(completion)), header_(std::move(header)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { exchange_.leave(completion_); }

  /// Answers with the whole text once it has ended, or with nothing to a client that left.
  void answer(httplib::Response& response) {
    Exchange::Piece piece;
    std::string text;
    while (!piece.result) {
      if (Listener::client_has_left()) return;
      piece = exchange_.take(*completion_, presence_poll);
      text += piece.text;
    }
    if (piece.result->end == CompletionEnd::abort || piece.result->end == CompletionEnd::error)
      refuse(response, status_of(*piece.result), reason_of(*piece.result));
    else
      response.set_content(whole_reply(header_, text, *piece.result), json_type);
  }

  /// Sends the events that there are by now; false if the client left.
  bool send_events(httplib::DataSink& sink) {
    if (!sink.is_writable()) return false;
    const UsageEvents usage = completion_->request.usage;
    const Exchange::Piece piece = exchange_.take(*completion_, presence_poll);
    if (piece.text.empty() && !piece.result) return true;
    std::string events;
    if (!std::exchange(has_begun_, true)) events += first_events(header_, usage);
    if (!piece.text.empty()) events += text_event(header_, piece.text, piece.completion_tokens, usage);
    if (piece.result) events += last_events(header_, *piece.result, usage);
    if (!sink.write(events.data(), events.size())) return false;
    if (piece.result) sink.done();
    return true;
  }

 private:
  Exchange& exchange_;
  std::shared_ptr<Completion> completion_;
  ReplyHeader header_;
  bool has_begun_ = false;
};

}  // namespace

Result<std::shared_ptr<Completion>> prepare_completion(const ServedModel& served, CompletionRequest request) {
  engine::Tokenizer tokenizer = served.model->tokenizer;
  if (!request.template_arguments.empty())
    if (const auto set = tokenizer.set_template_arguments(request.template_arguments); !set)
      return fail("request: chat_template_kwargs: {}", set.error().message);
  auto completion = std::make_shared<Completion>();
  if (request.kind == CompletionKind::chat) {
    // A leading system prompt is checked: some templates leave it out.
    const bool has_system = request.messages.front().role == "system";
    const std::string system = has_system ? request.messages.front().content : "";
    auto text =
        conversation_prompt(tokenizer, system, std::span(request.messages).subspan(system.empty() ? 0 : 1));
    if (!text) return fail("request: messages: {}", text.error().message);
    completion->prompt_text = std::move(*text);
  } else {
    completion->prompt_text = std::move(request.prompt);
  }
  const std::int32_t vocab = served.model->checkpoint->shape.vocab;
  for (const std::int32_t token : request.prompt_tokens)
    if (token >= vocab)
      return fail("request: prompt holds the token id {}, expected ids below {}", token, vocab);
  for (const engine::TokenBias& bias : request.decoding.sampling.logit_bias)
    if (bias.token >= vocab)
      return fail("request: logit_bias names the token id {}, expected ids below {}", bias.token, vocab);
  if (!request.prompt_tokens.empty()) {
    completion->prompt = std::move(request.prompt_tokens);
    completion->prompt_text = tokenizer.decode(completion->prompt);
  } else {
    const bool is_formatted = request.kind == CompletionKind::chat && tokenizer.has_chat_template();
    if (is_formatted) {
      DRAFTSCOPE_TRY_ASSIGN(completion->prompt,
                            tokenizer.encode(completion->prompt_text, {.add_special_tokens = false}));
    } else {
      DRAFTSCOPE_TRY_ASSIGN(engine::PromptTokens prompt,
                            engine::prompt_tokens(tokenizer, completion->prompt_text));
      completion->prompt = std::move(prompt.tokens);
      completion->doubled_start = std::move(prompt.doubled_start);
    }
  }
  if (completion->prompt.empty() || completion->prompt.size() > static_cast<std::size_t>(served.cache_rows))
    return fail("request: {} takes {} tokens, expected from 1 to {} (--context)",
                request.kind == CompletionKind::chat ? "messages" : "prompt", completion->prompt.size(),
                served.cache_rows);
  completion->request = std::move(request);
  return completion;
}

class Endpoint::Implementation {
 public:
  Implementation(Exchange& exchange, ServedModel served) : exchange_(exchange), served_(std::move(served)) {
    server_.new_task_queue = [threads = served_.max_connections] { return new httplib::ThreadPool(threads); };
    server_.set_read_timeout(max_silence);
    server_.set_write_timeout(max_silence);
    server_.set_tcp_nodelay(true);
    // The library's own options let two servers share a port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    const auto without_body = [this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response, "");
    };
    const auto with_body = [this](const httplib::Request& request, httplib::Response& response,
                                  const httplib::ContentReader& reader) {
      std::string body;
      if (read_body(request, response, reader, body)) answer(request, response, body);
    };
    constexpr const char* any_path = "[\\s\\S]*";
    server_.Get(any_path, without_body).Options(any_path, without_body);
    server_.Post(any_path, with_body).Put(any_path, with_body);
    server_.Patch(any_path, with_body).Delete(any_path, with_body);
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      using enum httplib::Server::HandlerResponse;
      if (comes_from_elsewhere(request, response)) return Handled;
      // Long paths would take the library's regular expressions deep into the stack.
      constexpr std::size_t max_path_bytes = 256;
      if (request.path.size() > max_path_bytes) {
        refuse(response, not_found,
               fmt::format("the path has {} bytes, expected one of this server's", request.path.size()));
        return Handled;
      }
      // The library would read the body of this method whatever its size.
      if (request.method != "PRI") return Unhandled;
      refuse(response, 405, "found the method PRI, expected GET or POST");
      return Handled;
    });
    server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty())
        refuse(response, response.status,
               "the request is not valid HTTP, expected version 1.1 and lines of less than 8192 bytes");
    });
    server_.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
          refuse(response, 500, "out of memory, or a defect: expected an answer");
        });
  }

  Result<std::int32_t> bind(const std::string& host, std::int32_t port) {
    const int bound =
        port != 0 ? server_.bind_to_port(host, port) ? port : -1 : server_.bind_to_any_port(host);
    if (bound > 0) return bound;
    return fail("port: {} of host {} can't be taken, expected a free port and an address of this machine",
                port, quote(host));
  }

  void start() {
    listener_ = std::thread([this] {
      if (!server_.listen_after_bind()) {
        has_failed_ = true;
        exchange_.close();
      }
      has_ended_ = true;
    });
    // A stop before would be lost.
    while (!server_.is_running() && !has_ended_) std::this_thread::sleep_for(1ms);
  }

  void stop() {
    if (!listener_.joinable()) return;
    server_.stop();
    listener_.join();
  }

  [[nodiscard]] bool failed() const { return has_failed_; }

 private:
  using Answer = void (Implementation::*)(const httplib::Request&, httplib::Response&, const std::string&);
  struct Route {
    std::string_view path;
    std::string_view method;
    Answer answer;
  };

  /// Refuses what a web page may have sent: a request from or to a name that is none of this server's.
  bool comes_from_elsewhere(const httplib::Request& request, httplib::Response& response) const {
    const auto is_foreign = [&](const char* header, std::string (*host_of)(std::string_view)) {
      const auto [begin, end] = request.headers.equal_range(header);
      for (auto at = begin; at != end; ++at) {
        if (is_known_host(host_of(at->second), served_.host_names)) continue;
        refuse(response, 403,
               fmt::format("{} is {}, expected localhost, a loopback address or a name given with --host or "
                           "--allow-host",
                           header, quote(at->second)));
        return true;
      }
      return false;
    };
    return is_foreign("Host", host_of_authority) || is_foreign("Origin", host_of_origin);
  }

  /// Reads a body up to its limit. What is beyond is taken and forgotten for a while, so that the client
  /// reads the answer.
  static bool read_body(const httplib::Request& request, httplib::Response& response,
                        const httplib::ContentReader& reader, std::string& body) {
    constexpr std::size_t max_taken_bytes = 16 * max_body_bytes;
    if (request.is_multipart_form_data()) {
      refuse(response, bad_request, "request: found a form, expected a JSON object");
      return false;
    }
    std::size_t bytes = 0;
    const bool is_whole = reader([&](const char* data, std::size_t size) {
      bytes += size;
      if (bytes <= max_body_bytes) body.append(data, size);
      return bytes <= max_taken_bytes;
    });
    if (bytes > max_body_bytes)
      refuse(response, too_large,
             fmt::format("request: the body has more than {} bytes, expected at most that", max_body_bytes));
    else if (!is_whole)
      refuse(response, bad_request, "request: the body ends early, expected all its bytes");
    return is_whole && bytes <= max_body_bytes;
  }

  void answer(const httplib::Request& request, httplib::Response& response, const std::string& body) {
    static constexpr Route routes[] = {
        {"/health", "GET", &Implementation::health},
        {"/metrics", "GET", &Implementation::metrics},
        {"/v1/models", "GET", &Implementation::models},
        {"/v1/completions", "POST", &Implementation::complete<CompletionKind::text>},
        {"/v1/chat/completions", "POST", &Implementation::complete<CompletionKind::chat>}};
    const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
    for (const Route& route : routes) {
      if (route.path != request.path) continue;
      if (route.method == method) return (this->*route.answer)(request, response, body);
      response.set_header("Allow", std::string(route.method));
      return refuse(
          response, 405,
          fmt::format("{} is no method of {}, expected {}", quote(request.method), route.path, route.method));
    }
    constexpr std::string_view one_model = "/v1/models/";
    if (method == "GET" && request.path.starts_with(one_model))
      return model(response, std::string_view(request.path).substr(one_model.size()));
    refuse(response, not_found,
           fmt::format("{} is no path here, expected /v1/completions, /v1/chat/completions, /v1/models, "
                       "/health or /metrics",
                       quote(request.path)));
  }

  void health(const httplib::Request& /*request*/, httplib::Response& response, const std::string& /*body*/) {
    response.set_content(R"({"status":"ok"})", json_type);
  }

  void metrics(const httplib::Request& /*request*/, httplib::Response& response,
               const std::string& /*body*/) {
    response.set_content(metrics_text(exchange_.counts(), served_.name), "text/plain; version=0.0.4");
  }

  void models(const httplib::Request& /*request*/, httplib::Response& response, const std::string& /*body*/) {
    response.set_content(models_reply(served_.name, created_s_), json_type);
  }

  void model(httplib::Response& response, std::string_view name) {
    if (name != served_.name)
      return refuse(response, not_found, fmt::format("model is {}, expected {}", quote(name), served_.name),
                    "model");
    response.set_content(model_reply(served_.name, created_s_), json_type);
  }

  template <CompletionKind kind>
  void complete(const httplib::Request& asked, httplib::Response& response, const std::string& body) {
    Result<CompletionRequest> request = parse_completion_request(body, kind, served_.defaults);
    if (!request) return refuse_request(response, request.error());
    if (!request->model.empty() && request->model != served_.name && request->model != served_.path)
      return refuse(response, not_found,
                    fmt::format("request: model is {}, expected {}", quote(request->model), served_.name),
                    "model");
    const Result<std::shared_ptr<Completion>> prepared = prepare_completion(served_, std::move(*request));
    if (!prepared) return refuse_request(response, prepared.error());
    const std::shared_ptr<Completion>& completion = *prepared;
    switch (exchange_.submit(completion)) {
      case Exchange::Refusal::full:
        response.set_header("Retry-After", "1");
        return refuse(response, unavailable, "the queue is full, expected a later request");
      case Exchange::Refusal::closed:
        return refuse(response, unavailable, "the server ends, expected it to go on");
      case Exchange::Refusal::none:
        break;
    }
    const auto client = std::make_shared<Client>(
        exchange_, completion,
        ReplyHeader{.kind = kind,
                    .number = completion->number,
                    .created_s = seconds_now(),
                    .model = served_.name,
                    .prompt_tokens = static_cast<std::int64_t>(completion->prompt.size())});
    if (!completion->request.streams) return client->answer(response);
    response.status = 200;
    const auto send = [client](std::size_t /*offset*/, httplib::DataSink& sink) {
      return client->send_events(sink);
    };
    // Version 1.0 knows no chunks: the text ends with the connection.
    if (asked.version == "HTTP/1.0")
      response.set_content_provider("text/event-stream", send);
    else
      response.set_chunked_content_provider("text/event-stream", send);
  }

  static void refuse_request(httplib::Response& response, const Error& error) {
    refuse(response, bad_request, error.message, field_of_error(error.message));
  }

  Exchange& exchange_;
  ServedModel served_;
  std::int64_t created_s_ = seconds_now();
  Listener server_;
  std::thread listener_;
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> has_ended_{false};
};

Endpoint::Endpoint(Exchange& exchange, ServedModel served)
    : implementation_(std::make_unique<Implementation>(exchange, std::move(served))) {}

Endpoint::~Endpoint() {
  stop();
}

Result<std::int32_t> Endpoint::bind(const std::string& host, std::int32_t port) {
  return implementation_->bind(host, port);
}

void Endpoint::start() {
  implementation_->start();
}

void Endpoint::stop() {
  implementation_->stop();
}

bool Endpoint::failed() const {
  return implementation_->failed();
}

}  // namespace draftscope::cli
