// SPDX-License-Identifier: GPL-3.0-or-later
// The first part of an AppImage (type 2): a squashfs of the app follows these bytes in the same file. Mounts
// it by FUSE, or unpacks it where FUSE can't be used, and starts its AppRun. scripts/appimage compiles it,
// statically.
#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
#include <squashfuse/ll.h>
}

namespace {

namespace fs = std::filesystem;

constexpr const char* self = "/proc/self/exe";

[[noreturn]] void fail(const std::string& words) {
  std::fprintf(stderr, "draftscope: AppImage: %s\n", words.c_str());
  std::exit(1);
}

/// Where the squashfs begins, in bytes: after the section headers, which end the program.
size_t squashfs_offset() {
  Elf64_Ehdr header{};
  if (!std::ifstream(self).read(reinterpret_cast<char*>(&header), sizeof header))
    fail(std::string(self) + ": can't be read, expected this file");
  return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
}

/// A new folder for this run.
std::string temporary_folder() {
  const char* parent = std::getenv("TMPDIR");
  std::string folder = std::string(parent && *parent ? parent : "/tmp") + "/draftscope-XXXXXX";
  if (!mkdtemp(folder.data()))
    fail(folder + ": " + std::strerror(errno) + ", expected a folder that can be made");
  return folder;
}

void extract_file(sqfs& image, sqfs_inode& inode, const fs::path& path) {
  std::ofstream file(path, std::ios::binary);
  std::vector<char> bytes(1 << 20);
  for (sqfs_off_t begin = 0; begin < static_cast<sqfs_off_t>(inode.xtra.reg.file_size);) {
    auto size = static_cast<sqfs_off_t>(bytes.size());
    if (sqfs_read_range(&image, &inode, begin, &size, bytes.data()) || size <= 0)
      fail(path.string() + ": its bytes in the AppImage are damaged, expected a squashfs");
    file.write(bytes.data(), size);
    begin += size;
  }
  file.close();
  if (!file) fail(path.string() + ": can't be written, expected room on the disk");
  fs::permissions(path, static_cast<fs::perms>(inode.base.mode & 0777));
}

/// Unpacks what matches a shell pattern ("*": all) into a folder.
void extract(const fs::path& folder, const char* pattern) {
  sqfs image{};
  sqfs_traverse walk{};
  sqfs_err error = sqfs_open_image(&image, self, squashfs_offset());
  if (error) std::exit(1);  // it said why
  error = sqfs_traverse_open(&walk, &image, sqfs_inode_root(&image));
  while (!error && sqfs_traverse_next(&walk, &error)) {
    if (walk.dir_end || fnmatch(pattern, walk.path, 0) != 0) continue;
    sqfs_inode inode{};
    if ((error = sqfs_inode_get(&image, &inode, sqfs_dentry_inode(&walk.entry)))) break;
    const fs::path path = folder / walk.path;
    fs::create_directories(S_ISDIR(inode.base.mode) ? path : path.parent_path());
    if (S_ISREG(inode.base.mode)) extract_file(image, inode, path);
    if (!S_ISLNK(inode.base.mode)) continue;
    std::string target(inode.xtra.symlink_size + 1, '\0');
    size_t size = target.size();
    if ((error = sqfs_readlink(&image, &inode, target.data(), &size))) break;
    fs::remove(path);
    fs::create_symlink(target.c_str(), path);
  }
  if (error) fail("its squashfs is damaged, expected one that can be read");
  sqfs_traverse_close(&walk);
  sqfs_destroy(&image);
}

/// Whether FUSE can be tried: the device, and the right to mount or the program that has it.
bool has_fuse() {
  if (access("/dev/fuse", R_OK | W_OK) != 0) return false;
  if (geteuid() == 0) return true;
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin:/bin";
  for (const char* folder = std::strtok(path.data(), ":"); folder; folder = std::strtok(nullptr, ":"))
    if (access((std::string(folder) + "/fusermount3").c_str(), X_OK) == 0) return true;
  return false;
}

/// Serves the squashfs at `folder` until nobody has the other end of `alive` open, then unmounts it. Writes
/// one byte to `ready` once it is mounted.
[[noreturn]] void serve(const std::string& folder, int ready, int alive) {
  setsid();
  // The app that gets these ends, and closes `alive`; ended by one, this would leave the mount.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  const int nothing = open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3; ++standard) dup2(nothing, standard);
  fuse_lowlevel_ops operations{};
  operations.getattr = sqfs_ll_op_getattr;
  operations.opendir = sqfs_ll_op_opendir;
  operations.releasedir = sqfs_ll_op_releasedir;
  operations.readdir = sqfs_ll_op_readdir;
  operations.lookup = sqfs_ll_op_lookup;
  operations.open = sqfs_ll_op_open;
  operations.release = sqfs_ll_op_release;
  operations.read = sqfs_ll_op_read;
  operations.readlink = sqfs_ll_op_readlink;
  operations.forget = sqfs_ll_op_forget;
  std::array<char*, 3> words{const_cast<char*>("draftscope"), const_cast<char*>("-o"),
                             const_cast<char*>("ro,nodev,nosuid,subtype=appimage,fsname=draftscope")};
  fuse_args arguments = FUSE_ARGS_INIT(words.size(), words.data());
  sqfs_ll* image = sqfs_ll_open(self, squashfs_offset());
  fuse_session* session =
      image ? fuse_session_new(&arguments, &operations, sizeof operations, image) : nullptr;
  if (!session || fuse_session_mount(session, folder.c_str()) != 0 || write(ready, "m", 1) != 1) _exit(1);
  close(ready);
  fuse_buf buffer{};
  std::array<pollfd, 2> waits{{{fuse_session_fd(session), POLLIN, 0}, {alive, POLLIN, 0}}};
  while (!fuse_session_exited(session)) {
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) break;
    if (waits[1].revents) break;
    if (!waits[0].revents) continue;
    const int size = fuse_session_receive_buf(session, &buffer);
    if (size == -EINTR || size == -EAGAIN) continue;
    if (size <= 0) break;
    fuse_session_process_buf(session, &buffer);
  }
  fuse_session_unmount(session);
  rmdir(folder.c_str());
  _exit(0);
}

/// Mounts the squashfs for as long as this program, and those that it starts, live. False: it can't be
/// mounted.
bool mount(const std::string& folder) {
  std::array<int, 2> ready{};
  std::array<int, 2> alive{};
  if (!has_fuse() || pipe(ready.data()) != 0 || pipe(alive.data()) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    close(ready[0]);
    close(alive[1]);
    // The server is no child of the app, which may wait for all that it has.
    if (fork() == 0) serve(folder, ready[1], alive[0]);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  close(ready[1]);
  close(alive[0]);
  char byte = 0;
  const bool is_mounted = read(ready[0], &byte, 1) == 1;
  close(ready[0]);
  if (!is_mounted) close(alive[1]);
  return is_mounted;
}

[[noreturn]] void start(const std::string& folder, char** arguments) {
  const std::string program = folder + "/AppRun";
  setenv("APPDIR", folder.c_str(), 1);
  setenv("APPIMAGE", fs::read_symlink(self).c_str(), 1);
  setenv("ARGV0", arguments[0], 1);
  setenv("OWD", fs::current_path().c_str(), 1);
  execv(program.c_str(), arguments);
  std::fprintf(stderr, "draftscope: AppImage: %s: %s, expected a program\n", program.c_str(),
               std::strerror(errno));
  _exit(127);
}

pid_t started = 0;

/// Unpacks all, runs it, and removes it again. Signals are passed on, so that the folder does not stay.
int run_unpacked(const std::string& folder, char** arguments) {
  extract(folder, "*");
  started = fork();
  if (started == 0) start(folder, arguments);
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);  // a terminal sends them to both
  for (const int signal : {SIGTERM, SIGHUP}) std::signal(signal, [](int number) { kill(started, number); });
  int status = 0;
  while (waitpid(started, &status, 0) < 0 && errno == EINTR) continue;
  fs::remove_all(folder);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (option == "--appimage-offset") return std::printf("%zu\n", squashfs_offset()) < 0;
  if (option == "--appimage-extract") return extract("squashfs-root", argc > 2 ? argv[2] : "*"), 0;
  if (option == "--appimage-help")
    return std::puts(
               "--appimage-extract [PATTERN]  --appimage-extract-and-run  --appimage-mount  "
               "--appimage-offset") < 0;
  bool unpacks = std::getenv("APPIMAGE_EXTRACT_AND_RUN") != nullptr;
  if (option == "--appimage-extract-and-run") {
    unpacks = true;
    argv[1] = argv[0];
    ++argv;
  } else if (option != "--appimage-mount" && option.starts_with("--appimage-")) {
    fail(std::string(option) + ": unknown, expected an option that --appimage-help lists");
  }
  const std::string folder = temporary_folder();
  if (!unpacks && mount(folder)) {
    if (option != "--appimage-mount") start(folder, argv);
    std::puts(folder.c_str());
    std::fflush(stdout);
    pause();
  }
  if (option == "--appimage-mount") {
    rmdir(folder.c_str());
    fail("can't be mounted, expected /dev/fuse and fusermount3; --appimage-extract needs neither");
  }
  return run_unpacked(folder, argv);
} catch (const std::exception& error) {
  fail(std::string(error.what()) + ", expected a folder that can be written");
}
