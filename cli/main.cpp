// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app{"Records, explains and predicts self-speculative decoding"};
  app.require_subcommand(1);
  CLI11_PARSE(app, argc, argv);
  return 0;
}
