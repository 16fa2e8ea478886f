// SPDX-License-Identifier: GPL-3.0-or-later
#include "slice_label.h"

#include <algorithm>

#include "data/details/draft_steps.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

QStringList round_labels(const OpenedRecording& opened, const LaneSlice& slice, const QString& time) {
  const traces::Round& round = opened.round(slice.round_index);
  const QString place = QStringLiteral("#%1").arg(opened.place_in_run(slice.round_index));
  if (round.drafted == 0) return {place + u' ' + time, place};
  const QString fate = QStringLiteral("%1 %2/%3%4")
                           .arg(place)
                           .arg(round.accepted)
                           .arg(round.drafted)
                           .arg(round.bonus_token >= 0 ? QStringLiteral("+1") : QString());
  return {fate + u' ' + time, fate, place};
}

QStringList request_labels(const OpenedRecording& opened, const LaneSlice& slice, const QString& time) {
  const std::vector<traces::Request>& requests = opened.recording().requests;
  const auto found = std::lower_bound(
      requests.begin(), requests.end(), slice.row_id,
      [](const traces::Request& request, std::int64_t id) { return request.id.value() < id; });
  if (found == requests.end() || found->id.value() != slice.row_id) return {time};
  const QString label = request_label(opened, *found);
  return {label + u' ' + time, label, label.section(u' ', 0, 0)};
}

/// Words for the draft tokens of a step, empty if there are none.
QStringList step_labels(const OpenedRecording& opened, const Lane& lane, std::size_t index,
                        const QString& time) {
  const LaneSlice slice = lane.slices[index];
  const auto found = tokens_of_step(opened, slice.round_index, draft_step_of(lane.slices, index));
  if (found.empty()) return {};
  const traces::DraftToken& token = opened.draft_tokens(slice.round_index)[found.front()];
  const QString text = visible_text(opened.token_text(token.token));
  const QString more = found.size() == 1 ? QString() : QStringLiteral(" +%1").arg(found.size() - 1);
  const QString confidence = QString::number(token.confidence, 'f', 2);
  return {text + u' ' + confidence + more + u' ' + time, text + u' ' + confidence + more, text};
}

QStringList span_labels(const OpenedRecording& opened, const std::string& name, const Lane& lane,
                        std::size_t index, const QString& time) {
  const LaneSlice slice = lane.slices[index];
  if (name == draft_step_name && slice.round_index != no_index)
    if (QStringList labels = step_labels(opened, lane, index, time); !labels.isEmpty()) return labels;
  QString words = QString::fromStdString(name);
  if (slice.layer >= 0)
    words = name == "layer" ? QStringLiteral("L%1").arg(slice.layer)
                            : QStringLiteral("L%1 %2").arg(slice.layer).arg(words);
  return {words + u' ' + time, words};
}

}  // namespace

QString request_label(const OpenedRecording& opened, const traces::Request& request) {
  const traces::Prompt* prompt = opened.prompt_of(request);
  if (prompt == nullptr) return QStringLiteral("·%1").arg(request.repeat);
  const QString turn = prompt->turn == 0 ? QString() : QStringLiteral(".%1").arg(prompt->turn);
  return QStringLiteral("q%1%2·%3 %4")
      .arg(prompt->question_id)
      .arg(turn)
      .arg(request.repeat)
      .arg(QString::fromStdString(prompt->category))
      .trimmed();
}

QStringList slice_labels(const OpenedRecording& opened, const Timeline& timeline, const Lane& lane,
                         std::size_t index) {
  const LaneSlice slice = lane.slices[index];
  const QString time = duration_text(slice.time.duration_ns());
  if (lane.kind == LaneKind::rounds && slice.round_index != no_index)
    return round_labels(opened, slice, time);
  if (lane.kind == LaneKind::requests) return request_labels(opened, slice, time);
  return span_labels(opened, timeline.names[slice.name], lane, index, time);
}

LabelWidths::LabelWidths(const QFont& font) : metrics_(font) {
  for (std::size_t i = 0; i < latin_.size(); ++i)
    latin_[i] = metrics_.horizontalAdvance(QChar(static_cast<char16_t>(i)));
}

int LabelWidths::of(const QString& text) const {
  int width = 0;
  for (const QChar letter : text)
    width += letter.unicode() < latin_.size() ? latin_[letter.unicode()] : metrics_.horizontalAdvance(letter);
  return width;
}

QString LabelWidths::fitting(const QStringList& texts, int width) const {
  if (texts.isEmpty()) return {};
  for (const QString& text : texts)
    if (of(text) <= width) return text;
  const QChar dots(u'…');
  QString cut = texts.back();
  while (!cut.isEmpty() && of(cut) + of(dots) > width) cut.chop(1);
  return cut.isEmpty() ? QString() : cut + dots;
}

}  // namespace draftscope::gui
