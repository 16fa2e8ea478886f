// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The parts of the table of operations (table.h), each in a file of its own.

#include "operations/row.h"

namespace draftscope::ptx {

void add_integer_rows(Rows& rows);
void add_logic_rows(Rows& rows);
void add_float_rows(Rows& rows);
void add_approximate_rows(Rows& rows);
void add_narrow_float_rows(Rows& rows);
void add_compare_rows(Rows& rows);
void add_convert_rows(Rows& rows);
void add_exchange_rows(Rows& rows);

}  // namespace draftscope::ptx
