// SPDX-License-Identifier: GPL-3.0-or-later
#include "appearance.h"

#include <QAbstractItemModel>
#include <QApplication>
#include <QComboBox>
#include <QPainter>
#include <QProxyStyle>
#include <QStyleFactory>
#include <QStyleOption>
#include <array>
#include <memory>

#include "widgets/elided_apart.h"
#include "widgets/theme.h"

namespace draftscope::gui {

namespace {

constexpr double min_contrast = 4.5;
constexpr double button_contrast = 6.0;
constexpr double quiet_contrast = 5.5;  // Well above min_contrast, on every background.

/// Texts of the index's column, as far as a list of names goes.
QStringList names_beside(const QModelIndex& index) {
  constexpr int max_names = 64;
  QStringList names;
  if (!index.isValid()) return names;
  const int rows = index.model()->rowCount(index.parent());
  for (int row = 0; row < rows && rows <= max_names; ++row)
    names << index.siblingAtRow(row).data().toString();
  return names;
}

/// Fusion with visible boxes and circles in a dark palette, too. There Fusion's own outlines, darker than the
/// window, are hardly visible. Choices and cells without room for their text cut it where it differs from the
/// other texts.
class ClearStyle : public QProxyStyle {
 public:
  ClearStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    if (element != PE_IndicatorCheckBox && element != PE_IndicatorRadioButton) return;
    const auto group = option->state.testFlag(State_Enabled) ? QPalette::Active : QPalette::Disabled;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing, element == PE_IndicatorRadioButton);
    // A thicker line makes up for the blurred edge of a circle.
    painter->setPen(QPen(option->palette.color(group, QPalette::WindowText),
                         element == PE_IndicatorRadioButton ? 1.6 : 1.0));
    painter->setBrush(Qt::NoBrush);
    const QRectF outline = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
    if (element == PE_IndicatorCheckBox)
      painter->drawRect(outline);
    else
      painter->drawEllipse(outline);
    painter->restore();
  }

  void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                   const QWidget* widget) const override {
    const auto* box = qstyleoption_cast<const QStyleOptionComboBox*>(option);
    const auto* cell = qstyleoption_cast<const QStyleOptionViewItem*>(option);
    if (element == CE_ComboBoxLabel && box != nullptr && !box->editable) {
      QStyleOptionComboBox cut = *box;
      const auto* choice = qobject_cast<const QComboBox*>(widget);
      const QRect field = subControlRect(CC_ComboBox, box, SC_ComboBoxEditField, widget);
      cut.currentText = elided_apart(
          box->currentText,
          choice == nullptr ? QStringList() : names_beside(choice->model()->index(0, choice->modelColumn())),
          option->fontMetrics, field.width());
      return QProxyStyle::drawControl(element, &cut, painter, widget);
    }
    if (element == CE_ItemViewItem && cell != nullptr && cell->textElideMode == Qt::ElideMiddle) {
      const int margin = pixelMetric(PM_FocusFrameHMargin, option, widget) + 1;
      const int room = subElementRect(SE_ItemViewItemText, option, widget).width() - 2 * margin;
      if (cell->fontMetrics.horizontalAdvance(cell->text) > room) {
        QStyleOptionViewItem cut = *cell;
        cut.text = elided_apart(cell->text, names_beside(cell->index), cell->fontMetrics, room);
        return QProxyStyle::drawControl(element, &cut, painter, widget);
      }
    }
    QProxyStyle::drawControl(element, option, painter, widget);
  }
};

/// Style and colours that the desktop chose.
struct Desktop {
  QString style;
  QPalette palette;
};

const Desktop& desktop() {
  static const Desktop kept{QApplication::style()->name(), QApplication::palette()};
  return kept;
}

Appearance& used() {
  static Appearance appearance = Appearance::system;
  return appearance;
}

QPalette light_palette() {
  const std::unique_ptr<QStyle> fusion(QStyleFactory::create(QStringLiteral("Fusion")));
  QPalette palette = fusion->standardPalette();
  // White text on the style's own blue is hard to read.
  palette.setColor(QPalette::Highlight, QColor(0x1f, 0x6f, 0xb0));
  return palette;
}

QPalette dark_palette() {
  QPalette palette(QColor(0x24, 0x27, 0x2b));
  palette.setColor(QPalette::Base, QColor(0x1b, 0x1d, 0x20));
  palette.setColor(QPalette::AlternateBase, QColor(0x22, 0x25, 0x29));
  palette.setColor(QPalette::ToolTipBase, QColor(0x4a, 0x3f, 0x1c));
  palette.setColor(QPalette::Highlight, QColor(0x2f, 0x65, 0xa8));
  palette.setColor(QPalette::Link, QColor(0x7f, 0xb2, 0xf0));
  palette.setColor(QPalette::LinkVisited, QColor(0xc0, 0xa0, 0xf0));
  for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText,
                                         QPalette::ToolTipText, QPalette::HighlightedText})
    palette.setColor(role, QColor(0xe6, 0xe6, 0xe6));
  for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, QColor(0x80, 0x84, 0x88));
  palette.setColor(QPalette::PlaceholderText, QColor(0x80, 0x84, 0x88));
  return palette;
}

QColor mixed(const QColor& from, const QColor& to, double share) {
  const auto part = [&](int a, int b) { return a + static_cast<int>((b - a) * share); };
  return QColor(part(from.red(), to.red()), part(from.green(), to.green()), part(from.blue(), to.blue()));
}

/// The colour as seen on its background, moved away from the background until the contrast is sufficient.
QColor clear_of(const QColor& text, const QColor& back, double contrast) {
  const QColor seen = mixed(back, text, text.alphaF());
  const QColor far_end = ink_on(back);
  constexpr int steps = 32;
  for (int step = 0; step < steps; ++step) {
    const QColor moved = mixed(seen, far_end, static_cast<double>(step) / steps);
    if (contrast_of(moved, back) >= contrast) return moved;
  }
  return far_end;
}

}  // namespace

QString appearance_name(Appearance appearance) {
  static const std::array<QString, 3> names{QStringLiteral("system"), QStringLiteral("light"),
                                            QStringLiteral("dark")};
  return names[static_cast<std::size_t>(appearance)];
}

Appearance appearance_of(const QString& name) {
  for (const Appearance appearance : {Appearance::light, Appearance::dark})
    if (name == appearance_name(appearance)) return appearance;
  return Appearance::system;
}

void use_appearance(Appearance appearance) {
  const Desktop& own = desktop();
  used() = appearance;
  const bool is_fusion = appearance != Appearance::system ||
                         own.style.compare(QStringLiteral("fusion"), Qt::CaseInsensitive) == 0;
  QApplication::setStyle(is_fusion ? new ClearStyle : QStyleFactory::create(own.style));
  QPalette palette = appearance == Appearance::system  ? own.palette
                     : appearance == Appearance::light ? light_palette()
                                                       : dark_palette();
  // A page has one background: frames and lines separate its parts, not shades of grey.
  for (const QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive, QPalette::Disabled})
    palette.setColor(group, QPalette::Window, palette.color(QPalette::Active, QPalette::Base));
  QApplication::setPalette(legible(palette));
}

Appearance used_appearance() {
  return used();
}

const std::vector<TextColors>& text_colors() {
  static const std::vector<TextColors> pairs{{QPalette::WindowText, QPalette::Window},
                                             {QPalette::Text, QPalette::Base},
                                             {QPalette::Text, QPalette::AlternateBase},
                                             {QPalette::Text, QPalette::Window},
                                             {QPalette::WindowText, QPalette::Base},
                                             {QPalette::ButtonText, QPalette::Button},
                                             {QPalette::PlaceholderText, QPalette::Base},
                                             {QPalette::ToolTipText, QPalette::ToolTipBase},
                                             {QPalette::HighlightedText, QPalette::Highlight},
                                             {QPalette::Link, QPalette::Base},
                                             {QPalette::Link, QPalette::Window},
                                             {QPalette::LinkVisited, QPalette::Base},
                                             {QPalette::LinkVisited, QPalette::Window}};
  return pairs;
}

QColor legible_on(const QColor& text, const QColor& back) {
  return clear_of(text, back, min_contrast);
}

QPalette legible(QPalette palette) {
  for (const QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive, QPalette::Disabled})
    for (const TextColors& pair : text_colors()) {
      const QColor text = palette.color(group, pair.text);
      const QColor back = palette.color(group, pair.back);
      // White on a deeper blue is familiar; black on the same blue would look disabled.
      if (pair.back == QPalette::Highlight)
        palette.setColor(group, pair.back, legible_on(back, text));
      else
        // Styles draw buttons lighter than their colour.
        palette.setColor(
            group, pair.text,
            clear_of(text, back, pair.back == QPalette::Button ? button_contrast : min_contrast));
    }
  return palette;
}

QPalette quiet(QPalette palette) {
  for (const QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive, QPalette::Disabled}) {
    const QColor back = palette.color(group, QPalette::Window);
    const QColor middle = mixed(back, palette.color(group, QPalette::WindowText), 0.5);
    palette.setColor(group, QPalette::WindowText, clear_of(middle, back, quiet_contrast));
  }
  return palette;
}

}  // namespace draftscope::gui
