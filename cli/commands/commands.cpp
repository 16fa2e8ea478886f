// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

namespace draftscope::cli {

void add_commands(CLI::App& app, Outcome& outcome, const std::string& command_line) {
  app.require_subcommand(1);
  add_generate_command(app, outcome);
  add_record_command(app, outcome, command_line);
  add_tune_command(app, outcome, command_line);
  add_report_command(app, outcome);
  add_explain_command(app, outcome);
  add_compare_command(app, outcome);
  add_export_command(app, outcome);
  add_import_command(app, outcome);
  add_merge_command(app, outcome);
  add_inspect_command(app, outcome);
  add_simulate_command(app, outcome, command_line);
  add_advise_command(app, outcome, command_line);
  add_calibrate_command(app, outcome);
  add_validate_command(app, outcome);
  add_view_command(app, outcome);
  add_strategies_command(app, outcome);
}

}  // namespace draftscope::cli
