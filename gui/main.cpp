// SPDX-License-Identifier: GPL-3.0-or-later
// Program draftscope-gui: shows recordings, or renders one view of a recording into a picture without a
// display.
#include <QApplication>
#include <QCommandLineParser>
#include <QSettings>
#include <QTextStream>
#include <algorithm>
#include <array>
#include <cstdlib>

#include "widgets/appearance.h"
#include "window/main_window.h"
#include "window/snapshot.h"

namespace {

using draftscope::gui::SnapshotRequest;

/// Options of the command line, and the requests that they make.
class CommandLine {
 public:
  CommandLine() {
    parser_.setApplicationDescription(QStringLiteral("Shows recordings of self-speculative decoding."));
    parser_.addHelpOption();
    parser_.addVersionOption();
    parser_.addPositionalArgument(QStringLiteral("FILE"), QStringLiteral("Recordings to open"),
                                  QStringLiteral("[FILE…]"));
    parser_.addOptions({snapshot_, output_, size_, scale_, dark_, run_, round_, pin_, filter_, figure_,
                        font_size_, dots_, no_legend_});
  }

  /// Ends the program if the arguments are wrong or only ask for help.
  void process(const QCoreApplication& application) { parser_.process(application); }

  [[nodiscard]] QStringList files() const { return parser_.positionalArguments(); }
  [[nodiscard]] bool asks_for_snapshot() const { return parser_.isSet(snapshot_); }
  [[nodiscard]] SnapshotRequest snapshot() const {
    return {.view = parser_.value(snapshot_),
            .files = files(),
            .output = parser_.value(output_),
            .size = parser_.value(size_),
            .scale = parser_.value(scale_),
            .dark = parser_.isSet(dark_),
            .run = parser_.value(run_),
            .round = parser_.value(round_),
            .pin = parser_.value(pin_),
            .filter = parser_.value(filter_),
            .figure = parser_.value(figure_),
            .font_size = parser_.value(font_size_),
            .dots = parser_.value(dots_),
            .has_legend = !parser_.isSet(no_legend_)};
  }

 private:
  QCommandLineParser parser_;
  const QCommandLineOption snapshot_{QStringLiteral("snapshot"),
                                     QStringLiteral("Render VIEW of the first FILE and end: %1")
                                         .arg(draftscope::gui::snapshot_names().join(u", ")),
                                     QStringLiteral("VIEW")};
  const QCommandLineOption output_{{QStringLiteral("o"), QStringLiteral("output")},
                                   QStringLiteral("Picture to write (.png)"),
                                   QStringLiteral("FILE")};
  const QCommandLineOption size_{QStringLiteral("size"), QStringLiteral("Of the picture, in pixels"),
                                 QStringLiteral("WxH"), QStringLiteral("1600x900")};
  const QCommandLineOption scale_{QStringLiteral("scale"), QStringLiteral("Device pixels a pixel: 1 to 4"),
                                  QStringLiteral("N"), QStringLiteral("1")};
  const QCommandLineOption dark_{QStringLiteral("dark"), QStringLiteral("Dark colours")};
  const QCommandLineOption run_{QStringLiteral("run"), QStringLiteral("Which run to show, from 0"),
                                QStringLiteral("N")};
  const QCommandLineOption round_{QStringLiteral("round"),
                                  QStringLiteral("Which of its rounds the cursor is on, from 0"),
                                  QStringLiteral("N")};
  const QCommandLineOption pin_{QStringLiteral("pin"), QStringLiteral("Which run to show beside it, from 0"),
                                QStringLiteral("N")};
  const QCommandLineOption filter_{QStringLiteral("filter"),
                                   QStringLiteral("Which rounds to show, such as accepted=0"),
                                   QStringLiteral("TERMS")};
  const QCommandLineOption figure_{
      QStringLiteral("figure"),
      QStringLiteral(
          "Write the view's figure for a paper (.pdf, .svg, .png; its data as .csv, .tex, .md), so "
          "wide: single (3.3 in), double (7 in), or inches"),
      QStringLiteral("WIDTH")};
  const QCommandLineOption font_size_{QStringLiteral("font-size"), QStringLiteral("Of the figure, in points"),
                                      QStringLiteral("N"), QStringLiteral("8")};
  const QCommandLineOption dots_{QStringLiteral("dpi"), QStringLiteral("Of the figure as PNG"),
                                 QStringLiteral("N"), QStringLiteral("300")};
  const QCommandLineOption no_legend_{QStringLiteral("no-legend"),
                                      QStringLiteral("A figure without its legend")};
};

/// Writes a snapshot; returns the exit status.
int write_snapshot(const SnapshotRequest& request) {
  const auto done = draftscope::gui::render_snapshot(request);
  if (!done)
    QTextStream(stderr) << "draftscope-gui: " << QString::fromStdString(done.error().message) << '\n';
  return done ? 0 : 1;
}

/// Whether this argument means that the program needs no display, and must not use one.
bool needs_no_display(QByteArrayView argument) {
  constexpr std::array<QByteArrayView, 6> wholes{"--snapshot", "--help",    "-h",
                                                 "--help-all", "--version", "-v"};
  return std::find(wholes.begin(), wholes.end(), argument) != wholes.end() ||
         argument.startsWith("--snapshot=");
}

[[noreturn]] void end_without_display(const QString& reason) {
  QTextStream(stderr) << "draftscope-gui: no display can be used (" << reason
                      << "); expected one, or --snapshot VIEW FILE -o PICTURE, which needs none\n";
  std::_Exit(1);
}

/// Prints one line and exits with a status like other errors. Qt itself calls abort() without a display,
/// which would look like a crash.
void end_on_fatal_message(QtMsgType type, const QMessageLogContext& /*context*/, const QString& words) {
  if (type == QtFatalMsg) end_without_display(words.section(u'\n', 0, 0).simplified());
}

/// Passes Qt's messages on, except that a window without a display has no size hints.
void leave_out_size_hints(QtMsgType type, const QMessageLogContext& context, const QString& words) {
  if (!words.startsWith(QStringLiteral("This plugin does not support")))
    QTextStream(stderr) << qFormatLogMessage(type, context, words) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (needs_no_display(argv[i])) qputenv("QT_QPA_PLATFORM", "offscreen");
  qInstallMessageHandler(end_on_fatal_message);
  QApplication application(argc, argv);
  // Some platforms start without any screen.
  if (QApplication::screens().isEmpty())
    end_without_display(QStringLiteral("%1 has no screen").arg(QApplication::platformName()));
  qInstallMessageHandler(nullptr);
  QApplication::setApplicationName(QStringLiteral("draftscope-gui"));
  QApplication::setApplicationDisplayName(QStringLiteral("Draftscope"));
  QApplication::setOrganizationName(QStringLiteral("draftscope"));
  QApplication::setApplicationVersion(QStringLiteral(DRAFTSCOPE_VERSION));

  CommandLine command_line;
  command_line.process(application);
  if (command_line.asks_for_snapshot()) {
    qInstallMessageHandler(leave_out_size_hints);
    return write_snapshot(command_line.snapshot());
  }
  draftscope::gui::use_appearance(
      draftscope::gui::appearance_of(QSettings().value(QStringLiteral("appearance")).toString()));
  draftscope::gui::MainWindow window;
  window.show();
  if (!command_line.files().isEmpty()) window.open(command_line.files());
  return QApplication::exec();
}
