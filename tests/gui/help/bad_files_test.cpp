// SPDX-License-Identifier: GPL-3.0-or-later
// Tests files that are not what the window expects, before and while they are shown. Each gives one line, and
// the window survives.
#include <draftscope/traces/writer.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "../window_fixture.h"

namespace draftscope::gui {
namespace {

constexpr int patience_ms = 30000;

class BadFiles : public Window {
 protected:
  [[nodiscard]] std::string notice() const {
    return named_widget<QLabel>(window_, "Notice").text().toStdString();
  }
  [[nodiscard]] std::size_t rounds() { return window_.state().recording()->round_count(); }

  void look_at_everything() {
    for (const NamedView& named : std::vector(window_.views())) raise(named.name);
  }
};

TEST_F(BadFiles, ANewerSchemaIsShownAsFarAsItIsKnown) {
  traces::change(
      folder_ / "sample.dstrace",
      "PRAGMA user_version = 9; CREATE TABLE further (id INTEGER PRIMARY KEY); ALTER TABLE rounds ADD "
      "COLUMN further INTEGER NOT NULL DEFAULT 7");
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  EXPECT_GT(rounds(), 0U);
  EXPECT_THAT(notice(), testing::HasSubstr("schema 9, newer than this program"));
  EXPECT_EQ(std::ranges::count(notice(), '\n'), 0);
  look_at_everything();
}

/// Makes the whole process an unprivileged user for as long as this object lives.
class Nobody {
 public:
  Nobody() { EXPECT_EQ(::seteuid(nobody), 0); }
  ~Nobody() { EXPECT_EQ(::seteuid(before_), 0); }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;

 private:
  static constexpr uid_t nobody = 65534;
  uid_t before_ = ::geteuid();
};

TEST_F(BadFiles, AFileThatMayNotBeReadIsSaid) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder_ / "sample.dstrace", std::filesystem::perms::none);
  // Give up root's rights, since root may read everything.
  std::optional<Nobody> nobody;
  if (::geteuid() == 0) nobody.emplace();
  EXPECT_THAT(open(folder_ / "sample.dstrace").toStdString(),
              testing::AllOf(testing::HasSubstr("sample.dstrace"), testing::HasSubstr("Permission denied")));
  EXPECT_TRUE(window_.isVisible());
}

TEST_F(BadFiles, TwoWindowsShowOneFileEachInItsOwnWay) {
  const auto path = folder_ / "sample.dstrace";
  ASSERT_EQ(open(path), QString());
  auto other = std::make_unique<MainWindow>(Memory::none);
  other->show();
  QSignalSpy finished(&other->loader(), &RecordingLoader::finished);
  other->open(QString::fromStdString(path.string()));
  ASSERT_TRUE(finished.wait(patience_ms));
  ASSERT_NE(other->state().recording(), nullptr);
  other->state().set_run(2);
  window_.state().set_run(1);
  EXPECT_EQ(other->state().run(), 2U);
  for (const NamedView& named : std::vector(other->views())) other->show_view(*named.view);
  settle();
  // A recording that one window closes stays open in the other.
  other->close_recording();
  other.reset();
  EXPECT_EQ(window_.state().run(), 1U);
  look_at_everything();
}

class FollowedFile : public BadFiles {
 protected:
  void SetUp() override {
    Window::SetUp();
    writer_ = *traces::Writer::create(path_, {{"model", "demo"}});
    write(1);
    ASSERT_TRUE(QTest::qWaitFor([&] { return open(path_).isEmpty() && rounds() > 0; }, patience_ms));
    window_.set_following(true);
    ASSERT_TRUE(window_.follower().is_following());
  }

  void write(std::uint32_t seed) {
    traces::write_sample(*writer_, {.seed = seed, .runs = 2, .requests_per_run = 3, .max_rounds = 20});
  }
  void wait_for_rounds(std::size_t more_than) {
    ASSERT_TRUE(QTest::qWaitFor([&] { return rounds() > more_than; }, patience_ms));
  }
  /// Expects one line with these words, and that the window and its rounds stay.
  void expect_said(const char* words) {
    const std::size_t read = rounds();
    EXPECT_TRUE(QTest::qWaitFor([&] { return notice().find(words) != std::string::npos; }, patience_ms))
        << notice();
    EXPECT_EQ(rounds(), read);
    EXPECT_TRUE(window_.isVisible());
    look_at_everything();
  }

  std::filesystem::path path_ = folder_ / "growing.dstrace";
  std::unique_ptr<traces::Writer> writer_;
};

TEST_F(FollowedFile, IsOfANewerSchema) {
  writer_.reset();
  window_.set_following(false);
  // Newer schemas only add to the file. The writer is gone without having closed it.
  traces::change(path_, "PRAGMA user_version = 9; UPDATE meta SET value = '0' WHERE key = 'closed_cleanly'");
  ASSERT_EQ(open(path_), QString());
  EXPECT_THAT(notice(), testing::HasSubstr("schema 9, newer than this program"));
  window_.set_following(true);
  EXPECT_THAT(notice(), testing::AllOf(testing::HasSubstr("Following"),
                                       testing::HasSubstr("schema 9, newer than this program")));
  EXPECT_EQ(std::ranges::count(notice(), '\n'), 0);
  const std::size_t before = rounds();
  traces::change(path_, "INSERT INTO meta VALUES ('further', '1')");
  QTest::qWait(1500);
  EXPECT_EQ(rounds(), before);
  look_at_everything();
}

TEST_F(FollowedFile, IsDeleted) {
  std::filesystem::remove(path_);
  expect_said("was deleted");
}

TEST_F(FollowedFile, HasARecorderThatDied) {
  window_.follower().set_patience(std::chrono::milliseconds(500));
  expect_said("its recorder may have ended");
  EXPECT_TRUE(window_.follower().is_following()) << "it may only be slow";
  const std::size_t before = rounds();
  write(2);
  wait_for_rounds(before);
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return notice().find("rounds so far") != std::string::npos || window_.follower().is_stalled(); },
      patience_ms));
}

}  // namespace
}  // namespace draftscope::gui
