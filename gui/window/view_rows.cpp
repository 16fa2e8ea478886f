// SPDX-License-Identifier: GPL-3.0-or-later
#include "view_rows.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <algorithm>

#include "advise/advise_view.h"
#include "record/record_page.h"
#include "views/compare_view.h"
#include "views/decisions/decisions_view.h"
#include "views/decisions/skip_map.h"
#include "views/device/device_view.h"
#include "views/replay/replay_view.h"
#include "views/rounds/breakdown_view.h"
#include "views/rounds/confidence_view.h"
#include "views/rounds/rounds_view.h"
#include "views/sql_view.h"
#include "views/summary_view.h"
#include "what_if/gpus_pane.h"
#include "what_if/what_if_view.h"

namespace draftscope::gui {

namespace {

QString title(const char* words) {
  return QCoreApplication::translate("MainWindow", words);
}

template <typename View>
QWidget* make_view(ViewState& state, const std::vector<NamedView>& /*made*/) {
  return new View(state);
}

QWidget* make_advise_view(ViewState& state, const std::vector<NamedView>& made) {
  const auto what_if = std::ranges::find(made, QStringLiteral("what-if"), &NamedView::name);
  return new AdviseView(state, static_cast<WhatIfView&>(*what_if->view));
}

template <typename View>
void wait_until_settled(View& view) {
  QEventLoop loop;
  QObject::connect(&view, &View::settled, &loop, [&] {
    if (view.is_settled()) loop.quit();
  });
  if (!view.is_settled()) loop.exec();
}

template <typename View>
void start(QWidget& view) {
  static_cast<View&>(view).start();
}

template <typename View>
void start_and_wait(QWidget& view) {
  start<View>(view);
  wait_until_settled(static_cast<View&>(view));
}

}  // namespace

const std::vector<PageDescription>& page_descriptions() {
  static const std::vector<PageDescription> pages{
      {QStringLiteral("overview"), title("Overview"), false, {1}},
      {QStringLiteral("rounds"), title("Rounds"), true, {2, 3}},
      {QStringLiteral("skip-map"), title("Skip map"), true, {1, 1}},
      {QStringLiteral("decisions"), title("Decisions"), false, {1}},
      {QStringLiteral("compare"), title("Compare"), false, {1}},
      {QStringLiteral("what-if"), title("What if"), false, {1}},
      {QStringLiteral("advise"), title("Advise"), false, {1}},
      {QStringLiteral("sql"), title("SQL"), false, {1}},
      {QStringLiteral("device"), title("Device"), false, {1}},
  };
  return pages;
}

const std::vector<ViewRow>& view_rows() {
  static const std::vector<ViewRow> rows{
      {.name = "strip", .section = "Strip of rounds"},
      {.name = "timeline", .section = "Timeline"},
      {.name = "details", .section = "Details"},
      {.name = "summary", .section = "Overview", .page = "overview", .make = make_view<SummaryView>},
      {.name = "why", .section = "Overview", .page = "overview"},
      {.name = "breakdown",
       .section = "Breakdown",
       .page = "rounds",
       .make = make_view<BreakdownView>,
       .pinned = Qt::Vertical},
      {.name = "rounds", .section = "Rounds", .page = "rounds", .row = 1, .make = make_view<RoundsView>},
      {.name = "replay",
       .section = "Text replay",
       .page = "rounds",
       .row = 1,
       .make = make_view<ReplayView>,
       .pinned = Qt::Horizontal,
       .prepare_pinned = [](QWidget& view) { static_cast<ReplayView&>(view).only_follow(); }},
      {.name = "skip-map",
       .section = "Skip map",
       .page = "skip-map",
       .make = make_view<SkipMap>,
       .pinned = Qt::Vertical},
      {.name = "confidence",
       .section = "Confidence",
       .page = "skip-map",
       .row = 1,
       .make = make_view<ConfidenceView>,
       .pinned = Qt::Vertical},
      {.name = "decisions", .section = "Decisions", .page = "decisions", .make = make_view<DecisionsView>},
      {.name = "compare",
       .section = "Compare",
       .page = "compare",
       .make = make_view<CompareView>,
       .settle = start<CompareView>},
      {.name = "compare-forest", .section = "Compare", .page = "compare"},
      {.name = "compare-categories", .section = "Compare", .page = "compare"},
      {.name = "compare-prompts", .section = "Compare", .page = "compare"},
      {.name = "what-if",
       .section = "What if",
       .page = "what-if",
       .make = make_view<WhatIfView>,
       .settle = start_and_wait<WhatIfView>},
      {.name = "what-if-heat-map", .section = "What if", .page = "what-if"},
      {.name = "what-if-ladder", .section = "What if", .page = "what-if"},
      {.name = "what-if-waterfall", .section = "What if", .page = "what-if"},
      {.name = "what-if-roofline", .section = "What if", .page = "what-if"},
      {.name = "what-if-scenarios", .section = "What if", .page = "what-if"},
      {.name = "what-if-gpus", .section = "What if", .page = "what-if", .settle = start<GpusPane>},
      {.name = "advise",
       .section = "Advise",
       .page = "advise",
       .make = make_advise_view,
       .settle = start_and_wait<AdviseView>},
      {.name = "advise-threshold", .section = "Advise", .page = "advise"},
      {.name = "advise-length", .section = "Advise", .page = "advise"},
      {.name = "sql", .section = "SQL", .page = "sql", .make = make_view<SqlView>},
      {.name = "device",
       .section = "Device",
       .page = "device",
       .make = make_view<DeviceView>,
       .settle = start_and_wait<DeviceView>},
      {.name = "record",
       .section = "Record",
       .page = "record",
       .settle = [](QWidget& view) { wait_until_settled(static_cast<RecordPage&>(view)); }},
  };
  return rows;
}

QString section_of_view(const QString& view) {
  for (const ViewRow& row : view_rows())
    if (view == QLatin1StringView(row.name)) return QString::fromUtf8(row.section);
  return QStringLiteral("Opening");
}

}  // namespace draftscope::gui
