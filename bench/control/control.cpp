// SPDX-License-Identifier: GPL-3.0-or-later
// The cost of control: every strategy decodes the same prompt, strategies interleaved, and each says how much
// of its time went to deciding and how much to passes of its own. All figures are ratios within one run.

#include <draftscope/base/atomic_file.h>
#include <draftscope/engine/search.h>
#include <draftscope/speculation/skip_set_text.h>
#include <draftscope/traces/prompt_file.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "figures.h"
#include "measured.h"
#include "options/model_options.h"
#include "terminal/interrupt.h"
#include "terminal/progress_bar.h"

namespace draftscope::bench {
namespace {

struct Options {
  cli::ModelOptions model{.model = "synthetic:llama-3.2-1b,redundancy=0.8", .context = 1024};
  std::vector<std::string> strategies;
  std::filesystem::path prompts;
  std::filesystem::path json;
  std::int32_t prompt_tokens = 64;
  std::int32_t tokens = 192;
  int repeats = 3;
  bool quiet = false;
};

/// Every preset with its defaults, the settings whose controllers have more to do, and mixes.
std::vector<std::string> default_strategies(std::int32_t n_layers) {
  std::vector<std::string> all{"vanilla", "layerskip:verify=all-layers", "layerskip", "fs", "dv"};
  if (n_layers >= 3) {
    const speculation::SkipSetText set = speculation::skip_set_text(engine::swift_initial_set(n_layers));
    all.push_back(fmt::format("draft-verify:skip-attention={},skip-mlp={}", set.attention, set.mlp));
    all.insert(all.end(), {"swift", "swift:gp-interval=5", "mix:mask=swift,length=fs,stop=adaptive"});
  }
  all.insert(all.end(),
             {"clasp", "clasp:interval=8", "mix:mask=clasp,interval=8,stop=adaptive,shape=tree", "del",
              "del:mode=code", "del:mode=repaired", "mix:mask=del,length=del,stop=del,shape=tree",
              "mix:mask=exit,length=heuristic,stop=del", "prompt-lookup", "prompt-lookup:match=longest",
              "jacobi", "lookahead"});
  return all;
}

Result<std::vector<std::int32_t>> prompt_of(const Options& options, const cli::LoadedModel& model) {
  std::vector<std::int32_t> tokens;
  if (!options.prompts.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto questions, traces::read_questions(options.prompts));
    if (questions.empty()) return fail("{}: found 0 questions, expected one", options.prompts.string());
    return model.tokenizer.encode(questions.front().turns.front());
  }
  const std::int32_t vocab = model.checkpoint->shape.vocab;
  tokens.reserve(static_cast<std::size_t>(options.prompt_tokens));
  for (std::int32_t i = 0; i < options.prompt_tokens; ++i)
    tokens.push_back(static_cast<std::int32_t>((std::int64_t{7919} * i + 1) % vocab));
  return tokens;
}

/// A model on a device, and the clock that counts its passes and those of draft models.
class Bench {
 public:
  static Result<Bench> open(const Options& options) {
    Bench bench;
    DRAFTSCOPE_TRY_ASSIGN(cli::LoadedModel model, cli::load_model(options.model));
    bench.model_ = std::make_unique<cli::LoadedModel>(std::move(model));
    DRAFTSCOPE_TRY_ASSIGN(auto backend, cli::make_backend(options.model, *bench.model_));
    bench.backend_ = std::make_unique<TimedBackend>(std::move(backend), bench.time_);
    DRAFTSCOPE_TRY_ASSIGN(bench.prompt_, prompt_of(options, *bench.model_));
    bench.resources_ = cli::strategy_resources(options.model, *bench.model_);
    auto open_model = bench.resources_.open_draft_model;
    bench.resources_.open_draft_model =
        [open_model,
         time = bench.time_](const std::string& name) -> Result<std::shared_ptr<engine::Backend>> {
      DRAFTSCOPE_TRY_ASSIGN(std::shared_ptr<engine::Backend> inner, open_model(name));
      return std::make_shared<TimedBackend>(std::move(inner), time);
    };
    return bench;
  }

  [[nodiscard]] const TimedBackend& backend() const { return *backend_; }
  [[nodiscard]] std::size_t prompt_tokens() const { return prompt_.size(); }

  [[nodiscard]] Result<engine::ConfiguredStrategy> make(const std::string& specification) const {
    return engine::make_strategy(specification, backend_->shape(), resources_);
  }

  /// The strategy is made anew, as it is when a session begins.
  Result<Measurement> run(const std::string& specification, std::int32_t tokens,
                          const std::function<void(std::int64_t)>& after_round) {
    DRAFTSCOPE_TRY_ASSIGN(const engine::ConfiguredStrategy made, make(specification));
    return measure(*backend_, *made.strategy, time_,
                   {{.prompt = prompt_, .max_new_tokens = tokens, .cancelled = &cli::InterruptScope::flag()},
                    after_round});
  }

 private:
  Bench() = default;

  std::unique_ptr<cli::LoadedModel> model_;
  std::shared_ptr<ModelTime> time_ = std::make_shared<ModelTime>();
  std::unique_ptr<TimedBackend> backend_;
  std::vector<std::int32_t> prompt_;
  engine::StrategyResources resources_;
};

/// Strategies in turn in every repeat, so that a disturbance hits all of them.
Result<std::vector<MeasuredStrategy>> measure_all(Bench& bench, const Options& options) {
  std::vector<MeasuredStrategy> all;
  for (const std::string& specification : options.strategies) {
    DRAFTSCOPE_TRY(bench.make(specification));
    all.push_back({specification, {}});
  }
  constexpr std::int32_t warm_up_tokens = 8;
  DRAFTSCOPE_TRY(bench.run("vanilla", warm_up_tokens, {}));
  cli::ProgressBar bar("bench_control", options.quiet);
  const std::int64_t request = options.tokens;
  const std::int64_t whole = request * options.repeats * static_cast<std::int64_t>(all.size());
  std::int64_t done = 0;
  for (int repeat = 0; repeat < options.repeats; ++repeat)
    for (MeasuredStrategy& strategy : all) {
      bar.note(strategy.specification);
      auto measured = bench.run(strategy.specification, options.tokens,
                                [&](std::int64_t tokens) { bar.update(done + tokens, whole); });
      if (cli::InterruptScope::flag()) return all;
      if (!measured) return fail("{}: {}", strategy.specification, measured.error().message);
      strategy.repeats.push_back(*std::move(measured));
      done += request;
    }
  return all;
}

nlohmann::ordered_json report_of(const Bench& bench, const Options& options,
                                 const std::vector<MeasuredStrategy>& measured) {
  const engine::BackendDescription device = bench.backend().describe();
  nlohmann::ordered_json report{
      {"model", options.model.model}, {"device", device.device},    {"processor", device.processor},
      {"kernels", device.kernels},    {"threads", device.threads},  {"prompt_tokens", bench.prompt_tokens()},
      {"new_tokens", options.tokens}, {"repeats", options.repeats}, {"strategies", nlohmann::json::array()}};
  for (const MeasuredStrategy& one : measured) report["strategies"].push_back(to_json(one));
  return report;
}

Result<int> run(Options options) {
  const cli::InterruptScope interrupt;
  DRAFTSCOPE_TRY_ASSIGN(Bench bench, Bench::open(options));
  if (options.strategies.empty()) options.strategies = default_strategies(bench.backend().shape().n_layers);
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<MeasuredStrategy> measured, measure_all(bench, options));
  if (cli::InterruptScope::flag()) return cli::InterruptScope::exit_code();
  const nlohmann::ordered_json report = report_of(bench, options, measured);
  if (!options.json.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(auto file, AtomicFile::create(options.json));
    file.write(report.dump(2) + "\n");
    DRAFTSCOPE_TRY(file.commit());
  }
  fmt::print("{} on {}, {} threads, kernels {}; {} tokens of prompt, {} new ones, {} repeats\n{}",
             options.model.model, report["processor"].get<std::string>(), report["threads"].get<int>(),
             report["kernels"].get<std::string>(), bench.prompt_tokens(), options.tokens, options.repeats,
             table_text(report["strategies"]));
  return 0;
}

}  // namespace
}  // namespace draftscope::bench

int main(int argc, char** argv) {
  draftscope::bench::Options options;
  CLI::App app("Measures what strategies cost beside the model's passes");
  app.add_option("-m,--model", options.model.model, "folder or synthetic:NAME")->capture_default_str();
  app.add_option("--device", options.model.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--threads", options.model.threads, "0 = one a core")->capture_default_str();
  app.add_option("--context", options.model.context, "tokens of context to hold")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("-s,--strategy", options.strategies, "may be repeated; default all");
  app.add_option("--prompts", options.prompts, "JSONL; its first question is the prompt");
  app.add_option("--prompt-tokens", options.prompt_tokens, "of the prompt, without --prompts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("-n,--tokens", options.tokens, "new tokens a request")
      ->capture_default_str()
      ->check(CLI::Range(2, 1 << 20));
  app.add_option("--repeats", options.repeats)->capture_default_str()->check(CLI::Range(1, 10000));
  app.add_option("--json", options.json, "where to write all figures, with quartiles");
  app.add_flag("--quiet", options.quiet, "no progress");
  CLI11_PARSE(app, argc, argv);
  const auto done = draftscope::bench::run(options);
  if (done) return *done;
  fmt::print(stderr, "bench_control: {}\n", done.error().message);
  return 1;
}
