// SPDX-License-Identifier: GPL-3.0-or-later
// PTX text to a module, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "module/literal.h"
#include "module/parser.h"
#include "run/readable_name.h"
#include "small_kernel.h"

namespace draftscope::ptx::test {
namespace {

using testing::HasSubstr;

Result<Module> parsed(const std::string& text) {
  return parse_module("text", text);
}

TEST(PtxParser, ReadsWhatNvccWrites) {
  const auto module = parsed(R"(
//
// Generated
//
.version 9.0
.target sm_90
.address_size 64
	.file	1 "folder/kernel.h"
.extern .shared .align 16 .b8 shared[];
.visible .entry _Z4copyPf(
	.param .u64 .ptr .global .align 4 _Z4copyPf_param_0,
	.param .align 8 .b8 _Z4copyPf_param_1[24]
)
.maxntid 256, 1, 1
.minnctapersm 2
{
	.local .align 16 .b8 	__local_depot0[32];
	.reg .pred 	%p<2>;
	.reg .b32 	%r<3>;
	.reg .b64 	%SP, %SPL, %rd<2>;
	.pragma "nounroll";
	.loc	1 25 9, function_name $L__info_string0, inlined_at 1 30 3
	mov.u64 	%SPL, __local_depot0;
	ld.param.u64 	%rd1, [_Z4copyPf_param_1+16];
$L__BB0_1:
	@!%p1 bra 	$L__BB0_2;
	{  add.s32 %r1, %r2, -7;}
	bra.uni 	$L__BB0_1;
$L__BB0_2:
	ret;
}
	.section	.debug_loc { .b32 1; { } }
)");
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->target, "sm_90");
  EXPECT_EQ(module->source_files.at(1), "folder/kernel.h");
  EXPECT_TRUE(module->variables.at(0).is_external);
  const Entry& entry = module->entries.at(0);
  EXPECT_EQ(entry.max_threads, 256U);
  EXPECT_EQ(entry.n_parameters, 2U);
  EXPECT_EQ(entry.variables[0].bytes, 8U);
  EXPECT_EQ(entry.variables[1].bytes, 24U);
  EXPECT_EQ(entry.registers.size(), 9U);
  ASSERT_EQ(entry.instructions.size(), 7U);
  EXPECT_EQ(entry.instructions[0].source.line, 25U);
  EXPECT_EQ(entry.instructions[1].operands[1].value, 16U);
  EXPECT_TRUE(entry.instructions[2].guard_is_negated);
  EXPECT_EQ(entry.instructions[2].operands[0].index, 5);
  EXPECT_EQ(entry.instructions[3].operands[2].value, static_cast<std::uint64_t>(-7));
  EXPECT_EQ(entry.instructions[4].operands[0].index, 2);
  EXPECT_EQ(entry.instructions[6].spelling, "ret");  // behind the last one
}

TEST(PtxParser, RefusesInOneLineThatSaysWhere) {
  const auto error = [](const std::string& text) {
    const auto module = parsed(text);
    return module ? std::string("no error") : module.error().message;
  };
  EXPECT_EQ(error(""), "no error");
  EXPECT_EQ(error("\n.func f() { }"), "text:2: found .func, expected .entry, .global, .shared or .const");
  EXPECT_EQ(error(".entry k() { bra AWAY; }"), "text:1: branch to AWAY, expected a label of its kernel");
  EXPECT_EQ(error(".entry k() { ld.global.u32 %w, [%x]; }"),
            "text:1: found %x, expected a register or a variable of the kernel");
  EXPECT_EQ(error(".entry k() { @%p ret; }"), "text:1: found %p, expected a predicate register");
  EXPECT_EQ(error(".entry k() { A: ret; A: ret; }"), "text:1: a second label A, expected another name");
  EXPECT_EQ(error(".entry k() {"), "text:1: found the end, expected an instruction");
  EXPECT_EQ(error(".entry k() { .reg .b32 %w<99999999>; }"),
            "text:1: 99999999 registers %w, expected at most 1000000");
  EXPECT_THAT(error(".global .align 3 .b8 x[4];"), HasSubstr("expected a power of two"));
  EXPECT_THAT(error(".global .b8 x[1] = {1, 2};"), HasSubstr("expected at most 1"));
  EXPECT_THAT(error(".entry k() { add.u32 a"), HasSubstr("expected ,"));
  EXPECT_THAT(error(".section .debug {"), HasSubstr("closing brace"));
  EXPECT_THAT(error("\"text"), HasSubstr("expected a directive"));
}

TEST(PtxParser, SurvivesAnyCutOfAModule) {
  const std::string text = module_text(
      ".global .f32 f[2] = {0f3F800000, 0f40000000};\n"
      ".entry k(.param .u64 a) { .reg .b64 %x<3>; .reg .pred %p; L: @%p bra L; ld.global.v2.u64 {%x1, _}, "
      "[%x2+-8]; mov.u64 %x1, f+4; }");
  ASSERT_TRUE(parsed(text));
  for (std::size_t length = 0; length < text.size(); ++length) (void)parsed(text.substr(0, length));
}

TEST(PtxDecoder, RefusesWhatItDoesNotKnowByName) {
  const auto error = [](const std::string& body) {
    Device device;
    const std::string text = module_text(
        ".entry k() { .reg .b64 %x<3>; .reg .b32 %w<3>; .reg .b16 %h<3>; .reg .pred %p<3>;\n" + body + "}");
    EXPECT_TRUE(device.load("text", text));
    const auto decoded = device.decode_all();
    return decoded ? std::string("no error") : decoded.error().message;
  };
  EXPECT_EQ(error("tex.2d.v4.f32.s32 %w1, %w2;"),
            "k: PTX line 5 (tex.2d.v4.f32.s32): found tex.2d.v4.f32.s32, expected an instruction of "
            "operations/table.h");
  EXPECT_THAT(error("add.u33 %w1, %w1, %w1;"), HasSubstr("found add.u33"));
  EXPECT_THAT(error("add.u32 %w1, %w1;"), HasSubstr("found 2 operands, expected 3"));
  EXPECT_THAT(error("add.u32 %w1, %x1, %w1;"), HasSubstr("found a register of 8 bytes, expected 4"));
  EXPECT_THAT(error("add.u32 %w1, %p1, %w1;"), HasSubstr("found a predicate, expected a number"));
  EXPECT_THAT(error("add.f32 %w1, %w1, 1;"), HasSubstr("found an integer, expected a float"));
  EXPECT_THAT(error("add.u32 5, %w1, 1;"), HasSubstr("found no register as destination"));
  EXPECT_THAT(error("add.u32 %w1, %w1, !%w1;"), HasSubstr("found !"));
  EXPECT_THAT(error("mov.u32 %w1, %nonsense;"), HasSubstr("found %nonsense"));
  EXPECT_THAT(error("ld.global.u64 %w1, [%x1];"),
              HasSubstr("found a register of 4 bytes, expected at least 8"));
  EXPECT_THAT(error("ld.global.nd.u32 %w1, [%x1];"), HasSubstr("found .nd, expected a type"));
  EXPECT_THAT(error("ld.shared.nc.u32 %w1, [%x1];"), HasSubstr("found .nc, expected a type"));
  EXPECT_THAT(error("ld.global.v4.u64 {%x1, %x1, %x1, %x1}, [%x1];"), HasSubstr("expected at most 16 bytes"));
  EXPECT_THAT(error("st.global.v2.u32 [%x1], {%w1};"), HasSubstr("found 1 values, expected 2"));
  EXPECT_THAT(error("bar.arrive 0, 64;"), HasSubstr("expected 1 to 1"));
  EXPECT_THAT(error("bar.sync 16;"), HasSubstr("expected a number below 16"));
  EXPECT_THAT(error("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%x1}, {%x1}, {%x1}, {%x1};"),
              HasSubstr("expected a product of"));
  EXPECT_THAT(error("cp.async.cg.shared.global [%w1], [%x1], 8;"), HasSubstr("expected 16 bytes"));
  EXPECT_THAT(error("fence.proxy.async;"), HasSubstr("fence.proxy.async"));
  EXPECT_THAT(error("atom.global.add.b32 %w1, [%x1], 1;"), HasSubstr("expected an atomic operation"));
  EXPECT_THAT(error("add.u32 %w1|%p1, %w1, 1;"), HasSubstr("a second destination"));
}

TEST(PtxLiterals, AreReadInEveryForm) {
  const auto value = [](std::string_view text) { return literal(text).value_or(Operand{}).value; };
  EXPECT_EQ(value("12"), 12U);
  EXPECT_EQ(value("0x1F"), 31U);
  EXPECT_EQ(value("017"), 15U);
  EXPECT_EQ(value("0b101"), 5U);
  EXPECT_EQ(value("7U"), 7U);
  EXPECT_EQ(value("0"), 0U);
  EXPECT_EQ(value("18446744073709551615"), 0xffffffffffffffffU);
  EXPECT_EQ(value("0f3F800000"), bits(1.0F));
  EXPECT_EQ(value("0d3FF0000000000000"), bits(1.0));
  EXPECT_EQ(value("1.5e1"), bits(15.0));
  for (const char* text : {"", "0x", "08", "0f3F8", "12abc", "18446744073709551616", "1.2.3"})
    EXPECT_FALSE(literal(text)) << text;
}

TEST(PtxNames, AreShownAsTheirSourceHasThem) {
  EXPECT_EQ(readable_name("_ZN10draftscope6engine4cuda12_GLOBAL__N_15entryINS1_15AttentionKernelINS1_"
                          "4Bf16ELi32EEEEEvNT_6ParamsE"),
            "entry<AttentionKernel<Bf16, 32>>");
  EXPECT_EQ(readable_name("N10draftscope6engine4cuda10AddOutputsE"), "AddOutputs");
  EXPECT_EQ(readable_name("small"), "small");
}

}  // namespace
}  // namespace draftscope::ptx::test
