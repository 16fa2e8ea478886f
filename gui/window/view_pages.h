// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The pages of a recording: tabs with what stands beside them, the strip of rounds, the page that is shown,
// and below it the timeline, which can be closed on each page. One view can have the room of all of this but
// the tabs.

#include <QVariant>
#include <QWidget>
#include <optional>
#include <vector>

#include "window/view_page.h"

class QSplitter;
class QStackedWidget;
class QTabBar;

namespace draftscope::gui {

class TimelinePanel;

class ViewPages : public QWidget {
  Q_OBJECT

 public:
  /// Takes ownership of all of them. `beside_tabs` stands at the right end of the tabs.
  ViewPages(QWidget* beside_tabs, QWidget* strip, TimelinePanel* timeline, QWidget* parent = nullptr);

  /// `has_timeline` says whether the timeline is open there at first.
  void add_page(const QString& name, const QString& title, const std::vector<PageRow>& rows,
                bool has_timeline);
  /// One that is there without a recording, too, and has neither strip nor timeline.
  void add_page_of_its_own(const QString& name, const QString& title, QWidget* view);
  [[nodiscard]] bool is_of_recording(int page) const;
  /// Pages of a recording can only be chosen while there is one.
  void offer_recording(bool is_there);
  [[nodiscard]] int count() const { return static_cast<int>(pages_.size()); }
  [[nodiscard]] QString title(int page) const;
  [[nodiscard]] int current() const;
  void show_page(int page);
  /// Brings up the page that a view stands on; opens the timeline and the details beside it, if it is theirs.
  void show_view(QWidget& view);
  /// Name of the page that a view stands on; empty for the strip and the timeline, which stand beside all.
  [[nodiscard]] QString page_of(const QWidget& view) const;
  /// Gives the focus to the first view of the page.
  void focus_view();

  [[nodiscard]] bool is_timeline_open() const;
  /// On the page that is shown; other pages keep theirs.
  void open_timeline(bool is_open);
  /// The details beside the timeline, which comes up with them.
  void open_details(bool are_open);

  /// The view that has the focus, or else the page's first, has all the room; or gives it back.
  void toggle_maximised();
  [[nodiscard]] bool is_maximised() const { return maximised_ != nullptr; }
  /// All dividers and the timeline as they are at first.
  void reset_layout();

  /// The state that is remembered from one start to the next.
  [[nodiscard]] QVariantMap layout_state() const;
  void restore_layout(const QVariantMap& state);

 signals:
  void page_changed(int page);
  void timeline_opened(bool is_open);
  /// For the manual's words on a view.
  void help_requested(QWidget* view);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Page {
    QString name;
    ViewPage* views = nullptr;
    bool has_timeline = false;  ///< at first
    bool is_of_recording = true;
    std::optional<bool> timeline_chosen;  ///< by the user
  };

  [[nodiscard]] Page& page() { return pages_[static_cast<std::size_t>(current())]; }
  [[nodiscard]] const Page& page() const { return pages_[static_cast<std::size_t>(current())]; }
  void maximise(ViewPanel* panel);
  /// Shows and hides by what is chosen and maximised.
  void show_parts();
  /// The timeline gets the height of its lanes at most.
  void limit_timeline();
  void lay_out_timeline();

  QTabBar* tabs_;
  QWidget* strip_;
  TimelinePanel* timeline_;
  ViewPanel* drawer_;  ///< the timeline's
  QStackedWidget* stack_;
  QSplitter* split_;
  std::vector<Page> pages_;
  std::optional<int> left_;             ///< page of a recording that was shown before there was none
  std::optional<int> timeline_height_;  ///< dragged to, with its bar
  ViewPanel* maximised_ = nullptr;
};

}  // namespace draftscope::gui
