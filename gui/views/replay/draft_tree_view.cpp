// SPDX-License-Identifier: GPL-3.0-or-later
#include "draft_tree_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <algorithm>

#include "widgets/habits.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int column_width = 86;
constexpr int row_height = 24;
constexpr int margin = 16;  // Room of the root.
constexpr int max_height = 152;
constexpr std::size_t max_described = 12;

}  // namespace

DraftTreeView::DraftTreeView(QWidget* parent) : QScrollArea(parent), canvas_(new QWidget) {
  setAccessibleName(tr("Draft of the round as a tree"));
  setFocusPolicy(Qt::StrongFocus);
  setWidget(canvas_);
  canvas_->installEventFilter(this);
  canvas_->setMouseTracking(true);
  hide();
}

const traces::DraftToken& DraftTreeView::token_of(const DraftTreeNode& node) const {
  return recording_->recording().draft_tokens[node.draft_index];
}

QString DraftTreeView::text_of(const DraftTreeNode& node) const {
  return visible_text(recording_->token_text(token_of(node).token));
}

QString DraftTreeView::words_of(const DraftTreeNode& node) const {
  const traces::DraftToken& token = token_of(node);
  return tr("%1: %2, confidence %3")
      .arg(text_of(node),
           token.accepted ? tr("accepted")
           : token.tested ? tr("rejected")
                          : tr("thrown away untested"),
           number_text(token.confidence));
}

void DraftTreeView::show_round(const RecordingPointer& recording, std::uint32_t round_index) {
  recording_ = recording;
  tree_ = recording && round_index != no_index ? draft_tree(*recording, round_index) : DraftTree();
  if (!tree_.has_branches()) {
    hide();
    return;
  }
  canvas_->resize(margin + tree_.columns * column_width + 4, tree_.rows * row_height + 4);
  const int bar = canvas_->width() > width() ? 18 : 4;
  setFixedHeight(std::min(canvas_->height() + bar, max_height));
  QStringList words{tr("%1 draft tokens in %2 branches").arg(tree_.nodes.size()).arg(tree_.rows)};
  for (std::size_t i = 0; i < std::min(tree_.nodes.size(), max_described); ++i)
    words << words_of(tree_.nodes[i]);
  setAccessibleDescription(words.join(u"; "));
  show();
  canvas_->update();
}

QRect DraftTreeView::box_of(const DraftTreeNode& node) const {
  return {margin + node.column * column_width + 8, 3 + node.row * row_height, column_width - 14,
          row_height - 5};
}

void DraftTreeView::paint(QPainter& painter) const {
  const bool dark = is_dark(palette());
  const QColor ink = palette().color(QPalette::Text);
  painter.fillRect(canvas_->rect(), palette().color(QPalette::Base));
  for (const DraftTreeNode& node : tree_.nodes) {
    const QRect box = box_of(node);
    const traces::DraftToken& token = token_of(node);
    QPoint from(6, 3 + row_height / 2);
    if (node.parent >= 0) {
      const QRect parent = box_of(tree_.nodes[static_cast<std::size_t>(node.parent)]);
      from = {parent.right() + 1, parent.center().y()};
    }
    painter.setPen(QPen(ink, token.accepted ? 2 : 1));
    const int bend = box.left() - 5;
    painter.drawLine(from, QPoint(bend, from.y()));
    painter.drawLine(QPoint(bend, from.y()), QPoint(bend, box.center().y()));
    painter.drawLine(QPoint(bend, box.center().y()), QPoint(box.left(), box.center().y()));
    painter.setBrush(token.accepted ? QBrush(origin_color(TokenOrigin::accepted, dark))
                                    : QBrush(Qt::NoBrush));
    painter.setPen(QPen(token.accepted ? ink
                        : token.tested ? rejected_color(dark)
                                       : untested_color(dark),
                        1, token.accepted || token.tested ? Qt::SolidLine : Qt::DashLine));
    painter.drawRect(box);
    QFont font = painter.font();
    font.setStrikeOut(!token.accepted && token.tested);
    painter.setFont(font);
    painter.setPen(ink);
    painter.drawText(box.adjusted(3, 0, -3, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(text_of(node), Qt::ElideRight, box.width() - 6));
  }
}

bool DraftTreeView::eventFilter(QObject* watched, QEvent* event) {
  if (watched != canvas_) return QScrollArea::eventFilter(watched, event);
  if (event->type() == QEvent::Paint) {
    QPainter painter(canvas_);
    paint(painter);
    return true;
  }
  if (event->type() != QEvent::ToolTip) return false;
  const auto* help = static_cast<QHelpEvent*>(event);
  QString words;
  for (const DraftTreeNode& node : tree_.nodes)
    if (box_of(node).contains(help->pos())) words = words_of(node);
  show_tip(*help, *canvas_, words);
  return true;
}

}  // namespace draftscope::gui
