// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every command of `draftscope`, in the order in which the help lists them.

#include <CLI/CLI.hpp>
#include <string>

#include "terminal/messages.h"

namespace draftscope::cli {

/// `draftscope generate`: streams text; on a terminal, colours distinguish accepted, rejected and bonus
/// tokens. Without a prompt, and as `draftscope chat`, it starts a conversation.
void add_generate_command(CLI::App& app, Outcome& outcome);

/// `draftscope record`: decodes prompts under one or several strategies and writes a trace. `command_line`
/// goes into the trace's meta.
void add_record_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

/// `draftscope serve`: answers OpenAI's API for one model, and records what it decodes. `command_line` goes
/// into the trace's meta.
void add_serve_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

/// `draftscope tune`: searches a strategy for a model, a machine and prompts, and writes a policy.
/// `command_line` goes into the policy.
void add_tune_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

/// `draftscope report FILE`: the measured figures of a recording.
void add_report_command(CLI::App& app, Outcome& outcome);

/// `draftscope explain FILE…`: explains the speed of runs in plain sentences.
void add_explain_command(CLI::App& app, Outcome& outcome);

/// `draftscope compare FILE…`: compares runs of one recording, or several recordings.
void add_compare_command(CLI::App& app, Outcome& outcome);

/// `draftscope export FILE --to FORMAT`: converts a trace to another tool's format.
void add_export_command(CLI::App& app, Outcome& outcome);

/// `draftscope merge FILE…`: merges a recording's shards into one recording.
void add_merge_command(CLI::App& app, Outcome& outcome);

/// `draftscope import FILE…`: converts recordings of other tools to a trace.
void add_import_command(CLI::App& app, Outcome& outcome);

/// `draftscope inspect FILE`: describes a model, or the content and soundness of a trace.
void add_inspect_command(CLI::App& app, Outcome& outcome);

/// `draftscope simulate`: predicts another strategy, machine or model on a recorded text. `command_line` goes
/// into the prediction that it writes.
void add_simulate_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

/// `draftscope advise`: advises a setting for a machine, or not to speculate.
void add_advise_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

/// `draftscope calibrate`: measures what decides decoding speed on this machine, for `simulate --calibration`
/// elsewhere.
void add_calibrate_command(CLI::App& app, Outcome& outcome);

/// `draftscope validate`: compares the simulator's predictions with measurements.
void add_validate_command(CLI::App& app, Outcome& outcome);

/// `draftscope reproduce NAME`: makes a figure or table of a publication again, beside what it prints.
void add_reproduce_command(CLI::App& app, Outcome& outcome);

/// `draftscope view [FILE…]`: starts the desktop app.
void add_view_command(CLI::App& app, Outcome& outcome);

/// `draftscope strategies`: every strategy with its parameters, defaults, units and source.
void add_strategies_command(CLI::App& app, Outcome& outcome);

/// Adds all commands. A recording or a policy stores `command_line` as the way it was made. `outcome` must
/// outlive `app`.
void add_commands(CLI::App& app, Outcome& outcome, const std::string& command_line);

}  // namespace draftscope::cli
