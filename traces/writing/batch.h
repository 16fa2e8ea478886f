// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rows on their way from the recording thread to the writer's thread. A batch always ends at a round
// boundary, so committing a whole batch keeps every reference inside the file.

#include <draftscope/traces/records.h>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "storage/tables.h"

namespace draftscope::traces {

template <typename Record>
using RowList = std::vector<Record>;

struct Batch {
  std::vector<std::pair<std::string, std::string>> meta;
  /// Rows by table. A request has one row when it begins and one when it ends; the later row of an id
  /// replaces the earlier.
  PerTable<RowList> lists;

  template <typename Record>
  [[nodiscard]] std::vector<Record>& list() {
    return std::get<std::vector<Record>>(lists);
  }
  template <typename Record>
  [[nodiscard]] const std::vector<Record>& list() const {
    return std::get<std::vector<Record>>(lists);
  }

  [[nodiscard]] std::size_t rows() const {
    return std::apply([this](const auto&... list) { return (meta.size() + ... + list.size()); }, lists);
  }
  [[nodiscard]] std::size_t droppable_rows() const {
    std::size_t rows = 0;
    for_each_table([&]<typename Record>(const Table<Record>& table) {
      if (table.intake == Intake::droppable) rows += list<Record>().size();
    });
    return rows;
  }
};

/// Moves the rows of `source` to the end of `target`. Both keep their capacity, so that the steady state
/// does not allocate.
template <typename Row>
void append(std::vector<Row>& target, std::vector<Row>& source) {
  if (target.empty()) {
    target.swap(source);
    return;
  }
  target.insert(target.end(), std::make_move_iterator(source.begin()), std::make_move_iterator(source.end()));
  source.clear();
}

inline void append(Batch& to, Batch& from) {
  append(to.meta, from.meta);
  for_each_table([&]<typename Record>(const Table<Record>& /*table*/) {
    append(to.list<Record>(), from.list<Record>());
  });
}

inline void clear(Batch& batch) {
  batch.meta.clear();
  std::apply([](auto&... list) { (list.clear(), ...); }, batch.lists);
}

}  // namespace draftscope::traces
