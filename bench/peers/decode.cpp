// SPDX-License-Identifier: GPL-3.0-or-later
// Our side of compare.py: keeps a model open, reads one request per line and answers with a line, both JSON.
//
//   {"encode": TEXT}               → {"tokens": [ids]}, by the model's chat template if it has one
//   {"prompt": [ids], "tokens": n} → {"tokens": [ids], "seconds": s, "cpu_seconds": c}: vanilla, greedy; n
//                                    tokens without a stop. Times are from the first token to the last;
//                                    cpu_seconds covers all threads

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/tokenizer.h>
#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace draftscope::bench {
namespace {

using nlohmann::json;

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Clocks {
  double wall = seconds_of(CLOCK_MONOTONIC);
  double processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
};

class FirstToken final : public engine::DecodeListener {
 public:
  void on_first_token(std::int32_t /*token*/) override { at_ = {}; }
  [[nodiscard]] const Clocks& at() const { return at_; }

 private:
  Clocks at_;
};

template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

json encode(const engine::Tokenizer& tokenizer, const std::string& text) {
  if (!tokenizer.has_chat_template()) return {{"tokens", value_of(tokenizer.encode(text))}};
  const engine::Message message{.role = "user", .content = text};
  const std::string conversation = value_of(tokenizer.apply_chat_template(std::span(&message, 1)));
  return {{"tokens", value_of(tokenizer.encode(conversation, {.add_special_tokens = false}))}};
}

json decode(engine::Backend& backend, const std::vector<std::int32_t>& prompt, std::int32_t tokens) {
  auto strategy = value_of(engine::make_strategy("vanilla", backend.shape()));
  FirstToken first;
  engine::SeededChooser chooser(0, 0);
  const engine::DecodeResult result = value_of(engine::decode(
      backend, *strategy.strategy, {.prompt = prompt, .max_new_tokens = tokens}, chooser, first));
  const Clocks end;
  return {{"tokens", result.tokens},
          {"seconds", end.wall - first.at().wall},
          {"cpu_seconds", end.processor - first.at().processor}};
}

int serve(const std::string& model, std::int32_t threads) {
  const auto checkpoint = value_of(
      engine::open_model(model, engine::SyntheticMatrices::in_memory, engine::BlockMatrices::as_stored));
  const auto tokenizer = value_of(engine::Tokenizer::load(model));
  const auto backend =
      value_of(engine::make_cpu_backend(checkpoint, {.threads = threads, .cache_rows = 2048}));
  std::cout << json{{"ready", backend->describe().kernels}}.dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const json request = json::parse(line);
    const json answer = request.contains("encode")
                            ? encode(tokenizer, request["encode"])
                            : decode(*backend, request.at("prompt"), request.at("tokens"));
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace draftscope::bench

int main(int argc, char** argv) {
  std::string model;
  std::int32_t threads = 0;
  CLI::App app("Decodes what bench/peers/compare.py asks for");
  app.add_option("--model", model, "folder or GGUF file")->required();
  app.add_option("--threads", threads, "0 = one a core")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return draftscope::bench::serve(model, threads);
  } catch (const std::exception& error) {
    return fmt::print(stderr, "bench_peers: {}\n", error.what()), 1;
  }
}
