// SPDX-License-Identifier: GPL-3.0-or-later
#include "pass_graphs.h"

namespace draftscope::engine::cuda {

namespace {

/// Rows that a form's launches have room for; they compute as many as there are, so that a round whose draft
/// stops early verifies what it drafted.
std::int32_t rows_of_form(std::int32_t rows) {
  for (const std::int32_t room : {1, 8, 16, 32})
    if (rows <= room) return room;
  return max_decode_rows;
}

}  // namespace

Result<void> PassGraphs::launch_pass(PassForm form, std::span<const std::int32_t> /*layers*/) {
  form.rows = rows_of_form(form.rows);
  DRAFTSCOPE_TRY_ASSIGN(const int graph, graph_of(passes_, form, "forward", {}, [&] { return pass(form); }));
  return gpu_.launch_graph(graph);
}

Result<void> PassGraphs::launch_round(StepForm form, std::int32_t draft_length,
                                      std::span<const std::int32_t> /*layers*/) {
  const VerificationForm verified{rows_of_form(draft_length + 1), form.above_exit ? form.slots : 0,
                                  form.sampled, form.keeps_states};
  if (draft_length > 0 && has_loops_ && trace_ == nullptr) {
    const RoundForm whole{form, verified};
    DRAFTSCOPE_TRY_ASSIGN(const int graph,
                          graph_of(rounds_, whole, "round", {}, [&] { return round(whole); }));
    return gpu_.launch_graph(graph);
  }
  if (draft_length > 0) {
    DRAFTSCOPE_TRY_ASSIGN(const int graph, graph_of(steps_, form, "draft step", traces::Phase::draft,
                                                    [&] { return draft_step(form, std::nullopt); }));
    for (std::int32_t i = 0; i < draft_length; ++i) DRAFTSCOPE_TRY(gpu_.launch_graph(graph));
  }
  DRAFTSCOPE_TRY_ASSIGN(const int graph,
                        graph_of(verifications_, verified, "verification", traces::Phase::verify,
                                 [&] { return verification(verified); }));
  return gpu_.launch_graph(graph);
}

/// The graph of a form, captured at its first use.
template <typename Form, typename Launches>
Result<int> PassGraphs::graph_of(std::map<Form, int>& graphs, const Form& form, std::string_view name,
                                 std::optional<traces::Phase> phase, Launches launches) {
  if (const auto found = graphs.find(form); found != graphs.end()) return found->second;
  const profiler::OperationScope scope(trace_, name, -1, phase);
  DRAFTSCOPE_TRY(gpu_.begin_graph());
  const Result<void> launched = launches();
  // Ended even if a launch failed: a stream must not stay in capture.
  const Result<int> graph = gpu_.end_graph();
  DRAFTSCOPE_TRY(launched);
  DRAFTSCOPE_TRY(graph);
  graphs.emplace(form, *graph);
  return *graph;
}

Result<void> PassGraphs::pass(const PassForm& form) {
  PassLauncher& launcher = launcher_of(form.weights);
  DRAFTSCOPE_TRY(launcher.load_inputs(form.rows));
  std::size_t kept = 0;
  const auto keep = [&](std::int32_t slot) -> Result<void> {
    for (; kept < form.kept.size() && form.kept[kept] == slot; ++kept)
      DRAFTSCOPE_TRY(launcher_.keep_states(form.rows, states_.boundary(static_cast<std::int32_t>(kept)),
                                           static_cast<std::int32_t>(kept)));
    return {};
  };
  for (std::int32_t slot = 0; slot < form.slots; ++slot) {
    DRAFTSCOPE_TRY(keep(slot));
    DRAFTSCOPE_TRY(launcher.layer(slot, form.rows));
  }
  DRAFTSCOPE_TRY(keep(form.slots));
  if (!form.head) return {};
  DRAFTSCOPE_TRY(launcher_.head(0, form.rows, form.logits));
  return launcher_.finish_head(form.rows);
}

Result<void> PassGraphs::draft_step(const StepForm& form, std::optional<LoopHandle> loop) {
  PassLauncher& launcher = launcher_of(form.weights);
  const bool keeps = form.above_exit && form.keeps_states;
  DRAFTSCOPE_TRY(launcher_.load_inputs(1));
  if (keeps) DRAFTSCOPE_TRY(launcher_.keep_states(1, states_.boundary(0)));
  for (std::int32_t slot = 0; slot < form.slots; ++slot) {
    DRAFTSCOPE_TRY(launcher.layer(slot, 1));
    if (keeps) DRAFTSCOPE_TRY(launcher_.keep_states(1, states_.boundary(slot + 1)));
  }
  if (form.above_exit) DRAFTSCOPE_TRY(launcher_.keep_states(1, states_.inputs));
  DRAFTSCOPE_TRY(launcher_.head(0, 1, form.sampled));
  return launcher_.finish_draft_step(form.sampled, loop);
}

Result<void> PassGraphs::round(const RoundForm& form) {
  DRAFTSCOPE_TRY_ASSIGN(const LoopHandle loop, gpu_.begin_loop());
  DRAFTSCOPE_TRY(draft_step(form.draft, loop));
  DRAFTSCOPE_TRY(gpu_.end_loop());
  return verification(form.verification);
}

/// The slot table's second half holds all layers.
Result<void> PassGraphs::last_token(const VerificationForm& form) {
  DRAFTSCOPE_TRY(launcher_.begin_last_token());
  DRAFTSCOPE_TRY(launcher_.load_inputs(1));
  if (form.keeps_states) DRAFTSCOPE_TRY(launcher_.keep_states(1, states_.boundary(0)));
  for (std::int32_t layer = 0; layer < form.exit; ++layer) {
    DRAFTSCOPE_TRY(launcher_.layer(n_layers_ + layer, 1));
    if (form.keeps_states) DRAFTSCOPE_TRY(launcher_.keep_states(1, states_.boundary(layer + 1)));
  }
  return launcher_.keep_states(1, states_.inputs);
}

Result<void> PassGraphs::verification(const VerificationForm& form) {
  if (form.exit > 0) DRAFTSCOPE_TRY(last_token(form));
  DRAFTSCOPE_TRY(launcher_.begin_verification());
  DRAFTSCOPE_TRY(launcher_.load_inputs(form.rows));
  if (form.keeps_states && form.exit == 0)
    DRAFTSCOPE_TRY(launcher_.keep_states(form.rows, states_.boundary(0)));
  for (std::int32_t layer = form.exit; layer < n_layers_; ++layer) {
    DRAFTSCOPE_TRY(launcher_.layer(n_layers_ + layer, form.rows));
    if (form.keeps_states) DRAFTSCOPE_TRY(launcher_.keep_states(form.rows, states_.boundary(layer + 1)));
  }
  DRAFTSCOPE_TRY(launcher_.head(0, form.rows, form.sampled));
  DRAFTSCOPE_TRY(launcher_.finish_head(form.rows));
  if (!form.sampled) return {};
  return launcher_.judge_draft(form.rows);
}

}  // namespace draftscope::engine::cuda
