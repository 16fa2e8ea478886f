// SPDX-License-Identifier: GPL-3.0-or-later
#include "slice_label.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  const std::vector<traces::Request>& requests = opened.recording().requests;
  const auto found = std::lower_bound(
      requests.begin(), requests.end(), id,
      [](const traces::Request& request, std::int64_t wanted) { return request.id.value() < wanted; });
  if (found == requests.end() || found->id.value() != id) return {};
  return request_label(opened, *found);
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

}  // namespace draftscope::gui
