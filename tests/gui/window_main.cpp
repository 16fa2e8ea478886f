// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the tests in one application without a display. An unexpected warning of Qt fails the test.
#include <gtest/gtest.h>

#include <QApplication>

#include "window/snapshot.h"

namespace {

void fail_on_warning(QtMsgType type, const QMessageLogContext& /*context*/, const QString& words) {
  // The platform without a display warns about itself and about a runtime folder that nothing here uses.
  if (words.startsWith(QStringLiteral("This plugin does not support")) ||
      words.startsWith(QStringLiteral("QStandardPaths:")))
    return;
  if (type != QtDebugMsg && type != QtInfoMsg) ADD_FAILURE() << "Qt: " << words.toStdString();
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  testing::InitGoogleTest(&argc, argv);
  qInstallMessageHandler(fail_on_warning);
  QApplication application(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("draftscope"));
  QApplication::setApplicationName(QStringLiteral("gui-tests"));
  draftscope::gui::use_fixed_look(false);
  return RUN_ALL_TESTS();
}
