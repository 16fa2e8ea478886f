// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers as people read them, in the app, in the terminal and in sentences. Decimal point, no locale. Pure
// functions, safe from any thread.

#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope {

/// Characters that a text may have: ASCII alone goes through every pipe, file and terminal.
enum class Characters : std::uint8_t { ascii, unicode };

/// "–" or "-": stands where there is no value.
[[nodiscard]] std::string_view absent_text(Characters characters);

/// "0.0312", "4.21", "61.8", "1235": three significant digits, and every digit before the point. "0" is
/// nothing; magnitudes below 1e-7 have an exponent. A value that is not finite is "-".
[[nodiscard]] std::string number_text(double value);

/// "+0.12", "-1.30" ("−1.30" in Unicode). What rounds to nothing is "+0.00" ("±0.00"), whichever side it is
/// on.
[[nodiscard]] std::string signed_text(double value, int decimals, Characters characters);

/// "12 345"
[[nodiscard]] std::string count_text(std::int64_t value);

/// "1.52x" ("1.52×"): how many times as fast.
[[nodiscard]] std::string speedup_text(double speedup, Characters characters);

/// "1.21..1.43" ("1.21–1.43"): two ends of an interval, with two decimals.
[[nodiscard]] std::string range_text(double low, double high, Characters characters);

/// "0.78x..1.30x" ("0.78×–1.30×"): both bounds of a speedup, in whichever order they come.
[[nodiscard]] std::string speedups_text(double a, double b, Characters characters);

/// "71.4 %": a share of 1.
[[nodiscard]] std::string percent_text(double share, int decimals = 1);

/// As number_text(), or "< 0.001" and "> -0.001" where the ratio is nearer to 0.
[[nodiscard]] std::string ratio_text(double value, Characters characters);

/// "0.031", or "< 0.001".
[[nodiscard]] std::string p_value_text(double value);

/// "831 ns", "4.21 us" ("4.21 µs"), "61.8 ms", "1.25 s". Times below a microsecond are whole.
[[nodiscard]] std::string duration_text(double ns, Characters characters);

/// "831 bytes", "4.21 KiB", "61.8 MiB", "1.25 GiB".
[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace draftscope
