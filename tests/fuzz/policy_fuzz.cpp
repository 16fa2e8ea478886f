// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a policy file. Whatever comes is read or refused in one line; what is read is written and read again
// as the same, and `tuned` makes a strategy of it or refuses it in one line.

#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tuning/policy.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace {

using namespace draftscope;
using namespace draftscope::engine;

void require(bool property) {
  if (!property) __builtin_trap();
}

void require_one_line(const Error& error) {
  require(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

/// The corpus is for this model.
speculation::ModelShape shape() {
  speculation::ModelShape shape;
  shape.name = "small";
  shape.n_layers = 4;
  shape.d_model = 8;
  shape.n_heads = 2;
  shape.n_kv_heads = 1;
  shape.head_dim = 4;
  shape.d_ff = 16;
  shape.vocab = 32;
  return shape;
}

void make_tuned(std::string_view text) {
  // One file a process, on the memory-backed file system: the strategy wants a path.
  static const std::string path = "/dev/shm/draftscope-policy-" + std::to_string(getpid()) + ".json";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  require(file >= 0);
  require(write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(file);
  const auto made = make_strategy("tuned:policy=" + path, shape(), {{}, "0123abcd"});
  unlink(path.c_str());
  if (!made) return require_one_line(made.error());
  require(made->strategy != nullptr);
  require(nlohmann::json::accept(made->parameters));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = parse_policy(text, "input");
  if (!policy) {
    require_one_line(policy.error());
    return 0;
  }
  const std::string written = policy_json(*policy);
  const auto again = parse_policy(written, "written");
  require(again.has_value());
  require(policy_json(*again) == written);
  require(!policy->finished || score_spread(policy->repeats).has_value());
  make_tuned(text);
  return 0;
}
