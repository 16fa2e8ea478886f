// SPDX-License-Identifier: GPL-3.0-or-later
// NCCL, as far as ranks that share a model take it: groups, and exchanges of bytes in place.

#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "activity.h"
#include "library_call.h"
#include "state.h"

using namespace draftscope::cuda_stand_in;

namespace {

/// The same as call(), in NCCL's errors.
template <typename Run>
ncclResult_t nccl_call(const char* name, InCapture in_capture, bool gives_back, Run run) {
  return library_call<ncclResult_t>({ncclSuccess, ncclUnhandledCudaError}, name, in_capture, gives_back, run);
}

Group* group_of(const State& s, ncclComm_t handle) {
  auto* const group = reinterpret_cast<Group*>(handle);
  return s.groups.contains(group) ? group : nullptr;
}

bool is_of(const Operation& operation, const Group* group) {
  return operation.work == Work::exchange && operation.group == group;
}

/// Whether a stream or an executable graph holds an exchange of the group.
bool is_used(const State& s, const Group* group) {
  const auto holds_one = [&](const auto& operations) {
    return std::any_of(operations.begin(), operations.end(),
                       [&](const Operation& operation) { return is_of(operation, group); });
  };
  return std::any_of(s.streams.begin(), s.streams.end(),
                     [&](const Stream* stream) { return holds_one(stream->queue); }) ||
         std::any_of(s.executables.begin(), s.executables.end(),
                     [&](const Executable* executable) { return holds_one(executable->operations); });
}

void give_back(State& s, Group* group) {
  s.groups.erase(group);
  delete group;
}

ncclResult_t join(State& s, ncclComm_t* handle, int size, const ncclUniqueId& id, int rank) {
  if (size < 1 || rank < 0 || rank >= size)
    return refuse(s, ncclInvalidArgument, fmt::format("rank {} of {}", rank, size));
  const std::string name(id.internal, ::strnlen(id.internal, sizeof id.internal));
  draftscope::Result<RankSockets> sockets;
  if (rank != 0) {
    sockets = RankSockets::join(name, rank, size);
  } else {
    const auto found = s.meetings.find(name);
    if (found == s.meetings.end())
      return refuse(s, ncclInvalidArgument, "a group that this rank did not name");
    sockets = RankSockets::receive(std::move(found->second), size);
    s.meetings.erase(name);
  }
  if (!sockets) return refuse(s, ncclSystemError, sockets.error().message);
  *handle =
      reinterpret_cast<ncclComm_t>(*s.groups.insert(new Group{rank, size, *std::move(sockets), {}}).first);
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return nccl_call("ncclGetUniqueId", InCapture::refused, false, [&](State& s) {
    auto meeting = open_meeting();
    if (!meeting) return refuse(s, ncclSystemError, meeting.error().message);
    *id = {};
    std::memcpy(id->internal, meeting->name.data(), std::min(meeting->name.size(), sizeof id->internal));
    s.meetings.emplace(meeting->name, std::move(meeting->listening));
    return ncclSuccess;
  });
}

ncclResult_t ncclCommInitRank(ncclComm_t* handle, int size, ncclUniqueId id, int rank) {
  *handle = nullptr;
  // Others may have met a rank whose call then fails.
  const ncclResult_t result = nccl_call("ncclCommInitRank", InCapture::refused, true,
                                        [&](State& s) { return join(s, handle, size, id, rank); });
  if (result != ncclSuccess && *handle != nullptr)
    give_back(state(), reinterpret_cast<Group*>(std::exchange(*handle, nullptr)));
  return result;
}

ncclResult_t ncclAllGather(const void* own, void* all, std::size_t count, ncclDataType_t type,
                           ncclComm_t handle, cudaStream_t stream_handle) {
  return nccl_call("ncclAllGather", InCapture::allowed, false, [&](State& s) {
    Group* const group = group_of(s, handle);
    auto* const stream = reinterpret_cast<Stream*>(stream_handle);
    if (group == nullptr || !s.streams.contains(stream))
      return refuse(s, ncclInvalidArgument, "a group or a stream that is not there");
    if (type != ncclUint8 || count == 0)
      return refuse(s, ncclInvalidArgument, "another exchange than one of bytes");
    const std::size_t bytes = count * static_cast<std::size_t>(group->size);
    if (!holds(s.device_blocks, all, bytes))
      return refuse(s, ncclInvalidArgument,
                    fmt::format("an exchange of {} bytes beyond device memory", bytes));
    const auto* const place =
        static_cast<const std::byte*>(all) + static_cast<std::size_t>(group->rank) * count;
    if (own != place) return refuse(s, ncclInvalidArgument, "an exchange of what is not in its own place");
    if (stream->captured != nullptr && stream->own == nullptr && is_body(s, stream->captured))
      return refuse(s, ncclInvalidUsage, "an exchange in a graph's loop");
    Operation operation;
    operation.work = Work::exchange;
    operation.to = all;
    operation.bytes = count;
    operation.group = group;
    if (stream->captured == nullptr) operation.correlation = activity::called(activity::Call::launch);
    s.enqueue(*stream, std::move(operation));
    return ncclSuccess;
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t* found) {
  return nccl_call("ncclCommGetAsyncError", InCapture::allowed, false, [&](State& s) {
    const Group* const group = group_of(s, handle);
    if (group == nullptr) return refuse(s, ncclInvalidArgument, "a group that is not there");
    *found = group->failure.empty() ? ncclSuccess : ncclRemoteError;
    s.detail = group->failure;
    return ncclSuccess;
  });
}

ncclResult_t ncclCommAbort(ncclComm_t handle) {
  return nccl_call("ncclCommAbort", InCapture::allowed, true, [&](State& s) {
    Group* const group = group_of(s, handle);
    if (group == nullptr) return refuse(s, ncclInvalidArgument, "a group that is not there");
    for (Stream* const stream : s.streams)
      std::erase_if(stream->queue, [&](const Operation& operation) { return is_of(operation, group); });
    give_back(s, group);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  return nccl_call("ncclCommDestroy", InCapture::refused, true, [&](State& s) {
    Group* const group = group_of(s, handle);
    if (group == nullptr) return refuse(s, ncclInvalidArgument, "a group that is not there");
    if (is_used(s, group))
      return refuse(s, ncclInvalidUsage, "a group whose exchanges a stream or a graph still holds");
    give_back(s, group);
    return ncclSuccess;
  });
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "internal error";
  }
}

const char* ncclGetLastError(ncclComm_t /*group*/) {
  static thread_local std::string text;
  text = state().detail.empty() ? "" : fmt::format("emulated: {}", state().detail);
  return text.c_str();
}

}  // extern "C"
