// SPDX-License-Identifier: GPL-3.0-or-later
// draftscope-gui: shows recordings, or renders one view of one into a picture without a display.
#include <QApplication>
#include <QCommandLineParser>
#include <QSettings>
#include <QTextStream>
#include <algorithm>
#include <array>
#include <cstdlib>

#include "views/appearance.h"
#include "window/main_window.h"
#include "window/snapshot.h"

namespace {

using draftscope::gui::SnapshotRequest;

/// The options, and what they ask for.
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
  const QCommandLineOption scale_{QStringLiteral("scale"), QStringLiteral("Device pixels a pixel: 1 or 2"),
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

/// The exit status.
int write_snapshot(const SnapshotRequest& request) {
  const auto done = draftscope::gui::render_snapshot(request);
  if (!done)
    QTextStream(stderr) << "draftscope-gui: " << QString::fromStdString(done.error().message) << '\n';
  return done ? 0 : 1;
}

/// Qt ends programs without a display by abort(): that is no crash, and has a line and a status like other
/// errors.
void say_that_there_is_no_display(QtMsgType type, const QMessageLogContext& /*context*/,
                                  const QString& words) {
  if (type != QtFatalMsg) return;
  QTextStream(stderr) << "draftscope-gui: no display can be used (" << words.section(u'\n', 0, 0).simplified()
                      << "); expected one, or --snapshot VIEW FILE -o PICTURE, which needs none\n";
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  // These need no display, and take none where there is one.
  constexpr std::array<QByteArrayView, 6> without_display{"--snapshot", "--help",    "-h",
                                                          "--help-all", "--version", "-v"};
  for (int i = 1; i < argc; ++i)
    if (std::find(without_display.begin(), without_display.end(), QByteArrayView(argv[i])) !=
        without_display.end())
      qputenv("QT_QPA_PLATFORM", "offscreen");
  qInstallMessageHandler(say_that_there_is_no_display);
  QApplication application(argc, argv);
  qInstallMessageHandler(nullptr);
  QApplication::setApplicationName(QStringLiteral("draftscope-gui"));
  QApplication::setApplicationDisplayName(QStringLiteral("Draftscope"));
  QApplication::setOrganizationName(QStringLiteral("draftscope"));
  QApplication::setApplicationVersion(QStringLiteral(DRAFTSCOPE_VERSION));

  CommandLine command_line;
  command_line.process(application);
  if (command_line.asks_for_snapshot()) return write_snapshot(command_line.snapshot());
  draftscope::gui::use_appearance(
      draftscope::gui::appearance_of(QSettings().value(QStringLiteral("appearance")).toString()));
  draftscope::gui::MainWindow window;
  window.show();
  if (!command_line.files().isEmpty()) window.open(command_line.files());
  return QApplication::exec();
}
