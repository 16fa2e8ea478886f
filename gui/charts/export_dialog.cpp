// SPDX-License-Identifier: GPL-3.0-or-later
#include "export_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFontDatabase>
#include <QFormLayout>
#include <QMessageBox>
#include <QRegularExpression>
#include <QScrollArea>
#include <QStatusTipEvent>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "charts/chart_pane.h"
#include "charts/table_file.h"
#include "widgets/files.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

struct FileKind {
  const char* ending;
  const char* words;
  bool is_picture;
};
constexpr std::array<FileKind, 6> file_kinds{{{"pdf", "PDF (*.pdf)", true},
                                              {"svg", "SVG (*.svg)", true},
                                              {"png", "PNG (*.png)", true},
                                              {"csv", "CSV of the data (*.csv)", false},
                                              {"tex", "LaTeX table (*.tex)", false},
                                              {"md", "Markdown table (*.md)", false}}};

}  // namespace

Exportable exportable(const Chart& chart) {
  return {.name = chart.name, .chart = chart, .data = chart.table, .shown_data = chart.table};
}

Exportable exportable(const QTableView& table) {
  return {.name = ExportDialog::tr("Table: %1").arg(table.accessibleName()),
          .chart = {},
          .data = raw_shown_table(table),
          .shown_data = shown_table(table)};
}

std::vector<Exportable> exportables(const QWidget& widget) {
  std::vector<Exportable> all;
  for (const PlacedFigure& figure : figure_sources(widget)) {
    if (!figure.widget->isVisible()) continue;
    if (const Chart chart = figure.source->figure(); !chart.empty()) all.push_back(exportable(chart));
  }
  for (const QTableView* table : widget.findChildren<QTableView*>())
    if (table->isVisible() && table->model() != nullptr && table->model()->rowCount() > 0)
      all.push_back(exportable(*table));
  return all;
}

QString suggested_file(const QString& recording_path, const QString& figure, const QString& ending) {
  static const QRegularExpression others(QStringLiteral("[^a-z0-9]+"));
  const QFileInfo recording(recording_path);
  const bool is_beside = !recording_path.isEmpty() && QFileInfo(recording.path()).isWritable();
  const QDir folder = is_beside ? recording.dir() : QDir::current();
  // A figure's title may be a sentence, which no file system takes whole.
  constexpr qsizetype max_letters = 40;
  QString name = figure.toLower().replace(others, QStringLiteral("-"));
  if (name.size() > max_letters) name.truncate(std::max<qsizetype>(0, name.lastIndexOf(u'-', max_letters)));
  QStringList words{recording.completeBaseName(), name};
  words.removeAll(QString());
  const QString stem = words.join(u'-').remove(QRegularExpression(QStringLiteral("-+$")));
  const auto path = [&](const QString& number) {
    return QDir::cleanPath(folder.absoluteFilePath(QStringLiteral("%1%2.%3").arg(stem, number, ending)));
  };
  QString free = path({});
  for (int number = 2; QFileInfo::exists(free); ++number) free = path(QStringLiteral("-%1").arg(number));
  return free;
}

ExportDialog::ExportDialog(std::vector<Exportable> what, const QString& recording_path, QWidget* parent)
    : QDialog(parent), what_(std::move(what)), recording_path_(recording_path) {
  setWindowTitle(tr("Export figure"));
  format_->setObjectName(QStringLiteral("format"));
  for (const Exportable& one : what_) which_->addItem(one.name);
  constexpr int min_letters = 30;
  which_->setMinimumContentsLength(min_letters);
  which_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  connect(which_, &QComboBox::currentTextChanged, which_, &QWidget::setToolTip);
  width_kind_->addItem(tr("one column (3.3 in)"), single_column_inches);
  width_kind_->addItem(tr("both columns (7 in)"), double_column_inches);
  width_kind_->addItem(tr("other"));
  width_->setRange(1.0, 40.0);
  width_->setValue(single_column_inches);
  width_->setSuffix(tr(" in"));
  width_->setSingleStep(0.1);
  font_->setRange(4.0, 48.0);
  font_->setDecimals(0);
  font_->setValue(FigureOptions().font_points);
  font_->setSuffix(tr(" pt"));
  legend_->setChecked(true);
  preview_->setTextFormat(Qt::PlainText);
  preview_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  preview_->setAccessibleName(tr("Preview"));
  preview_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  problem_->setWordWrap(true);
  problem_->setAccessibleName(tr("What went wrong"));
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  problem_->hide();
  lay_out();
  choose_what();
}

void ExportDialog::lay_out() {
  auto* form = new QFormLayout;
  const auto add = [&](const QString& label, QWidget* field) {
    form->addRow(label, field);
    field->setAccessibleName(QString(label).remove(u'&'));
  };
  add(tr("&Figure"), which_);
  add(tr("F&ormat"), format_);
  add(tr("&Column width"), width_kind_);
  add(tr("&Width"), width_);
  add(tr("Font &size"), font_);
  form->addRow({}, legend_);
  auto* browse = new QPushButton(tr("&Browse…"));
  browse->setAutoDefault(false);
  auto* file_row = new QHBoxLayout;
  auto* file_label = new QLabel(tr("F&ile"));
  file_label->setBuddy(file_);
  file_->setAccessibleName(tr("File"));
  for (QWidget* part : std::initializer_list<QWidget*>{file_label, file_, browse}) file_row->addWidget(part);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  buttons->addButton(copy_, QDialogButtonBox::ActionRole);
  copy_->setToolTip(tr("Copy the table as text, in this format"));
  copy_->setAutoDefault(false);
  auto* write = buttons->addButton(tr("&Export"), QDialogButtonBox::AcceptRole);
  auto* scroll = new QScrollArea;
  scroll->setWidget(preview_);
  scroll->setWidgetResizable(true);
  scroll->setAccessibleName(tr("The figure as it will be"));
  scroll->setMinimumSize(320, 220);
  auto* beside = new QHBoxLayout;
  beside->addLayout(form);
  beside->addWidget(scroll, 1);
  auto* column = new QVBoxLayout(this);
  column->addLayout(beside, 1);
  column->addLayout(file_row);
  column->addWidget(problem_);
  column->addWidget(buttons);
  // A button can only become the default inside the dialogue.
  write->setDefault(true);
  resize(820, 500);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(write, &QPushButton::clicked, this, &ExportDialog::export_file);
  connect(browse, &QPushButton::clicked, this, &ExportDialog::browse);
  connect(format_, &QComboBox::currentIndexChanged, this, [this] {
    suggest_file();
    show_preview();
  });
  connect(which_, &QComboBox::currentIndexChanged, this, &ExportDialog::choose_what);
  connect(width_kind_, &QComboBox::currentIndexChanged, this, [this] {
    if (const QVariant inches = width_kind_->currentData(); inches.isValid())
      width_->setValue(inches.toDouble());
  });
  connect(width_, &QDoubleSpinBox::valueChanged, this, [this](double inches) {
    const int known = width_kind_->findData(inches);
    width_kind_->setCurrentIndex(known >= 0 ? known : width_kind_->count() - 1);
    show_preview();
  });
  connect(font_, &QDoubleSpinBox::valueChanged, this, &ExportDialog::show_preview);
  connect(legend_, &QCheckBox::toggled, this, &ExportDialog::show_preview);
  connect(copy_, &QPushButton::clicked, this, &ExportDialog::copy_text);
}

const Exportable& ExportDialog::chosen() const {
  return what_[static_cast<std::size_t>(std::max(0, which_->currentIndex()))];
}

void ExportDialog::choose_what() {
  const bool has_chart = !chosen().chart.empty();
  const QVariant before = format_->currentData();
  format_->clear();
  for (const FileKind& kind : file_kinds)
    if (has_chart || !kind.is_picture) format_->addItem(tr(kind.words), QString::fromLatin1(kind.ending));
  format_->setCurrentIndex(std::max(0, format_->findData(before)));
  for (QWidget* field : std::initializer_list<QWidget*>{width_kind_, width_, font_, legend_})
    field->setEnabled(has_chart);
  const bool is_wide = has_chart && needs_both_columns(chosen().chart);
  if (has_chart) width_->setValue(is_wide ? double_column_inches : single_column_inches);
  problem_->setText(tr("One column has no room for the numbers of the cells, so both columns are chosen."));
  problem_->setVisible(is_wide);
  suggest_file();
  show_preview();
}

void ExportDialog::suggest_file() {
  const QString ending = format_->currentData().toString();
  if (!ending.isEmpty()) file_->setText(suggested_file(recording_path_, chosen().name, ending));
  file_->setCursorPosition(static_cast<int>(file_->text().size()));
}

QString ExportDialog::file() const {
  return with_ending(file_->text().trimmed(), format_->currentText());
}

FigureOptions ExportDialog::options() const {
  return {.width_inches = width_->value(), .font_points = font_->value(), .has_legend = legend_->isChecked()};
}

QString ExportDialog::table_text() const {
  const QString ending = format_->currentData().toString();
  if (!is_table_path(QStringLiteral("table.%1").arg(ending))) return {};
  return text_of_table(ending == u"csv" ? chosen().data : chosen().shown_data, ending);
}

void ExportDialog::copy_text() {
  QGuiApplication::clipboard()->setText(table_text());
}

void ExportDialog::show_preview() {
  const QString text = table_text();
  copy_->setEnabled(!text.isEmpty());
  preview_->setAlignment(text.isEmpty() ? Qt::AlignCenter : Qt::AlignLeft | Qt::AlignTop);
  if (!text.isEmpty()) {
    // A label does not draw millions of letters in a moment.
    constexpr qsizetype max_letters = 20000;
    return preview_->setText(text.size() > max_letters ? text.first(max_letters) + u'…' : text);
  }
  FigureOptions on_screen = options();
  on_screen.dots_per_inch = 96;
  preview_->setPixmap(QPixmap::fromImage(figure_image(chosen().chart, on_screen)));
}

Result<void> ExportDialog::write(const QString& path) {
  const bool is_read =
      path.endsWith(u".tex", Qt::CaseInsensitive) || path.endsWith(u".md", Qt::CaseInsensitive);
  Result<void> written = is_table_path(path)
                             ? write_table(is_read ? chosen().shown_data : chosen().data, path)
                             : write_figure(chosen().chart, options(), path);
  problem_->setVisible(!written);
  if (!written) problem_->setText(QString::fromStdString(written.error().message));
  return written;
}

void ExportDialog::browse() {
  QString type = format_->currentText();
  const QString path = with_ending(QFileDialog::getSaveFileName(this, windowTitle(), file(), type), type);
  if (path.isEmpty()) return;
  file_->setText(path);
  to_replace_ = path;
}

void ExportDialog::export_file() {
  const QString path = file();
  if (QFileInfo::exists(path) && path != to_replace_ &&
      QMessageBox::question(this, windowTitle(), tr("%1 is there. Replace it?").arg(path)) !=
          QMessageBox::Yes)
    return;
  if (!write(path)) return;
  emit written(path);
  accept();
}

void ask_and_export(std::vector<Exportable> what, QWidget& parent) {
  if (what.empty()) return;
  auto* dialog = new ExportDialog(std::move(what), parent.windowFilePath(), &parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  QObject::connect(dialog, &ExportDialog::written, &parent, [&parent](const QString& path) {
    QStatusTipEvent said(ExportDialog::tr("Written: %1").arg(path));
    QApplication::sendEvent(&parent, &said);
  });
  dialog->open();
}

}  // namespace draftscope::gui
