// SPDX-License-Identifier: GPL-3.0-or-later
#include "state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <span>
#include <utility>

#include "activity.h"
#include "emulated_gpu.h"

namespace draftscope::cuda_stand_in {

namespace {

Settings settings_of_environment() {
  Settings settings;
  if (const char* const bytes = std::getenv("DRAFTSCOPE_EMULATED_MEMORY"))
    settings.memory_bytes = std::strtoull(bytes, nullptr, 10);
  if (const char* const answers = std::getenv("DRAFTSCOPE_EMULATED_ANSWERS"))
    settings.answers = std::strtoll(answers, nullptr, 10);
  return settings;
}

/// Parses "CALL:N" or "CALL:N+".
Failure failure_of_environment() {
  const char* const text = std::getenv("DRAFTSCOPE_EMULATED_FAIL");
  if (text == nullptr) return {};
  const std::string whole(text);
  const std::size_t colon = whole.find(':');
  if (colon == std::string::npos) return {};
  return {whole.substr(0, colon), std::strtoll(whole.c_str() + colon + 1, nullptr, 10), whole.back() == '+'};
}

std::unique_ptr<State>& current() {
  static std::unique_ptr<State> made;
  return made;
}

}  // namespace

State& state() {
  if (current() == nullptr)
    current() = std::make_unique<State>(settings_of_environment(), failure_of_environment());
  return *current();
}

void reset(const Settings& settings, const Failure& failure) {
  current() = std::make_unique<State>(settings, failure);
}

Live live() {
  const State& s = state();
  return {s.device_blocks.size(), s.host_blocks.size(), s.streams.size(), s.events.size(), s.blas.size()};
}

const std::map<std::string, std::int64_t>& calls() {
  return state().calls;
}

bool has_injected() {
  return state().has_failed;
}

State::State(Settings wanted, Failure to_fail)
    : settings(std::move(wanted)), failure(std::move(to_fail)), answers_left(settings.answers) {}

cudaError_t State::prepare() {
  if (gpu != nullptr) return cudaSuccess;
  gpu = engine::cuda::emulation::make_emulated_gpu(settings.multiprocessors, settings.memory_bytes,
                                                   settings.seed);
  return cudaSuccess;
}

cudaError_t State::refuse(cudaError_t error, std::string why) {
  detail = std::move(why);
  return error;
}

cudaError_t State::drain_all() {
  for (Stream* const stream : streams)
    if (const cudaError_t error = drain(*stream); error != cudaSuccess) return error;
  return cudaSuccess;
}

cudaError_t State::query(Stream& stream, const Event* event) {
  if (answers_left == 0) return cudaErrorNotReady;
  const cudaError_t error = drain(stream, event);
  --answers_left;
  return error;
}

cudaError_t State::drain(Stream& stream, const Event* event) {
  while (answers_left == 0 && !stream.queue.empty()) pause();
  const auto records = [&](const Operation& operation) {
    return operation.work == Work::event && operation.event == event;
  };
  const auto last = std::find_if(stream.queue.rbegin(), stream.queue.rend(), records).base();
  const auto until = event == nullptr ? stream.queue.end() : last;
  std::vector<Operation> queue(std::make_move_iterator(stream.queue.begin()), std::make_move_iterator(until));
  stream.queue.erase(stream.queue.begin(), until);
  if (const Result<void> performed = perform_all(queue); !performed) {
    lost = cudaErrorLaunchFailure;
    return refuse(lost, performed.error().message);
  }
  activity::record(queue);
  return cudaSuccess;
}

Result<void> State::perform_all(std::span<Operation> operations) {
  for (Operation& operation : operations) {
    operation.start_ns = activity::now_ns();
    DRAFTSCOPE_TRY(perform(operation));
    DRAFTSCOPE_TRY(gpu->synchronise());
    operation.end_ns = activity::now_ns();
    if (operation.work == Work::event) *operation.event = {true, operation.end_ns};
  }
  return {};
}

Result<void> State::perform(const Operation& operation) {
  switch (operation.work) {
    case Work::kernel:
      return gpu->launch(operation.launch, operation.params);
    case Work::product:
      return gpu->multiply(operation.product);
    case Work::upload:
      if (digest_of(operation.from, operation.bytes) != operation.digest)
        return fail("{} bytes that are copied to the device changed before the copy was waited for",
                    operation.bytes);
      return gpu->upload(operation.to, operation.from, operation.bytes);
    case Work::download:
      return gpu->download(operation.to, operation.from, operation.bytes);
    case Work::set:
      if (operation.value == 0) return gpu->clear(operation.to, operation.bytes);
      return gpu->upload(operation.to,
                         std::string(operation.bytes, static_cast<char>(operation.value)).data(),
                         operation.bytes);
    default:
      return {};
  }
}

bool holds(const std::map<const std::byte*, std::size_t>& blocks, const void* at, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(at);
  const auto next = blocks.upper_bound(begin);
  if (next == blocks.begin()) return false;
  const auto& [first, size] = *std::prev(next);
  const auto offset = static_cast<std::size_t>(begin - first);
  return offset <= size && bytes <= size - offset;
}

std::size_t digest_of(const void* from, std::size_t bytes) {
  return std::hash<std::string_view>()({static_cast<const char*>(from), bytes});
}

}  // namespace draftscope::cuda_stand_in
