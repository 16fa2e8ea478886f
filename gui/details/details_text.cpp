// SPDX-License-Identifier: GPL-3.0-or-later
#include "details_text.h"

#include <draftscope/simulator/analysis/device_timeline.h>
#include <QCoreApplication>
#include <algorithm>

#include "timeline/slice_label.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

QString tr(const char* words) {
  return QCoreApplication::translate("Details", words);
}

QString html(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped();
}

QString link(const QString& target, const QString& words) {
  return QStringLiteral("<a href='%1'>%2</a>").arg(target, words);
}

/// Facts with their names, one row each.
class Facts {
 public:
  void add(const QString& name, const QString& value) {
    rows_ += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>").arg(name, value);
  }
  [[nodiscard]] QString table() const {
    return QStringLiteral("<table cellspacing='0' cellpadding='1'>%1</table>").arg(rows_);
  }

 private:
  QString rows_;
};

/// Aligns cells to the right, except the first column.
QString table_row(const QStringList& cells, const char* tag = "td") {
  QString row;
  for (qsizetype i = 0; i < cells.size(); ++i)
    row += QStringLiteral("<%1 align='%2'>%3&nbsp;&nbsp;</%1>")
               .arg(QString::fromLatin1(tag), i == 0 ? QStringLiteral("left") : QStringLiteral("right"),
                    cells[i]);
  return QStringLiteral("<tr>%1</tr>").arg(row);
}

QString times(std::int64_t ns, std::int64_t median_ns) {
  if (median_ns <= 0) return QStringLiteral("–");
  return QStringLiteral("%1×").arg(number_text(static_cast<double>(ns) / static_cast<double>(median_ns)));
}

QString run_link(const OpenedRecording& opened, std::uint32_t run_index) {
  return link(QStringLiteral("run:%1").arg(run_index), html(opened.runs()[run_index].run->specification));
}

QString rank_text(std::size_t rank, std::size_t of) {
  return tr("%1 of %2 by length").arg(rank).arg(of);
}

QString fate_text(DraftFate fate) {
  switch (fate) {
    case DraftFate::accepted:
      return tr("✓ accepted");
    case DraftFate::rejected:
      return tr("✗ rejected");
    case DraftFate::untested:
      break;
  }
  return tr("– not verified");
}

QString tokens_table(const RoundDetails& details) {
  QString rows =
      table_row({tr("draft token"), tr("confidence"), tr("threshold"), tr("extends"), tr("fate")}, "th");
  for (std::size_t i = 0; i < details.tokens.size(); ++i) {
    const DraftedToken& token = details.tokens[i];
    QString threshold = QStringLiteral("–");
    if (token.is_confident)
      threshold = QStringLiteral("%1 %2")
                      .arg(*token.is_confident ? u'≥' : u'<')
                      .arg(number_text(details.round->threshold));
    rows += table_row({QStringLiteral("%1 <b>%2</b>").arg(i).arg(visible_text(token.text).toHtmlEscaped()),
                       QString::number(token.confidence, 'f', 3), threshold.toHtmlEscaped(),
                       token.parent < 0 ? tr("root") : QString::number(token.parent), fate_text(token.fate)});
  }
  if (!details.bonus_text.empty())
    rows += table_row({QStringLiteral("<b>%1</b>").arg(visible_text(details.bonus_text).toHtmlEscaped()),
                       {},
                       {},
                       {},
                       tr("the target's own")});
  return QStringLiteral("<table cellspacing='0' cellpadding='1'>%1</table>").arg(rows);
}

QString phases_table(const RoundDetails& details) {
  QString rows = table_row({tr("phase"), tr("this round"), tr("median"), tr("to the median")}, "th");
  for (std::size_t part = 0; part < round_parts; ++part) {
    const std::string_view name = round_part_name(static_cast<RoundPart>(part));
    if (details.parts[part] == 0 && details.like_medians[part] == 0) continue;
    rows += table_row({QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())),
                       duration_text(details.parts[part]), duration_text(details.like_medians[part]),
                       times(details.parts[part], details.like_medians[part])});
  }
  const std::int64_t all = details.round->end_ns - details.round->start_ns;
  rows += table_row({tr("<b>round</b>"), duration_text(all), duration_text(details.like_median_ns),
                     times(all, details.like_median_ns)});
  return QStringLiteral("<table cellspacing='0' cellpadding='1'>%1</table>").arg(rows);
}

/// Adds what a block takes of a multiprocessor, and how many fit on one.
void add_occupancy(Facts& facts, const traces::Kernel& kernel, const traces::Meta& meta) {
  if (kernel.registers_per_thread <= 0) return;
  facts.add(tr("Registers"), tr("%1 a thread").arg(kernel.registers_per_thread));
  facts.add(tr("Shared memory"),
            tr("%1 bytes a block, %2 of them dynamic")
                .arg(std::int64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes)
                .arg(kernel.dynamic_shared_bytes));
  const auto limits = simulator::multiprocessor_limits(meta);
  const auto fits = limits ? simulator::occupancy_of(kernel, *limits) : std::nullopt;
  if (!fits) return;
  facts.add(tr("Occupancy"), tr("%1: blocks a multiprocessor that fit: %2, limited by %3")
                                 .arg(percent_text(static_cast<double>(fits->warps) / limits->warps))
                                 .arg(fits->blocks)
                                 .arg(QString::fromUtf8(fits->limited_by.data(),
                                                        static_cast<qsizetype>(fits->limited_by.size()))));
  const double blocks =
      static_cast<double>(kernel.grid_x) * std::max(kernel.grid_y, 1) * std::max(kernel.grid_z, 1);
  if (limits->multiprocessors > 0)
    facts.add(tr("Waves"),
              number_text(blocks / (static_cast<double>(fits->blocks) * limits->multiprocessors)));
}

/// Adds the call that launched it, and how long after that it began.
void add_call(Facts& facts, const SliceDetails& details, const OpenedRecording& opened,
              const Timeline& timeline) {
  if (!details.call) return;
  const TimeRange call = time_of(timeline, *details.call);
  facts.add(tr("Launched by"),
            link(QStringLiteral("slice:%1:%2").arg(details.call->lane).arg(details.call->slice),
                 slice_label(opened, timeline, timeline.lanes[details.call->lane], details.call->slice)
                     .words.toHtmlEscaped()));
  facts.add(tr("Launch latency"),
            tr("%1 from the call's begin").arg(duration_text(details.time.start_ns - call.start_ns)));
  const std::int64_t queued_ns = details.time.start_ns - call.end_ns;
  facts.add(tr("In the queue"), queued_ns >= 0
                                    ? tr("%1 after the call returned").arg(duration_text(queued_ns))
                                    : tr("it began before the call returned"));
}

/// Adds what the driver or the program said of a kernel; what it did not say is left out.
void add_kernel(Facts& facts, const traces::Kernel& kernel) {
  const auto size = [](std::int32_t x, std::int32_t y, std::int32_t z) {
    return QStringLiteral("%1 × %2 × %3").arg(x).arg(std::max(y, 1)).arg(std::max(z, 1));
  };
  const auto add = [&](const QString& name, std::uint64_t number) {
    if (number != 0) facts.add(name, QString::number(number));
  };
  if (kernel.grid_x > 0) facts.add(tr("Grid"), size(kernel.grid_x, kernel.grid_y, kernel.grid_z));
  if (kernel.block_x > 0) facts.add(tr("Block"), size(kernel.block_x, kernel.block_y, kernel.block_z));
  add(tr("Bytes to read"), static_cast<std::uint64_t>(std::max<std::int64_t>(kernel.bytes, 0)));
  add(tr("Stream"), kernel.stream_id);
  add(tr("Correlation"), kernel.correlation_id);
  add(tr("Graph"), kernel.graph_id);
  add(tr("Graph node"), kernel.graph_node_id);
}

}  // namespace

QString slice_text(const SliceDetails& details, const OpenedRecording& opened, const Timeline& timeline) {
  const Lane& lane = timeline.lanes[details.place.lane];
  Facts facts;
  const std::int64_t open_ns = details.time.duration_ns();
  if (details.shared_ns > 0) {
    facts.add(tr("Open"), tr("%1, %2 of it while what began earlier ran")
                              .arg(duration_text(open_ns), duration_text(details.shared_ns)));
    facts.add(tr("Attributed"), duration_text(open_ns - details.shared_ns));
  } else {
    facts.add(tr("Duration"), duration_text(open_ns));
  }
  facts.add(tr("Begins at"), begin_text(opened, lane.slices[details.place.slice]));
  if (details.lane_kind == LaneKind::track)
    facts.add(tr("Phase"), QString::fromUtf8(traces::phase_name(details.phase)));
  if (details.layer >= 0) facts.add(tr("Layer"), QString::number(details.layer));
  if (details.rows) facts.add(tr("Rows"), QString::number(*details.rows));
  for (const std::size_t token : details.tokens) {
    const traces::DraftToken& drafted = opened.draft_tokens(details.round_index)[token];
    facts.add(tr("Draft token"),
              tr("%1, confidence %2, %3")
                  .arg(visible_text(opened.token_text(drafted.token)).toHtmlEscaped(),
                       QString::number(drafted.confidence, 'f', 3), fate_text(fate_of(drafted))));
  }
  facts.add(tr("Rank"), rank_text(details.rank, details.kind_size));
  facts.add(tr("Median of its kind"), tr("%1; this is %2")
                                          .arg(duration_text(details.kind_median_ns),
                                               times(details.time.duration_ns(), details.kind_median_ns)));
  facts.add(tr("Longest of its kind"), duration_text(details.kind_longest_ns));
  if (details.inside_ns > 0 && details.time.duration_ns() > 0)
    facts.add(tr("In slices below"), percent_text(static_cast<double>(details.inside_ns) /
                                                  static_cast<double>(details.time.duration_ns())));
  add_call(facts, details, opened, timeline);
  if (details.kernel) {
    add_kernel(facts, *details.kernel);
    add_occupancy(facts, *details.kernel, opened.recording().meta);
  }
  if (details.parent) {
    const Lane& above = timeline.lanes[details.parent->lane];
    facts.add(tr("Part of"),
              link(QStringLiteral("slice:%1:%2").arg(details.parent->lane).arg(details.parent->slice),
                   slice_label(opened, timeline, above, details.parent->slice).words.toHtmlEscaped()));
  }
  if (details.round_index != no_index)
    facts.add(tr("Round"), link(QStringLiteral("round:%1").arg(details.round_index),
                                QStringLiteral("#%1").arg(opened.place_in_run(details.round_index))));
  if (details.request_index)
    facts.add(
        tr("Request"),
        request_label(opened, opened.recording().requests[*details.request_index]).words.toHtmlEscaped());
  if (details.run_index != no_index) facts.add(tr("Run"), run_link(opened, details.run_index));
  return QStringLiteral("<p><b>%1</b></p>%2<p>%3</p>")
      .arg(html(details.name), facts.table(),
           lane.kind == LaneKind::track ? tr("Its kind: what has this name and phase in this run.")
                                        : tr("Its kind: what is called so in this run."));
}

QString round_text(const RoundDetails& details, const OpenedRecording& opened) {
  const traces::Round& round = *details.round;
  Facts facts;
  facts.add(tr("Run"), run_link(opened, details.run_index));
  facts.add(tr("Request"), request_label(opened, *details.request).words.toHtmlEscaped());
  facts.add(tr("Duration"), duration_text(round.end_ns - round.start_ns));
  facts.add(tr("Rank"), tr("%1, of the rounds of this run with %2 rows")
                            .arg(rank_text(details.rank, details.like_rounds))
                            .arg(round.verify_rows));
  if (round.drafted > 0 || round.planned > 0) {
    const std::string_view stop = traces::draft_stop_name(round.draft_stop);
    facts.add(tr("Length"), tr("%1 planned, %2 drafted, %3 accepted; ended by %4")
                                .arg(round.planned)
                                .arg(round.drafted)
                                .arg(round.accepted)
                                .arg(QString::fromUtf8(stop.data(), static_cast<qsizetype>(stop.size()))));
    facts.add(tr("Threshold"), round.threshold < 0.0 ? tr("none") : number_text(round.threshold));
  }
  facts.add(tr("Emitted"), counted(round.emitted, tr("1 token"), tr("%1 tokens")));
  if (details.skipped) {
    if (round.exit_layer > 0) facts.add(tr("Exit layer"), QString::number(round.exit_layer));
    facts.add(tr("Drafts skip"), QString::fromStdString(skipped_text(*details.skipped)));
  }
  const QString title =
      link(QStringLiteral("round:%1").arg(details.round_index), tr("Round #%1").arg(details.place));
  return QStringLiteral("<p><b>%1</b></p>%2<p></p>%3%4<p>%5</p>")
      .arg(title, facts.table(),
           details.tokens.empty() && details.bonus_text.empty()
               ? QString()
               : tokens_table(details) + QStringLiteral("<p></p>"),
           phases_table(details),
           tr("Medians are of each phase by itself, over %1.")
               .arg(counted(static_cast<std::int64_t>(details.like_rounds), tr("this round alone"),
                            tr("%1 rounds of this run with as many rows"))));
}

}  // namespace draftscope::gui
