// SPDX-License-Identifier: GPL-3.0-or-later
#include "decision_plot.h"

#include <QImage>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/drawing.h"
#include "widgets/plot_style.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

/// Max marks: more would hide one another, so that only lines and bands are drawn.
constexpr std::size_t max_marks = 1500;
/// Max columns of a stroked line. A longer one is drawn as steps, which look the same and take a tenth of the
/// time.
constexpr std::size_t max_strokes = 300;
constexpr std::size_t mark_shapes = 4;
constexpr std::size_t share_window = 20;
constexpr std::size_t max_tip_decisions = 6;
/// Pixels beside the name of a phase.
constexpr int phase_margin = 8;

QString text_of(const std::string& words) {
  return QString::fromStdString(words);
}

/// Paints lines across the area at `bottom`, `top` and each quarter between, with their values on the left.
void paint_quarter_lines(QPainter& painter, const QPalette& palette, const QRect& area, double bottom,
                         double top) {
  constexpr int quarters = 4;
  // Use the digits that tell the quarters exactly, so that all labels have the same number.
  const double step = (top - bottom) / quarters;
  constexpr int max_digits = 6;
  int digits = 0;
  for (double scaled = step; digits < max_digits; ++digits, scaled *= 10.0)
    if (std::abs(scaled - std::round(scaled)) < 1e-6 * std::abs(scaled)) break;
  for (int quarter = 0; quarter <= quarters; ++quarter) {
    const double value = bottom + (top - bottom) * quarter / quarters;
    const int y = area.bottom() - (area.height() - 1) * quarter / quarters;
    painter.fillRect(area.left(), y, area.width(), 1, grid_color(palette));
    painter.setPen(palette.color(QPalette::WindowText));
    painter.drawText(QRect(0, y - 9, area.left() - 6, 18), Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(value, 'f', digits));
  }
}

/// Places at which the strategy starts anew, ascending.
std::vector<std::size_t> beginnings(const RoundsPicture& picture) {
  std::vector<std::size_t> places;
  for (const DecisionPhase& phase : picture.phases)
    if (phase.name == picture.picture->first_phase) places.push_back(phase.first);
  return places;
}

/// Draws the mark of one of several words; both shape and colour differ per word.
void paint_decision_mark(QPainter& painter, const QPointF& at, double radius, std::size_t word,
                         bool is_filled, const QColor& color) {
  painter.setPen(QPen(color, 1.4));
  painter.setBrush(is_filled ? QBrush(color) : QBrush(Qt::NoBrush));
  switch (word % mark_shapes) {
    case 0:
      painter.drawEllipse(at, radius, radius);
      break;
    case 1:
      painter.drawRect(QRectF(at - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius)));
      break;
    case 2:
      painter.drawPolygon(
          QPolygonF{at + QPointF(0, -radius), at + QPointF(radius, radius), at + QPointF(-radius, radius)});
      break;
    default:
      painter.drawPolygon(QPolygonF{at + QPointF(0, -radius), at + QPointF(radius, 0),
                                    at + QPointF(0, radius), at + QPointF(-radius, 0)});
  }
}

}  // namespace

DecisionPlot::DecisionPlot(ViewState& state, QWidget* parent) : RoundsPlot(state, parent) {
  setAccessibleName(tr("Decisions over the rounds"));
}

void DecisionPlot::show_picture(std::shared_ptr<const RoundsPicture> picture,
                                std::shared_ptr<const DecisionHistory> history) {
  picture_ = std::move(picture);
  history_ = std::move(history);
  notice_.clear();
  if (picture_)
    setAccessibleDescription(
        tr("%1: %2 of %3 rounds have such a decision; Page Up and Page Down go to the one before and after")
            .arg(QString::fromUtf8(picture_->picture->title))
            .arg(picture_->places.size())
            .arg(picture_->rounds()));
  update();
}

void DecisionPlot::show_notice(const QString& words) {
  picture_.reset();
  history_.reset();
  notice_ = words;
  setAccessibleDescription(words);
  update();
}

BackgroundJob::Job DecisionPlot::reading_job(const RecordingPointer& /*recording*/,
                                             std::size_t /*run_index*/) {
  // The plot's owner reads the data.
  return read_and_take([](const auto&) { return 0; }, [](int) {});
}

void DecisionPlot::forget_run() {
  picture_.reset();
  history_.reset();
}

double DecisionPlot::y_of(double value) const {
  const QRect area = plot_area();
  const double share = (value - picture_->bottom) / (picture_->top - picture_->bottom);
  return area.bottom() - std::clamp(share, -0.02, 1.02) * (area.height() - 1);
}

void DecisionPlot::paint(QPainter& painter, const RoundAxis& axis) {
  if (!picture_ || picture_->rounds() < axis.last) return paint_notice(painter, notice_);
  switch (picture_->picture->shape) {
    case PictureShape::exits:
      paint_exits(painter, axis);
      break;
    case PictureShape::shares:
      paint_quarter_lines(painter, palette(), plot_area(), picture_->bottom, picture_->top);
      paint_shares(painter, axis);
      break;
    default:
      paint_phases(painter, axis);
      paint_quarter_lines(painter, palette(), plot_area(), picture_->bottom, picture_->top);
      paint_lines(painter, axis);
  }
  paint_legend(painter);
}

void DecisionPlot::paint_phases(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = plot_area();
  const int narrowest = painter.fontMetrics().averageCharWidth() + phase_margin;
  int last_words = area.left();
  std::optional<int> last_border;
  for (std::size_t i = 0; i < picture_->phases.size(); ++i) {
    const DecisionPhase& phase = picture_->phases[i];
    if (phase.last <= axis.first || phase.first >= axis.last) continue;
    const int left = std::max(area.left(), static_cast<int>(axis.x(static_cast<double>(phase.first))));
    const int right = std::min(area.right() + 1, static_cast<int>(axis.x(static_cast<double>(phase.last))));
    const bool is_filled = right > left && phase.name == picture_->picture->first_phase;
    if (is_filled)
      painter.fillRect(left, area.top(), right - left, area.height(),
                       palette().color(QPalette::AlternateBase));
    painter.setPen(palette().color(QPalette::WindowText));
    // From afar, thousands of phases share the pixels.
    if (i > 0 && (is_filled || last_border != left)) painter.drawLine(left, area.top(), left, area.bottom());
    last_border = left;
    if (left < last_words || right - left < narrowest) continue;
    const QString words = text_of(phase.name);
    const int room = painter.fontMetrics().horizontalAdvance(words) + phase_margin;
    if (right - left < room) continue;
    painter.drawText(QRect(left + 4, area.top() + 2, room, 18), Qt::AlignLeft, words);
    last_words = left + room;
  }
}

void DecisionPlot::paint_line(QPainter& painter, const RoundAxis& axis, std::size_t line,
                              std::span<const std::size_t> beginnings) const {
  const QColor color = series_color(line + 1, is_dark(palette()));
  std::vector<ColumnValue> values;
  auto next_beginning = beginnings.begin();
  for (const RoundColumn& column : round_columns(axis)) {
    const ValueSummary summary = picture_->values[line].summarise(column.first, column.last);
    if (summary.values == 0) continue;
    bool begins = values.empty();
    for (; next_beginning != beginnings.end() && *next_beginning <= column.first; ++next_beginning)
      begins = true;
    values.push_back({column, summary, begins});
  }
  paint_bands(painter, values, color);
  if (values.size() > max_strokes) {
    paint_steps(painter, values, color, line != 0);
  } else {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color, 1.6, line == 0 ? Qt::SolidLine : Qt::DashLine));
    QPointF last;
    for (const ColumnValue& value : values) {
      const QPointF at((value.column.left + value.column.right) / 2.0, y_of(value.summary.mean()));
      if (!value.begins) painter.drawLine(last, at);
      last = at;
    }
  }
  painter.setRenderHint(QPainter::Antialiasing);
  const auto first = std::lower_bound(picture_->places.begin(), picture_->places.end(), axis.first);
  const auto end = std::lower_bound(first, picture_->places.end(), axis.last);
  if (static_cast<std::size_t>(end - first) <= max_marks) paint_marks(painter, axis, line, {first, end});
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void DecisionPlot::paint_bands(QPainter& painter, std::span<const ColumnValue> values,
                               const QColor& color) const {
  const QRect area = plot_area();
  QColor band = color;
  band.setAlpha(70);
  // Translucent boxes are slow one by one, so they are painted side by side into an image that is laid over
  // the plot at once.
  QImage bands;
  QPainter into;
  for (const auto& [column, summary, begins] : values) {
    if (column.count() == 1 || summary.max <= summary.min) continue;
    if (bands.isNull()) {
      bands = QImage(area.size(), QImage::Format_ARGB32_Premultiplied);
      bands.fill(Qt::transparent);
      into.begin(&bands);
      into.setCompositionMode(QPainter::CompositionMode_Source);
    }
    const int top = static_cast<int>(y_of(summary.max));
    into.fillRect(column.left - area.left(), top - area.top(), column.width(),
                  static_cast<int>(y_of(summary.min)) - top + 1, band);
  }
  if (bands.isNull()) return;
  into.end();
  painter.drawImage(area.topLeft(), bands);
}

void DecisionPlot::paint_steps(QPainter& painter, std::span<const ColumnValue> values, const QColor& color,
                               bool is_dashed) const {
  constexpr int dash = 6;
  constexpr int period = 10;
  StepLine steps(painter, color);
  int end = 0;
  for (const auto& [column, summary, begins] : values) {
    if (begins) steps.lift();
    // Columns between two decisions have no value; the later step starts where the earlier one ends.
    const int left = begins ? column.left : end;
    end = column.right;
    if (is_dashed && column.left % period >= dash)
      steps.lift();
    else
      steps.add(left, end, static_cast<int>(y_of(summary.mean())));
  }
}

void DecisionPlot::paint_marks(QPainter& painter, const RoundAxis& axis, std::size_t line,
                               std::span<const std::uint32_t> places) const {
  const QColor color = series_color(line + 1, is_dark(palette()));
  const double radius = line == 0 ? 3.6 : 2.4;
  const MarkPictures marks(painter, 2 * mark_shapes, radius + 1.0,
                           [&](QPainter& into, std::size_t kind, const QPointF& at) {
                             paint_decision_mark(into, at, radius, kind / 2, kind % 2 != 0, color);
                           });
  for (const std::uint32_t place : places) {
    const double value = picture_->values[line][place];
    if (std::isnan(value)) continue;
    const std::size_t word = picture_->word[place] == no_index ? line : picture_->word[place];
    marks.paint(2 * (word % mark_shapes) + (picture_->adopted[place] ? 1 : 0),
                {axis.x(place + 0.5), y_of(value)});
  }
}

void DecisionPlot::paint_lines(QPainter& painter, const RoundAxis& axis) const {
  const std::vector<std::size_t> anew = beginnings(*picture_);
  for (std::size_t line = picture_->values.size(); line-- > 0;) paint_line(painter, axis, line, anew);
}

void DecisionPlot::paint_legend(QPainter& painter) const {
  const bool dark = is_dark(palette());
  const QRect area = plot_area();
  LegendRow legend(painter, palette(), QRect(area.left(), 0, width() - area.left(), area.top()));
  if (picture_->picture->shape == PictureShape::exits) {
    legend.add_scale(tr("%1 to %2").arg(number_text(picture_->bottom), number_text(picture_->top)));
    legend.add_exit(tr("the exit that was chosen"));
    return;
  }
  if (picture_->picture->shape == PictureShape::shares) {
    for (std::size_t word = 0; word < picture_->words.size(); ++word)
      legend.add(series_color(word, dark), text_of(picture_->words[word]));
    return;
  }
  for (std::size_t line = 0; line < picture_->names.size(); ++line)
    legend.add_sign(text_of(picture_->names[line]), [&](const QRect& sign) {
      painter.setPen(QPen(series_color(line + 1, dark), 2, line == 0 ? Qt::SolidLine : Qt::DashLine));
      painter.drawLine(sign.left() - 2, sign.center().y(), sign.right() + 4, sign.center().y());
    });
  for (std::size_t word = 0; word < picture_->words.size(); ++word)
    legend.add_sign(text_of(picture_->words[word]), [&](const QRect& sign) {
      painter.setRenderHint(QPainter::Antialiasing);
      paint_decision_mark(painter, QRectF(sign).center(), 4, word, false,
                          palette().color(QPalette::WindowText));
    });
  legend.add_sign(tr("filled: took effect"), [&](const QRect& sign) {
    painter.setRenderHint(QPainter::Antialiasing);
    paint_decision_mark(painter, QRectF(sign).center(), 4, 0, true, palette().color(QPalette::WindowText));
  });
}

void DecisionPlot::paint_exits(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = plot_area();
  const bool dark = is_dark(palette());
  const std::size_t exits = picture_->values.size();
  if (exits == 0) return;
  const std::vector<RoundColumn> columns = round_columns(axis);
  QImage image(area.width(), static_cast<int>(exits), QImage::Format_RGB32);
  image.fill(palette().color(QPalette::Base));
  for (std::size_t exit = 0; exit < exits; ++exit) {
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(exits - 1 - exit))) - area.left();
    for (const RoundColumn& column : columns) {
      const ValueSummary summary = picture_->values[exit].summarise(column.first, column.last);
      if (summary.values == 0) continue;
      const double share = (summary.mean() - picture_->bottom) / (picture_->top - picture_->bottom);
      std::fill(line + column.left, line + column.right, scale_color(share, dark).rgb());
    }
  }
  painter.drawImage(area, image);
  const double height = static_cast<double>(area.height()) / static_cast<double>(exits);
  StepLine chosen(painter, cursor_color(dark));
  for (const RoundColumn& column : columns) {
    const ValueSummary summary = picture_->chosen.summarise(column.first, column.last);
    if (summary.values == 0) continue;
    chosen.add(column.left, column.right, area.bottom() - static_cast<int>((summary.mean() - 0.5) * height));
  }
  painter.setPen(palette().color(QPalette::WindowText));
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(16.0 / height)));
  for (std::size_t exit = 0; exit < exits; exit += step)
    painter.drawText(
        QRectF(0, area.bottom() + 1 - (static_cast<double>(exit) + 0.5) * height - 9, area.left() - 6, 18),
        Qt::AlignRight | Qt::AlignVCenter, text_of(picture_->names[exit]));
}

void DecisionPlot::paint_shares(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = plot_area();
  const bool dark = is_dark(palette());
  for (const RoundColumn& column : round_columns(axis)) {
    // A narrow column takes in the rounds around it, to average over more than one.
    const std::size_t window = std::max(share_window, column.count());
    const std::size_t middle = (column.first + column.last) / 2;
    const std::size_t first = middle > window / 2 ? middle - window / 2 : 0;
    const std::size_t last = std::min(picture_->rounds(), first + window);
    double bottom = area.bottom() + 1;
    for (std::size_t word = 0; word < picture_->words.size(); ++word) {
      const double height = picture_->share(word, first, last) * area.height();
      painter.fillRect(QRectF(column.left, bottom - height, column.width(), height),
                       series_color(word, dark));
      bottom -= height;
    }
  }
}

QString DecisionPlot::tooltip_at(const RoundAxis& axis, const QPoint& point) const {
  if (!picture_) return {};
  const std::size_t place = axis.place(point.x());
  const std::uint32_t near = picture_->place_near(place, 0);
  if (near == no_index) return tr("round %1: no decision").arg(round_number(place));
  const std::uint32_t number = round_number(near);
  QStringList lines;
  lines << (near == place
                ? tr("round %1").arg(number)
                : tr("round %1; the nearest decision is round %2's").arg(round_number(place)).arg(number));
  if (picture_->picture->shape == PictureShape::exits && !picture_->values.empty()) {
    const QRect area = plot_area();
    const auto row =
        static_cast<std::size_t>(std::clamp(static_cast<double>(area.bottom() - point.y()) / area.height() *
                                                static_cast<double>(picture_->values.size()),
                                            0.0, static_cast<double>(picture_->values.size()) - 1.0));
    lines << tr("%1: %2").arg(text_of(picture_->names[row]), number_text(picture_->values[row][near]));
  }
  const RunHistory& run = history_->runs[state().run()];
  const std::size_t kind = run.kind_index(picture_->picture->kind);
  if (kind == run.places.size()) return lines.join(u'\n');
  std::size_t shown = 0;
  for (std::size_t i = 0; i < run.places[kind].size() && shown < max_tip_decisions; ++i)
    if (run.places[kind][i] == number) {
      lines << text_of(decision_text(run.decisions.kinds[kind], i));
      ++shown;
    }
  return lines.join(u'\n');
}

void DecisionPlot::step(int by) {
  const std::uint32_t round_index = state().cursor().round_index;
  const RunRounds* run = state().shown_rounds();
  if (!picture_ || run == nullptr) return;
  const bool is_here = round_index != no_index && state().recording()->run_of(round_index) == state().run() &&
                       state().filtered()->place_in_run(round_index) != no_index;
  const std::size_t from = is_here ? state().filtered()->place_in_run(round_index) : 0;
  const std::uint32_t to = picture_->place_near(from, is_here ? by : 0);
  if (to != no_index && to < run->rounds.size()) state().go_to_round(run->rounds[to]);
}

void DecisionPlot::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_PageUp && event->key() != Qt::Key_PageDown)
    return RoundsPlot::keyPressEvent(event);
  step(event->key() == Qt::Key_PageUp ? -1 : 1);
  event->accept();
}

}  // namespace draftscope::gui
