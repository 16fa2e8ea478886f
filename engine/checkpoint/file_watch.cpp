// SPDX-License-Identifier: GPL-3.0-or-later
#include "file_watch.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace draftscope::engine {

/// A watched file. It is never freed, so that the signal handler may walk the list at any time; later
/// mappings reuse it.
struct WatchedFile {
  std::atomic<std::uintptr_t> begin{0};  ///< 0 = free
  std::atomic<std::size_t> bytes{0};
  std::atomic<std::size_t> lost_at{0};  ///< 1 + the first byte that could not be read; 0 = none
  WatchedFile* next = nullptr;          ///< set once, before the file is in the list
  // The signal handler does not read the following members; the mutex guards them.
  std::string path;
  int descriptor = -1;
  struct stat opened {};
};

namespace {

std::mutex mutex;
std::atomic<WatchedFile*> first{nullptr};
std::atomic<bool> any_lost{false};
struct sigaction action_before {};

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free &&
                  std::atomic<WatchedFile*>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

/// Replaces all pages that the file has lost from `address` on by zeros. Returns whether the address is in a
/// watched file.
bool replace_lost_pages(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (WatchedFile* file = first.load(); file != nullptr; file = file->next) {
    const std::uintptr_t begin = file->begin;
    const std::uintptr_t end = begin + file->bytes;
    if (begin == 0 || address < begin || address >= end) continue;
    const std::uintptr_t lost = address - address % page;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is what a signal reports
    void* const pages = ::mmap(reinterpret_cast<void*>(lost), end - lost, PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return false;
    std::size_t none = 0;
    file->lost_at.compare_exchange_strong(none, lost - begin + 1);
    any_lost = true;
    return true;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* information, void* /*context*/) {
  if (replace_lost_pages(reinterpret_cast<std::uintptr_t>(information->si_addr))) return;
  // The fault is not ours: the same read fails again, under the handler that was installed before.
  ::sigaction(signal, &action_before, nullptr);
}

void install_handler_once() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGBUS, &action, &action_before) == 0;
  }();
  static_cast<void>(installed);
}

/// Returns a free entry of the list, or a new one in it. The caller holds the mutex.
WatchedFile* free_entry() {
  for (WatchedFile* file = first.load(); file != nullptr; file = file->next)
    if (file->begin == 0) return file;
  auto* const file = new WatchedFile;  // NOLINT(cppcoreguidelines-owning-memory): see the struct
  file->next = first.load();
  first = file;
  return file;
}

bool is_unchanged(const WatchedFile& file) {
  struct stat now {};
  if (::fstat(file.descriptor, &now) != 0) return false;
  return now.st_size == file.opened.st_size && now.st_mtim.tv_sec == file.opened.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == file.opened.st_mtim.tv_nsec;
}

}  // namespace

FileWatch::FileWatch(std::span<const std::byte> bytes, const std::filesystem::path& path, int descriptor) {
  const std::lock_guard lock(mutex);
  install_handler_once();
  file_ = free_entry();
  file_->path = path.string();
  file_->descriptor = descriptor;
  if (::fstat(descriptor, &file_->opened) != 0) file_->opened = {};
  file_->lost_at = 0;
  file_->bytes = bytes.size();
  file_->begin = reinterpret_cast<std::uintptr_t>(bytes.data());
}

FileWatch::FileWatch(FileWatch&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}

FileWatch& FileWatch::operator=(FileWatch&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

FileWatch::~FileWatch() {
  if (file_ == nullptr) return;
  const std::lock_guard lock(mutex);
  ::close(file_->descriptor);
  file_->begin = 0;
}

Result<void> check_watched_files() {
  if (!any_lost) return {};
  const std::lock_guard lock(mutex);
  for (const WatchedFile* file = first.load(); file != nullptr; file = file->next)
    if (file->begin != 0 && file->lost_at != 0)
      return fail("{}: can't be read any more from byte {} on, expected a file that stays as it was opened",
                  file->path, file->lost_at - 1);
  return {};
}

Result<void> check_watched_files_unchanged() {
  DRAFTSCOPE_TRY(check_watched_files());
  const std::lock_guard lock(mutex);
  for (const WatchedFile* file = first.load(); file != nullptr; file = file->next)
    if (file->begin != 0 && !is_unchanged(*file))
      return fail("{}: was changed while it was used, expected a file that stays as it was opened",
                  file->path);
  return {};
}

}  // namespace draftscope::engine
