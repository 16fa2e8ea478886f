// SPDX-License-Identifier: GPL-3.0-or-later
#include "decisions_view.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "charts/table_file.h"
#include "data/decisions/decision_history.h"
#include "data/decisions/rounds_picture.h"
#include "data/decisions/summary_pictures.h"
#include "views/decisions/decision_plot.h"
#include "views/rounds/round_axis.h"
#include "widgets/habits.h"
#include "widgets/table_columns.h"

namespace draftscope::gui {

namespace {

QLabel* make_words(const QString& name) {
  auto* label = new QLabel;
  label->setAccessibleName(name);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setMargin(4);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  return label;
}

QString text_of(std::string_view words) {
  return QString::fromUtf8(words.data(), static_cast<qsizetype>(words.size()));
}

/// Series with the places of a line that have a value and, if `word` is given, that word.
ChartSeries series_of(const NumberedPicture& picture, const NumberedLine& line,
                      std::optional<std::size_t> word) {
  ChartSeries series{.name = text_of(word ? picture.words[*word] : line.name)};
  for (std::size_t place = 0; place < line.values.size(); ++place) {
    if (std::isnan(line.values[place]) || (word && picture.word[place] != *word)) continue;
    series.x.push_back(static_cast<double>(place));
    series.y.push_back(line.values[place]);
    series.words << text_of(picture.details[place]);
  }
  return series;
}

Chart numbered_chart(const NumberedPicture& picture) {
  Chart chart{.name = text_of(picture.x_title), .x = {.label = text_of(picture.x_title)}};
  constexpr std::size_t max_labels = 40;
  const std::size_t apart = 1 + picture.labels.size() / max_labels;
  for (std::size_t place = 0; place < picture.labels.size(); ++place)
    chart.x.names << (place % apart == 0 ? text_of(picture.labels[place]) : QString());
  ChartPanel panel{.y = {.low = 0.0, .high = 1.05 * picture.top}};
  std::size_t color = 1;
  const auto add = [&](ChartSeries series, ChartMark mark) {
    series.mark = mark;
    series.color = color++;
    panel.series.push_back(std::move(series));
  };
  for (const NumberedLine& line : picture.lines) {
    // Trials are single points; the best so far is a continuous line.
    if (&line != &picture.lines.front() || picture.words.empty())
      add(series_of(picture, line, std::nullopt),
          picture.words.empty() ? ChartMark::line_with_points : ChartMark::line);
    else
      for (std::size_t word = 0; word < picture.words.size(); ++word)
        add(series_of(picture, line, word), ChartMark::points);
  }
  if (!picture.labels.empty()) chart.panels.push_back(std::move(panel));
  return chart;
}

}  // namespace

DecisionsView::DecisionsView(ViewState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      plot_(new DecisionPlot(state)),
      notice_(make_words(tr("Why there is no picture"))),
      words_(make_words(tr("The decision at the cursor"))) {
  setAccessibleName(tr("Decisions"));
  lay_out();
  list_pictures();
  when_seen(*this, [this] { read(); });
  connect(pictures_, &QComboBox::currentIndexChanged, this, [this] {
    is_chosen_ = true;
    if (!is_stale_) show_picture();
  });
  connect(&state_, &ViewState::recording_changed, this, &DecisionsView::forget_run);
  connect(&state_, &ViewState::run_changed, this, &DecisionsView::forget_run);
  connect(&state_, &ViewState::filter_changed, this, &DecisionsView::forget_run);
  connect(&state_, &ViewState::cursor_changed, this, &DecisionsView::show_cursor);
  connect(grid_, &ExitGridPlot::described, words_, &QLabel::setText);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            const std::uint32_t place = current.isValid() ? model_.place_of_row(current.row()) : no_index;
            const RunRounds* rounds = state_.run_rounds();
            if (rounds == nullptr || place >= rounds->rounds.size()) return;
            if (rounds->rounds[place] != state_.cursor().round_index)
              state_.go_to_round(rounds->rounds[place]);
          });
}

void DecisionsView::lay_out() {
  pictures_->setAccessibleName(tr("What is shown of the decisions"));
  pictures_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  pictures_->setMaxVisibleItems(static_cast<int>(decision_pictures().size()));
  auto* open = new QPushButton(tr("Open a &search…"));
  open->setToolTip(tr("A policy file of draftscope tune"));
  connect(open, &QPushButton::clicked, this, &DecisionsView::choose_search);
  auto* row = new QHBoxLayout;
  row->addWidget(pictures_);
  row->addWidget(source_, 1);
  row->addWidget(open);
  notice_->setAlignment(Qt::AlignCenter);
  for (QWidget* widget : std::initializer_list<QWidget*>{plot_, numbered_, grid_, notice_})
    stack_->addWidget(widget);
  table_->setModel(&model_);
  table_->setAccessibleName(tr("Decisions of this kind"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setAlternatingRowColors(true);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
  offer_copying(*table_);
  keep_numbers_in_sight(*table_);
  auto* split = new QSplitter(Qt::Vertical);
  split->addWidget(stack_);
  split->addWidget(table_);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 1);
  split->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addLayout(row);
  layout->addWidget(split, 1);
  layout->addWidget(words_);
  set_first_focus(*this, *pictures_);
}

void DecisionsView::list_pictures() {
  for (const DecisionPicture& row : decision_pictures()) pictures_->addItem(tr(row.title.data()));
}

const DecisionPicture& DecisionsView::picture() const {
  return decision_pictures()[static_cast<std::size_t>(std::max(pictures_->currentIndex(), 0))];
}

const RunHistory* DecisionsView::run() const {
  const auto& history = reader_.so_far();
  return history && state_.run() < history->runs.size() ? &history->runs[state_.run()] : nullptr;
}

void DecisionsView::forget_run() {
  is_stale_ = true;
  asked_.reset();
  job_.cancel();
  reader_.set_source(with_rows(state_.recording()));
  model_.set_kind(nullptr, 0, {});
  words_->clear();
  update();
}

void DecisionsView::read() {
  if (!is_stale_) return;
  is_stale_ = false;
  reader_.set_source(with_rows(state_.recording()));
  if (reader_.ask())
    show_run();
  else
    show_picture();
}

void DecisionsView::show_run() {
  if (is_stale_) return;
  const RunHistory* of_run = run();
  if (of_run != nullptr) {
    for (std::size_t i = 0; i < decision_pictures().size(); ++i) {
      const DecisionPicture& row = decision_pictures()[i];
      const bool is_there = has_picture(*of_run, row) || row.shape == PictureShape::search;
      pictures_->setItemText(static_cast<int>(i),
                             is_there ? tr(row.title.data()) : tr("%1 (none)").arg(tr(row.title.data())));
    }
    if (!is_chosen_) {
      const QSignalBlocker quiet(pictures_);
      pictures_->setCurrentIndex(static_cast<int>(first_picture(*of_run)));
    }
  }
  if (asked_) {
    const std::uint32_t round_index = *asked_;
    asked_.reset();
    show_mask_decision(round_index);
  }
  show_picture();
}

void DecisionsView::show_picture() {
  const DecisionPicture& shown_picture = picture();
  source_->setText(shown_picture.source.empty() ? QString()
                                                : tr("after %1").arg(text_of(shown_picture.source)));
  job_.cancel();
  const RunHistory* of_run = run();
  model_.set_kind(reader_.so_far(), state_.run(), shown_picture.kind);
  table_->setVisible(model_.rowCount() > 0);
  words_->clear();
  if (shown_picture.shape == PictureShape::search) return show_search();
  if (of_run == nullptr || !has_picture(*of_run, shown_picture)) {
    notice_->setText(!reader_.problem().isEmpty() ? reader_.problem()
                     : of_run == nullptr          ? tr("reading the decisions …")
                                         : QString::fromStdString(why_no_picture(*of_run, shown_picture)));
    bring_up(*notice_);
    return show_words_of_cursor();
  }
  const std::shared_ptr<const DecisionHistory> history = reader_.so_far();
  switch (shown_picture.shape) {
    case PictureShape::gaps:
      numbered_->set_chart(numbered_chart(gaps_picture(of_run->decisions)));
      bring_up(*numbered_);
      break;
    case PictureShape::categories:
      grid_->show_grid(exits_by_category(of_run->decisions));
      bring_up(*grid_);
      break;
    case PictureShape::segments:
      grid_->show_grid(exits_by_segment(*history->recording, state_.run()));
      bring_up(*grid_);
      break;
    default:
      plot_->show_notice(tr("reading the decisions …"));
      bring_up(*plot_);
      job_.start(read_and_take(
          [history, left = state_.filtered(), run_index = state_.run(), &shown_picture](const auto&) {
            return std::make_shared<const RoundsPicture>(
                rounds_picture(*history, *left, run_index, shown_picture));
          },
          [this](const std::shared_ptr<const RoundsPicture>& made) { take(made); }));
  }
}

void DecisionsView::bring_up(QWidget& widget) {
  stack_->setCurrentWidget(&widget);
  // Keys go to the picture, if there is one.
  set_first_focus(*this, &widget == notice_ ? static_cast<QWidget&>(*pictures_) : widget);
}

void DecisionsView::take(std::shared_ptr<const RoundsPicture> made) {
  plot_->show_picture(std::move(made), reader_.so_far());
  show_cursor();
}

void DecisionsView::show_search() {
  if (search_) {
    numbered_->set_chart(numbered_chart(*search_));
    bring_up(*numbered_);
    source_->setText(tr("%1, after %2").arg(search_path_, text_of(picture().source)));
  } else {
    notice_->setText(!search_problem_.isEmpty()
                         ? search_problem_
                         : QString::fromStdString(why_no_picture(RunHistory(), picture())));
    bring_up(*notice_);
  }
}

void DecisionsView::show_cursor() {
  if (is_stale_) return;
  const std::uint32_t round_index = state_.cursor().round_index;
  if (round_index == no_index || state_.recording()->run_of(round_index) != state_.run()) return;
  const int row = model_.row_of_place(state_.recording()->place_in_run(round_index));
  // A round may have several decisions: keep the one that is chosen.
  if (row >= 0 && model_.place_of_row(table_->currentIndex().row()) != model_.place_of_row(row))
    table_->setCurrentIndex(model_.index(row, 0));
  show_words_of_cursor();
}

void DecisionsView::show_words_of_cursor() {
  const RunHistory* of_run = run();
  const std::uint32_t round_index = state_.cursor().round_index;
  if (of_run == nullptr || round_index == no_index ||
      state_.recording()->run_of(round_index) != state_.run() || stack_->currentWidget() == grid_ ||
      stack_->currentWidget() == numbered_)
    return;
  const std::uint32_t place = state_.recording()->place_in_run(round_index);
  QStringList lines;
  // The table has the decision itself.
  if (model_.row_of_place(place) < 0) lines << tr("round %1: no decision of this kind").arg(place);
  if (const std::string change = mask_change_text(*reader_.so_far(), state_.run(), place); !change.empty())
    lines << QString::fromStdString(change);
  words_->setText(lines.join(u'\n'));
}

void DecisionsView::choose(std::string_view key) {
  const auto rows = decision_pictures();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].key == key) {
      is_chosen_ = true;  // Even if this picture is already shown.
      pictures_->setCurrentIndex(static_cast<int>(i));
    }
}

void DecisionsView::show_mask_decision(std::uint32_t round_index) {
  const RunHistory* of_run = run();
  if (of_run == nullptr || is_stale_) {
    asked_ = round_index;
    return update();
  }
  const std::uint32_t place = state_.recording()->place_in_run(round_index);
  const auto decision = mask_decision(*reader_.so_far(), state_.run(), place);
  if (!decision) return;
  const std::string_view kind = of_run->decisions.kinds[decision->kind].kind;
  // Prefer the shown picture if it is about such decisions, else take the first that is.
  if (picture().kind != kind || !has_picture(*of_run, picture()))
    for (const DecisionPicture& row : decision_pictures())
      if (row.kind == kind && has_picture(*of_run, row)) {
        choose(row.key);
        break;
      }
}

void DecisionsView::choose_search() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Open a search"), QString(),
                                                    tr("Policies of tune (*.json);;All files (*)"));
  if (!path.isEmpty()) open_search(path);
}

void DecisionsView::open_search(const QString& path) {
  search_path_ = path;
  search_problem_.clear();
  search_.reset();
  if (const auto policy = speculation::read_policy(path.toStdString()))
    search_ = std::make_shared<const NumberedPicture>(search_picture(*policy));
  else
    search_problem_ = QString::fromStdString(policy.error().message);
  choose("search");
  show_picture();
}

}  // namespace draftscope::gui
