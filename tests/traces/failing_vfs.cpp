// SPDX-License-Identifier: GPL-3.0-or-later
#include "failing_vfs.h"

#include <sqlite3.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <new>

namespace draftscope::traces {
namespace {

/// The current fault; files may belong to several threads.
struct Armed {
  DiskFault fault;
  std::atomic<bool> is_armed{false};
  std::atomic<int> calls{0};
  std::atomic<bool> has_failed{false};
};
Armed armed;

/// The code that the call returns instead of being made; SQLITE_OK if it is to be made.
int failure(DiskCall call, bool is_temporary) {
  if (!armed.is_armed || armed.fault.call != call) return SQLITE_OK;
  if (armed.fault.is_temporary && !is_temporary) return SQLITE_OK;
  const int number = ++armed.calls;
  if (number < armed.fault.nth || (number > armed.fault.nth && !armed.fault.is_lasting)) return SQLITE_OK;
  armed.has_failed = true;
  errno = EIO;
  return armed.fault.code;
}

sqlite3_vfs* parent = nullptr;
sqlite3_vfs failing;

/// The parent's file follows directly in memory.
struct File {
  sqlite3_file base;
  bool is_temporary;
  [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
static_assert(sizeof(File) % alignof(std::max_align_t) == 0);

File& of(sqlite3_file* file) {
  return *reinterpret_cast<File*>(file);
}

/// Forwards a method unless `call` is to fail.
template <DiskCall call, auto method, typename... Arguments>
int pass_on(sqlite3_file* file, Arguments... arguments) {
  if (const int code = failure(call, of(file).is_temporary); code != SQLITE_OK) return code;
  sqlite3_file* const real = of(file).real();
  return (real->pMethods->*method)(real, arguments...);
}
template <auto method, typename... Arguments>
int pass_on_always(sqlite3_file* file, Arguments... arguments) {
  sqlite3_file* const real = of(file).real();
  return (real->pMethods->*method)(real, arguments...);
}

using Methods = sqlite3_io_methods;

int sync_nothing(sqlite3_file* file, int /*flags*/) {
  return failure(DiskCall::sync, of(file).is_temporary);
}
void pass_barrier_on(sqlite3_file* file) {
  of(file).real()->pMethods->xShmBarrier(of(file).real());
}

const Methods methods = {
    .iVersion = 3,
    .xClose = pass_on_always<&Methods::xClose>,
    .xRead = pass_on<DiskCall::read, &Methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = pass_on<DiskCall::write, &Methods::xWrite, const void*, int, sqlite3_int64>,
    .xTruncate = pass_on<DiskCall::truncate, &Methods::xTruncate, sqlite3_int64>,
    .xSync = sync_nothing,
    .xFileSize = pass_on<DiskCall::file_size, &Methods::xFileSize, sqlite3_int64*>,
    .xLock = pass_on<DiskCall::lock, &Methods::xLock, int>,
    .xUnlock = pass_on_always<&Methods::xUnlock, int>,
    .xCheckReservedLock = pass_on_always<&Methods::xCheckReservedLock, int*>,
    .xFileControl = pass_on_always<&Methods::xFileControl, int, void*>,
    .xSectorSize = pass_on_always<&Methods::xSectorSize>,
    .xDeviceCharacteristics = pass_on_always<&Methods::xDeviceCharacteristics>,
    .xShmMap = pass_on<DiskCall::shm_map, &Methods::xShmMap, int, int, int, void volatile**>,
    .xShmLock = pass_on<DiskCall::shm_lock, &Methods::xShmLock, int, int, int>,
    .xShmBarrier = pass_barrier_on,
    .xShmUnmap = pass_on_always<&Methods::xShmUnmap, int>,
    .xFetch = pass_on_always<&Methods::xFetch, sqlite3_int64, int, void**>,
    .xUnfetch = pass_on_always<&Methods::xUnfetch, sqlite3_int64, void*>,
};

int open_file(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* place, int flags, int* flags_out) {
  File* const file = ::new (place) File{};
  file->is_temporary = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  if (const int code = failure(DiskCall::open, file->is_temporary); code != SQLITE_OK) return code;
  const int code = parent->xOpen(parent, name, file->real(), flags, flags_out);
  if (file->real()->pMethods != nullptr) file->base.pMethods = &methods;
  return code;
}
int remove_file(sqlite3_vfs* /*vfs*/, const char* name, int sync_folder) {
  if (const int code = failure(DiskCall::remove, false); code != SQLITE_OK) return code;
  return parent->xDelete(parent, name, sync_folder);
}
int look_for_file(sqlite3_vfs* /*vfs*/, const char* name, int flags, int* result) {
  if (const int code = failure(DiskCall::access, false); code != SQLITE_OK) return code;
  return parent->xAccess(parent, name, flags, result);
}
int full_name(sqlite3_vfs* /*vfs*/, const char* name, int size, char* out) {
  return parent->xFullPathname(parent, name, size, out);
}

/// Returns at once. SQLite would otherwise wait ten seconds in total for a lock on the log's index.
int sleep_not_at_all(sqlite3_vfs* /*vfs*/, int microseconds) {
  return microseconds;
}

}  // namespace

std::string_view disk_call_name(DiskCall call) {
  constexpr std::array<std::string_view, disk_call_count> names{"open",  "remove",   "access",  "read",
                                                                "write", "truncate", "sync",    "file_size",
                                                                "lock",  "shm_map",  "shm_lock"};
  return names.at(static_cast<std::size_t>(call));
}

FailingVfs::FailingVfs() {
  parent = sqlite3_vfs_find(nullptr);
  failing = *parent;
  failing.pNext = nullptr;
  failing.zName = "failing";
  failing.szOsFile = static_cast<int>(sizeof(File)) + parent->szOsFile;
  failing.xOpen = open_file;
  failing.xDelete = remove_file;
  failing.xAccess = look_for_file;
  failing.xFullPathname = full_name;
  failing.xSleep = sleep_not_at_all;
  sqlite3_vfs_register(&failing, 1);
}

FailingVfs::~FailingVfs() {
  pass();
  sqlite3_vfs_unregister(&failing);
  sqlite3_vfs_register(parent, 1);
}

void FailingVfs::fail(const DiskFault& fault) {
  armed.is_armed = false;
  armed.fault = fault;
  armed.calls = 0;
  armed.has_failed = false;
  armed.is_armed = true;
}

void FailingVfs::pass() {
  armed.is_armed = false;
}

bool FailingVfs::has_failed() const {
  return armed.has_failed;
}

}  // namespace draftscope::traces
