// SPDX-License-Identifier: GPL-3.0-or-later
// `draftscope serve` over loopback: clients that behave, clients that don't, and the trace.
#include "serve/serve.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <future>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "../value_of.h"
#include "process.h"
#include "serve/completion_request.h"
#include "serve/endpoint.h"
#include "serve/exchange.h"
#include "serve/host_names.h"
#include "serve/listener.h"
#include "terminal/process.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* demo_model = DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip";
constexpr const char* text_path = "/v1/completions";
constexpr const char* chat_path = "/v1/chat/completions";
constexpr const char* json_type = "application/json";

httplib::Client client_of(std::int32_t port) {
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(std::chrono::minutes(5));
  return client;
}

/// A server in a thread of this process.
class RunningServer {
 public:
  explicit RunningServer(ServeOptions options) {
    options.model.threads = 1;
    options.port = 0;
    std::future<std::int32_t> started = port_promise_.get_future();
    thread_ = std::thread([this, options = std::move(options)] {
      ended_ = serve(options, [this](std::int32_t taken) { port_promise_.set_value(taken); });
      if (!ended_)
        port_promise_.set_exception(std::make_exception_ptr(std::runtime_error(ended_.error().message)));
    });
    port = started.get();
  }
  ~RunningServer() { (void)end(); }

  /// Ends it as a signal does; returns its exit code, or its error.
  Result<int> end() {
    if (!thread_.joinable()) return ended_;
    InterruptScope::ask_to_end();
    thread_.join();
    return ended_;
  }
  [[nodiscard]] httplib::Client client() const { return client_of(port); }

  std::int32_t port = 0;

 private:
  std::promise<std::int32_t> port_promise_;
  std::thread thread_;
  Result<int> ended_ = 0;
};

json post(httplib::Client& client, const char* path, const json& body) {
  const auto result = client.Post(path, body.dump(), json_type);
  if (!result) throw std::runtime_error(httplib::to_string(result.error()));
  return json::parse(result->body);
}

std::string text_in(const json& reply) {
  const json& choice = reply.at("choices").at(0);
  return choice.contains("text") ? choice["text"] : choice.at("message").at("content");
}

struct Streamed {
  std::string text;
  std::string finish;
  json usage;
};

/// Answer to a request that streams, put together from its events.
Streamed streamed(httplib::Client& client, const char* path, json body) {
  body["stream"] = true;
  const bool tells_each = body.value("seed", 0) % 2 == 0;
  body["stream_options"] = {{"include_usage", true}, {"continuous_usage_stats", tells_each}};
  std::string events = client.Post(path, body.dump(), json_type)->body;
  Streamed all;
  int tokens = 0;
  EXPECT_TRUE(events.ends_with("data: [DONE]\n\n")) << events;
  events.erase(events.size() - std::min(events.size(), std::string_view("data: [DONE]\n\n").size()));
  for (std::size_t begin = 0; begin < events.size();) {
    const std::size_t end = events.find("\n\n", begin);
    const json event = json::parse(events.substr(begin + 6, end - begin - 6));
    begin = end + 2;
    if (event.at("choices").empty()) {
      all.usage = event.at("usage");
      continue;
    }
    EXPECT_EQ(event.at("usage").is_null(), !tells_each);
    if (tells_each) {
      EXPECT_GE(event["usage"].at("completion_tokens").get<int>(), tokens);
      tokens = event["usage"]["completion_tokens"];
    }
    const json& choice = event["choices"][0];
    all.text += choice.contains("text") ? choice["text"] : choice["delta"].value("content", json(""));
    if (!choice["finish_reason"].is_null()) all.finish = choice["finish_reason"];
  }
  return all;
}

std::int64_t metric(const std::string& text, const std::string& name) {
  std::int64_t sum = 0;
  for (std::size_t at = 0; (at = text.find("\nvllm:" + name + "{", at)) != std::string::npos;) {
    at = text.find("} ", at);
    sum += std::stoll(text.substr(at + 2));
  }
  return sum;
}

TEST(Serve, SaysWhatGenerateSays) {
  const TemporaryFolder folder;
  give_chat_template(folder,
                     "{% for m in messages %}# {{ m['role'] }}\n{{ m['content'] }}\n{% endfor %}# code\n");
  const std::string model = folder.path().string();
  const json messages{{{"role", "system"}, {"content", "Be brief."}},
                      {{"role", "user"}, {"content", {{{"type", "text"}, {"text", "def add(a, b):"}}}}}};
  struct Asked {
    const char* path;
    json body;
    std::string text;
  };
  for (const char* strategy : {"vanilla", "layerskip:exit=5,gamma=4"}) {
    std::vector<Asked> asked;
    for (const json& settings : {json{{"max_tokens", 24}},
                                 json{{"max_tokens", 20}, {"temperature", 0.9}, {"top_p", 0.8}, {"seed", 7}},
                                 json{{"max_tokens", 40}, {"stop", "return"}}}) {
      std::vector<std::string> arguments =
          words_of("generate --model {} --threads 1 --quiet --strategy {} --prompt {}",
                   {model, strategy, "def add(a, b):"});
      for (const auto& [field, value] : settings.items()) {
        std::string option = "--" + field;
        std::replace(option.begin(), option.end(), '_', '-');
        arguments.insert(arguments.end(),
                         {option, value.is_string() ? value.get<std::string>() : value.dump()});
      }
      json body = settings;
      body["prompt"] = "def add(a, b):";
      asked.push_back({text_path, body, run_command(arguments).out});
      arguments.insert(arguments.end(), {"--chat", "--system", "Be brief."});
      body = settings;
      body["messages"] = messages;
      asked.push_back({chat_path, body, run_command(arguments).out});
    }
    const RunningServer server({.model = {.model = model}, .strategy = strategy});
    httplib::Client client = server.client();
    for (const Asked& one : asked)
      EXPECT_EQ(text_in(post(client, one.path, one.body)) + "\n", one.text) << one.body;
  }
}

TEST(Serve, StreamsTheTextThatItRecordsAndCountsWhatTheTraceHolds) {
  const TemporaryFolder folder;
  const std::string path = (folder / "served.dstrace").string();
  RunningServer server(
      {.model = {.model = demo_model}, .strategy = "layerskip:exit=5,gamma=4", .output = path});
  httplib::Client client = server.client();
  std::mt19937 random(11);
  const auto below = [&](std::uint32_t end) { return static_cast<std::int32_t>(random() % end); };
  constexpr int pairs = 100;
  std::vector<Streamed> answers;
  std::vector<std::string> asked_temperatures;
  for (int i = 0; i < pairs; ++i) {
    json body{{"max_tokens", 1 + below(16)},
              {"temperature", below(2) * 1.2},
              {"seed", below(5)},
              {"ignore_eos", below(2) == 0}};
    asked_temperatures.emplace_back(body["temperature"] == 0.0 ? "0" : "1.2");
    if (below(3) == 0) body["stop"] = {"e", "é", "\n"};
    const bool is_chat = below(2) == 0;
    const std::string prompt = below(2) == 0 ? "naïve café 你好 =" : "for i in range(";
    if (is_chat)
      body["messages"] = {{{"role", "user"}, {"content", prompt}}};
    else
      body["prompt"] = prompt;
    const char* where = is_chat ? chat_path : text_path;
    const json whole = post(client, where, body);
    Streamed pieces = streamed(client, where, body);
    EXPECT_EQ(pieces.text, text_in(whole)) << body;
    EXPECT_EQ(pieces.finish, whole["choices"][0]["finish_reason"].get<std::string>());
    EXPECT_EQ(pieces.usage, whole["usage"]);
    answers.push_back(std::move(pieces));
  }
  const std::string metrics = client.Get("/metrics")->body;
  EXPECT_EQ(value_of(server.end()), 0);
  const traces::Recording recording = value_of(value_of(traces::Reader::open(path)).recording());
  EXPECT_TRUE(recording.closed_cleanly);
  ASSERT_EQ(recording.requests.size(), 2U * pairs);
  std::int64_t prompt_tokens = 0;
  for (std::size_t i = 0; i < recording.requests.size(); ++i) {
    const traces::Request& request = recording.requests[i];
    const Streamed& answer = answers[i / 2];
    const std::size_t asked =
        recording.prompts[static_cast<std::size_t>(request.prompt_id.value() - 1)].tokens.size();
    EXPECT_EQ(request.text, answer.text);
    EXPECT_EQ(answer.usage["completion_tokens"], request.tokens.size());
    EXPECT_EQ(answer.usage["prompt_tokens"], asked);
    prompt_tokens += static_cast<std::int64_t>(asked);
  }
  std::int64_t drafts = 0;
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
  std::int64_t emitted = 0;
  for (const traces::Round& round : recording.rounds) {
    drafts += round.drafted > 0 ? 1 : 0;
    drafted += round.drafted;
    accepted += round.accepted;
    emitted += round.emitted;
  }
  for (const traces::Request& request : recording.requests)
    emitted += request.tokens.empty() ? 0 : 1;  // The prefill's.
  EXPECT_GT(accepted, 0);
  EXPECT_EQ(metric(metrics, "spec_decode_num_drafts_total"), drafts);
  EXPECT_EQ(metric(metrics, "spec_decode_num_draft_tokens_total"), drafted);
  EXPECT_EQ(metric(metrics, "spec_decode_num_accepted_tokens_total"), accepted);
  EXPECT_EQ(metric(metrics, "spec_decode_num_accepted_tokens_per_pos_total"), accepted);
  EXPECT_EQ(metric(metrics, "prompt_tokens_total"), prompt_tokens);
  EXPECT_EQ(metric(metrics, "generation_tokens_total"), emitted);
  EXPECT_EQ(metric(metrics, "request_success_total"), 2 * pairs);
  EXPECT_EQ(recording.meta.at("temperature"), "1.2")
      << "a replay must not take the sampled texts for greedy ones";
  EXPECT_THAT(recording.meta.at("varying_settings"), HasSubstr("temperature"));
  const json own = json::parse(recording.meta.at("question_settings"));
  ASSERT_EQ(own.size(), recording.requests.size());
  for (std::size_t i = 0; i < recording.requests.size(); ++i) {
    const json& settings = own.at(std::to_string(i + 1));
    EXPECT_EQ(settings.value("temperature", "0"), asked_temperatures[i / 2]);
    EXPECT_GE(std::stoul(settings.at("max_tokens").get<std::string>()), recording.requests[i].tokens.size());
  }
}

/// A server without a decoding thread, whose part a test plays.
class EndpointAlone : public ::testing::Test {
 protected:
  EndpointAlone()
      : model_(value_of(load_model({.model = demo_model}))),
        endpoint_(exchange_, {.model = &model_,
                              .name = "demo",
                              .path = demo_model,
                              .cache_rows = 64,
                              .max_connections = 4,
                              .host_names = {"127.0.0.1", "Model.example"}}),
        port_(value_of(endpoint_.bind("127.0.0.1", 0))) {
    endpoint_.start();
  }

  [[nodiscard]] httplib::Client client() const { return client_of(port_); }
  [[nodiscard]] std::shared_ptr<Completion> next() {
    std::shared_ptr<Completion> completion;
    while (!completion) completion = exchange_.next(std::chrono::seconds(1));
    return completion;
  }
  /// Socket of a client that has sent bytes.
  [[nodiscard]] int client_with(const std::string& bytes) const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(static_cast<std::uint16_t>(port_))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    return socket;
  }
  /// Answer to bytes. A client that ends its side of the connection says that it sends nothing more.
  [[nodiscard]] std::string answer_to(const std::string& bytes, bool ends_its_side = false) const {
    const int socket = client_with(bytes);
    if (ends_its_side) ::shutdown(socket, SHUT_WR);
    std::string answer(1U << 16U, '\0');
    std::size_t size = 0;
    for (ssize_t read = 0; (read = ::recv(socket, answer.data() + size, answer.size() - size, 0)) > 0;)
      size += static_cast<std::size_t>(read);
    ::close(socket);
    answer.resize(size);
    return answer;
  }

  Exchange exchange_{0};
  LoadedModel model_;
  Endpoint endpoint_;
  std::int32_t port_;
};

constexpr const char* streaming = R"({"prompt":"a","stream":true})";

TEST_F(EndpointAlone, RefusesWhatTheQueueCannotHoldAndTellsWhenToComeAgain) {
  auto first =
      std::async(std::launch::async, [&] { return client().Post(text_path, streaming, json_type)->body; });
  const std::shared_ptr<Completion> running = next();
  const auto refused = client().Post(text_path, streaming, json_type);
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->get_header_value("Retry-After"), "1");
  EXPECT_EQ(json::parse(refused->body)["error"]["type"], "service_unavailable");
  exchange_.add_text(*running, "text", 1);
  exchange_.finish(*running, {.end = CompletionEnd::length, .completion_tokens = 1});
  EXPECT_THAT(first.get(), HasSubstr(R"("finish_reason":"length")"));
  EXPECT_EQ(metric(client().Get("/metrics")->body, "requests_refused_total"), 1);
}

TEST_F(EndpointAlone, CancelsWhatAClientNoLongerReads) {
  const std::string body = streaming;
  // A client that ends its own side is as good as gone.
  (void)answer_to(fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}",
                              text_path, body.size(), body),
                  true);
  exchange_.wait_until_left(std::chrono::minutes(5));
  EXPECT_EQ(exchange_.counts().waiting, 0);
  httplib::Request request;
  request.method = "POST";
  request.path = text_path;
  request.body = body;
  request.content_receiver = [](const char*, std::size_t, std::uint64_t, std::uint64_t) { return false; };
  auto leaving = std::async(std::launch::async, [&] { return client().send(request).error(); });
  const std::shared_ptr<Completion> running = next();
  exchange_.add_text(*running, "read", 1);
  exchange_.wait_until_left(std::chrono::minutes(5));
  EXPECT_TRUE(running->cancelled);
  exchange_.finish(*running, {.end = CompletionEnd::abort});
  EXPECT_EQ(leaving.get(), httplib::Error::Canceled);
  EXPECT_EQ(exchange_.counts().ended[static_cast<std::size_t>(CompletionEnd::abort)], 2);
}

TEST_F(EndpointAlone, NoticesThatAClientLeftWhichWaitsForAWholeAnswer) {
  const std::string body = R"({"prompt":"a"})";
  const std::string request = fmt::format(
      "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", text_path, body.size(), body);
  const int leaving = client_with(request);
  const std::shared_ptr<Completion> completion = next();
  ::close(leaving);
  exchange_.wait_until_left(std::chrono::minutes(5));
  EXPECT_TRUE(completion->cancelled);
  exchange_.finish(*completion, {.end = CompletionEnd::abort});
}

TEST_F(EndpointAlone, RefusesRequestsThatAWebPageMaySend) {
  struct Case {
    httplib::Headers headers;
    bool is_refused;
  };
  for (const Case& one : {Case{{{"Host", "localhost:8080"}}, false},
                          {{{"Host", "LOCALHOST."}}, false},
                          {{{"Host", "[::1]:1"}, {"Origin", "http://127.0.0.1:3000"}}, false},
                          {{{"Host", "model.example:8080"}}, false},
                          {{{"Host", "evil.example"}}, true},
                          {{{"Host", "127.0.0.1.evil.example"}}, true},
                          {{{"Host", "localhost@evil.example"}}, true},
                          {{{"Host", "192.168.0.1"}}, true},
                          {{{"Origin", "https://evil.example"}}, true},
                          {{{"Origin", "http://localhost.evil.example:80"}}, true},
                          {{{"Origin", "null"}}, true}}) {
    const auto answer = client().Get("/v1/models", one.headers);
    EXPECT_EQ(answer->status, one.is_refused ? 403 : 200) << one.headers.begin()->second;
    EXPECT_EQ(client().Post(text_path, one.headers, "{}", json_type)->status, one.is_refused ? 403 : 400);
  }
  EXPECT_TRUE(is_known_host("192.168.0.1", {"0.0.0.0"}));
  EXPECT_FALSE(is_known_host("evil.example", {"0.0.0.0", "::"}));
  EXPECT_FALSE(is_known_host("", {"0.0.0.0"}));
}

TEST_F(EndpointAlone, RefusesAHeadBeyondItsBoundsBeforeItEnds) {
  const std::string first = "GET /health HTTP/1.1\r\n";
  std::string lines = first;
  for (std::size_t i = 0; i <= max_head_lines; ++i) lines += fmt::format("a{}: b\r\n", i);
  for (const std::string& head : {lines, first + "a: " + std::string(max_head_bytes, 'b')})
    EXPECT_THAT(answer_to(head), HasSubstr("HTTP/1.1 431"));
  EXPECT_THAT(answer_to(first + "a: " + std::string(8000, 'b') + "\r\n\r\n"), HasSubstr("HTTP/1.1 200"));
}

TEST_F(EndpointAlone, EndsEveryAnswerWhenTheServerEnds) {
  for (const bool streams : {true, false}) {
    auto answer = std::async(std::launch::async, [&] {
      return client().Post(text_path, json{{"prompt", "a"}, {"stream", streams}}.dump(), json_type)->body;
    });
    const std::shared_ptr<Completion> running = next();
    exchange_.add_text(*running, "begun", 1);
    if (!streams) exchange_.close();
    exchange_.finish(*running, {.end = CompletionEnd::abort});
    EXPECT_THAT(answer.get(), HasSubstr("the server ends"));
  }
  EXPECT_EQ(client().Post(text_path, streaming, json_type)->status, 503);
}

TEST_F(EndpointAlone, LeavesAClientThatSaysNothingWithoutAnAnswerWhenItEnds) {
  const int silent = client_with("");
  EXPECT_EQ(client().Get("/health")->status, 200) << "the silent one came first";
  endpoint_.stop();
  char answer = 0;
  EXPECT_EQ(::recv(silent, &answer, 1, 0), 0) << "not that its request was late";
  ::close(silent);
}

TEST_F(EndpointAlone, AnswersEveryBrokenRequestInOpenAisShape) {
  struct Case {
    const char* path;
    std::string body;
    int status;
    const char* says;
  };
  const std::string deep(100'000, '[');
  for (const Case& one :
       {Case{text_path, "", 400, "not valid JSON"},
        {text_path, "{\"prompt\":\"a", 400, "not valid JSON"},
        {text_path, "{\"prompt\":" + deep, 400, "expected at most 128"},
        {text_path, "[1]", 400, "expected a JSON object"},
        {text_path, "{}", 400, "prompt is missing"},
        {text_path, R"({"prompt":"a","prompt":"b"})", 400, "occurs twice"},
        {text_path, R"({"prompt":"a","temprature":1})", 400, "temperature"},
        {text_path, R"({"prompt":"a","logprobs":1})", 400, "logprobs is not supported"},
        {text_path, R"({"prompt":"a","logit_bias":{"999999":1}})", 400, "expected ids below"},
        {text_path, R"({"prompt":7})", 400, "expected a text or a list"},
        {text_path, R"({"prompt":"a","logit_bias":{"050":1,"50":2}})", 400,
         "logit_bias names token 50 twice"},
        {text_path, R"({"prompt":"a","max_tokens":3,"max_completion_tokens":6})", 400,
         "max_completion_tokens is 6 and max_tokens 3"},
        {chat_path,
         R"({"messages":[{"role":"user","content":"a"}],"chat_template_kwargs":{"enable_thinking":false}})",
         400, "has no chat template"},
        {text_path, R"({"prompt":"a","n":2})", 400, "n is not supported"},
        {text_path, R"({"prompt":["a","b"]})", 400, "one prompt per request"},
        {text_path, R"({"prompt":[999999]})", 400, "expected ids below"},
        {text_path, json{{"prompt", std::string(5000, 'x')}}.dump(), 400, "expected from 1 to 64"},
        {text_path, R"({"prompt":"a","model":"other"})", 404, "expected demo"},
        {text_path, std::string(max_body_bytes + 1, ' '), 413, "expected at most"},
        {chat_path, R"({"messages":[]})", 400, "expected from 1"},
        {chat_path, R"({"messages":[{"role":"tool","content":"a"}]})", 400, "expected system"},
        {chat_path, R"({"messages":[{"role":"user","content":[{"type":"image_url"}]}]})", 400,
         "messages[0].content[0].type"},
        {chat_path, R"({"messages":[{"role":"user","content":"a"}],"tools":[{}]})", 400,
         "tools is not supported"},
        {"/v1/embeddings", "{}", 404, "is no path"},
        {"/metrics", "{}", 405, "expected GET"}}) {
    const auto answer = client().Post(one.path, one.body, json_type);
    ASSERT_TRUE(answer) << one.says;
    EXPECT_EQ(answer->status, one.status) << answer->body;
    const json error = json::parse(answer->body).at("error");
    EXPECT_THAT(error.at("message").get<std::string>(), HasSubstr(one.says));
  }
  EXPECT_EQ(client().Get(chat_path)->status, 405);
  EXPECT_EQ(client().Get(chat_path)->get_header_value("Allow"), "POST");
  const std::string head = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_THAT(answer_to(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), HasSubstr("HTTP/1.1 400"));
  EXPECT_THAT(answer_to("GET /" + std::string(5000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              HasSubstr("404"));
  EXPECT_THAT(answer_to("PRI /v1/models HTTP/1.1\r\n\r\n"), HasSubstr("405"));
  EXPECT_THAT(answer_to("\x01\x02 nonsense\r\n\r\n"), HasSubstr("HTTP/1.1 400"));
  // The library does not answer a client that has ended its side.
  for (const std::string& bytes :
       {std::string(), std::string("POST"), head, head + "Content-Length: 100\r\n\r\n{"})
    (void)answer_to(bytes, true);
  EXPECT_EQ(client().Get("/health")->body, R"({"status":"ok"})");
  EXPECT_EQ(json::parse(client().Get("/v1/models")->body)["data"][0]["id"], "demo");
  EXPECT_EQ(json::parse(client().Get("/v1/models/demo")->body)["id"], "demo");
  EXPECT_EQ(client().Get("/v1/models/other")->status, 404);
  EXPECT_EQ(exchange_.counts().waiting, 0);
}

TEST(CompletionRequest, TakesWhatClientsSendThatSetNothing) {
  const auto request = parse_completion_request(
      R"({"prompt":"a","seed":-1,"extra":null,"stop":[],"top_p":0,"tool_choice":null,"max_tokens":3})",
      CompletionKind::text, {});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_GT(request->decoding.sampling.top_p, 0.0);
  const auto unknown = parse_completion_request(R"({"prompt":"a","extra":1})", CompletionKind::text, {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(field_of_error(unknown.error().message), "extra");
  EXPECT_EQ(request->decoding.seed, 0xffff'ffff'ffff'ffffU) << "the API's seeds are signed";
  const auto chat = parse_completion_request(
      R"({"messages":[{"role":"assistant","content":"y","refusal":"","tool_calls":[],"audio":null}]})",
      CompletionKind::chat, {});
  EXPECT_TRUE(chat) << chat.error().message;
}

TEST(CompletionRequest, TakesNullForAbsentAndAWholeNumberHoweverItIsWritten) {
  const auto parsed = [](const json& body) {
    return parse_completion_request(body.dump(), CompletionKind::chat, {});
  };
  const json question{{"role", "user"}, {"content", "a"}, {"name", "Ann"}};
  const json reply{{"role", "assistant"}, {"content", nullptr}, {"tool_calls", json::array()}};
  const json plain{{"messages", {question, reply}}, {"max_tokens", 3.0}, {"seed", 7.0}, {"top_k", -1.0}};
  const CompletionRequest request = value_of(parsed(plain));
  EXPECT_EQ(request.decoding.max_tokens, 3);
  EXPECT_EQ(request.decoding.seed, 7U);
  EXPECT_EQ(request.messages[1].content, "");
  const auto refusal = [&](const json& changed) {
    json body = plain;
    body.merge_patch(changed);
    const auto refused = parsed(body);
    return refused ? "was taken" : refused.error().message;
  };
  EXPECT_THAT(refusal({{"max_tokens", 3.5}}), HasSubstr("max_tokens is 3.5"));
  EXPECT_THAT(refusal({{"max_tokens", 1e300}}), HasSubstr("max_tokens is 1e+300"));
  EXPECT_THAT(refusal({{"messages", {{{"role", "user"}, {"content", json::array({nullptr})}}}}}),
              HasSubstr("messages[0].content[0].type is missing"));
  EXPECT_THAT(refusal({{"messages", {{{"role", "user"}}}}}), HasSubstr("messages[0].content is missing"));
  EXPECT_THAT(refusal({{"messages", {{{"role", "assistant"}, {"tool_calls", {1}}}}}}),
              HasSubstr("messages[0].tool_calls is given"));
}

TEST(CompletionRequest, GivesTheTemplateItsVariables) {
  const TemporaryFolder folder;
  give_chat_template(folder, "{{ messages[0].content }} {{ mode }}");
  const LoadedModel model = value_of(load_model({.model = folder / ""}));
  const LoadedModel plain = value_of(load_model({.model = demo_model}));
  const auto prompt_of = [](const LoadedModel& of, const char* variables) {
    const std::string body = fmt::format(
        R"({{"messages":[{{"role":"user","content":"a","name":"Ann"}}],"chat_template_kwargs":{}}})",
        variables);
    auto request = parse_completion_request(body, CompletionKind::chat, {});
    if (!request) return request.error().message;
    const auto prepared = prepare_completion({.model = &of, .cache_rows = 64}, *std::move(request));
    return prepared ? (*prepared)->prompt_text : prepared.error().message;
  };
  const auto prompt = [&](const char* variables) { return prompt_of(model, variables); };
  EXPECT_EQ(prompt_of(plain, "{}"), "a") << "no variables need no template";
  EXPECT_EQ(prompt("{}"), "a ");
  EXPECT_EQ(prompt(R"({"mode":"slow"})"), "a slow");
  EXPECT_EQ(prompt("null"), "a ") << "variables are those of one request";
  EXPECT_THAT(prompt("7"), HasSubstr("request: chat_template_kwargs is 7, expected an object"));
  EXPECT_THAT(prompt(R"({"messages":1})"),
              HasSubstr("request: chat_template_kwargs: template argument messages"));
}

TEST(CompletionRequest, NamesTheFieldAtFaultWhateverItHolds) {
  const json values[] = {
      true, "x", "", -1, 0.5, 1e300, json::array(), {1, "a"}, json::object(), {{"a", {{"b", nullptr}}}}};
  for (const std::string& field : words_of(
           "model prompt max_tokens temperature top_p top_k repetition_penalty seed stop ignore_eos stream "
           "stream_options min_p presence_penalty frequency_penalty logit_bias n best_of echo suffix "
           "logprobs response_format user")) {
    for (const json& value : values) {
      json body{{"prompt", "a"}};
      body[field] = value;
      const auto request = parse_completion_request(body.dump(), CompletionKind::text, {});
      if (!request) {
        EXPECT_EQ(field_of_error(request.error().message), field) << request.error().message;
      }
    }
    const auto open =
        parse_completion_request(json{{"prompt", "a"}, {field, nullptr}}.dump(), CompletionKind::text, {});
    EXPECT_TRUE(open || field == "prompt");
  }
}

TEST(ServeProcess, EndsItsTraceOnASignal) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "served.dstrace";
  const ProcessResult result =
      run_and_signal(words_of("serve --model {} --port 0 --output {}", {demo_model, path}), SIGTERM,
                     [&] { return std::filesystem::exists(path); });
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("listening on http://127.0.0.1:"));
  EXPECT_TRUE(value_of(value_of(traces::Reader::open(path)).recording()).closed_cleanly);
}

}  // namespace
}  // namespace draftscope::cli
