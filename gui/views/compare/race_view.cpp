// SPDX-License-Identifier: GPL-3.0-or-later
#include "race_view.h"

#include <QComboBox>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "charts/chart_plot.h"
#include "export/chart_pane.h"
#include "views/compare/comparison_charts.h"
#include "views/compare/race_player.h"
#include "views/compare/race_texts.h"

namespace draftscope::gui {

namespace {

constexpr double race_ns_per_ms = 1e6;

}  // namespace

RaceView::RaceView(ViewState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      requests_(new QComboBox),
      player_(new RacePlayer),
      race_(new ChartPane(tr("Race: when each token was there"))),
      spread_(new ChartPane(tr("Distribution of round times"))),
      texts_(new RaceTexts) {
  setAccessibleName(tr("Race of one request"));
  requests_->setAccessibleName(tr("Request to align"));
  requests_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  lay_out();
  connect(requests_, &QComboBox::currentIndexChanged, this, &RaceView::show_request);
  connect(player_, &RacePlayer::moved, this, &RaceView::mark_race);
  connect(&state_, &ViewState::cursor_changed, this, &RaceView::mark_cursor);
}

void RaceView::lay_out() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 4, 0, 0);
  column->addWidget(requests_);
  column->addWidget(player_);
  auto* charts = new QSplitter;
  charts->addWidget(race_);
  charts->addWidget(spread_);
  charts->setStretchFactor(0, 3);
  charts->setStretchFactor(1, 2);
  charts->setChildrenCollapsible(false);
  column->addWidget(charts, 3);
  column->addWidget(texts_, 1);
}

void RaceView::set_comparison(const RunsComparison& comparison, std::size_t baseline,
                              const std::vector<RoundTimeSpread>& spreads) {
  comparison_ = &comparison;
  baseline_ = baseline;
  spread_->set_chart(spread_chart(comparison, baseline, spreads));
  list_requests();
  show_request();
}

void RaceView::list_requests() {
  const QSignalBlocker quiet(requests_);
  const QString chosen = requests_->currentText();
  QStringList titles;
  for (const AlignedRequest& request : comparison_->requests)
    titles << QString::fromStdString(request.title) +
                  (request.is_same_text ? QString() : tr(" — texts differ"));
  requests_->clear();
  requests_->addItems(titles);
  requests_->setCurrentIndex(titles.isEmpty() ? -1 : std::max(0, requests_->findText(chosen)));
}

const AlignedRequest* RaceView::aligned_request() const {
  const int place = requests_->currentIndex();
  if (comparison_ == nullptr || place < 0 || static_cast<std::size_t>(place) >= comparison_->requests.size())
    return nullptr;
  return &comparison_->requests[static_cast<std::size_t>(place)];
}

void RaceView::show_request() {
  const AlignedRequest* aligned = aligned_request();
  QStringList names;
  std::vector<std::vector<std::int64_t>> times;
  std::vector<ReplayedText> texts;
  if (aligned != nullptr)
    for (std::size_t run = 0; run < comparison_->runs.size(); ++run) {
      const ComparedRun& of = comparison_->runs[run].run;
      times.push_back(token_times_ns(*of.recording, aligned->requests[run]));
      texts.push_back(replayed_text(*of.recording, aligned->requests[run]));
      names << QString::fromStdString(of.row().specification);
    }
  race_->set_chart(aligned == nullptr ? Chart() : race_chart(*comparison_, baseline_, *aligned, times));
  texts_->set_texts(std::move(texts), names);
  player_->set_race(Race(std::move(times)), names);
  mark_cursor();
}

void RaceView::mark_race() {
  const std::vector<RacePlace> places = player_->places();
  std::vector<QPointF> marks;
  marks.reserve(places.size());
  for (const RacePlace& place : places)
    marks.emplace_back(static_cast<double>(place.token),
                       static_cast<double>(place.known_ns) / race_ns_per_ms);
  race_->plot().set_marks(0, marks);
  texts_->show_places(places);
}

void RaceView::mark_cursor() {
  bool is_here = false;
  if (const AlignedRequest* aligned = aligned_request())
    for (std::size_t run = 0; run < comparison_->runs.size(); ++run)
      is_here = is_here || (comparison_->runs[run].run.recording == state_.recording() &&
                            aligned->requests[run] == state_.cursor().request_index);
  race_->plot().set_cursor(is_here ? std::optional(static_cast<double>(state_.cursor().token_index))
                                   : std::nullopt);
}

}  // namespace draftscope::gui
