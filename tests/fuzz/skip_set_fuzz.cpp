// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a file of skip sets, or a policy with one inside. Whatever comes is read or refused in one line; a
// set that is written into a file is read back, and the others stay as they were.

#include <draftscope/engine/skip_set.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace {

using namespace draftscope;
using namespace draftscope::engine;

constexpr std::int32_t n_layers = 8;

void require(bool property) {
  if (!property) __builtin_trap();
}

void require_one_line(const Error& error) {
  require(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

void read_and_write(const std::filesystem::path& path) {
  const auto sets = read_skip_sets(path, n_layers);
  if (!sets) require_one_line(sets.error());
  const auto chosen = read_skip_set(path, "default", n_layers);
  if (!chosen) require_one_line(chosen.error());
  if (sets) require(chosen.has_value() == sets->contains("default"));
  const speculation::SublayerMask set = speculation::SublayerMask(n_layers).skip_attention(1).skip_mlp(6);
  if (const auto written = write_skip_set(path, "new", set); !written)
    return require_one_line(written.error());
  require(read_skip_set(path, "new", n_layers).value() == set);
  if (!sets) return;
  const auto after = read_skip_sets(path, n_layers);
  require(after.has_value());
  for (const auto& [name, mask] : *sets) require(name == "new" || after->at(name) == mask);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // One file a process, on the memory-backed file system: sets come from paths.
  static const std::filesystem::path path =
      "/dev/shm/draftscope-skip-set-" + std::to_string(getpid()) + ".json";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  require(file >= 0);
  require(write(file, data, size) == static_cast<ssize_t>(size));
  close(file);
  read_and_write(path);
  unlink(path.c_str());
  return 0;
}
