// SPDX-License-Identifier: GPL-3.0-or-later
#include "small_kernel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace draftscope::ptx::test {

namespace {

constexpr std::size_t max_inputs = 5;

std::string text_of(const SmallKernel& kernel) {
  std::string loads;
  for (std::size_t i = 1; i <= max_inputs; ++i)
    loads += fmt::format(
        "ld.global.b64 %x{0}, [%in+{1}]; cvt.u32.u64 %w{0}, %x{0}; cvt.u16.u64 %h{0}, %x{0};\n"
        "and.b64 %scratch, %x{0}, 1; setp.ne.u64 %p{0}, %scratch, 0;\n",
        i, (i - 1) * sizeof(std::uint64_t));
  std::string store =
      fmt::format("cvt.u64.u{} %scratch, {};", kernel.result[1] == 'h' ? 16 : 32, kernel.result);
  if (kernel.result[1] == 'x') store = fmt::format("mov.b64 %scratch, {};", kernel.result);
  if (kernel.result[1] == 'p') store = fmt::format("selp.b64 %scratch, 1, 0, {};", kernel.result);
  return module_text(fmt::format(R"(
.entry small(.param .u64 to, .param .u64 from)
{{
  .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %w<10>; .reg .b64 %x<10>;
  .reg .b64 %in, %out, %scratch; .reg .b32 %thread;
  {}
  mov.u32 %thread, %tid.x;
  ld.param.u64 %in, [from]; mad.wide.u32 %in, %thread, {}, %in;
  ld.param.u64 %out, [to]; mad.wide.u32 %out, %thread, 8, %out;
  {}
  {}
  {}
  st.global.b64 [%out], %scratch;
  ret;
}}
)",
                                 kernel.declarations, max_inputs * sizeof(std::uint64_t), loads, kernel.body,
                                 store));
}

}  // namespace

std::string module_text(std::string_view entry) {
  return fmt::format(".version 9.0\n.target sm_90\n.address_size 64\n{}", entry);
}

Result<LaneValues> run_lanes(const SmallKernel& kernel, const std::vector<LaneValues>& inputs,
                             std::uint32_t threads) {
  Device device({.seed = kernel.seed, .max_steps = 100'000});
  DRAFTSCOPE_TRY(device.load("small", text_of(kernel)));
  LaneValues in(std::size_t{threads} * max_inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t thread = 0; thread < threads; ++thread) in[thread * max_inputs + i] = inputs[i][thread];
  LaneValues out(threads);
  const std::size_t out_bytes = out.size() * sizeof(std::uint64_t);
  DRAFTSCOPE_TRY_ASSIGN(std::byte* const from, device.allocate("in", in.size() * sizeof(std::uint64_t)));
  DRAFTSCOPE_TRY_ASSIGN(std::byte* const to, device.allocate("out", out_bytes));
  DRAFTSCOPE_TRY(device.upload(from, in.data(), in.size() * sizeof(std::uint64_t)));
  LaunchRequest request{.entry = "small", .threads = {threads}};
  request.parameters = {std::as_bytes(std::span(&to, 1)), std::as_bytes(std::span(&from, 1))};
  DRAFTSCOPE_TRY(device.launch(request));
  DRAFTSCOPE_TRY(device.download(out.data(), to, out_bytes));
  return out;
}

std::uint64_t run_one(const SmallKernel& kernel, const std::vector<std::uint64_t>& inputs) {
  std::vector<LaneValues> of_lanes;
  for (const std::uint64_t input : inputs) of_lanes.push_back({input});
  const Result<LaneValues> result = run_lanes(kernel, of_lanes, 1);
  if (result) return result->front();
  ADD_FAILURE() << kernel.body << ": " << result.error().message;
  return 0;
}

std::uint64_t compute(std::string_view instruction, std::string_view widths,
                      const std::vector<std::uint64_t>& inputs) {
  const auto width = [&](std::size_t i) { return widths[std::min(i, widths.size() - 1)]; };
  std::string body = fmt::format("{} %{}0", instruction, width(0));
  for (std::size_t i = 1; i <= inputs.size(); ++i) body += fmt::format(", %{}{}", width(i), i);
  return run_one({.body = body + ";", .result = fmt::format("%{}0", width(0))}, inputs);
}

}  // namespace draftscope::ptx::test
