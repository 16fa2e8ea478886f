// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/tune_options.h"

#include "options/numbers.h"
#include "options/unread_options.h"

namespace draftscope::cli {

namespace {

void add_search_options(CLI::App& command, TuneOptions& options) {
  command
      .add_option("--search", options.search,
                  "skip-set: which sublayers draft-verify skips (Bayesian search); grid: exit, length and "
                  "threshold (successive halving)")
      ->required()
      ->check(one_of({"skip-set", "grid"}));
  command
      .add_option("--objective", options.objective,
                  "speedup over vanilla as measured; or acceptance-model: as predicted from acceptance and "
                  "weight bytes, without a clock")
      ->check(one_of({"speedup", "acceptance-model"}))
      ->capture_default_str();
  command
      .add_option(
          "--score", options.score,
          "How candidates are scored. teacher-forced (skip-set, default): the draft runs over vanilla's "
          "texts, after a ranking of single sublayers; decoded (grid, default): each decodes the "
          "prompts, as Draft & Verify's search does. Finalists decode in any case")
      ->check(one_of({"teacher-forced", "decoded"}));
  command.add_option("-s,--strategy", options.strategies,
                     "What to start from: draft-verify with its parameters (skip-set), or strategies whose "
                     "exit, gamma and threshold are open (grid; may be repeated)");
  add_unset_number(
      command, "--trials", options.trials,
      "Candidates to score (skip-set; default 200; the ranking of single sublayers comes on top), or "
      "settings to draw from the grid (default all)",
      {1, 8000});
  command.add_option(
      "--probe", options.probe,
      "skip-set: first candidates from a skip_layers.json, in place of the ranking and the built-in ones");
  add_numbers(command, "--exits", options.exits, "grid: exit layers", {1, 4096});
  add_numbers(command, "--gammas", options.gammas, "grid: speculation lengths", {1, 4096});
  add_numbers(command, "--thresholds", options.thresholds, "grid: draft-exit thresholds", {0.0, 1.0});
  add_number(command, "--rungs", options.rungs,
             "grid: looks at a setting, each on three times the prompts of the one before; 1 = no halving",
             {1, 16});
  add_number(command, "--seed", options.seed, "Same seed and scores, same candidates");
}

/// Refuses what the kind of search reads nothing of. Candidates of a skip-set search follow from those
/// before, so it has no shards. A score that is predicted from decoded trials stays as it is.
void refuse_unread(CLI::App& command) {
  unread_with(command, "--search skip-set",
              {"--exits", "--gammas", "--thresholds", "--rungs", "--shard", "--from-shards"},
              "it only with --search grid");
  unread_with(command, "--search grid", {"--probe", "--score teacher-forced"},
              "it only with --search skip-set");
  unread_with(command, "--objective acceptance-model", {"--repeats"}, "it only with --objective speedup");
  for (const char* decoded :
       {"--objective acceptance-model --search grid", "--objective acceptance-model --score decoded"})
    unread_with(command, decoded, {"--finalists"}, "it only with --objective speedup");
}

}  // namespace

void add_tune_options(CLI::App& command, TuneOptions& options) {
  add_model_options(command, options.model);
  command
      .add_option("--prompts", options.prompts, "Questions, one JSON object a line; their first turns count")
      ->required();
  command.add_option("-o,--output", options.output, "The policy to write (.json)")->required();
  add_search_options(command, options);
  add_number(command, "-n,--max-tokens", options.max_tokens, "Tokens to generate a prompt", {2, 1 << 20});
  add_number(command, "--finalists", options.finalists,
             "So many of the best settings are measured again at the end, in turn; the highest median wins "
             "(predicted scores of decoded trials stay as they are: the best one)",
             {1, 1000});
  add_number(command, "--repeats", options.repeats, "How often each finalist is measured again at the end",
             {5, 1000});
  add_number(command, "--limit", options.limit, "Only the first questions; 0 = all", {.min = 0});
  command.add_flag("--chat", options.chat, "Put the prompts into the model's chat template");
  add_template_arguments(command, options.model);
  CLI::Option* shard = add_shard_options(command, options.shard, "each N-th setting of a grid");
  CLI::Option* from_shards =
      command
          .add_option("--from-shards", options.from_shards,
                      "What the shards of this search have written: their trials are taken, what none has is "
                      "scored here, and the finalists decode here")
          ->excludes(shard);
  command.add_flag("--partial", options.is_partial, "With --from-shards: shards may be missing")
      ->needs(from_shards);
  auto* resume = command.add_flag("--resume", options.resume, "Go on where the output file stopped")
                     ->excludes(from_shards);
  command.add_flag("--overwrite", options.overwrite, "Replace an existing output")->excludes(resume);
  command.add_flag("--json", options.json, "Print the policy as JSON");
  command.add_flag("-q,--quiet", options.quiet, "No progress, no closing lines");
  refuse_unread(command);
}

}  // namespace draftscope::cli
