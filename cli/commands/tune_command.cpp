// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/output_file.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/recording/session.h>
#include <draftscope/engine/tuning/pass_costs.h>
#include <draftscope/engine/tuning/score_setting.h>
#include <draftscope/engine/tuning/teacher_forced.h>
#include <draftscope/engine/tuning/tuner.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/traces/prompt_file.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <system_error>

#include "commands/tune_search.h"
#include "commands/tune_state.h"
#include "options/output_options.h"
#include "options/shard_options.h"
#include "terminal/messages.h"
#include "terminal/process.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {

namespace {

/// Repeat with the median score, for its other figures.
const engine::Measurement& middle(const engine::Policy& policy, std::vector<engine::Measurement>& sorted) {
  sorted = policy.repeats;
  std::sort(sorted.begin(), sorted.end(),
            [](const engine::Measurement& a, const engine::Measurement& b) { return a.score < b.score; });
  return sorted[sorted.size() / 2];
}

/// Summary of a finished policy, in `file`.
std::string tune_text(const engine::Policy& policy, const std::string& file) {
  const engine::ScoreSpread spread = *engine::score_spread(policy.repeats);
  std::vector<engine::Measurement> sorted;
  const engine::Measurement& typical = middle(policy, sorted);
  const bool timed = typical.tokens_per_second > 0.0;
  std::string text = fmt::format("best      {}\n", policy.strategy);
  const bool pays = !speculation::strategy_row(policy.strategy).is_baseline;
  if (!pays)
    text += "No setting that was tried decodes faster than vanilla here.\n";
  else if (timed)
    text += fmt::format(
        "speedup   {:.2f} over vanilla (median of {} repeats, {:.2f} to {:.2f}): {:.1f} tokens/s against "
        "{:.1f}\n",
        spread.median, policy.repeats.size(), spread.minimum, spread.maximum, typical.tokens_per_second,
        typical.vanilla_tokens_per_second);
  else
    text += fmt::format("speedup   {:.2f} over vanilla as predicted from weight bytes, not timed\n",
                        spread.median);
  if (pays)
    text += fmt::format("rounds    {:.2f} tokens each, {:.0f} % of the draft accepted\n",
                        typical.tokens_per_round, 100.0 * typical.acceptance_rate);
  for (std::size_t i = 1; i < policy.finalists.size(); ++i) {
    const engine::ScoreSpread other = *engine::score_spread(policy.finalists[i].repeats);
    text += fmt::format("{:10}{:.2f} ({:.2f} to {:.2f}) {}\n", i == 1 ? "then" : "", other.median,
                        other.minimum, other.maximum, policy.finalists[i].setting);
  }
  text += fmt::format("searched  {} trials ({})\n", policy.trials.size(), policy.settings.at("search"));
  return text + (pays ? fmt::format("use       --strategy tuned:policy={}\n", file)
                      : fmt::format("policy    {} says vanilla\n", file));
}

Result<std::vector<std::vector<std::int32_t>>> encode_prompts(const TuneOptions& options,
                                                              const engine::Tokenizer& tokenizer,
                                                              std::span<const traces::Question> questions) {
  std::vector<std::vector<std::int32_t>> prompts;
  for (const traces::Question& question : questions) {
    DRAFTSCOPE_TRY_ASSIGN(engine::RecordedPrompt prompt,
                          engine::prompt_of_turn(tokenizer, {.chat = options.chat, .system = {}}, question));
    prompts.push_back(std::move(prompt.tokens));
  }
  return prompts;
}

/// FNV-1a hash over the token ids: tells whether two searches saw the same prompts, whatever their files are
/// called.
std::string hash_of(std::span<const std::vector<std::int32_t>> prompts) {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211ULL; };
  for (const auto& prompt : prompts) {
    for (const std::int32_t token : prompt) mix(static_cast<std::uint32_t>(token));
    mix(~std::uint64_t{0});  // Marks the end of a prompt.
  }
  return fmt::format("{:016x}", hash);
}

engine::Facts prompt_facts(const TuneOptions& options, std::span<const std::vector<std::int32_t>> prompts) {
  std::size_t tokens = 0;
  for (const auto& prompt : prompts) tokens += prompt.size();
  return {{"file", options.prompts.string()},
          {"questions", std::to_string(prompts.size())},
          {"tokens", std::to_string(tokens)},
          {"hash", hash_of(prompts)}};
}

engine::Facts machine_facts(const engine::Backend& backend) {
  const engine::BackendDescription device = backend.describe();
  utsname system{};
  uname(&system);
  return {{"device", device.device},
          {"processor", device.processor},
          {"kernels", device.kernels},
          {"threads", std::to_string(device.threads)},
          {"hostname", system.nodename}};
}

/// Decodes once without timing, so that page faults of the mapped weights happen here.
Result<void> warm_up(const engine::ScoringSetup& setup) {
  DRAFTSCOPE_TRY(engine::score_setting(setup, "vanilla", 1));
  return {};
}

/// Makes room for the texts of all prompts at once, which teacher-forced scoring keeps in the K/V cache. If a
/// prompt is too long for the model, the context stays as it is and limits the text.
void widen_cache(TuneOptions& options, std::span<const std::vector<std::int32_t>> prompts,
                 std::int32_t max_positions) {
  std::int64_t rows = engine::max_verification_rows;  // Rows of a pass, for any backend.
  for (const auto& prompt : prompts) {
    const auto text = static_cast<std::int64_t>(prompt.size()) + options.max_tokens;
    if (text > max_positions) return;
    rows += text;
  }
  options.model.min_cache_rows =
      static_cast<std::int32_t>(std::min<std::int64_t>(rows, std::numeric_limits<std::int32_t>::max()));
}

/// Costs of passes by the search's objective. Times come from the policy; if it has none, they are measured
/// and stored there.
Result<engine::PassCosts> pass_costs(const engine::ScoringSetup& setup, engine::Policy& policy) {
  if (setup.objective == engine::Objective::acceptance_model)
    return engine::byte_costs(setup.checkpoint, setup.backend);
  auto times = engine::pass_times_of(policy.machine);
  if (!times) {
    std::size_t tokens = 0;
    for (const auto& prompt : setup.prompts) tokens += prompt.size();
    const auto context = static_cast<std::int32_t>(tokens / setup.prompts.size()) + setup.max_tokens / 2;
    DRAFTSCOPE_TRY_ASSIGN(times, engine::time_passes(setup.backend, context));
    engine::add_pass_times(*times, policy.machine);
  }
  return engine::timed_costs(*times, setup.checkpoint.shape.n_layers, engine::held_bits(setup.backend));
}

/// Teacher-forced scoring; none if the search decodes its candidates, or was interrupted.
Result<std::optional<engine::TeacherForced>> teacher_forced(const TuneOptions& options,
                                                            const engine::ScoringSetup& setup,
                                                            engine::Policy& policy) {
  if (!options.teacher_forced()) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(auto costs, pass_costs(setup, policy));
  return engine::TeacherForced::create(setup, std::move(costs));
}

int report(const TuneOptions& options, const engine::Policy& policy) {
  if (options.json) return print_out(engine::policy_json(policy));
  if (options.shard.shard) return 0;  // A shard's best setting is not the search's.
  return options.quiet ? 0 : print_out(tune_text(policy, options.output.string()));
}

Result<int> run_tuning(const TuneOptions& options, engine::ScoringSetup& setup,
                       engine::CandidateSource& source, std::span<const engine::Trial> taken,
                       engine::Policy& policy) {
  const bool timed = setup.objective == engine::Objective::speedup;
  DRAFTSCOPE_TRY_ASSIGN(auto texts, teacher_forced(options, setup, policy));
  ProgressBar bar("tuning", options.quiet);
  const engine::Tuning tuning{
      .source = source,
      .measure = [&](const std::string& setting,
                     std::int32_t prompts) { return engine::score_setting(setup, setting, prompts); },
      .score = [&](const engine::Proposed& proposed,
                   double floor) -> Result<std::optional<engine::TeacherForcedScore>> {
        if (!texts) return std::nullopt;
        return proposed.one_pass ? texts->score_in_one_pass(proposed.setting)
                                 : texts->score(proposed.setting, floor);
      },
      .same_every_time = !timed,
      .prompts = static_cast<std::int32_t>(setup.prompts.size()),
      .repeats = timed ? options.repeats : 1,
      .finalists = timed || options.teacher_forced() ? options.finalists : 1,
      .output = options.output,
      .taken = taken,
      .has_finals = !options.shard.shard,
      .progress =
          [&](const engine::Policy& so_far, std::int64_t done, std::int64_t all) {
            if (const engine::Trial* best = source.best(so_far.trials))
              bar.note(fmt::format("best {:.2f}", best->measured.score));
            bar.update(done, all);
          }};
  const bool was_finished = policy.finished;
  const std::size_t trials_before = policy.trials.size();
  DRAFTSCOPE_TRY_ASSIGN(const bool finished, engine::tune(tuning, policy));
  if (was_finished && policy.trials.size() == trials_before && !options.quiet)
    print_note(fmt::format(
        "{}: the search was finished, so nothing was left to do (--finalists and --repeats start no new "
        "finals)",
        options.output.string()));
  if (finished) return 0;
  print_note(fmt::format("interrupted: {} trials in {}; --resume goes on", policy.trials.size(),
                         options.output.string()));
  return InterruptScope::exit_code();
}

Result<int> tune_model(TuneOptions& options) {
  DRAFTSCOPE_TRY(check({.chat = options.chat, .system = {}}, options.model));
  DRAFTSCOPE_TRY_ASSIGN(std::vector<traces::Question> questions, traces::read_questions(options.prompts));
  if (options.limit > 0)
    questions.resize(std::min(questions.size(), static_cast<std::size_t>(options.limit)));
  DRAFTSCOPE_TRY_ASSIGN(const LoadedModel model, load_model(options.model));
  hint_at_chat_template(model, options.chat, options.quiet);
  DRAFTSCOPE_TRY_ASSIGN(auto prompts, encode_prompts(options, model.tokenizer, questions));
  const speculation::ModelShape& shape = model.checkpoint->shape;
  if (options.teacher_forced()) widen_cache(options, prompts, shape.max_positions);
  DRAFTSCOPE_TRY_ASSIGN(const auto backend, make_backend(options.model, model));
  DRAFTSCOPE_TRY_ASSIGN(TuneSearch search,
                        make_tune_search(options, *backend, static_cast<std::int32_t>(prompts.size())));

  engine::Policy policy{.model = engine::model_facts(shape, model.checkpoint->hash),
                        .machine = machine_facts(*backend),
                        .prompts = prompt_facts(options, prompts),
                        .settings = std::move(search.settings),
                        .tool_version = DRAFTSCOPE_VERSION,
                        .date = utc_now(),
                        .command_line = options.command_line};
  std::vector<engine::Trial> taken;
  if (!options.from_shards.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(taken, trials_of_shards(options, policy));
  }
  if (options.resume) {
    DRAFTSCOPE_TRY_ASSIGN(policy, resumed_policy(options, options.output, std::move(policy)));
  }
  const InterruptScope interrupt;
  engine::ScoringSetup setup{.backend = *backend,
                             .checkpoint = *model.checkpoint,
                             .prompts = std::move(prompts),
                             .max_tokens = options.max_tokens,
                             .objective = options.objective == "speedup"
                                              ? engine::Objective::speedup
                                              : engine::Objective::acceptance_model,
                             .cancelled = &InterruptScope::flag()};
  DRAFTSCOPE_TRY(warm_up(setup));
  DRAFTSCOPE_TRY_ASSIGN(const int code, run_tuning(options, setup, *search.source, taken, policy));
  return code == 0 ? report(options, policy) : code;
}

/// Scores a part of the settings, into a file that appears once all of them are scored.
Result<int> tune_shard(TuneOptions& options) {
  const ShardOutput output = shard_output(options.output, options.shard);
  if (!options.overwrite) {
    DRAFTSCOPE_TRY_ASSIGN(const bool is_done, is_there(output, shard_of_policy, options.quiet));
    if (is_done) return 0;
  }
  DRAFTSCOPE_TRY(check_output_file(output.target, {options.inputs, options.overwrite}));
  DRAFTSCOPE_TRY(check_output_file(output.partial, {options.inputs, true}));
  std::error_code error;
  options.resume = options.resume && std::filesystem::exists(output.partial, error);
  options.output = output.partial;
  DRAFTSCOPE_TRY_ASSIGN(const int code, tune_model(options));
  if (code != 0) return code;
  DRAFTSCOPE_TRY(put_shard_in_place(output, options.overwrite, options.quiet));
  return 0;
}

Result<int> tune(TuneOptions& options) {
  DRAFTSCOPE_TRY(read_shard(options.shard));
  if (options.shard.shard) return tune_shard(options);
  DRAFTSCOPE_TRY(check_output_file(options.output, {options.inputs, options.overwrite || options.resume}));
  return tune_model(options);
}

}  // namespace

void add_tune_command(CLI::App& app, Outcome& outcome, const std::string& command_line) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* command = app.add_subcommand(
      "tune", "Search the strategy that decodes these prompts fastest with this model here");
  add_tune_options(*command, *options);
  options->command_line = command_line;
  run_with_inputs(*command, options, outcome, tune);
}

}  // namespace draftscope::cli
