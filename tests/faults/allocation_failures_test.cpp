// SPDX-License-Identifier: GPL-3.0-or-later
// Any allocation may fail. The program then says so in one line and leaves no files, or works without the
// memory.
//
// A first run lists where the command allocates. Then the command runs again and again, each time with a
// failure at one of these places. A fixed seed chooses a few of them, so that the suite does not take too
// long. With DRAFTSCOPE_ALLOCATION_FAILURES=all in the environment every place is tested.

#include <draftscope/base/parallel.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../temporary_folder.h"
#include "allocation_points.h"
#include "faulted_command.h"

namespace draftscope::test {
namespace {

constexpr std::size_t sampled_first = 6;    // number of places whose first allocation fails
constexpr std::size_t sampled_later = 2;    // number of places at which a later allocation fails
constexpr std::size_t sampled_onwards = 2;  // number of places from which on every allocation fails
constexpr std::size_t more_if_all = 20;     // factor on the latter two if all places are tested

bool wants_all() {
  const char* const asked = std::getenv("DRAFTSCOPE_ALLOCATION_FAILURES");
  return asked != nullptr && std::string_view(asked) == "all";
}

std::vector<std::string> preloaded(const std::string& points) {
  return {std::string("LD_PRELOAD=") + DRAFTSCOPE_FAILING_ALLOCATIONS,
          fmt::format("{}={}", allocation_points_variable, points)};
}

/// The test's view of the file shared with the program under it. The constructor makes it with what is to
/// fail, and the destructor removes it. Throws std::system_error where it can't be made.
class MappedPoints {
 public:
  MappedPoints(std::filesystem::path path, const AllocationFailure& wanted) : path_(std::move(path)) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const bool made = file >= 0 && ::ftruncate(file, sizeof(AllocationPoints)) == 0;
    void* const mapped =
        made ? ::mmap(nullptr, sizeof(AllocationPoints), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
             : MAP_FAILED;
    const int error = errno;
    if (file >= 0) ::close(file);
    if (mapped == MAP_FAILED) throw std::system_error(error, std::generic_category(), path_.string());
    // A new file is all zeros, which is also how AllocationPoints begins, except for this field.
    points_ = static_cast<AllocationPoints*>(mapped);
    points_->wanted = wanted;
  }
  MappedPoints(const MappedPoints&) = delete;
  MappedPoints& operator=(const MappedPoints&) = delete;
  ~MappedPoints() {
    ::munmap(points_, sizeof(AllocationPoints));
    ::unlink(path_.c_str());
  }

  [[nodiscard]] const AllocationPoints& operator*() const { return *points_; }
  [[nodiscard]] const AllocationPoints* operator->() const { return points_; }

 private:
  std::filesystem::path path_;
  AllocationPoints* points_ = nullptr;
};

/// The command's places, in the order in which it reached them.
struct Places {
  std::uint64_t allocations = 0;
  std::vector<AllocationPoint> points;
  std::vector<std::string> modules;
};

Places places_of(const AllocationPoints& found) {
  Places places;
  places.allocations = found.allocations;
  std::map<std::uint64_t, AllocationPoint> first;
  for (const AllocationPoint& point : found.points) {
    if (point.label == 0) continue;
    const auto [place, is_new] = first.try_emplace(point.label, point);
    if (!is_new && point.order < place->second.order) place->second = point;
  }
  for (const auto& [label, point] : first) places.points.push_back(point);
  std::ranges::sort(places.points, {}, &AllocationPoint::order);
  for (const auto& name : found.modules) places.modules.emplace_back(name.data());
  return places;
}

/// Formats the frames as addr2line takes them.
std::string stack_text(const AllocationPoint& point, const std::vector<std::string>& modules) {
  std::string text;
  for (const std::uint64_t frame : point.stack) {
    if (frame == 0) break;
    const std::size_t module = static_cast<std::size_t>(frame >> 48U) - 1;
    const std::uint64_t offset = frame & ((std::uint64_t{1} << 48U) - 1);
    text += fmt::format("    {}+{:#x}\n", module < modules.size() ? modules[module] : "?", offset);
  }
  return text;
}

/// Whether oneDNN allocates there by itself. Version 2 of oneDNN crashes where that fails, and its callers
/// can do nothing about it.
bool is_of_onednn(const AllocationPoint& point, const std::vector<std::string>& modules) {
  const std::size_t module = static_cast<std::size_t>(point.stack[0] >> 48U) - 1;
  return module < modules.size() && modules[module].find("libdnnl") != std::string::npos;
}

struct Injection {
  AllocationFailure failure;
  const AllocationPoint* place = nullptr;
};

std::vector<const AllocationPoint*> some_of(std::vector<const AllocationPoint*> places, std::size_t count,
                                            std::mt19937& random) {
  std::shuffle(places.begin(), places.end(), random);
  places.resize(std::min(count, places.size()));
  return places;
}

std::vector<Injection> injections(const std::vector<const AllocationPoint*>& places) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same places every time
  const bool all = wants_all();
  const std::size_t factor = all ? more_if_all : 1;
  std::vector<Injection> chosen;
  for (const AllocationPoint* const place : all ? places : some_of(places, sampled_first, random))
    chosen.push_back({{place->label, place->bytes, 1, 0}, place});
  std::vector<const AllocationPoint*> repeated;
  std::ranges::copy_if(places, std::back_inserter(repeated),
                       [](const AllocationPoint* place) { return place->occurrences > 1; });
  for (const AllocationPoint* const place : some_of(repeated, factor * sampled_later, random)) {
    const std::uint64_t occurrence = 2 + random() % (place->occurrences - 1);
    chosen.push_back({{place->label, place->bytes, occurrence, 0}, place});
  }
  for (const AllocationPoint* const place : some_of(places, factor * sampled_onwards, random))
    chosen.push_back({{place->label, place->bytes, 1, 1}, place});
  return chosen;
}

class FailedAllocation : public ::testing::TestWithParam<FaultedCommand> {
 protected:
  void SetUp() override {
    if (std::string(DRAFTSCOPE_FAILING_ALLOCATIONS).empty())
      GTEST_SKIP() << "a sanitizer or the count of covered lines has its own malloc, or uses it at the end";
    std::filesystem::create_directories(folder_ / "in");
    const auto wrong = make_inputs(folder_ / "in");
    ASSERT_FALSE(wrong) << *wrong;
  }

  /// Runs the command without a failure, and lists its places.
  FaultedRun counted(const FaultedCommand& command, const std::string& name, Places& places) {
    const std::string file = folder_ / (name + ".points");
    const MappedPoints points(file, {});
    FaultedRun run(command, folder_ / "in", folder_ / name, preloaded(file));
    places = places_of(*points);
    EXPECT_EQ(points->unlisted, 0U);
    return run;
  }

  TemporaryFolder folder_;
};

TEST_P(FailedAllocation, EndsInOneLineAndLeavesNothing) {
  const FaultedCommand& command = GetParam();
  Places places;
  const FaultedRun whole = counted(command, "r00000", places);
  ASSERT_EQ(whole.ended().exit_code, 0) << whole.ended().err;
  if (places.allocations == 0) GTEST_SKIP() << "this system preloads nothing: no allocation was seen";

  // Only the command "start" tests the places that all commands share.
  std::set<std::uint64_t> elsewhere;
  if (command.name != "start") {
    Places start;
    static_cast<void>(counted(faulted_commands().front(), "s00000", start));
    for (const AllocationPoint& point : start.points) elsewhere.insert(point.label);
  }
  std::vector<const AllocationPoint*> own;
  for (const AllocationPoint& point : places.points)
    if (!elsewhere.contains(point.label) && !is_of_onednn(point, places.modules)) own.push_back(&point);

  const std::vector<Injection> chosen = injections(own);
  std::size_t reached = 0;
  std::mutex mutex;
  for_each_index(chosen.size(), usable_processors(), [&](std::size_t i) {
    const Injection& injection = chosen[i];
    const std::string name = fmt::format("r{:05}", i + 1);
    const std::string file = folder_ / (name + ".points");
    const MappedPoints points(file, injection.failure);
    const FaultedRun run(command, folder_ / "in", folder_ / name, preloaded(file));
    const auto objection = run.objection(whole);
    std::filesystem::remove_all(folder_ / name);
    const std::lock_guard lock(mutex);
    reached += points->is_reached;
    if (!objection) return;
    ADD_FAILURE() << *objection << "\n  where allocation " << injection.failure.occurrence << " of "
                  << injection.failure.bytes << " bytes failed"
                  << (injection.failure.from_then_on != 0 ? " and all after it" : "") << ", at\n"
                  << stack_text(*injection.place, places.modules);
  });
  // Threads may take turns differently, and a path may have another length, so some places are not reached.
  EXPECT_GE(4 * reached, 3 * chosen.size());
}

INSTANTIATE_TEST_SUITE_P(Command, FailedAllocation, ::testing::ValuesIn(faulted_commands()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace draftscope::test
