// SPDX-License-Identifier: GPL-3.0-or-later
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "program.h"
#include "terminal/messages.h"
#include "terminal/process.h"

int main(int argc, char** argv) {
  using namespace draftscope::cli;
  prepare_process();
  end_quietly_without_memory();
  // The libraries return errors as values. An exception here comes from the standard library (no memory), or
  // is a defect.
  try {
    return run_program(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return exit_failure;
}
