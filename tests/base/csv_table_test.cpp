// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/csv_table.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../value_of.h"

namespace draftscope::traces {
namespace {

using ::testing::HasSubstr;

TEST(CsvTable, ReadsQuotedFieldsNumbersAndEmptyOnes) {
  const auto table =
      value_of(CsvTable::parse("name,ns,n\r\n\"a, \"\"b\"\"\nc\",2.5,7\r\n\r\nd,,\n", "x.csv"));
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.text(0, "name").value(), "a, \"b\"\nc");
  EXPECT_EQ(table.number(0, "ns").value(), 2.5);
  EXPECT_EQ(table.integer(0, "n").value(), 7);
  EXPECT_EQ(table.number(1, "ns").value(), std::nullopt);
  EXPECT_TRUE(table.has("n"));
  EXPECT_FALSE(table.has("m"));
}

TEST(CsvTable, NamesFileRowAndColumnOfWhatItCannotRead) {
  const auto error = [](std::string_view text) { return CsvTable::parse(text, "x.csv").error().message; };
  EXPECT_THAT(error(""), HasSubstr("x.csv: found no line"));
  EXPECT_THAT(error("a,a\n"), HasSubstr("column a twice"));
  EXPECT_THAT(error("a,b\n1\n"), HasSubstr("x.csv: row 1: found 1 fields, expected 2"));
  EXPECT_THAT(error("a\n\"b\n"), HasSubstr("x.csv: row 1"));
  const auto table = CsvTable::parse("a\n1e999\nnan\n1.5\n", "x.csv").value();
  EXPECT_THAT(table.number(0, "a").error().message, HasSubstr("x.csv: row 1: column a: found '1e999'"));
  EXPECT_THAT(table.number(1, "a").error().message, HasSubstr("x.csv: row 2"));
  EXPECT_THAT(table.integer(2, "a").error().message, HasSubstr("expected an integer"));
  EXPECT_THAT(table.text(0, "b").error().message, HasSubstr("no column b"));
}

}  // namespace
}  // namespace draftscope::traces
