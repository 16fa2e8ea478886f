// SPDX-License-Identifier: GPL-3.0-or-later
// draftscope-gui: shows recordings, or renders one view of one into a picture without a display.
#include <QApplication>
#include <QCommandLineParser>
#include <QTextStream>

#include "window/main_window.h"
#include "window/snapshot.h"

int main(int argc, char** argv) {
  using namespace draftscope::gui;
  // A snapshot needs no display, and takes none where there is one.
  for (int i = 1; i < argc; ++i)
    if (QByteArrayView(argv[i]) == "--snapshot") qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("draftscope-gui"));
  QApplication::setApplicationDisplayName(QStringLiteral("Draftscope"));
  QApplication::setOrganizationName(QStringLiteral("draftscope"));
  QApplication::setApplicationVersion(QStringLiteral(DRAFTSCOPE_VERSION));

  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral("Shows recordings of self-speculative decoding."));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(QStringLiteral("FILE"), QStringLiteral("Recordings to open"),
                               QStringLiteral("[FILE…]"));
  const QCommandLineOption snapshot(
      QStringLiteral("snapshot"),
      QStringLiteral("Render VIEW of the first FILE and end: %1").arg(snapshot_names().join(u", ")),
      QStringLiteral("VIEW"));
  const QCommandLineOption output({QStringLiteral("o"), QStringLiteral("output")},
                                  QStringLiteral("Picture to write (.png)"), QStringLiteral("FILE"));
  const QCommandLineOption size(QStringLiteral("size"), QStringLiteral("Of the picture, in pixels"),
                                QStringLiteral("WxH"), QStringLiteral("1600x900"));
  const QCommandLineOption scale(QStringLiteral("scale"), QStringLiteral("Device pixels a pixel: 1 or 2"),
                                 QStringLiteral("N"), QStringLiteral("1"));
  const QCommandLineOption dark(QStringLiteral("dark"), QStringLiteral("Dark colours"));
  const QCommandLineOption run(QStringLiteral("run"), QStringLiteral("Which run to show, from 0"),
                               QStringLiteral("N"));
  const QCommandLineOption round(QStringLiteral("round"),
                                 QStringLiteral("Which of its rounds the cursor is on, from 0"),
                                 QStringLiteral("N"));
  parser.addOptions({snapshot, output, size, scale, dark, run, round});
  parser.process(application);

  if (parser.isSet(snapshot)) {
    const SnapshotRequest request{.view = parser.value(snapshot),
                                  .files = parser.positionalArguments(),
                                  .output = parser.value(output),
                                  .size = parser.value(size),
                                  .scale = parser.value(scale),
                                  .dark = parser.isSet(dark),
                                  .run = parser.value(run),
                                  .round = parser.value(round)};
    if (const auto done = render_snapshot(request); !done) {
      QTextStream(stderr) << "draftscope-gui: " << QString::fromStdString(done.error().message) << '\n';
      return 1;
    }
    return 0;
  }
  MainWindow window;
  window.show();
  if (!parser.positionalArguments().isEmpty()) window.open(parser.positionalArguments());
  return QApplication::exec();
}
