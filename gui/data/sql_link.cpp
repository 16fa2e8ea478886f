// SPDX-License-Identifier: GPL-3.0-or-later
#include "sql_link.h"

namespace draftscope::gui {

std::vector<SqlLink> sql_links(const SqlSchema& schema, std::string_view statement,
                               const std::vector<std::string>& columns) {
  const auto named = named_tables(schema, sql_tokens(statement));
  SqlLink of_id = SqlLink::none;
  if (named.size() == 1) {
    const std::string& table = named.front().table->name;
    if (table == "runs") of_id = SqlLink::run;
    if (table == "requests") of_id = SqlLink::request;
    if (table == "rounds") of_id = SqlLink::round;
  }
  std::vector<SqlLink> links;
  for (const std::string& column : columns) {
    if (is_same_name(column, "run"))
      links.push_back(SqlLink::run);
    else if (is_same_name(column, "request"))
      links.push_back(SqlLink::request);
    else if (is_same_name(column, "round"))
      links.push_back(SqlLink::round);
    else
      links.push_back(is_same_name(column, "id") ? of_id : SqlLink::none);
  }
  return links;
}

}  // namespace draftscope::gui
