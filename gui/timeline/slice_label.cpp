// SPDX-License-Identifier: GPL-3.0-or-later
#include "slice_label.h"

#include <fmt/format.h>
#include <QGlyphRun>
#include <QPaintEngine>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "data/details/draft_tree.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

/// Adds words, and a length at which the label may be cut.
void add(SliceLabel& label, const QString& words) {
  if (!label.words.isEmpty()) label.words += u' ';
  label.words += words;
  label.lengths.insert(label.lengths.begin(), label.words.size());
}

/// Formats ASCII text without a QString per number: thousands of labels are made per frame.
template <typename... Parts>
QString formatted(fmt::format_string<Parts...> format, Parts&&... parts) {
  std::array<char, 64> text{};
  const auto end = fmt::format_to_n(text.data(), text.size(), format, std::forward<Parts>(parts)...).out;
  return QString::fromLatin1(text.data(), end - text.data());
}

SliceLabel round_label(const OpenedRecording& opened, std::uint32_t round_index) {
  const traces::Round& round = opened.round(round_index);
  SliceLabel label;
  add(label, formatted("#{}", opened.place_in_run(round_index)));
  if (round.drafted > 0)
    add(label, formatted("{}/{}{}", round.accepted, round.drafted, round.bonus_token >= 0 ? "+1" : ""));
  return label;
}

SliceLabel label_of_request(const OpenedRecording& opened, std::int64_t id) {
  const traces::Request* const request = opened.request_with(traces::RequestId::from(id));
  return request == nullptr ? SliceLabel() : request_label(opened, *request);
}

/// Label of a step's draft tokens; empty if there are none.
SliceLabel step_label(const OpenedRecording& opened, const Lane& lane, std::size_t index) {
  const std::uint32_t round_index = lane.slices.round_index(index);
  const auto found = tokens_of_step(opened, round_index, draft_step_of(lane.slices, index));
  if (found.empty()) return {};
  const traces::DraftToken& token = opened.draft_tokens(round_index)[found.front()];
  SliceLabel label;
  add(label, visible_text(opened.token_text(token.token)));
  QString more = formatted("{:.2f}", token.confidence);
  if (found.size() > 1) more += formatted(" +{}", found.size() - 1);
  add(label, more);
  return label;
}

/// Label of a slice with its time.
SliceLabel span_label(const OpenedRecording& opened, const std::string& name, const Lane& lane,
                      std::size_t index) {
  const LaneSlice slice = lane.slices[index];
  if (name == draft_step_name && slice.round_index != no_index)
    if (SliceLabel label = step_label(opened, lane, index); !label.words.isEmpty()) {
      add(label, duration_text(slice.time.duration_ns()));
      return label;
    }
  SliceLabel label;
  const QString time = duration_text(slice.time.duration_ns());
  const QString layer = slice.layer < 0 ? QString() : formatted("L{} ", slice.layer);
  if (name == "layer" && slice.layer >= 0) {
    add(label, layer.chopped(1));
    add(label, time);
    return label;
  }
  // In "qkv: ProductKernel<…>" the operation says most, then the time, the kernel, and its arguments.
  const std::size_t colon = name.find(": ");
  const std::size_t kernel = colon == std::string::npos ? 0 : colon + 2;
  const std::size_t arguments = std::min(name.find('<', std::max<std::size_t>(kernel, 1)), name.size());
  const auto part = [&](std::size_t from, std::size_t to) {
    return QString::fromStdString(name.substr(from, to - from));
  };
  add(label, layer + part(0, kernel == 0 ? arguments : colon));
  add(label, time);
  if (kernel > 0) add(label, part(kernel, arguments));
  if (arguments == name.size()) return label;
  if (kernel == 0) label.words += u' ';
  label.words += part(arguments, name.size());
  label.lengths.insert(label.lengths.begin(), label.words.size());
  return label;
}

/// "1.026 300 ms": exact to the nanosecond.
QString exact_text(std::int64_t ns) {
  struct Unit {
    std::int64_t ns = 1;
    const char* name = "";
  };
  const std::int64_t length_ns = std::abs(ns);
  Unit unit{1'000'000'000, " s"};
  for (const Unit& smaller : {Unit{1'000'000, " ms"}, Unit{1'000, " µs"}, Unit{1, " ns"}})
    if (length_ns < unit.ns) unit = smaller;
  QString text = (ns < 0 ? QStringLiteral("−") : QString()) + QString::number(length_ns / unit.ns);
  for (std::int64_t rest_ns = unit.ns; rest_ns > 1; rest_ns /= 1000) {
    const std::int64_t group = length_ns % rest_ns / (rest_ns / 1000);
    text += QChar(rest_ns == unit.ns ? u'.' : u'\u00a0') +
            QStringLiteral("%1").arg(group, 3, 10, QLatin1Char('0'));
  }
  return text + QString::fromUtf8(unit.name);
}

}  // namespace

SliceLabel request_label(const OpenedRecording& opened, const traces::Request& request) {
  const traces::Prompt* prompt = opened.prompt_of(request);
  SliceLabel label;
  if (prompt == nullptr) {
    add(label, QStringLiteral("·%1").arg(request.repeat));
    return label;
  }
  const QString turn = prompt->turn == 0 ? QString() : QStringLiteral(".%1").arg(prompt->turn);
  add(label, QStringLiteral("q%1%2·%3")
                 .arg(QString::fromStdString(opened.question_text(*prompt)), turn)
                 .arg(request.repeat));
  if (const QString category = QString::fromStdString(prompt->category).trimmed(); !category.isEmpty())
    add(label, category);
  return label;
}

SliceLabel slice_label(const OpenedRecording& opened, const Timeline& timeline, const Lane& lane,
                       std::size_t index) {
  const LaneSlices& slices = lane.slices;
  SliceLabel label;
  if (lane.kind == LaneKind::rounds && slices.round_index(index) != no_index)
    label = round_label(opened, slices.round_index(index));
  else if (lane.kind == LaneKind::requests)
    label = label_of_request(opened, slices.row_id(index));
  else
    return span_label(opened, timeline.names[slices.name(index)], lane, index);
  add(label, duration_text(slices.end_ns(index) - slices.start_ns(index)));
  return label;
}

QString begin_text(const OpenedRecording& opened, const LaneSlice& slice) {
  if (slice.round_index == no_index) return exact_text(slice.time.start_ns - opened.whole().start_ns);
  const std::int64_t after_ns = slice.time.start_ns - opened.round(slice.round_index).start_ns;
  return QStringLiteral("#%1 %2 %3")
      .arg(opened.place_in_run(slice.round_index))
      .arg(QChar(after_ns < 0 ? u'−' : u'+'))
      .arg(exact_text(std::abs(after_ns)));
}

namespace {

constexpr QChar dots(u'…');

}  // namespace

LabelFont::LabelFont(const QFont& font) : metrics_(font), raw_(QRawFont::fromFont(font)) {
  const auto made = [this](QChar character) {
    Letter letter{.width = metrics_.horizontalAdvance(character)};
    if (const QList<quint32> glyphs = raw_.glyphIndexesForString(QString(character)); glyphs.size() == 1) {
      letter.glyph = glyphs.front();
      if (letter.glyph != 0) letter.width = raw_.advancesForGlyphIndexes(glyphs).front().x();
    }
    return letter;
  };
  for (std::size_t i = 0; i < latin_.size(); ++i) latin_[i] = made(QChar(static_cast<char16_t>(i)));
  dots_ = made(dots);
}

LabelFont::Letter LabelFont::letter(QChar letter) const {
  if (letter.unicode() < latin_.size()) return latin_[letter.unicode()];
  return letter == dots ? dots_ : Letter{.width = metrics_.horizontalAdvance(letter)};
}

int LabelFont::width(const QString& text) const {
  double width = 0.0;
  for (const QChar character : text) width += letter(character).width;
  return static_cast<int>(std::ceil(width));
}

QString LabelFont::fitting(const SliceLabel& label, int width) const {
  if (label.lengths.isEmpty()) return {};
  double at = 0.0;     // Right end of the letters that fit.
  qsizetype fits = 0;  // Letters that fit.
  for (; fits < label.words.size(); ++fits) {
    at += letter(label.words[fits]).width;
    if (std::ceil(at) > width) break;
  }
  for (const qsizetype length : label.lengths)
    if (length <= fits) return length == label.words.size() ? label.words : label.words.left(length);
  constexpr qsizetype min_letters = 5;
  const QString shortest = label.words.left(label.lengths.back());
  // Whole words say more than parts of them.
  for (qsizetype end = shortest.lastIndexOf(u' '); end >= min_letters;
       end = shortest.lastIndexOf(u' ', end - 1))
    if (QString words = shortest.left(end) + dots; this->width(words) <= width) return words;
  // Letters are taken from both ends in turn.
  qsizetype left = 0;
  qsizetype right = 0;
  for (double taken = dots_.width; left + right < shortest.size();) {
    const bool from_left = left <= right;
    taken += letter(shortest[from_left ? left : shortest.size() - 1 - right]).width;
    if (std::ceil(taken) > width) break;
    ++(from_left ? left : right);
  }
  if (left + right < min_letters) return {};
  return shortest.left(left) + dots + shortest.right(right);
}

LabelBatch::LabelBatch(QPainter& painter, const LabelFont& font)
    : painter_(painter),
      font_(font),
      has_glyphs_(font.raw().isValid() && painter.paintEngine() != nullptr &&
                  painter.paintEngine()->type() == QPaintEngine::Raster) {}

LabelBatch::Run& LabelBatch::run_of(const QColor& ink) {
  // There are mostly two inks, and rarely more.
  const auto known = std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return run.ink == ink; });
  return known != runs_.end() ? *known : runs_.emplace_back(Run{.ink = ink, .glyphs = {}, .places = {}});
}

void LabelBatch::add(const QPoint& at, const QString& text, std::span<const LabelInk> inks) {
  const bool has_all = has_glyphs_ && std::all_of(text.begin(), text.end(), [this](QChar character) {
                         return character == u' ' || font_.letter(character).glyph != 0;
                       });
  if (!has_all) return texts_.push_back({at, text, {inks.begin(), inks.end()}});
  double x = at.x();
  std::size_t piece = 0;
  Run* run = &run_of(inks.front().color);
  for (const QChar character : text) {
    const LabelFont::Letter letter = font_.letter(character);
    const std::size_t before = piece;
    while (piece + 1 < inks.size() && x + letter.width / 2 >= inks[piece].right) ++piece;
    if (piece != before) run = &run_of(inks[piece].color);
    if (character != u' ') {
      run->glyphs.push_back(letter.glyph);
      run->places.emplace_back(x, at.y());
    }
    x += letter.width;
  }
}

void LabelBatch::draw_text(const Text& text) {
  const std::span<const LabelInk> inks = text.inks;
  const bool is_one_ink = std::all_of(inks.begin(), inks.end(),
                                      [&](const LabelInk& ink) { return ink.color == inks.front().color; });
  int left = text.at.x();
  for (const LabelInk& ink : is_one_ink ? inks.first(1) : inks) {
    painter_.save();
    const int height = painter_.fontMetrics().height();
    if (!is_one_ink)
      painter_.setClipRect(QRect(left, text.at.y() - height, std::max(0, ink.right - left), 2 * height),
                           Qt::IntersectClip);
    painter_.setPen(ink.color);
    painter_.drawText(text.at, text.words);
    painter_.restore();
    left = std::max(left, ink.right);
  }
}

void LabelBatch::draw() {
  for (const Text& text : texts_) draw_text(text);
  texts_.clear();
  for (Run& run : runs_) {
    if (run.glyphs.empty()) continue;
    QGlyphRun glyphs;
    glyphs.setRawFont(font_.raw());
    glyphs.setRawData(run.glyphs.data(), run.places.data(), static_cast<int>(run.glyphs.size()));
    painter_.setPen(run.ink);
    painter_.drawGlyphRun(QPointF(), glyphs);
    run.glyphs.clear();
    run.places.clear();
  }
}

}  // namespace draftscope::gui
