// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/calibrate_text.h"

#include <fmt/format.h>
#include <cstdint>

#include "report/report_json.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::CalibratedShape;
using simulator::MachineCalibration;
using speculation::MeasuredKernel;

std::string probe_line(std::string_view what, const std::optional<speculation::Spread>& spread,
                       const Glyphs& glyphs, bool is_rate) {
  if (!spread) return "";
  const auto value = [&](double number_or_ns) {
    return is_rate ? number(number_or_ns) + " GB/s" : duration(number_or_ns, glyphs);
  };
  return fmt::format("{:<11}{} [{}, {}]\n", what, value(spread->median), value(spread->low),
                     value(spread->high));
}

std::string law_line(std::string_view what, const std::optional<simulator::AffineLaw>& law,
                     const Glyphs& glyphs) {
  if (!law) return "";
  const double rate = law->law.ns_per_byte > 0.0 ? 1.0 / law->law.ns_per_byte : 0.0;
  return fmt::format("  {:<10} {} + bytes / {} GB/s, residual {} (median), {} (greatest) of {}\n", what,
                     duration(law->law.launch_ns, glyphs), number(rate), percent(law->residual_p50),
                     percent(law->residual_greatest), law->kernels);
}

/// A line for each number of rows: the factor at every context.
std::string widths_lines(const std::vector<simulator::WidthFactor>& widths, const Glyphs& glyphs) {
  std::string text;
  std::int32_t rows = 0;
  for (const simulator::WidthFactor& width : widths) {
    text += width.rows == rows
                ? ", "
                : fmt::format("{}  {:<10} ", text.empty() ? "" : "\n", fmt::format("rows {}", width.rows));
    text += fmt::format("{} at context {:.0f}", factor(width.factor, glyphs), width.context);
    rows = width.rows;
  }
  return text.empty() ? text : text + '\n';
}

std::string shape_text(const CalibratedShape& of, const simulator::LeaveOneOut& left_out,
                       const Glyphs& glyphs) {
  Table table({"kernel"}, {"MB", "time", "quartiles", "GB/s", "samples"});
  for (const MeasuredKernel& kernel : of.kernels) {
    const double bytes = simulator::kernel_bytes(kernel.form, of.shape, of.weights);
    table.add_row({simulator::kernel_name(kernel.form, of.shape),
                   bytes > 0.0 ? number(bytes * 1e-6) : std::string(glyphs.absent()),
                   duration(kernel.ns.median, glyphs),
                   fmt::format("{}{}{}", duration(kernel.ns.low, glyphs), glyphs.range(),
                               duration(kernel.ns.high, glyphs)),
                   bytes > 0.0 ? number(bytes / kernel.ns.median) : std::string(glyphs.absent()),
                   count(kernel.ns.samples)});
  }
  const simulator::CalibrationLaws laws = calibration_laws(of);
  return fmt::format("\n{}, {}\n", printable(of.shape.name), weight_type_name(of.weights)) +
         table.text(2, glyphs.columns) + law_line("products", laws.products, glyphs) +
         law_line("passes", laws.passes, glyphs) + law_line("attention", laws.attention, glyphs) +
         widths_lines(laws.widths, glyphs) +
         fmt::format(
             "  left out   kernels are predicted from the others within {} (median), passes within {} "
             "(rms)\n",
             percent(left_out.p50), percent(left_out.pass_rms));
}

}  // namespace

std::string calibration_text(const CalibrationReport& report, const Glyphs& glyphs) {
  const MachineCalibration& calibration = *report.calibration;
  std::string text = fmt::format("machine    {}{}{}\n", printable(calibration.name()), glyphs.separator(),
                                 printable(calibration.kernel_set));
  if (calibration.on_gpu())
    text += fmt::format("           specification: {}\n",
                        calibration.gpu.empty()
                            ? "none known, so nothing fills in what was not measured (--gpu names one)"
                            : printable(calibration.gpu));
  text += probe_line("memory", calibration.memory_gb_s, glyphs, true);
  text += probe_line("empty pass", calibration.empty_pass_ns, glyphs, false);
  for (std::size_t i = 0; i < calibration.shapes.size(); ++i)
    text += shape_text(calibration.shapes[i], report.left_out[i], glyphs);
  return text + fmt::format("\nwritten    {}\n", printable(report.file));
}

std::string calibration_report_json(const CalibrationReport& report) {
  Json json = new_document();
  json["file"] = report.file;
  json["calibration"] = Json::parse(calibration_json(*report.calibration), nullptr, false);
  const auto error_json = [](const simulator::LeaveOneOut::Error& error) -> Json {
    return {{"kernel", error.kernel}, {"is_pass", error.is_pass}, {"error", error.error}};
  };
  json["leave_one_out"] = json_list(report.left_out, [&](const simulator::LeaveOneOut& shape) -> Json {
    return {{"p50", shape.p50},
            {"max", shape.greatest},
            {"pass_rms", shape.pass_rms},
            {"errors", json_list(shape.errors, error_json)}};
  });
  return json_text(json);
}

}  // namespace draftscope::cli
