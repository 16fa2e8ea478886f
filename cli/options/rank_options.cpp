// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/rank_options.h"

#include <draftscope/engine/ranks/lead_and_follow.h>
#include <draftscope/engine/ranks/mpi_ranks.h>

#include <csignal>

#include "options/numbers.h"
#include "terminal/messages.h"
#include "terminal/outcome.h"

namespace draftscope::cli {

namespace {

/// The part of a rank that is not the first.
Result<int> follow_rank_zero(const ModelOptions& options) {
  // A launcher tells all of its processes to end; rank 0 ends its recording well, and the others with it.
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_IGN);
  const auto model = load_model(options);
  if (!model) {
    // Rank 0 prints what all agree on, this rank's failure if it has none itself.
    static_cast<void>(engine::agree_to_begin(*options.ranks, tl::unexpected(model.error()), "").has_value());
    return exit_failure;
  }
  const auto backend = make_backend(options, *model);
  if (!backend) return exit_failure;
  DRAFTSCOPE_TRY(engine::follow(**backend, *options.ranks));
  return 0;
}

}  // namespace

void add_rank_options(CLI::App& command, ModelOptions& options) {
  add_number(command, "--tensor-parallel", options.tensor_parallel,
             "Processes that share the model, as many as mpirun or srun starts; a GPU each on cuda",
             {1, 1024})
      ->capture_default_str();
  add_number(command, "--rank-timeout", options.rank_timeout_s,
             "Seconds without a sign of life of a rank after which all end; 0 = never", {0, 86400})
      ->capture_default_str();
}

Result<int> on_ranks(ModelOptions& options, const std::function<Result<int>()>& command) {
  if (options.tensor_parallel == 1) return command();
  const engine::HangLimit limit{.seconds = options.rank_timeout_s,
                                .on_hang = [](const std::string& line) { print_error(line); }};
  DRAFTSCOPE_TRY_ASSIGN(options.ranks, engine::join_mpi_ranks(options.tensor_parallel, limit));
  return options.ranks->rank() == 0 ? command() : follow_rank_zero(options);
}

}  // namespace draftscope::cli
