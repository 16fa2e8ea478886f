// SPDX-License-Identifier: GPL-3.0-or-later
// The form of a strategy and the text of -s stay in step both ways, for every strategy and parameter of the
// catalogue.
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <gmock/gmock.h>

#include <QComboBox>
#include <QLineEdit>
#include <QListWidget>
#include <QSignalSpy>
#include <QTest>

#include "record/form/strategy_chooser.h"
#include "record/form/strategy_form.h"
#include "record/form/strategy_text.h"

namespace draftscope::gui {
namespace {

using speculation::ParameterRow;
using speculation::ParameterType;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int32_t n_layers = 12;

/// A valid value other than the default; empty if there is none.
std::string other_value(const ParameterRow& row) {
  switch (row.type) {
    case ParameterType::integer: {
      const std::int64_t usual = std::stoll(default_text(row, n_layers));
      const auto max = speculation::bound_of(row.max, n_layers);
      return std::to_string(!max || usual < *max ? usual + 1 : usual - 1);
    }
    case ParameterType::number:
      return row.default_value == "0.25" ? "0.5" : "0.25";
    case ParameterType::choice:
      for (const std::string& name : row.choices)
        if (name != row.default_value) return name;
      return {};
    case ParameterType::layers:
      return "1";
    case ParameterType::text:
      return row.default_value.empty() ? "some.json" : "q8_0";
  }
  return {};
}

void enter(ParameterEdit& edit, const std::string& value) {
  if (auto* box = edit.findChild<QComboBox*>()) {
    box->setCurrentIndex(box->findData(QString::fromStdString(value)));
    emit box->activated(box->currentIndex());
    return;
  }
  auto* line = edit.findChild<QLineEdit*>();
  line->selectAll();
  QTest::keyClicks(line, QString::fromStdString(value));
}

ParameterEdit* editor_of(const StrategyForm& form, const std::string& name) {
  for (ParameterEdit* edit : form.editors())
    if (edit->row().name == name) return edit;
  return nullptr;
}

class EachStrategy : public testing::TestWithParam<std::string> {
 protected:
  EachStrategy() {
    form_.set_model(ModelFacts{.name = "m", .n_layers = n_layers});
    form_.set_text(QString::fromStdString(GetParam()));
  }

  /// A mix in `base` has to name its parts, since their parameters exist only then.
  void expect_in_step(const std::string& base) {
    form_.set_text(QString::fromStdString(base));
    std::vector<std::string> names;
    for (const ParameterEdit* edit : form_.editors()) names.push_back(edit->row().name);
    for (const std::string& name : names) {
      form_.set_text(QString::fromStdString(base));
      ParameterEdit& edit = *editor_of(form_, name);
      const std::string value = other_value(edit.row());
      if (value.empty() || !edit.value().isEmpty()) continue;
      enter(edit, value);
      const std::string text = form_.text().toStdString();
      EXPECT_THAT(text, HasSubstr(name + "=" + value)) << base;
      const auto parsed = speculation::parse_strategy(text, n_layers);
      ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
      EXPECT_EQ(parsed->text(name), value) << text;
      // Read the text back into another form.
      StrategyForm other;
      other.set_model(ModelFacts{.name = "m", .n_layers = n_layers});
      other.set_text(form_.text());
      ASSERT_NE(editor_of(other, name), nullptr) << text;
      EXPECT_EQ(editor_of(other, name)->value().toStdString(), value) << text;
      const ParameterRow row = editor_of(other, name)->row();
      EXPECT_EQ(strategy_text_of(with_value(text, row, "")).given.size() + 1,
                strategy_text_of(text).given.size());
    }
  }

  StrategyForm form_;
};

TEST_P(EachStrategy, HasAFormThatIsInStepWithItsText) {
  expect_in_step(GetParam());
  const speculation::StrategyRow* row = speculation::strategy_catalogue().find(GetParam());
  if (!row->chooses_parts) return;
  for (std::size_t kind = 0; kind < speculation::part_kind_count; ++kind) {
    const auto which = static_cast<speculation::PartKind>(kind);
    for (const std::string& part : speculation::strategy_catalogue().part_names(which)) {
      const std::string base =
          GetParam() + ":" + std::string(speculation::part_kind_name(which)) + "=" + part;
      if (speculation::parse_strategy(base, n_layers)) expect_in_step(base);
    }
  }
}

TEST_P(EachStrategy, ShowsEveryParameterWithMeaningBoundsAndDefault) {
  const auto rows = parameters_of(strategy_text_of(GetParam()));
  ASSERT_EQ(form_.editors().size(), rows.size());
  const auto usual = speculation::parse_strategy(GetParam(), n_layers);
  ASSERT_TRUE(usual) << usual.error().message;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ParameterEdit& edit = *form_.editors()[i];
    EXPECT_FALSE(edit.toolTip().isEmpty());
    EXPECT_TRUE(edit.value().isEmpty());
    if (rows[i].type == ParameterType::integer) {
      EXPECT_EQ(edit.findChild<QLineEdit*>()->placeholderText().toStdString(), usual->text(rows[i].name));
      EXPECT_THAT(range_text(rows[i], n_layers), HasSubstr(" to "));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EachStrategy, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& row : speculation::strategy_catalogue().strategies())
                             names.push_back(row.name);
                           return names;
                         }()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(StrategyForm, FollowsTheLineWhileItIsTypedAndSaysWhatIsWrong) {
  StrategyForm form;
  form.set_model(ModelFacts{.name = "m", .n_layers = n_layers});
  form.set_text(QStringLiteral("layerskip"));
  auto* line = form.findChild<QLineEdit*>();
  QSignalSpy edited(&form, &StrategyForm::edited);
  QTest::keyClicks(line, QStringLiteral(":exit=4,gamma=2"));
  EXPECT_EQ(edited.count(), 15);
  EXPECT_EQ(editor_of(form, "exit")->value(), QStringLiteral("4"));
  EXPECT_EQ(editor_of(form, "gamma")->value(), QStringLiteral("2"));
  QTest::keyClicks(line, QStringLiteral("000"));
  EXPECT_EQ(editor_of(form, "gamma")->value(), QStringLiteral("2000"));
  const auto labels = form.findChildren<QLabel*>();
  EXPECT_TRUE(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
    return !label->isHidden() && label->text().contains(QStringLiteral("from 0 to 255"));
  }));
}

TEST(StrategyForm, AnotherPartTakesItsParametersAlong) {
  StrategyForm form;
  form.set_text(QStringLiteral("mix:exit=4,gamma=3"));
  enter(*editor_of(form, "mask"), "swift");
  EXPECT_EQ(form.text(), QStringLiteral("mix:gamma=3,mask=swift"));
  EXPECT_NE(editor_of(form, "ratio"), nullptr);
  EXPECT_EQ(editor_of(form, "exit"), nullptr);
}

TEST(StrategyForm, IntegersStepWithinTheirBounds) {
  StrategyForm form;
  form.set_model(ModelFacts{.name = "m", .n_layers = n_layers});
  form.set_text(QStringLiteral("layerskip"));
  auto* line = editor_of(form, "exit")->findChild<QLineEdit*>();
  QTest::keyClick(line, Qt::Key_Up);
  EXPECT_EQ(form.text(), QStringLiteral("layerskip:exit=4"));
  for (int i = 0; i < 20; ++i) QTest::keyClick(line, Qt::Key_Up);
  EXPECT_EQ(form.text(), QStringLiteral("layerskip:exit=11"));
  for (int i = 0; i < 20; ++i) QTest::keyClick(line, Qt::Key_Down);
  EXPECT_EQ(form.text(), QStringLiteral("layerskip:exit=1"));
}

TEST(StrategyForm, EarlierNamesAreRead) {
  StrategyForm form;
  form.set_text(QStringLiteral("del:most=7"));
  EXPECT_EQ(editor_of(form, "d-max")->value(), QStringLiteral("7"));
}

TEST(StrategyChooser, GivesBackWhatItWasGiven) {
  StrategyChooser chooser;
  const std::vector<std::string> wanted{"vanilla", "layerskip:exit=4", "layerskip:exit=5,gamma=2", "swift"};
  chooser.set_strategies(wanted);
  EXPECT_EQ(chooser.strategies(), wanted);
  // Every strategy can still be checked.
  EXPECT_EQ(static_cast<std::size_t>(chooser.list().count()),
            speculation::strategy_catalogue().strategies().size() + 1);
  chooser.set_strategies({});
  EXPECT_TRUE(chooser.strategies().empty());
}

TEST(StrategyChooser, ChecksARowAndTypesIntoItsLine) {
  StrategyChooser chooser;
  chooser.set_strategies({"vanilla"});
  QSignalSpy edited(&chooser, &StrategyChooser::edited);
  QListWidgetItem* item = chooser.list().findItems(QStringLiteral("layerskip"), Qt::MatchExactly).front();
  item->setCheckState(Qt::Checked);
  EXPECT_EQ(edited.count(), 1);
  EXPECT_THAT(chooser.strategies(), ElementsAre("vanilla", "layerskip"));
  chooser.list().setCurrentItem(item);
  auto* line = chooser.form().findChild<QLineEdit*>();
  EXPECT_EQ(line->text(), QStringLiteral("layerskip"));
  QTest::keyClicks(line, QStringLiteral(":gamma=2"));
  EXPECT_THAT(chooser.strategies(), ElementsAre("vanilla", "layerskip:gamma=2"));
  // Typing another strategy's name changes the line's strategy, and the old one can be checked again.
  line->selectAll();
  QTest::keyClicks(line, QStringLiteral("fs"));
  EXPECT_THAT(chooser.strategies(), ElementsAre("vanilla", "fs"));
  EXPECT_EQ(chooser.list().findItems(QStringLiteral("layerskip"), Qt::MatchExactly).size(), 1);
}

}  // namespace
}  // namespace draftscope::gui
