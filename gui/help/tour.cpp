// SPDX-License-Identifier: GPL-3.0-or-later
#include "tour.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <array>

namespace draftscope::gui {

namespace {

std::vector<TourStep> all_steps() {
  constexpr auto tr = [](const char* words) { return Tour::tr(words); };
  return {
      {tr("Which strategy is fastest?"),
       tr("A row per strategy, the fastest on top. The dot is its speedup over vanilla decoding, the line "
          "its 95 % "
          "interval: one that crosses the dashed line may be chance."),
       QStringLiteral("summary"),
       {},
       QStringLiteral("Runs")},
      {tr("Why is it slow?"),
       tr("Sentences say what a round takes and what it yields, dearest cause first; the bars lead from "
          "vanilla's "
          "time per token to this run's. A click on a bar shows the rounds behind it."),
       QStringLiteral("why"),
       QStringLiteral("layerskip"),
       {}},
      {tr("Which layers are skipped?"),
       tr("A column per round, two rows per layer: filled ones ran in the draft, pale hatched ones were "
          "skipped. "
          "CLaSp chooses anew from what it sees; M switches to shares and times."),
       QStringLiteral("skip-map"),
       QStringLiteral("clasp"),
       {}},
      {tr("Which threshold?"),
       tr("Every drafted token at its confidence: dots were accepted, crosses rejected. Below the dashed "
          "line "
          "drafting stops; a good threshold has few crosses above it and few dots below."),
       QStringLiteral("confidence"),
       QStringLiteral("dv"),
       {}},
      {tr("Which threshold and length?"),
       tr("Settings that nobody recorded, answered from what every layer would have predicted: move the "
          "sliders, and "
          "read speedup, interval and how sure the answer is. The page Advise names the fastest of all."),
       QStringLiteral("what-if"),
       QStringLiteral("layerskip"),
       {}},
      {tr("Strategies side by side?"),
       tr("Two to six runs beside a baseline: what was set differently, whether the texts are the same, and "
          "who "
          "gains on which prompt."),
       QStringLiteral("compare"),
       {},
       {}},
      {tr("A figure for a paper?"),
       tr("Ctrl+E writes a figure of the page as PDF, SVG or PNG, as wide as a paper's column, its data as "
          "CSV, or a table as LaTeX. The menu File exports every view as it stands."),
       {},
       {},
       {}},
      {tr("Where did this round's time go?"),
       tr("A column per round, stacked by phase. A click selects a round in every view; the table has its "
          "times beside "
          "the medians and the tails of all that are shown."),
       QStringLiteral("breakdown"),
       QStringLiteral("layerskip"),
       {}},
      {tr("And what happened when?"),
       tr("The timeline has requests, rounds and phases on one axis: wheel or W and S to zoom, F to see the "
          "selected "
          "round as a whole, T to close it."),
       QStringLiteral("timeline"),
       {},
       {}},
      {tr("Your turn"),
       tr("F1 opens the manual at the page that you see, ? at a panel's section, and Ctrl+Shift+P finds "
          "every "
          "action, page, run and file. Ctrl+R records a model of yours."),
       QStringLiteral("summary"),
       {},
       {}},
  };
}

}  // namespace

const std::vector<TourStep>& tour_steps() {
  static const std::vector<TourStep> steps = all_steps();
  return steps;
}

namespace {

constexpr int panel_width = 380;
constexpr int margin = 16;

int last_step() {
  return static_cast<int>(tour_steps().size()) - 1;
}

}  // namespace

Tour::Tour(Show show, QWidget* window)
    : QFrame(window), show_(std::move(show)), mark_(new WidgetMark(3, window)) {
  setAutoFillBackground(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Tour"));
  QFont bold = title_->font();
  bold.setBold(true);
  bold.setPointSizeF(bold.pointSizeF() * 1.2);
  title_->setFont(bold);
  for (QLabel* label : {title_, words_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
  }
  auto* leave = new QPushButton(tr("Leave"));
  leave->setToolTip(tr("Leaves the tour (Esc)"));
  back_->setToolTip(tr("The step before (←)"));
  next_->setToolTip(tr("The next step (→)"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(place_);
  buttons->addStretch(1);
  for (QPushButton* button : {leave, back_, next_}) {
    button->setFocusPolicy(Qt::StrongFocus);
    button->installEventFilter(this);
    buttons->addWidget(button);
  }
  auto* column = new QVBoxLayout(this);
  column->addWidget(title_);
  column->addWidget(words_);
  column->addLayout(buttons);
  connect(leave, &QPushButton::clicked, this, &Tour::leave);
  connect(back_, &QPushButton::clicked, this, [this] { go_to(step_ - 1); });
  connect(next_, &QPushButton::clicked, this, [this] {
    if (step_ == last_step())
      this->leave();
    else
      go_to(step_ + 1);
  });
  window->installEventFilter(this);
  mark_->keep_below(this);
  hide();
}

void Tour::go_to(int step) {
  if (step < 0 || step > last_step()) return;
  step_ = step;
  const TourStep& here = tour_steps()[static_cast<std::size_t>(step)];
  title_->setText(here.title);
  words_->setText(here.words);
  setAccessibleDescription(here.title + u' ' + here.words);
  place_->setText(tr("%1 of %2").arg(step + 1).arg(last_step() + 1));
  back_->setEnabled(step > 0);
  next_->setText(step == last_step() ? tr("Done") : tr("Next →"));
  mark_->mark(show_(here));
  show();
  place();
  // The shown widget may have taken the focus.
  setFocus();
}

void Tour::leave() {
  if (!is_under_way()) return;
  step_ = -1;
  mark_->mark(nullptr);
  hide();
  emit left();
}

void Tour::place() {
  const QRect window = parentWidget()->rect();
  const int width = std::min(panel_width, window.width() - 2 * margin);
  const int height = std::min(layout()->heightForWidth(width), window.height() - 2 * margin);
  const QSize size(width, height);
  QRect shown;
  if (const QWidget* target = mark_->target(); target != nullptr && target->isVisible())
    shown = QRect(target->mapTo(parentWidget(), QPoint()), target->size());
  const int left = margin;
  const int top = margin + height / 2;
  const int right = window.width() - margin - width;
  const int bottom = window.height() - margin - height;
  const std::array<QPoint, 4> corners{QPoint(right, bottom), QPoint(left, bottom), QPoint(right, top),
                                      QPoint(left, top)};
  QPoint best = corners.front();
  int least = -1;
  for (const QPoint& corner : corners) {
    const QRect hidden = QRect(corner, size) & shown;
    const int area = hidden.width() * hidden.height();
    if (least >= 0 && area >= least) continue;
    least = area;
    best = corner;
  }
  setGeometry(QRect(best, size));
  raise();
}

void Tour::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Right:
    case Qt::Key_PageDown:
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      return next_->click();
    case Qt::Key_Left:
    case Qt::Key_PageUp:
    case Qt::Key_Backspace:
      return back_->click();
    case Qt::Key_Escape:
      return leave();
    default:
      return QFrame::keyPressEvent(event);
  }
}

void Tour::paintEvent(QPaintEvent* /*event*/) {
  // The panel contrasts with what is below it in light and dark.
  QPainter painter(this);
  painter.setPen(QPen(palette().color(QPalette::Active, QPalette::Highlight), 2));
  painter.setBrush(palette().color(QPalette::Window));
  painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
}

bool Tour::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget() && event->type() == QEvent::Resize && is_under_way()) place();
  // Arrows on a button would go from button to button, and Esc may be a shortcut of the window.
  if (watched != parentWidget() && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Escape) {
      keyPressEvent(static_cast<QKeyEvent*>(event));
      return true;
    }
  }
  return QFrame::eventFilter(watched, event);
}

}  // namespace draftscope::gui
