// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/outcome.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "terminal/messages.h"

namespace draftscope::cli {

int fail_with(const Error& error) {
  print_error(error.message);
  return exit_failure;
}

void finish(Outcome& outcome, const Result<int>& result) {
  outcome.exit_code = result ? *result : fail_with(result.error());
}

Result<void> write_out(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return {};
  return fail("standard output: can't be written: {}", std::generic_category().message(errno));
}

int print_out(std::string_view text) {
  const Result<void> written = write_out(text);
  if (written) return 0;
  return errno == EPIPE ? exit_failure : fail_with(written.error());
}

}  // namespace draftscope::cli
