// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_view.h"

#include <draftscope/simulator/analysis/gpu.h>
#include <QHBoxLayout>
#include <QSplitter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "charts/chart_plot.h"
#include "views/device/device_charts.h"
#include "widgets/habits.h"
#include "widgets/table_cells.h"
#include "widgets/table_columns.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

enum class Over : std::uint8_t { run, all, range };

/// Why a recording has no times of a device, and what to do.
QString why_no_device(const traces::Recording& recording) {
  const QString record = DeviceView::tr("Record with --device cuda: every launch then has its times.");
  if (!simulator::is_gpu_recording(recording.meta))
    return DeviceView::tr("This recording has no times of a device: it was made on a CPU.") + u' ' + record;
  return DeviceView::tr(
             "This recording of %1 has no times of the device: its launches were not traced. Record "
             "with --device-trace launches, or operations.")
      .arg(QString::fromStdString(simulator::recorded_gpu_name(recording.meta)));
}

}  // namespace

DeviceView::DeviceView(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAccessibleName(tr("Device"));
  set_first_focus(*this, *table_);
  for (const auto& [view, cells, sorted, name] :
       {std::tuple(table_, &cells_, &sorted_, tr("Operations or kernels")),
        std::tuple(gaps_, &gap_cells_, &sorted_gaps_, tr("Longest gaps"))}) {
    sorted->setSourceModel(cells);
    sorted->setSortRole(DeviceCells::sort_role);
    sorted->setFilterCaseSensitivity(Qt::CaseInsensitive);
    view->setModel(sorted);
    view->setItemDelegate(new TextCell(view));
    set_up_device_table(*view, name);
  }
  table_->setItemDelegateForColumn(share_column, new ShareCell(DeviceCells::value_role, table_, 20));
  keep_numbers_in_sight(*table_, {share_column});
  keep_numbers_in_sight(*gaps_);
  set_up_choices();
  lay_out();
  connect_parts();
  when_seen(*this, [this] {
    if (is_stale_) start();
  });
  take_recording();
}

void DeviceView::set_up_choices() {
  over_->addItems({tr("the run"), tr("all runs"), tr("the visible range")});
  over_->setAccessibleName(tr("What the page is about"));
  phase_->addItem(tr("all phases"));
  for (int phase = 0; phase < traces::phase_count; ++phase)
    phase_->addItem(
        QString::fromStdString(std::string(traces::phase_name(static_cast<traces::Phase>(phase)))));
  phase_->setAccessibleName(tr("Phase"));
  by_->addItems({tr("by operation"), tr("by kernel")});
  by_->setAccessibleName(tr("What a row is"));
  other_->setAccessibleName(tr("Run to compare with"));
  find_->setPlaceholderText(tr("Find an operation"));
  find_->setAccessibleName(tr("Find an operation"));
  find_->setClearButtonEnabled(true);
  find_->setMaximumWidth(220);
  longest_->setToolTip(tr("Shows the longest one of the chosen row in the timeline (Return)"));
  summary_->setAccessibleName(tr("Use of the device"));
  summary_->setWordWrap(true);
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  notice_->setAccessibleName(tr("Notice"));
  notice_->setWordWrap(true);
  notice_->setAlignment(Qt::AlignCenter);
  progress_->setAccessibleName(tr("Reading what the device did"));
}

void DeviceView::lay_out() {
  auto* choices = new QHBoxLayout;
  for (QWidget* choice : std::initializer_list<QWidget*>{over_, phase_, by_, other_, find_, longest_})
    choices->addWidget(choice);
  choices->addStretch(1);
  auto* gaps = new QSplitter;
  gaps->addWidget(gaps_);
  gaps->addWidget(gaps_chart_);
  gaps->setSizes({600, 400});
  auto* one = new QSplitter;
  for (ChartPane* pane : {durations_, layers_, rounds_}) one->addWidget(pane);
  tabs_->setDocumentMode(true);
  tabs_->addTab(gaps, tr("Ga&ps"));
  tabs_->addTab(use_, tr("Use &over time"));
  tabs_->addTab(one, tr("&Durations"));
  auto* shown = new QSplitter(Qt::Vertical);
  shown->addWidget(table_);
  shown->addWidget(tabs_);
  shown->setChildrenCollapsible(false);
  shown->setSizes({400, 300});
  auto* empty = new QWidget;
  auto* middle = new QVBoxLayout(empty);
  middle->addStretch(1);
  for (QWidget* part : std::initializer_list<QWidget*>{notice_, progress_}) middle->addWidget(part);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch(1);
  for (QPushButton* button : {cancel_, again_}) buttons->addWidget(button);
  buttons->addStretch(1);
  middle->addLayout(buttons);
  middle->addStretch(1);
  stack_->addWidget(empty);
  stack_->addWidget(shown);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(choices);
  layout->addWidget(summary_);
  layout->addWidget(stack_, 1);
}

void DeviceView::connect_parts() {
  connect(&state_, &ViewState::recording_changed, this, &DeviceView::take_recording);
  connect(&state_, &ViewState::opened_changed, this, [this] {
    const bool was_compared = other().has_value();
    list_runs();
    if (was_compared && !other()) ask();
  });
  connect(&state_, &ViewState::run_changed, this, [this] {
    if (over_->currentIndex() == static_cast<int>(Over::run)) ask();
  });
  connect(&state_, &ViewState::range_changed, this, [this] {
    if (over_->currentIndex() == static_cast<int>(Over::range)) ask();
  });
  for (QComboBox* choice : {over_, phase_, by_, other_})
    connect(choice, &QComboBox::currentIndexChanged, this, &DeviceView::ask);
  connect(find_, &QLineEdit::textChanged, this, &DeviceView::find);
  connect(longest_, &QPushButton::clicked, this, &DeviceView::show_longest);
  connect(cancel_, &QPushButton::clicked, this, &DeviceView::cancel);
  connect(again_, &QPushButton::clicked, this, &DeviceView::start);
  connect(table_, &QTableView::activated, this, &DeviceView::show_longest);
  connect(gaps_, &QTableView::activated, this, &DeviceView::show_gap);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &DeviceView::show_durations);
  connect(&use_->plot(), &ChartPlot::chosen, this, [this](const ChartPlace& place) {
    if (!answer_ || place.point >= answer_->busy_shares.size()) return;
    const std::int64_t width = (answer_->whole.end_ns - answer_->whole.start_ns) /
                               static_cast<std::int64_t>(answer_->busy_shares.size());
    const std::int64_t from_ns = answer_->whole.start_ns + width * static_cast<std::int64_t>(place.point);
    go_to({from_ns, from_ns + width}, {});
  });
}

bool DeviceView::is_settled() const {
  return !is_stale_ && !reading_.is_running() && !answering_.is_running() && !describing_.is_running();
}

void DeviceView::take_recording() {
  reading_.cancel();
  answering_.cancel();
  describing_.cancel();
  timeline_.reset();
  answer_.reset();
  is_stale_ = true;
  list_runs();
  show_notice(state_.recording() ? tr("Reading what the device did …") : QString(), false);
  update();
}

void DeviceView::list_runs() {
  const QSignalBlocker quiet(other_);
  const int chosen = other_->currentIndex();
  const auto before = std::exchange(others_, {});
  other_->clear();
  other_->addItem(tr("compared with no run"));
  // The shown recording's runs come first, then those of the other open ones.
  std::vector<RecordingPointer> opened = state_.opened();
  std::erase(opened, state_.recording());
  if (state_.recording()) opened.insert(opened.begin(), state_.recording());
  for (const RecordingPointer& recording : opened)
    for (std::uint32_t run = 0; run < recording->runs().size(); ++run) {
      const QString name = QString::fromStdString(recording->runs()[run].run->specification);
      const QString of = QString::fromStdString(recording->name());
      other_->addItem(recording == state_.recording() ? tr("compared with %1").arg(name)
                                                      : tr("compared with %1: %2").arg(of, name));
      others_.emplace_back(recording, run);
    }
  if (std::ranges::find(opened, other_timeline_.first) == opened.end()) other_timeline_ = {};
  constexpr int widest = 240;
  other_->setMaximumWidth(widest);
  // What was chosen stays, unless it was closed.
  if (chosen <= 0 || static_cast<std::size_t>(chosen) > before.size()) return;
  const auto still = std::ranges::find(others_, before[static_cast<std::size_t>(chosen) - 1]);
  if (still != others_.end()) other_->setCurrentIndex(static_cast<int>(still - others_.begin()) + 1);
}

void DeviceView::start() {
  const RecordingPointer recording = state_.recording();
  if (!recording || !recording->has_rows()) return;
  if (!std::exchange(is_stale_, false) && !again_->isVisible()) return;
  if (std::ranges::none_of(recording->recording().tracks, [](const traces::Track& track) {
        return track.kind == "stream" || track.kind == "operations";
      })) {
    show_notice(why_no_device(recording->recording()), false);
    emit settled();
    return;
  }
  show_notice(tr("Reading what the device did …"), true);
  reading_.start(read_and_take(
      [this, recording](const auto& should_continue) -> Result<simulator::DeviceTimeline> {
        DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(recording->recording().path));
        DRAFTSCOPE_TRY_ASSIGN(const auto highest, reader.highest_ids());
        const auto kernels = std::ranges::find(highest, "kernels", &traces::TableCount::table);
        const std::int64_t all = kernels == highest.end() ? 0 : kernels->rows;
        const auto tell = [&](std::int64_t rows) {
          QMetaObject::invokeMethod(
              this,
              [this, rows, all] {
                constexpr std::int64_t most = 1000;
                progress_->setRange(0, all > 0 ? static_cast<int>(most) : 0);
                if (all > 0) progress_->setValue(static_cast<int>(std::min(most, most * rows / all)));
              },
              Qt::QueuedConnection);
          return should_continue();
        };
        return simulator::read_device_timeline(reader, recording->recording(), tell);
      },
      [this](Result<simulator::DeviceTimeline> timeline) { take(std::move(timeline)); }));
}

void DeviceView::cancel() {
  reading_.cancel();
  show_notice(tr("Reading was stopped."), false);
  again_->show();
  emit settled();
}

void DeviceView::take(Result<simulator::DeviceTimeline> timeline) {
  if (!timeline || timeline->empty()) {
    show_notice(timeline ? why_no_device(state_.recording()->recording())
                         : QString::fromStdString(timeline.error().message),
                false);
    emit settled();
    return;
  }
  timeline_ = std::make_shared<const simulator::DeviceTimeline>(*std::move(timeline));
  ask();
}

void DeviceView::show_notice(const QString& words, bool is_reading) {
  notice_->setText(words);
  summary_->clear();
  progress_->setRange(0, 0);
  progress_->setVisible(is_reading);
  cancel_->setVisible(is_reading);
  again_->hide();
  stack_->setCurrentIndex(0);
  for (QWidget* choice : std::initializer_list<QWidget*>{over_, phase_, by_, other_, find_, longest_})
    choice->setEnabled(false);
}

DeviceAsked DeviceView::asked() const {
  DeviceAsked asked;
  const auto over = static_cast<Over>(over_->currentIndex());
  if (over == Over::run) asked.question.run = static_cast<std::uint32_t>(state_.run());
  if (over == Over::range)
    asked.question.range = simulator::TimeWindow{state_.range().start_ns, state_.range().end_ns};
  if (phase_->currentIndex() > 0)
    asked.question.phase = static_cast<traces::Phase>(phase_->currentIndex() - 1);
  asked.by = by_->currentIndex() == 0 ? simulator::DeviceNames::operations : simulator::DeviceNames::kernels;
  return asked;
}

std::optional<OtherDevice> DeviceView::other() const {
  // Ranges of a run say nothing of another.
  const int chosen = other_->currentIndex();
  if (chosen <= 0 || over_->currentIndex() == static_cast<int>(Over::range)) return std::nullopt;
  const auto& [recording, run] = others_[static_cast<std::size_t>(chosen) - 1];
  if (recording == state_.recording()) return OtherDevice{recording, timeline_, run};
  return OtherDevice{recording, recording == other_timeline_.first ? other_timeline_.second : nullptr, run};
}

void DeviceView::ask() {
  if (!timeline_ || !state_.recording()) return;
  using Answered = Result<std::shared_ptr<const DeviceAnswer>>;
  answering_.start(read_and_take(
      [timeline = timeline_, recording = state_.recording(), asked = asked(),
       other = other()](const auto& should_continue) -> Answered {
        std::optional<OtherDevice> beside = other;
        if (beside && beside->timeline == nullptr) {
          const traces::Recording& rows = beside->recording->recording();
          DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(rows.path));
          const auto tell = [&](std::int64_t /*rows*/) { return should_continue(); };
          DRAFTSCOPE_TRY_ASSIGN(auto read, simulator::read_device_timeline(reader, rows, tell));
          beside->timeline = std::make_shared<const simulator::DeviceTimeline>(std::move(read));
        }
        return std::make_shared<const DeviceAnswer>(
            answer_device(*timeline, recording->recording(), asked, beside));
      },
      [this](const Answered& answer) {
        if (answer) {
          answer_ = *answer;
          if (answer_->beside && answer_->beside->other.recording != state_.recording())
            other_timeline_ = {answer_->beside->other.recording, answer_->beside->other.timeline};
          show_answer();
        } else {
          show_notice(QString::fromStdString(answer.error().message), false);
        }
        emit settled();
      }));
}

QString DeviceView::beside_words() const {
  const DeviceBeside& beside = *answer_->beside;
  const OtherDevice& other = beside.other;
  const QString run = QString::fromStdString(other.recording->runs()[other.run].run->specification);
  const QString name = other.recording == state_.recording()
                           ? run
                           : tr("%1 of %2").arg(run, QString::fromStdString(other.recording->name()));
  if (beside.here.tokens == 0 || beside.there.tokens == 0)
    return tr("%1 cannot be compared: one of both has no round with output tokens").arg(name);
  constexpr qsizetype max_phases = 2;
  QStringList phases;
  for (const simulator::ComparedTime& phase :
       simulator::side_by_side(beside.here.phases, beside.there.phases))
    if (phase.difference_ns && phases.size() < max_phases)
      phases << QStringLiteral("%1 %2").arg(QString::fromStdString(phase.name),
                                            signed_duration_text(-*phase.difference_ns));
  QString words =
      tr("a token takes %1 here, %2 under %3 (%4)")
          .arg(duration_text(std::llround(beside.here.ns)), duration_text(std::llround(beside.there.ns)),
               name, phases.join(QStringLiteral(", ")));
  if (!beside.there.has_device) words += tr(", which has no times of a device");
  return words;
}

void DeviceView::show_answer() {
  const std::optional<std::uint32_t> chosen = chosen_name();
  cells_.set_cells(device_columns(*answer_), device_rows(*timeline_, *answer_));
  gap_cells_.set_cells(gap_columns(), gap_rows(*timeline_, *answer_));
  sorted_.setFilterKeyColumn(cells_.columnCount() - 1);
  for (QWidget* choice : std::initializer_list<QWidget*>{over_, phase_, by_, find_, longest_})
    choice->setEnabled(true);
  other_->setEnabled(over_->currentIndex() != static_cast<int>(Over::range));
  const auto time = [](std::int64_t ns) { return duration_text(ns); };
  const simulator::DeviceTable& table = answer_->table;
  QStringList words;
  if (table.wall_ns > 0)
    words << tr("busy for %1, %2 of %3")
                 .arg(time(table.busy_ns),
                      percent_text(static_cast<double>(table.busy_ns) / static_cast<double>(table.wall_ns)),
                      time(table.wall_ns));
  const auto sums = simulator::sums_of(answer_->gaps);
  for (std::size_t kind = 0; kind < sums.size(); ++kind)
    if (sums[kind].count > 0)
      words << tr("%1 %2 in %3 gaps")
                   .arg(QString::fromStdString(std::string(simulator::gap_kind_names[kind])),
                        time(sums[kind].ns))
                   .arg(sums[kind].count);
  if (timeline_->bytes == simulator::BytesSource::sizes) words << tr("bytes follow from the model's sizes");
  if (timeline_->rate) words << tr("reading alone reaches %1 GB/s").arg(number_text(timeline_->rate->gb_s));
  if (answer_->beside) words.prepend(beside_words());
  summary_->setText(words.join(QStringLiteral(" · ")));
  summary_->setToolTip(summary_->text());
  gaps_chart_->set_chart(gaps_chart(*answer_), tr("no gap"));
  use_->set_chart(use_chart(*answer_), tr("nothing of this run was recorded here"));
  stack_->setCurrentIndex(1);
  int row = 0;
  for (int at = 0; chosen && at < sorted_.rowCount(); ++at) {
    const int source = sorted_.mapToSource(sorted_.index(at, 0)).row();
    if (static_cast<std::size_t>(source) < answer_->table.rows.size() &&
        answer_->table.rows[static_cast<std::size_t>(source)].name == *chosen)
      row = at;
  }
  table_->setCurrentIndex(sorted_.index(row, 0));
  show_durations();
}

std::optional<std::uint32_t> DeviceView::chosen_name() const {
  const QModelIndex index = sorted_.mapToSource(table_->currentIndex());
  if (!answer_ || !index.isValid() || static_cast<std::size_t>(index.row()) >= answer_->table.rows.size())
    return std::nullopt;
  return answer_->table.rows[static_cast<std::size_t>(index.row())].name;
}

void DeviceView::show_durations() {
  const std::optional<std::uint32_t> name = chosen_name();
  longest_->setEnabled(name.has_value());
  describing_.cancel();
  if (!name) {
    for (ChartPane* pane : {durations_, layers_, rounds_}) pane->set_chart({}, tr("no row is chosen"));
    return;
  }
  describing_.start(read_and_take(
      [timeline = timeline_, answer = answer_, name = *name](const auto& /*should_continue*/) {
        const simulator::DeviceNames by = answer->asked.by;
        DescribedName described{durations_of(*timeline, answer->selection, by, name), {}};
        if (!answer->beside || answer->beside->other.timeline->empty()) return described;
        const simulator::DeviceTimeline& other = *answer->beside->other.timeline;
        const auto same = std::ranges::find(other.names, timeline->names[name]);
        if (same != other.names.end())
          described.other = durations_of(other, answer->beside->selection, by,
                                         static_cast<std::uint32_t>(same - other.names.begin()));
        return described;
      },
      [this,
       words = QString::fromStdString(timeline_->names[*name]).simplified()](const DescribedName& described) {
        show_described(words, described);
        emit settled();
      }));
}

void DeviceView::show_described(const QString& name, const DescribedName& described) {
  constexpr qsizetype max_name = 40;
  const QString shown = name.size() > max_name ? name.left(20) + u'…' + name.right(19) : name;
  const NamedDurations* beside = described.other ? &*described.other : nullptr;
  durations_->set_chart(durations_chart(shown, described.here, beside), tr("no times"));
  layers_->set_chart(layers_chart(shown, described.here, beside), tr("no layers"));
  rounds_->set_chart(rounds_chart(shown, described.here, beside), tr("outside rounds"));
}

void DeviceView::compare_with(std::optional<std::size_t> run) {
  other_->setCurrentIndex(run ? static_cast<int>(*run) + 1 : 0);
}

void DeviceView::find(const QString& text) {
  if (find_->text() != text) return find_->setText(text);
  sorted_.setFilterFixedString(text);
  if (!text.isEmpty()) tabs_->setCurrentIndex(2);
  table_->setCurrentIndex(sorted_.index(0, 0));
  show_durations();
}

void DeviceView::show_longest() {
  const QModelIndex index = sorted_.mapToSource(table_->currentIndex());
  if (!chosen_name()) return;
  const simulator::DeviceRow& row = answer_->table.rows[static_cast<std::size_t>(index.row())];
  const simulator::DeviceWork& work = timeline_->work[row.longest];
  go_to({work.start_ns, work.end_ns}, work.round_id);
}

void DeviceView::show_gap(const QModelIndex& index) {
  const auto row = static_cast<std::size_t>(sorted_gaps_.mapToSource(index).row());
  if (!answer_ || row >= answer_->longest.size()) return;
  const simulator::DeviceGap& gap = answer_->gaps[answer_->longest[row]];
  const std::uint32_t beside = gap.after == simulator::no_work ? gap.before : gap.after;
  go_to({gap.start_ns, gap.end_ns},
        beside == simulator::no_work ? traces::RoundId{} : timeline_->work[beside].round_id);
}

void DeviceView::go_to(const simulator::TimeWindow& time, traces::RoundId round_id) {
  const auto& rounds = state_.recording()->recording().rounds;
  if (!round_id.is_none())
    if (const auto found = std::ranges::find(rounds, round_id, &traces::Round::id); found != rounds.end())
      state_.go_to_round(static_cast<std::uint32_t>(found - rounds.begin()));
  const std::int64_t margin_ns = std::max<std::int64_t>((time.end_ns - time.start_ns) / 2, 1000);
  emit time_asked({time.start_ns - margin_ns, time.end_ns + margin_ns});
}

}  // namespace draftscope::gui
