// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The real window without a display, and a folder with a recording to open in it.

#include <gtest/gtest.h>

#include <QApplication>
#include <QSignalSpy>
#include <QTest>
#include <stdexcept>

#include "advise/advise_view.h"
#include "named_widget.h"
#include "record/record_page.h"
#include "sample.h"
#include "settle.h"
#include "what_if/what_if_view.h"
#include "window/main_window.h"
#include "window/view_pages.h"

namespace draftscope::gui {

template <typename View>
View& view_of(MainWindow& window, const QString& name) {
  for (const NamedView& named : window.views())
    if (named.name == name) return *qobject_cast<View*>(named.view);
  throw std::runtime_error(name.toStdString());
}

class Window : public testing::Test {
 protected:
  void SetUp() override {
    traces::make_sample_file(folder_ / "sample.dstrace",
                             {.runs = 3, .requests_per_run = 4, .max_rounds = 60});
    window_.resize(1400, 900);
    window_.show();
  }

  /// Opens a recording and waits for all of it. Returns what failed, if anything.
  QString open(const std::filesystem::path& path) {
    return wait_for_loading([&] { window_.open(QString::fromStdString(path.string())); });
  }

  template <typename Start>
  QString wait_for_loading(const Start& start) {
    QSignalSpy finished(&window_.loader(), &RecordingLoader::finished);
    QSignalSpy failed(&window_.loader(), &RecordingLoader::failed);
    start();
    EXPECT_TRUE(finished.count() > 0 || finished.wait(20000));
    return failed.isEmpty() ? QString() : failed.front().front().toString();
  }

  /// Brings a view's page to the front, paints it, and waits for what it reads on workers.
  QWidget& raise(const QString& name) {
    for (const NamedView& named : window_.views())
      if (named.name == name) {
        window_.show_view(*named.view);
        (void)named.view->grab();
        settle();
        (void)named.view->grab();
        return *named.view;
      }
    throw std::runtime_error(name.toStdString());
  }

  /// Waits until the pages that are shown have their answers, which threads of their own compute, and paints
  /// them.
  static void settle_answers(MainWindow& window) {
    constexpr int patience_ms = 120000;
    const auto wait_for = [](const auto& view) {
      if (!view.isVisible()) return;
      EXPECT_TRUE(QTest::qWaitFor([&] { return view.is_settled(); }, patience_ms));
    };
    (void)window.grab();
    settle();
    wait_for(*window.findChild<AdviseView*>());
    wait_for(*window.findChild<WhatIfView*>());
    wait_for(window.record_page());
    settle();
    (void)window.grab();
    settle();
  }

  /// Whether a visible label has these words.
  [[nodiscard]] bool is_said(const char* words) const { return gui::is_said(window_, words); }

  traces::TestFolder folder_;
  MainWindow window_{Memory::none};
};

/// The window with its recording open and with the keyboard focus.
class ActiveWindow : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
    window_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  }
};

}  // namespace draftscope::gui
