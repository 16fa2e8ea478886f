// SPDX-License-Identifier: GPL-3.0-or-later
// Tests what users expect of every program: copying, the focus, an icon, shipped files, and plurals that fit
// their number.
#include <gmock/gmock.h>

#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QHeaderView>
#include <QProcess>
#include <QTableView>

#include "views/decisions/skip_map.h"
#include "widgets/time_text.h"
#include "window/start_page.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class Habits : public ActiveWindow {
 protected:
  static std::string copied() { return QApplication::clipboard()->text().toStdString(); }
};

TEST_F(Habits, CopyingARowCopiesAllOfItsCells) {
  for (const char* name : {"summary", "rounds", "compare"}) {
    auto* table = raise(QString::fromUtf8(name)).findChild<QTableView*>();
    ASSERT_GT(table->model()->rowCount(), 1);
    table->setFocus();
    table->clearSelection();
    table->setCurrentIndex(table->model()->index(1, 0));
    table->selectRow(1);
    QApplication::clipboard()->clear();
    QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
    QStringList heads;
    QStringList cells;
    for (int place = 0; place < table->horizontalHeader()->count(); ++place) {
      const int column = table->horizontalHeader()->logicalIndex(place);
      if (table->isColumnHidden(column)) continue;
      heads << table->model()->headerData(column, Qt::Horizontal).toString();
      // A cell may be a picture, with its words for whoever copies them.
      const QVariant words = table->model()->index(1, column).data(Qt::EditRole);
      cells << (words.isValid() ? words.toString() : table->model()->index(1, column).data().toString());
    }
    ASSERT_GT(cells.size(), 5);
    EXPECT_EQ(copied(), (heads.join(u'\t') + u'\n' + cells.join(u'\t')).toStdString()) << name;
    // A table for a paper has the shown columns, each row as many cells as there are names.
    for (QAction* action : table->actions())
      if (action->text().contains(QStringLiteral("LaTeX"))) action->trigger();
    const QString latex = QString::fromStdString(copied());
    for (const QString& line : latex.split(u'\n'))
      if (line.endsWith(QStringLiteral("\\\\"))) {
        EXPECT_EQ(line.count(QStringLiteral(" & ")), heads.size() - 1) << line.toStdString();
      }
    EXPECT_EQ(latex.count(QStringLiteral("\\\\\n")), table->model()->rowCount() + 1) << name;
  }
}

TEST_F(Habits, AfterARunWasChosenKeysGoToTheViewAgain) {
  QWidget& map = raise(QStringLiteral("skip-map"));
  map.setFocus();
  auto* choice = map.findChild<QComboBox*>();
  auto& runs = named_widget<QComboBox>(window_, "Run");
  QTest::mouseClick(&runs, Qt::LeftButton, Qt::NoModifier, QPoint(runs.width() - 8, runs.height() / 2));
  settle();
  runs.hidePopup();
  settle();
  window_.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  const std::size_t run = window_.state().run();
  ASSERT_NE(QApplication::focusWidget(), nullptr);
  const int before = choice->currentIndex();
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_M);
  EXPECT_EQ(window_.state().run(), run);
  EXPECT_NE(choice->currentIndex(), before);
}

TEST_F(Habits, TheWindowHasAnIconOfEverySize) {
  const QIcon icon = window_.windowIcon();
  ASSERT_FALSE(icon.isNull());
  for (const int size : {16, 32, 48, 64, 128}) {
    const QImage image = icon.pixmap(QSize(size, size), 1.0).toImage();
    EXPECT_EQ(image.size(), QSize(size, size));
    EXPECT_GT(qAlpha(image.pixel(size / 2, size / 2)), 0) << size;
  }
}

TEST_F(Habits, TheStartPageOffersTheSamplesOfEveryPlace) {
  const std::filesystem::path root = folder_ / "tree";
  for (const char* place : {"traces/samples", "demo-traces", "build/release/gui"})
    std::filesystem::create_directories(root / place);
  std::filesystem::copy_file(folder_ / "sample.dstrace", root / "traces/samples/shipped.dstrace");
  std::filesystem::copy_file(folder_ / "sample.dstrace", root / "demo-traces/mine.dstrace");
  QStringList names;
  for (const QString& path : sample_recordings(QString::fromStdString((root / "build/release/gui").string())))
    names << QFileInfo(path).fileName();
  EXPECT_EQ(names, QStringList({QStringLiteral("shipped.dstrace"), QStringLiteral("mine.dstrace")}));
}

TEST_F(Habits, ASingleThingIsNotCalledByItsPlural) {
  traces::make_sample_file(folder_ / "one.dstrace", {.runs = 1, .requests_per_run = 1, .max_rounds = 6});
  ASSERT_EQ(open(folder_ / "one.dstrace"), QString());
  raise(QStringLiteral("summary"));
  EXPECT_TRUE(is_said("1 prompt ·"));
  EXPECT_TRUE(is_said("1 request ·"));
  EXPECT_FALSE(is_said("1 prompts"));
  EXPECT_FALSE(is_said("1 requests"));
  EXPECT_EQ(counted(0, QStringLiteral("1 row"), QStringLiteral("%1 rows")).toStdString(), "0 rows");
}

TEST_F(Habits, ARecordingThatIsNotClosedMayStillBeWritten) {
  std::filesystem::copy_file(folder_ / "sample.dstrace", folder_ / "live.dstrace");
  traces::change(folder_ / "live.dstrace", "UPDATE meta SET value = '0' WHERE key = 'closed_cleanly'");
  ASSERT_EQ(open(folder_ / "live.dstrace"), QString());
  raise(QStringLiteral("summary"));
  EXPECT_FALSE(is_said("broke off")) << "it may be alive";
}

/// Runs the program without a display, until it ends.
void run_without_display(QProcess& program, const QStringList& arguments, const char* platform = "xcb") {
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) environment.remove(QString::fromUtf8(name));
  environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QString::fromUtf8(platform));
  program.setProcessEnvironment(environment);
  program.start(QStringLiteral(DRAFTSCOPE_GUI_PROGRAM), arguments);
  ASSERT_TRUE(program.waitForFinished(60000));
  EXPECT_EQ(program.exitStatus(), QProcess::NormalExit);
}

TEST(Program, SaysInOneLineThatThereIsNoDisplay) {
  for (const char* platform : {"xcb", "nonsense", "", "linuxfb:fb=/nowhere"}) {
    QProcess program;
    run_without_display(program, {}, platform);
    EXPECT_EQ(program.exitCode(), 1) << platform;
    const QByteArray said = program.readAllStandardError();
    EXPECT_THAT(said.toStdString(), testing::StartsWith("draftscope-gui: no display")) << platform;
    EXPECT_THAT(said.toStdString(), testing::HasSubstr("--snapshot")) << platform;
    EXPECT_EQ(said.count('\n'), 1) << platform;
  }
}

TEST(Program, MakesPicturesWithoutADisplayHoweverTheOptionIsSpelt) {
  const traces::TestFolder folder;
  for (const QStringList& option : {QStringList{QStringLiteral("--snapshot"), QStringLiteral("start")},
                                    QStringList{QStringLiteral("--snapshot=start")}}) {
    QProcess program;
    run_without_display(
        program,
        option + QStringList{QStringLiteral("-o"), QString::fromStdString((folder / "start.png").string())});
    EXPECT_EQ(program.exitCode(), 0);
    EXPECT_FALSE(program.readAllStandardError().contains("does not support"));
    EXPECT_TRUE(std::filesystem::remove(folder / "start.png"));
  }
}

TEST(Program, SaysInOneLineWhichOptionItDoesNotKnow) {
  for (const char* option : {"--nonsense", "--snapshot", "-z"}) {
    QProcess program;
    run_without_display(program, {QStringLiteral("--snapshot=start"), QString::fromUtf8(option)});
    EXPECT_EQ(program.exitCode(), 1) << option;
    EXPECT_EQ(program.readAllStandardError().count('\n'), 1) << option;
  }
}

TEST(Program, SaysItsOptionsAndItsVersionWithoutADisplay) {
  for (const char* asked : {"--help", "-h", "--version"}) {
    QProcess program;
    run_without_display(program, {QString::fromUtf8(asked)});
    EXPECT_EQ(program.exitCode(), 0) << asked;
    EXPECT_THAT(program.readAllStandardOutput().toStdString(), testing::HasSubstr("raftscope")) << asked;
  }
}

}  // namespace
}  // namespace draftscope::gui
