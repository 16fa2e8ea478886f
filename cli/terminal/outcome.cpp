// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/outcome.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace draftscope::cli {

int fail_with(const Error& error) {
  fmt::print(stderr, "draftscope: {}\n", error.message);
  return exit_failure;
}

void finish(Outcome& outcome, const Result<int>& result) {
  outcome.exit_code = result ? *result : fail_with(result.error());
}

int print_out(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return 0;
  return fail_with({fmt::format("standard output: {}", std::generic_category().message(errno))});
}

}  // namespace draftscope::cli
