// SPDX-License-Identifier: GPL-3.0-or-later
#include "process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "../temporary_folder.h"
#include "printed.h"

namespace draftscope::cli {

namespace {

using namespace std::chrono_literals;

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t start(const std::vector<std::string>& arguments, std::vector<std::string> variables,
            const Preparation& prepare, const std::string& out, const std::string& err) {
  std::vector<std::string> words{DRAFTSCOPE_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (char** variable = ::environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  const std::vector<char*> argument_pointers = pointers_to(words);
  const std::vector<char*> variable_pointers = pointers_to(variables);
  const pid_t child = ::fork();
  if (child != 0) return child;
  redirect(STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  if (prepare) prepare();
  ::execve(DRAFTSCOPE_PROGRAM, argument_pointers.data(), variable_pointers.data());
  ::_exit(127);
}

}  // namespace

void redirect(int stream, const char* path, int flags) {
  const int file = ::open(path, flags, 0600);
  ::dup2(file, stream);
  if (file != stream) ::close(file);
}

ProcessResult run_and_signal(const std::vector<std::string>& arguments, int signal,
                             const std::function<bool()>& is_time, const Preparation& prepare,
                             const std::vector<std::string>& environment) {
  const test::TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  const std::string err = (folder / "err").string();
  const pid_t child = start(arguments, environment, prepare, out, err);
  const auto last = std::chrono::steady_clock::now() + 120s;
  bool sent = signal == 0;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (!sent && is_time()) sent = ::kill(child, signal) == 0;
    if (std::chrono::steady_clock::now() > last) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(2ms);
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_file(out), read_file(err)};
}

ProcessResult run_process(const std::vector<std::string>& arguments, const Preparation& prepare,
                          const std::vector<std::string>& environment) {
  return run_and_signal(arguments, 0, {}, prepare, environment);
}

}  // namespace draftscope::cli
