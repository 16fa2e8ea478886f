// SPDX-License-Identifier: GPL-3.0-or-later
#include "child.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

namespace draftscope::test {
namespace {

namespace fs = std::filesystem;

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  return pointers;
}

std::string taken_from(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  file.close();
  fs::remove(path);
  return text;
}

/// After fork() of a program with threads, only calls that take no lock.
[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& environment,
                         const char* out, const char* err) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // NOLINTBEGIN(cppcoreguidelines-pro-type-vararg)
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  ::dup2(::open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), STDOUT_FILENO);
  ::dup2(::open(err, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), STDERR_FILENO);
  // NOLINTEND(cppcoreguidelines-pro-type-vararg)
  ::execve(arguments.front(), arguments.data(), environment.data());
  ::_exit(127);
}

/// The status that waitpid() gives; sets `timed_out` if the child had to be killed.
int wait_for(pid_t child, std::chrono::seconds limit, bool& timed_out) {
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (!timed_out && std::chrono::steady_clock::now() > end) {
      timed_out = true;
      ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

}  // namespace

Ended run_child(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                const fs::path& folder, std::chrono::seconds limit) {
  const std::string out = folder / "stdout";
  const std::string err = folder / "stderr";
  std::vector<char*> argument_pointers = pointers_to(arguments);
  argument_pointers.push_back(nullptr);
  std::vector<char*> environment_pointers = pointers_to(environment);
  for (char** variable = ::environ; *variable != nullptr; ++variable)
    environment_pointers.push_back(*variable);
  environment_pointers.push_back(nullptr);

  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) become(argument_pointers, environment_pointers, out.c_str(), err.c_str());
  Ended ended;
  const int status = wait_for(child, limit, ended.timed_out);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.out = taken_from(out);
  ended.err = taken_from(err);
  return ended;
}

}  // namespace draftscope::test
