// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Formats numbers for people, in the app, in the terminal and in sentences, with a decimal point in every
// locale. Pure functions, safe from any thread.

#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope {

/// Characters that a text may have: only ASCII works in every pipe, file and terminal.
enum class Characters : std::uint8_t { ascii, unicode };

/// Text for a missing value: "–" or "-".
[[nodiscard]] std::string_view absent_text(Characters characters);

/// Three significant digits, and every digit before the point: "0.0312", "4.21", "61.8", "1235". Zero is "0";
/// magnitudes below 1e-7 have an exponent. A non-finite value is "-".
[[nodiscard]] std::string number_text(double value);

/// Text with a sign: "+0.12", "-1.30" ("−1.30" in Unicode). A value that rounds to zero is "+0.00" ("±0.00"),
/// whatever its sign.
[[nodiscard]] std::string signed_text(double value, int decimals, Characters characters);

/// Count with groups of digits: "12 345".
[[nodiscard]] std::string count_text(std::int64_t value);

/// Speedup factor: "1.52x" ("1.52×").
[[nodiscard]] std::string speedup_text(double speedup, Characters characters);

/// Two ends of an interval, with two decimals: "1.21..1.43" ("1.21–1.43").
[[nodiscard]] std::string range_text(double low, double high, Characters characters);

/// Both bounds of a speedup, in any order: "0.78x..1.30x" ("0.78×–1.30×").
[[nodiscard]] std::string speedups_text(double a, double b, Characters characters);

/// Share of 1 in percent: "71.4 %".
[[nodiscard]] std::string percent_text(double share, int decimals = 1);

/// Ratio as in number_text(), but "< 0.001" and "> -0.001" for ratios closer to 0.
[[nodiscard]] std::string ratio_text(double value, Characters characters);

/// p-value: "0.031", or "< 0.001".
[[nodiscard]] std::string p_value_text(double value);

/// Duration: "831 ns", "4.21 us" ("4.21 µs"), "61.8 ms", "1.25 s". Times below a microsecond are whole.
[[nodiscard]] std::string duration_text(double ns, Characters characters);

/// Size: "831 bytes", "4.21 KiB", "61.8 MiB", "1.25 GiB".
[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace draftscope
