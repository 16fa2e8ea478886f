// SPDX-License-Identifier: GPL-3.0-or-later
#include "snapshot.h"

#include <QApplication>
#include <QBuffer>
#include <QComboBox>
#include <QEventLoop>
#include <QFileInfo>
#include <QImageWriter>
#include <QPainter>
#include <QPixmap>
#include <QRegularExpression>
#include <QScrollArea>
#include <QThreadPool>
#include <algorithm>

#include "charts/chart_pane.h"
#include "charts/figure_file.h"
#include "charts/table_file.h"
#include "help/tour.h"
#include "views/decisions/decisions_view.h"
#include "views/replay/replay_document.h"
#include "views/rounds/filter_bar.h"
#include "widgets/appearance.h"
#include "widgets/files.h"
#include "window/main_window.h"
#include "window/pinned_pair.h"

namespace draftscope::gui {

namespace {

/// Max pixels per side of a picture, which takes four bytes per pixel several times over.
constexpr int max_side_pixels = 8192;

struct PictureSize {
  QSize size;
  int scale = 1;
};

Result<PictureSize> look_of(const SnapshotRequest& request) {
  static const QRegularExpression pattern(QStringLiteral("^(\\d{2,5})x(\\d{2,5})$"));
  const QRegularExpressionMatch match = pattern.match(request.size);
  if (!match.hasMatch())
    return fail("--size: found \"{}\", expected a width and a height such as 1600x900",
                request.size.toStdString());
  bool is_number = false;
  const int scale = request.scale.toInt(&is_number);
  if (!is_number || scale < 1 || scale > 4)
    return fail("--scale: found \"{}\", expected 1 to 4", request.scale.toStdString());
  const PictureSize look{{match.captured(1).toInt(), match.captured(2).toInt()}, scale};
  if (const QSize pixels = look.size * scale; std::max(pixels.width(), pixels.height()) > max_side_pixels)
    return fail("--size, --scale: found {} x {} pixels, expected at most {} a side", pixels.width(),
                pixels.height(), max_side_pixels);
  return look;
}

Result<double> positive_number(const QString& text, const char* option) {
  bool is_number = false;
  const double value = text.toDouble(&is_number);
  if (!is_number || !(value > 0.0))
    return fail("{}: found \"{}\", expected a number above 0", option, text.toStdString());
  return value;
}

Result<FigureOptions> figure_options(const SnapshotRequest& request) {
  FigureOptions options{.has_legend = request.has_legend, .is_dark = request.dark};
  if (request.figure == u"double")
    options.width_inches = double_column_inches;
  else if (request.figure != u"single") {
    auto inches = positive_number(request.figure, "--figure");
    if (!inches)
      return fail("--figure: found \"{}\", expected single, double or a width in inches",
                  request.figure.toStdString());
    options.width_inches = *inches;
  }
  DRAFTSCOPE_TRY_ASSIGN(options.font_points, positive_number(request.font_size, "--font-size"));
  DRAFTSCOPE_TRY_ASSIGN(const double dots, positive_number(request.dots, "--dpi"));
  options.dots_per_inch = static_cast<int>(std::min(dots, 1e6));
  return options;
}

/// Writes the first figure of a view.
Result<void> write_first_figure(const QWidget& view, const SnapshotRequest& request) {
  DRAFTSCOPE_TRY_ASSIGN(const FigureOptions options, figure_options(request));
  for (const PlacedFigure& figure : figure_sources(view))
    if (const Chart chart = figure.source->figure(); !chart.empty())
      return write_figure(chart, options, request.output);
  return fail(
      "--figure: {} has no figure here, expected one of breakdown, skip-map, confidence, compare-…, "
      "advise-… and what-if-… with data",
      request.view.toStdString());
}

/// "skip-map:2" is the third choice of the view skip-map.
QString view_name(const QString& view) {
  return view.section(u':', 0, 0);
}

Result<void> choose(QWidget& view, const QString& name) {
  if (!name.contains(u':')) return {};
  auto* choice = view.findChild<QComboBox*>();
  const int most = choice == nullptr ? 0 : choice->count();
  bool is_number = false;
  const int wanted = name.section(u':', 1).toInt(&is_number);
  if (!is_number || wanted < 0 || wanted >= most)
    return fail("--snapshot: found \"{}\", expected {} and 0 to {} after the colon", name.toStdString(),
                view_name(name).toStdString(), most - 1);
  choice->setCurrentIndex(wanted);
  return {};
}

/// Loads a recording, or the first of a folder, with its whole timeline.
Result<void> load(MainWindow& window, const QString& path) {
  const PathsToOpen found = paths_to_open({path});
  if (found.files.isEmpty())
    return fail("{}", found.problems.isEmpty() ? "--snapshot: found an empty FILE, expected a recording"
                                               : found.problems.front().toStdString());
  QEventLoop loop;
  QString reason;
  QObject::connect(&window.loader(), &RecordingLoader::failed, &loop,
                   [&](const QString& words) { reason = words; });
  QObject::connect(&window.loader(), &RecordingLoader::finished, &loop, &QEventLoop::quit);
  window.open(found.files.front());
  loop.exec();
  if (!reason.isEmpty()) return fail("{}", reason.toStdString());
  return {};
}

Result<std::size_t> number(const QString& text, const char* option, std::size_t count) {
  bool is_number = false;
  const qulonglong value = text.toULongLong(&is_number);
  if (count == 0)
    return fail("{}: found \"{}\", expected none: the recording has none", option, text.toStdString());
  if (!is_number || value >= count)
    return fail("{}: found \"{}\", expected 0 to {}", option, text.toStdString(), count - 1);
  return static_cast<std::size_t>(value);
}

Result<void> place_cursor(ViewState& state, const SnapshotRequest& request) {
  if (!request.run.isEmpty()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::size_t run_index,
                          number(request.run, "--run", state.recording()->runs().size()));
    state.set_run(run_index);
  }
  const RunRounds* run = state.run_rounds();
  const std::size_t rounds = run == nullptr ? 0 : run->rounds.size();
  std::size_t place = 0;
  if (!request.round.isEmpty()) {
    DRAFTSCOPE_TRY_ASSIGN(place, number(request.round, "--round", rounds));
  }
  if (rounds > 0) state.go_to_round(run->rounds[place]);
  return {};
}

/// The view together with the pinned run's view, if it has one.
QWidget* with_pinned(QWidget* view) {
  for (QWidget* around = view; around != nullptr; around = around->parentWidget())
    if (auto* pair = qobject_cast<PinnedPair*>(around)) return pair;
  return view;
}

Result<void> pin_and_filter(MainWindow& window, const SnapshotRequest& request) {
  ViewState& state = window.state();
  if (!request.pin.isEmpty()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::size_t run_index,
                          number(request.pin, "--pin", state.recording()->runs().size()));
    window.pinned().pin(run_index);
  }
  if (request.filter.isEmpty()) return {};
  if (const auto filter = parse_filter(request.filter.toStdString()); !filter)
    return fail("--filter: {}", filter.error().message);
  QEventLoop loop;
  bool is_settled = false;
  QObject::connect(&window.filter(), &FilterBar::settled, &loop, [&] {
    is_settled = true;
    loop.quit();
  });
  window.filter().set_words(request.filter);
  // The filter settles at once where there is nothing to filter by.
  if (!is_settled) loop.exec();
  return {};
}

/// "tour:4" is the window with the fifth step of the tour.
Result<void> go_to_tour_step(MainWindow& window, const QString& name) {
  const int steps = static_cast<int>(tour_steps().size());
  bool is_number = !name.contains(u':');
  const int step = is_number ? 0 : name.section(u':', 1).toInt(&is_number);
  if (!is_number || step < 0 || step >= steps)
    return fail("--snapshot: found \"{}\", expected tour and 0 to {} after the colon", name.toStdString(),
                steps - 1);
  // A step may stay on the page of the step before it.
  for (int here = 0; here <= step; ++here) window.tour().go_to(here);
  return {};
}

/// Waits for what is computed for the view, for the page that contains it, and for what is visible.
void settle_views(const MainWindow& window, const QString& name) {
  QLatin1StringView page;
  for (const ViewRow& row : view_rows())
    if (name == QLatin1StringView(row.name)) page = QLatin1StringView(row.page);
  for (std::size_t place = 0; place < view_rows().size(); ++place) {
    const ViewRow& row = view_rows()[place];
    if (row.settle == nullptr) continue;
    const QLatin1StringView of(row.name);
    QWidget& view = *window.views()[place].view;
    if (name == of || page == of || view.isVisible()) row.settle(view);
  }
}

QPixmap rendered(QWidget& widget, const PictureSize& look) {
  QPixmap picture(look.size * look.scale);
  picture.setDevicePixelRatio(look.scale);
  picture.fill(widget.palette().color(QPalette::Window));
  widget.render(&picture);
  return picture;
}

/// Writes the whole picture, or no file at all.
Result<void> write_rendered(QWidget& widget, const PictureSize& look, const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  const QByteArray format = ending.toLatin1();
  if (!QImageWriter::supportedImageFormats().contains(format))
    return fail("{}: found the ending \"{}\", expected .png", path.toStdString(), ending.toStdString());
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (!rendered(widget, look).save(&buffer, format.constData()))
    return fail("{}: the picture can't be drawn", path.toStdString());
  return write_whole(bytes, path);
}

}  // namespace

void use_fixed_look(bool dark) {
  use_appearance(dark ? Appearance::dark : Appearance::light);
}

QStringList snapshot_names() {
  QStringList names{QStringLiteral("window"), QStringLiteral("start"), QStringLiteral("tour")};
  for (const ViewRow& row : view_rows()) names << QString::fromUtf8(row.name);
  return names;
}

Result<void> render_snapshot(const SnapshotRequest& request) {
  const QString name = view_name(request.view);
  if (!snapshot_names().contains(name))
    return fail("--snapshot: found \"{}\", expected one of: {}", request.view.toStdString(),
                snapshot_names().join(u", ").toStdString());
  if (request.output.isEmpty()) return fail("--snapshot: expected -o FILE to say where the picture goes");
  DRAFTSCOPE_TRY_ASSIGN(const PictureSize look, look_of(request));
  use_fixed_look(request.dark);
  MainWindow window(Memory::none);
  window.resize(look.size);
  window.show();
  if (name == u"record") {
    window.show_record_page();
  } else if (name != u"start") {
    if (request.files.isEmpty()) return fail("--snapshot: expected a FILE to show");
    DRAFTSCOPE_TRY(load(window, request.files.front()));
    DRAFTSCOPE_TRY(place_cursor(window.state(), request));
    DRAFTSCOPE_TRY(pin_and_filter(window, request));
  }
  if (name == u"tour") DRAFTSCOPE_TRY(go_to_tour_step(window, request.view));
  // The page shows the search that led to a policy file beside the recording's decisions.
  if (name == u"decisions" && request.files.size() > 1)
    window.findChild<DecisionsView*>()->open_search(request.files[1]);
  settle_views(window, name);
  QWidget* shown = &window;
  for (const NamedView& named : window.views())
    if (named.name == name) shown = request.pin.isEmpty() ? named.view : with_pinned(named.view);
  if (name != u"tour") DRAFTSCOPE_TRY(choose(*shown, request.view));
  if (shown != &window) {
    // Take the view out of its page, so that the picture shows the view alone.
    for (QWidget* around = shown->parentWidget(); around != nullptr; around = around->parentWidget())
      if (auto* area = qobject_cast<QScrollArea*>(around); area != nullptr && area->widget() == shown)
        (void)area->takeWidget();
    shown->setParent(nullptr);
    shown->resize(look.size);
    shown->show();
  }
  QApplication::processEvents();
  // A picture does not show the keyboard focus.
  if (QWidget* focused = QApplication::focusWidget()) focused->clearFocus();
  // Rendering starts what a view reads when it is first shown.
  rendered(*shown, look);
  QApplication::processEvents();
  // Each turn takes in what was read, and starts and draws what depends on it.
  for (int turn = 0; turn < 3; ++turn) {
    while (!QThreadPool::globalInstance()->waitForDone(0))
      QApplication::processEvents(QEventLoop::AllEvents, 20);
    QApplication::processEvents();
  }
  for (ReplayDocument* text : shown->findChildren<ReplayDocument*>()) text->lay_out_all();
  Result<void> written = request.figure.isEmpty() ? write_rendered(*shown, look, request.output)
                                                  : write_first_figure(*shown, request);
  if (shown != &window) shown->setParent(&window);
  return written;
}

}  // namespace draftscope::gui
