// SPDX-License-Identifier: GPL-3.0-or-later
#include "process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

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

/// A stream of the new process. A pipe, since a limit on the size of files would cut a file of its text.
/// Throws std::system_error where there is none.
class Stream {
 public:
  Stream() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe");
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    for (const int end : ends_) ::close(end);
  }

  /// Makes it a standard stream of this process, which is the new one.
  void become(int stream) const { ::dup2(ends_[1], stream); }

  /// Takes what was written so far.
  void take() {
    std::array<char, 65536> bytes;
    for (ssize_t n = 0; (n = ::read(ends_[0], bytes.data(), bytes.size())) > 0;)
      text.append(bytes.data(), static_cast<std::size_t>(n));
  }

  std::string text;

 private:
  std::array<int, 2> ends_{};
};

pid_t start(const std::vector<std::string>& arguments, std::vector<std::string> variables,
            const Preparation& prepare, const Stream& out, const Stream& err) {
  std::vector<std::string> words{DRAFTSCOPE_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (char** variable = ::environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  const std::vector<char*> argument_pointers = pointers_to(words);
  const std::vector<char*> variable_pointers = pointers_to(variables);
  const pid_t child = ::fork();
  if (child != 0) return child;
  out.become(STDOUT_FILENO);
  err.become(STDERR_FILENO);
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
  Stream out;
  Stream err;
  const pid_t child = start(arguments, environment, prepare, out, err);
  const auto last = std::chrono::steady_clock::now() + 120s;
  bool sent = signal == 0;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    out.take();
    err.take();
    if (!sent && is_time()) sent = ::kill(child, signal) == 0;
    if (std::chrono::steady_clock::now() > last) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(2ms);
  }
  out.take();
  err.take();
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), std::move(out.text),
          std::move(err.text)};
}

ProcessResult run_process(const std::vector<std::string>& arguments, const Preparation& prepare,
                          const std::vector<std::string>& environment) {
  return run_and_signal(arguments, 0, {}, prepare, environment);
}

}  // namespace draftscope::cli
