// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every command of `draftscope`, in the order that its help lists them.

#include <CLI/CLI.hpp>
#include <string>

#include "terminal/messages.h"

namespace draftscope::cli {

/// `draftscope generate`: streams text, accepted, rejected and bonus tokens told apart by colour on a
/// terminal. Without a prompt, and as `draftscope chat`: a conversation.
void add_generate_command(CLI::App& app, Outcome& outcome);

/// `draftscope record`: decodes prompts under one or several strategies and writes a trace. `command_line`
/// goes into the trace's meta.
void add_record_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

/// `draftscope tune`: searches a strategy for a model, a machine and prompts, and writes a policy.
/// `command_line` goes into the policy.
void add_tune_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

/// `draftscope report FILE`: the measured figures of a recording.
void add_report_command(CLI::App& app, Outcome& outcome);

/// `draftscope explain FILE…`: why runs are as fast as they are, in plain sentences.
void add_explain_command(CLI::App& app, Outcome& outcome);

/// `draftscope compare FILE…`: runs of one recording, or recordings, side by side.
void add_compare_command(CLI::App& app, Outcome& outcome);

/// `draftscope export FILE --to FORMAT`: a trace in another tool's format.
void add_export_command(CLI::App& app, Outcome& outcome);

/// `draftscope merge FILE…`: a recording's shards as one.
void add_merge_command(CLI::App& app, Outcome& outcome);

/// `draftscope import FILE…`: others' recordings as a trace.
void add_import_command(CLI::App& app, Outcome& outcome);

/// `draftscope inspect FILE`: what a model is, or what a trace holds and whether it is sound.
void add_inspect_command(CLI::App& app, Outcome& outcome);

/// `draftscope simulate`: what another strategy, machine or model would have given on a recorded text.
/// `command_line` goes into the prediction that it writes.
void add_simulate_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

/// `draftscope advise`: what to set on a machine, or not to speculate.
void add_advise_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

/// `draftscope calibrate`: measures what decides decoding speed on this machine, for `simulate --calibration`
/// elsewhere.
void add_calibrate_command(CLI::App& app, Outcome& outcome);

/// `draftscope validate`: how far the simulator's predictions are from what was measured.
void add_validate_command(CLI::App& app, Outcome& outcome);

/// `draftscope view [FILE…]`: starts the desktop app.
void add_view_command(CLI::App& app, Outcome& outcome);

/// `draftscope strategies`: every strategy with its parameters, defaults, units and source.
void add_strategies_command(CLI::App& app, Outcome& outcome);

/// Adds all of them. `command_line` is what a recording or a policy says of how it was made. `outcome` must
/// outlive `app`.
void add_commands(CLI::App& app, Outcome& outcome, const std::string& command_line);

}  // namespace draftscope::cli
