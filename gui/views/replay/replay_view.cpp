// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_view.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollArea>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "data/details/round_details.h"
#include "views/replay/draft_tree_view.h"
#include "views/replay/request_chooser.h"
#include "widgets/appearance.h"
#include "widgets/habits.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int scrub_steps = 10000;
/// Average characters in a line of what is known of a token.
constexpr int details_characters = 42;

/// A line each about how much of a round's draft was accepted, about its first wrong token, and about the
/// layers that it skipped; the first one names the round.
QStringList round_lines(const OpenedRecording& opened, std::uint32_t round_index) {
  const traces::Round& round = opened.round(round_index);
  if (round.drafted == 0) return {ReplayView::tr("round %1 of the request").arg(round.index)};
  QStringList lines{ReplayView::tr("round %1 of the request: %2 of %3 draft tokens accepted")
                        .arg(round.index)
                        .arg(round.accepted)
                        .arg(round.drafted)};
  for (const traces::DraftToken& token : opened.draft_tokens(round_index)) {
    if (!token.tested || token.accepted) continue;
    lines << ReplayView::tr("first wrong: %1, draft position %2")
                 .arg(visible_text(opened.token_text(token.token)))
                 .arg(token.index);
    break;
  }
  if (const traces::LayerSet* set = opened.layer_set(round_index))
    lines << ReplayView::tr("skipped: %1").arg(QString::fromStdString(skipped_text(skipped_layers(*set))));
  return lines;
}

}  // namespace

ReplayView::ReplayView(ViewState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      player_(state),
      requests_(new RequestChooser(state)),
      tree_(new DraftTreeView),
      document_(new ReplayDocument),
      details_(new QLabel),
      legend_(new QLabel),
      play_(new QToolButton),
      scrub_(new QSlider(Qt::Horizontal)),
      position_(new QLabel),
      rejected_(new QCheckBox(tr("rejected drafts"))) {
  setAccessibleName(tr("Text replay"));
  set_up_document();
  set_up_labels();
  lay_out();
  connect(&state_, &ViewState::recording_changed, this, [this] {
    forget();
    if (isVisible()) list_requests();
  });
  connect(&state_, &ViewState::cursor_changed, this, &ReplayView::follow_cursor);
  connect(document_, &QTextEdit::cursorPositionChanged, this, [this] {
    if (document_->hasFocus()) show_details(document_->piece_at(document_->textCursor().position()));
  });
  connect(&player_, &Player::position_changed, this, &ReplayView::show_position);
  connect(&player_, &Player::playing_changed, this, &ReplayView::show_signs);
  show_signs();
}

void ReplayView::set_up_document() {
  document_->setAccessibleName(tr("Text of the request"));
  document_->viewport()->installEventFilter(this);
  document_->installEventFilter(this);
}

void ReplayView::set_up_labels() {
  details_->setAccessibleName(tr("The token at the cursor"));
  details_->setTextFormat(Qt::PlainText);
  details_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  details_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  legend_->setAccessibleName(tr("What the colours mean"));
  legend_->setTextFormat(Qt::RichText);
  for (QLabel* label : {details_, legend_}) label->setWordWrap(true);
  details_->setFixedWidth(details_characters * details_->fontMetrics().averageCharWidth());
  details_->setMargin(6);
}

void ReplayView::lay_out() {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addWidget(requests_);
  auto* reading = new QHBoxLayout;
  reading->addWidget(document_, 1);
  QScrollArea* details = scrollable(details_);
  details->setFixedWidth(details_->width() + 16);  // The bar is beside the words.
  reading->addWidget(details);
  layout->addLayout(reading, 1);
  layout->addWidget(legend_);
  layout->addWidget(tree_);
  controls_ = make_controls();
  layout->addWidget(controls_);
}

void ReplayView::only_follow() {
  requests_->hide();
  controls_->hide();
  // Two buttons with the same shortcut would block each other.
  for (const auto& [button, sign] : signs_) button->setShortcut({});
}

void ReplayView::follow_cursor() {
  if (is_stale_ || !state_.recording()) return;
  is_behind_ = !isVisible();
  const bool is_other = state_.cursor().request_index != request_;
  if (is_behind_) {
    if (!is_other) return;
    // The player's text is no longer the cursor's. Writing another text waits until it is visible.
    player_.set_text(nullptr);
    request_ = no_index;
    return;
  }
  if (is_other)
    show_request();
  else
    mark_cursor();
  show_details_of_cursor();
}

void ReplayView::show_signs() {
  const bool dark = is_dark(palette());
  const auto sample = [](const QColor& back, const char* style, const QString& words) {
    return QStringLiteral("<span style='background-color:%1; %2'>&nbsp;%3&nbsp;</span>")
        .arg(back.name(), QString::fromUtf8(style), words);
  };
  const QString drafted_in_vain =
      QStringLiteral("<span style='color:%1; text-decoration:line-through'>%2</span>")
          .arg(rejected_color(dark).name(), tr("drafted in vain"));
  legend_->setText(QStringList{
      sample(origin_color(TokenOrigin::accepted, dark), "", tr("drafted and accepted")),
      sample(origin_color(TokenOrigin::bonus, dark), "text-decoration:underline", tr("the target's own")),
      sample(origin_color(TokenOrigin::prefill, dark), "", tr("the prefill's")), drafted_in_vain}
                       .join(QStringLiteral("&ensp; ")));
  for (const auto& [button, sign] : signs_) {
    const QSize size = button->iconSize();
    const bool is_pause = button == play_ && player_.is_playing();
    QPixmap pixmap =
        style()->standardIcon(is_pause ? QStyle::SP_MediaPause : sign).pixmap(size, devicePixelRatioF());
    QPainter painter(&pixmap);
    painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
    painter.fillRect(QRect(QPoint(), size), palette().color(QPalette::ButtonText));
    painter.end();
    button->setIcon(pixmap);
  }
}

QWidget* ReplayView::make_controls() {
  auto* controls = new QWidget;
  auto* row = new QHBoxLayout(controls);
  row->setContentsMargins(0, 0, 0, 0);
  add_buttons(*row);
  scrub_->setRange(0, scrub_steps);
  scrub_->setAccessibleName(tr("Position in time"));
  row->addWidget(scrub_, 1);
  row->addWidget(position_);
  rejected_->setChecked(true);
  row->addWidget(rejected_);
  connect(scrub_, &QSlider::sliderMoved, this, [this](int value) {
    player_.seek(player_.duration_ns() / scrub_steps * value +
                 player_.duration_ns() % scrub_steps * value / scrub_steps);
  });
  connect(rejected_, &QCheckBox::toggled, this, &ReplayView::write_document);
  return controls;
}

void ReplayView::add_buttons(QHBoxLayout& row) {
  const auto button = [&](QToolButton* made, QStyle::StandardPixmap sign, const QString& words,
                          const QKeySequence& key, auto action) {
    signs_.emplace_back(made, sign);
    made->setToolTip(QStringLiteral("%1 (%2)").arg(words, key.toString(QKeySequence::NativeText)));
    made->setAccessibleName(words);
    made->setShortcut(key);
    row.addWidget(made);
    connect(made, &QToolButton::clicked, this, action);
  };
  button(new QToolButton, QStyle::SP_MediaSkipBackward, tr("Previous round"), tr("Ctrl+Shift+Left"),
         [this] { player_.step_round(-1); });
  button(new QToolButton, QStyle::SP_MediaSeekBackward, tr("Previous token"), tr("Ctrl+Left"),
         [this] { player_.step_token(-1); });
  button(play_, QStyle::SP_MediaPlay, tr("Play or pause"), tr("Ctrl+Space"),
         [this] { player_.is_playing() ? player_.pause() : player_.play(); });
  button(new QToolButton, QStyle::SP_MediaSeekForward, tr("Next token"), tr("Ctrl+Right"),
         [this] { player_.step_token(1); });
  button(new QToolButton, QStyle::SP_MediaSkipForward, tr("Next round"), tr("Ctrl+Shift+Right"),
         [this] { player_.step_round(1); });
}

void ReplayView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (is_stale_)
    list_requests();
  else if (is_behind_)
    follow_cursor();
}

void ReplayView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange) return;
  show_signs();
  if (!is_stale_) write_document();
}

void ReplayView::forget() {
  is_stale_ = true;
  ranks_job_.cancel();
  ranks_ = {};
  player_.set_text(nullptr);
  text_ = {};
  requests_->clear();
  tree_->show_round(nullptr, no_index);
  write_document();
  show_details(nullptr);
}

void ReplayView::list_requests() {
  is_stale_ = false;
  requests_->list_prompts();
  show_request();
}

void ReplayView::show_request() {
  player_.set_text(nullptr);
  text_ = {};
  const RecordingPointer& recording = state_.recording();
  if (recording && !recording->recording().requests.empty()) {
    request_ = state_.cursor().request_index;
    text_ = replayed_text(*recording, request_);
    player_.set_text(&text_);
    requests_->show_request(request_);
  }
  write_document();
  read_ranks();
  show_details_of_cursor();
}

void ReplayView::read_ranks() {
  ranks_ = {};
  ranks_problem_.clear();
  ranks_job_.cancel();
  if (text_.request == nullptr) return;
  ranks_job_.start(read_and_take(
      [recording = state_.recording(),
       request_index = request_](const auto& should_continue) -> Result<ShadowRanks> {
        DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(recording->recording().path));
        return read_shadow_ranks(reader, *recording, request_index, should_continue);
      },
      [this](Result<ShadowRanks> read) {
        if (read)
          ranks_ = *std::move(read);
        else
          ranks_problem_ = QString::fromStdString(read.error().message);
        show_details_of_cursor();
        emit ranks_read();
      }));
}

void ReplayView::write_document() {
  document_->write(state_.recording(), text_, rejected_->isChecked());
  mark_cursor();
}

std::optional<std::size_t> ReplayView::token_at_cursor() const {
  if (text_.tokens.empty() || state_.cursor().request_index != request_) return std::nullopt;
  return std::min(state_.cursor().token_index, text_.tokens.size() - 1);
}

void ReplayView::mark_cursor() {
  document_->mark(token_at_cursor());
}

void ReplayView::show_position() {
  const std::int64_t all = player_.duration_ns();
  if (!scrub_->isSliderDown())
    scrub_->setValue(all > 0 ? static_cast<int>(static_cast<double>(player_.position_ns()) /
                                                static_cast<double>(all) * scrub_steps)
                             : 0);
  position_->setText(QStringLiteral("%1 / %2").arg(duration_text(player_.position_ns()), duration_text(all)));
}

void ReplayView::show_details(const ReplayDocument::Piece* piece) {
  details_->setText(piece == nullptr ? QString() : describe(*piece));
}

void ReplayView::show_details_of_cursor() {
  const std::optional<std::size_t> token_index = token_at_cursor();
  show_details(token_index ? &document_->piece_of(*token_index) : nullptr);
  tree_->show_round(state_.recording(), token_index ? text_.tokens[*token_index].round_index : no_index);
}

QString ReplayView::token_text(std::size_t token_index) const {
  return describe(document_->piece_of(token_index));
}

QString ReplayView::ranks_text(std::size_t token_index) const {
  if (ranks_job_.is_running()) return tr("reading what layers would have predicted …");
  if (!ranks_problem_.isEmpty()) return ranks_problem_;
  if (ranks_.empty()) return tr("what layers would have predicted was not recorded (record --shadow)");
  const std::vector<RankedLayers> groups = ranked_layers(ranks_, token_index);
  if (groups.empty()) return tr("what layers would have predicted here was not recorded");
  QStringList first;
  QStringList others;
  for (const RankedLayers& group : groups) {
    const QString layers = group.first == group.last ? QString::number(group.first)
                                                     : tr("%1 to %2").arg(group.first).arg(group.last);
    if (group.rank == 0)
      first << layers;
    else
      others << (group.rank > 0 ? tr("%1 at %2").arg(group.rank).arg(layers)
                                : tr("unranked at %1").arg(layers));
  }
  const QString choice = first.isEmpty()
                             ? tr("first choice at no exit layer")
                             : tr("first choice at exit layers %1").arg(first.join(QStringLiteral(", ")));
  return others.isEmpty() ? choice
                          : tr("%1; rank (first: 0) %2").arg(choice, others.join(QStringLiteral(", ")));
}

QString ReplayView::describe(const ReplayDocument::Piece& piece) const {
  const traces::Recording& rows = state_.recording()->recording();
  const std::uint32_t draft_index =
      piece.draft_index != no_index ? piece.draft_index : text_.tokens[piece.token_index].draft_index;
  QStringList lines;
  if (piece.draft_index == no_index) {
    const ReplayedToken& token = text_.tokens[piece.token_index];
    lines << tr("token %1: %2")
                 .arg(piece.token_index)
                 .arg(visible_text(state_.recording()->token_text(token.token)));
    if (token.round_index != no_index) lines << round_lines(*state_.recording(), token.round_index);
    if (token.round_index != no_index || token.origin == TokenOrigin::prefill)
      lines << (token.origin == TokenOrigin::accepted ? tr("drafted and accepted")
                : token.origin == TokenOrigin::bonus  ? tr("the target's own")
                                                      : tr("predicted by the prefill"));
    if (token.known_ns > 0)
      lines << tr("there after %1").arg(duration_text(token.known_ns - text_.request->start_ns));
  }
  if (draft_index != no_index) {
    const traces::DraftToken& row = rows.draft_tokens[draft_index];
    if (piece.draft_index != no_index)
      lines << tr("%1: drafted and %2")
                   .arg(visible_text(state_.recording()->token_text(row.token)),
                        row.tested ? tr("rejected") : tr("thrown away untested"));
    lines << tr("draft position %1, confidence %2").arg(row.index).arg(number_text(row.confidence));
  }
  if (piece.draft_index == no_index) lines << ranks_text(piece.token_index);
  return lines.join(u'\n');
}

bool ReplayView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == document_) {
    // The caret moves through the text with the arrow keys; Return moves the cursor of all views to it.
    if (event->type() != QEvent::KeyPress) return false;
    const int key = static_cast<QKeyEvent*>(event)->key();
    const ReplayDocument::Piece* at = document_->piece_at(document_->textCursor().position());
    if ((key != Qt::Key_Return && key != Qt::Key_Enter) || at == nullptr) return false;
    state_.go_to_token(request_, at->token_index);
    return true;
  }
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const ReplayDocument::Piece* piece =
        document_->piece_at(document_->cursorForPosition(help->pos()).position());
    show_tip(*help, *document_->viewport(), piece == nullptr ? QString() : describe(*piece));
    return true;
  }
  if (event->type() == QEvent::MouseButtonRelease && !document_->textCursor().hasSelection()) {
    const auto* mouse = static_cast<QMouseEvent*>(event);
    if (const ReplayDocument::Piece* piece =
            document_->piece_at(document_->cursorForPosition(mouse->pos()).position()))
      state_.go_to_token(request_, piece->token_index);
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace draftscope::gui
