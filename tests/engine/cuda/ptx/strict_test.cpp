// SPDX-License-Identifier: GPL-3.0-or-later
// Every fault that the device looks for, provoked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "small_kernel.h"

namespace draftscope::ptx::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string spaces = ".shared .align 16 .b8 buffer[1024]; .local .align 16 .b8 own[64];";

std::string error_of(const std::string& body, std::uint32_t threads = 1, const std::string& result = "%w0") {
  const Result<LaneValues> ran =
      run_lanes({.body = body, .result = result, .declarations = spaces}, {}, threads);
  const std::string error = ran ? "no error" : ran.error().message;
  EXPECT_LT(error.size(), 300U) << error;
  return error;
}

TEST(PtxFaults, SayWhereTheyAre) {
  EXPECT_THAT(
      error_of("add.u64 %x1, %in, 2;\nld.global.u32 %w0, [%x1];"),
      AllOf(HasSubstr("small: PTX line "), HasSubstr("(ld.global.u32), block 0, thread 0: reads 4 bytes"),
            HasSubstr("expected a multiple of 4")));
  EXPECT_THAT(error_of("setp.ne.u32 %p0, %thread, 37; @%p0 bra GO; trap; GO: mov.u32 %w0, 1;", 64),
              HasSubstr("thread 37: reaches trap"));
}

TEST(PtxFaults, NameTheLineOfSource) {
  Device device;
  ASSERT_TRUE(
      device.load("source", module_text(".file 3 \"folder/kernel.h\"\n.entry k() {\n.loc 3 41 7\ntrap;\n}")));
  const auto ran = device.launch({.entry = "k"});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message,
            "k: PTX line 7 (trap, kernel.h:41), block 0, thread 0: reaches trap, expected the kernel "
            "not to give up");
}

std::string conditions_set;

bool note_condition(std::uint64_t handle, bool value) {
  conditions_set += std::to_string(handle) + (value ? "+" : "-");
  return handle == 7;
}

/// A kernel that sets the condition `handle` in the threads below `n`, on a device whose graphs have them.
std::string set_condition(int handle, int n, SetCondition conditions = note_condition,
                          const std::string& function = "cudaGraphSetConditional") {
  conditions_set.clear();
  Device device({.set_condition = conditions});
  const std::string name = function;
  const auto loaded = device.load(
      "set", module_text(".extern .func " + name + "(.param .b64 " + name + "_param_0, .param .b32 " + name +
                         "_param_1);\n.entry k() {\n.reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
                         "mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, " +
                         std::to_string(n) + "; @%p1 bra END; mov.u64 %rd1, " + std::to_string(handle) +
                         ";\n{ .reg .b32 temp_param_reg; .param .b64 param0; st.param.b64 [param0+0], %rd1;\n"
                         ".param .b32 param1; st.param.b32 [param1+0], 1;\ncall.uni " +
                         name + ", (param0, param1); }\nEND: ret; }"));
  if (!loaded) return loaded.error().message;
  const auto ran = device.launch({.entry = "k", .threads = {32}});
  return ran ? "no error" : ran.error().message;
}

TEST(PtxFaults, AreConditionsThatNoGraphHasOrSeveralThreadsSet) {
  EXPECT_EQ(set_condition(7, 1), "no error");
  EXPECT_EQ(conditions_set, "7+");
  EXPECT_THAT(set_condition(8, 1), HasSubstr("condition 0x8, expected that of a graph's node"));
  EXPECT_THAT(set_condition(7, 2), HasSubstr("lanes 0x3 set a graph's condition, expected one thread"));
  EXPECT_THAT(set_condition(7, 1, nullptr), HasSubstr("expected that of a graph's node"));
  EXPECT_THAT(set_condition(7, 1, note_condition, "another"),
              HasSubstr("found another function, expected cudaGraphSetConditional"));
}

TEST(PtxFaults, AreAccessesThatAreNotAligned) {
  EXPECT_THAT(error_of("ld.global.v4.u32 {%w0, %w1, %w2, %w3}, [%in+8];"),
              HasSubstr("expected a multiple of 16"));
  EXPECT_THAT(error_of("st.shared.v2.u32 [buffer+4], {%w1, %w2};"), HasSubstr("expected a multiple of 8"));
  EXPECT_THAT(error_of("cp.async.cg.shared.global [buffer], [%in+8], 16;"),
              HasSubstr("expected a multiple of 16"));
}

TEST(PtxFaults, AreAccessesOutOfBounds) {
  EXPECT_THAT(error_of("ld.global.u32 %w0, [%in+40];"),
              AllOf(HasSubstr("in + 40 of 40 bytes"), HasSubstr("expected to stay within an allocation")));
  EXPECT_THAT(error_of("mov.u64 %x1, 64; ld.global.u32 %w0, [%x1];"), HasSubstr("no allocation"));
  EXPECT_THAT(error_of("st.global.v4.u32 [%out], {%w1, %w1, %w1, %w1};"), HasSubstr("out + 0 of 8 bytes"));
  EXPECT_THAT(error_of("st.shared.u32 [buffer+1024], %w1;"), HasSubstr("expected within its 1024 bytes"));
  EXPECT_THAT(error_of("st.shared.u32 [0], %w1;"), HasSubstr("shared memory"));
  EXPECT_THAT(error_of("ld.local.u32 %w0, [own+64];"), HasSubstr("expected within its 64 bytes"));
  EXPECT_THAT(error_of("ld.param.u64 %x0, [from+8];"), HasSubstr("expected within their 16 bytes"));
  EXPECT_THAT(error_of("ld.param.u64 %x0, [from+-16];"), HasSubstr("of the parameters"));
}

TEST(PtxFaults, AreValuesThatNobodyWroteWhereTheyMatter) {
  EXPECT_THAT(error_of("mov.u32 %w0, %w9;"), HasSubstr("out + 0, which nobody wrote"));
  EXPECT_THAT(error_of("ld.shared.u32 %w0, [buffer];"), HasSubstr("nobody wrote"));
  EXPECT_THAT(error_of("ld.local.u32 %w0, [own];"), HasSubstr("nobody wrote"));
  EXPECT_THAT(error_of("setp.eq.u32 %p0, %w9, 1; @%p0 bra HERE; HERE: mov.u32 %w0, 1;"),
              HasSubstr("a condition from a value that nobody wrote"));
  EXPECT_THAT(error_of("ld.shared.u64 %x8, [buffer]; ld.global.u32 %w0, [%x8];"),
              HasSubstr("an address from a value that nobody wrote (PTX line"));
  EXPECT_THAT(error_of("shfl.sync.idx.b32 %w0, 1, 0, 31, %w9;"),
              HasSubstr("a mask of lanes from a value that nobody wrote"));
  // One byte of four is missing.
  EXPECT_THAT(
      error_of("st.shared.v2.u8 [buffer], {1, 2}; st.shared.u8 [buffer+3], 4; ld.shared.u32 %w0, [buffer];"),
      HasSubstr("nobody wrote"));
}

TEST(PtxFaults, AreNotValuesThatArePassedOnAlone) {
  EXPECT_EQ(
      error_of(
          "ld.shared.v2.u32 {%w8, %w9}, [buffer]; st.shared.v2.u32 [buffer+8], {%w8, %w9}; mov.u32 %w0, 1;"),
      "no error");
  EXPECT_EQ(error_of("setp.eq.u32 %p0, 1, 1; selp.b32 %w0, 5, %w9, %p0;"), "no error");
}

TEST(PtxFaults, AreNotPredicatesThatDecideNothing) {
  const std::string end = "@%p0 bra HERE; HERE: mov.u32 %w0, 1;";
  EXPECT_EQ(error_of("setp.eq.u32 %p0, 1, 2; and.pred %p0, %p0, %p9; " + end), "no error");
  EXPECT_EQ(error_of("setp.eq.u32 %p0, 1, 1; or.pred %p0, %p9, %p0; " + end), "no error");
  EXPECT_THAT(error_of("setp.eq.u32 %p0, 1, 1; and.pred %p0, %p0, %p9; " + end),
              HasSubstr("a condition from a value that nobody wrote"));
  EXPECT_THAT(error_of("setp.eq.u32 %p0, 1, 2; or.pred %p0, %p9, %p0; " + end),
              HasSubstr("a condition from a value that nobody wrote"));
}

TEST(PtxFaults, AreLanesThatShuffleWithoutEachOther) {
  // Lane 3 has ended, and others read from it.
  EXPECT_THAT(
      error_of(
          "setp.eq.u32 %p0, %thread, 3; mov.u64 %scratch, 0; @%p0 st.global.b64 [%out], %scratch; @%p0 exit;"
          "shfl.sync.bfly.b32 %w0, 1, 1, 31, 0xffffffff;",
          32),
      HasSubstr("out + 16, which nobody wrote"));
  EXPECT_THAT(error_of("setp.lt.u32 %p0, %thread, 16; mov.u32 %w0, 0; @%p0 bra LOW; bar.sync 0; bra END;"
                       "LOW: shfl.sync.idx.b32 %w0, 1, 0, 31, 0xffffffff; END: mov.u32 %w0, 1;",
                       32),
              HasSubstr("wait for others"));
  EXPECT_THAT(error_of("setp.lt.u32 %p0, %thread, 16; selp.b32 %w1, 0xffffffff, 0xffff0000, %p0;"
                       "shfl.sync.idx.b32 %w0, 1, 0, 31, %w1;",
                       32),
              HasSubstr("expected the same"));
  EXPECT_THAT(error_of("shfl.sync.idx.b32 %w0, 1, 0, 31, 0xfffffffe;", 32),
              HasSubstr("without the lane itself"));
  EXPECT_THAT(error_of("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%w0,%w1,%w2,%w3}, {%w4,%w5}, "
                       "{%w4}, {%w1,%w2,%w3,%w4};",
                       16),
              HasSubstr("expected all 32 of the warp"));
}

TEST(PtxFaults, AreBarriersThatAPartReaches) {
  // Half a warp at one barrier, half at another.
  EXPECT_THAT(error_of("setp.lt.u32 %p0, %thread, 16; mov.u32 %w0, 0; @%p0 bra LOW; bar.sync 0; bra END; "
                       "LOW: bar.sync 0; END: mov.u32 %w0, 1;",
                       32),
              HasSubstr("expected all at one"));
  // One warp at barrier 0, one at barrier 1.
  EXPECT_THAT(error_of("setp.lt.u32 %p0, %thread, 32; mov.u32 %w0, 0; @%p0 bra LOW; bar.sync 0; bra END; "
                       "LOW: bar.sync 1; END: mov.u32 %w0, 1;",
                       64),
              HasSubstr("expected all at one"));
  // Different barriers of one number, each reached by whole warps, are one barrier; ended threads hold nobody
  // up.
  EXPECT_EQ(error_of("setp.lt.u32 %p0, %thread, 32; mov.u32 %w0, 0; @%p0 bra LOW; bar.sync 0; bra END; LOW: "
                     "bar.sync 0; END: mov.u32 %w0, 1;",
                     64),
            "no error");
  EXPECT_EQ(error_of("setp.lt.u32 %p0, %thread, 40; mov.u64 %scratch, 0; @%p0 st.global.b64 [%out], "
                     "%scratch; @%p0 exit; bar.sync 0; mov.u32 %w0, 1;",
                     64),
            "no error");
}

TEST(PtxFaults, AreKernelsWithoutAnEnd) {
  EXPECT_THAT(error_of("AGAIN: bra AGAIN; mov.u32 %w0, 1;"), HasSubstr("no end after 100000 instructions"));
}

std::string race(const std::string& body, std::uint32_t threads = 64) {
  const std::string place =
      "mov.u32 %w2, buffer; shl.b32 %w3, %thread, 2; add.u32 %w2, %w2, %w3; mov.u32 %w0, 1;\n";
  return error_of(place + body, threads);
}

TEST(PtxFaults, AreRacesInSharedMemory) {
  const std::string others =
      "xor.b32 %w4, %w3, 128; mov.u32 %w5, buffer; add.u32 %w4, %w4, %w5;\n";  // of the other warp
  EXPECT_THAT(race(others + "st.shared.u32 [%w2], 1; ld.shared.u32 %w6, [%w4];"),
              HasSubstr("between the same barriers"));
  EXPECT_THAT(race("st.shared.u32 [buffer], 1;"), HasSubstr("between the same barriers"));
  EXPECT_THAT(
      race("st.shared.u32 [%w2], 1; bar.sync 0; ld.shared.u32 %w6, [buffer]; st.shared.u32 [buffer], 1;"),
      HasSubstr("between the same barriers"));
  // An atomic beside a plain read.
  EXPECT_THAT(race("red.shared.or.b32 [buffer], 1; ld.shared.u32 %w6, [buffer];"),
              HasSubstr("between the same barriers"));
  // Bytes of one word, each a warp's own, and then not.
  EXPECT_EQ(race("setp.lt.u32 %p0, %thread, 32; mov.u32 %w5, buffer; @%p0 st.shared.u8 [%w5], 1; @!%p0 "
                 "st.shared.u8 [%w5+1], 1;"),
            "no error");
  EXPECT_THAT(race("setp.lt.u32 %p0, %thread, 32; mov.u32 %w5, buffer; @%p0 st.shared.u16 [%w5], 1; @!%p0 "
                   "st.shared.u8 [%w5+1], 1;"),
              HasSubstr("between the same barriers"));
  EXPECT_EQ(race(others + "st.shared.u32 [%w2], 1; bar.sync 0; ld.shared.u32 %w6, [%w4];"), "no error");
  EXPECT_EQ(race("red.shared.or.b32 [buffer], 1; bar.sync 0; ld.shared.u32 %w6, [buffer];"), "no error");
  EXPECT_EQ(race("st.shared.u32 [%w2], 1; ld.shared.u32 %w6, [%w2];"), "no error");
}

TEST(PtxFaults, AreCopiesWhoseSourceChanges) {
  EXPECT_THAT(error_of("cp.async.ca.shared.global [buffer], [%in], 8; st.global.u32 [%in], 5; "
                       "cp.async.wait_all; mov.u32 %w0, 1;"),
              HasSubstr("which changed before its wait"));
}

TEST(PtxFaults, AreUsesOfBytesThatACopyIsOnItsWayTo) {
  const std::string copy = "cp.async.ca.shared.global [buffer], [%in], 8;";
  const auto on_its_way = HasSubstr("which a cp.async is on its way to, expected a wait for its group first");
  EXPECT_THAT(error_of(copy + "ld.shared.u32 %w0, [buffer+4];"), on_its_way);
  EXPECT_THAT(error_of(copy + "ld.shared.u8 %w0, [buffer+7];"), on_its_way);
  EXPECT_THAT(error_of(copy + "cp.async.commit_group; ld.shared.u32 %w0, [buffer];"), on_its_way);
  EXPECT_THAT(error_of(copy + "cp.async.wait_group 0; ld.shared.u32 %w0, [buffer];"), on_its_way);
  EXPECT_THAT(error_of(copy + "st.shared.u32 [buffer], 1;"), on_its_way);
  EXPECT_THAT(error_of(copy + "cp.async.ca.shared.global [buffer+4], [%in+4], 4;"), on_its_way);
  EXPECT_EQ(error_of(copy + "cp.async.wait_all; ld.shared.u32 %w0, [buffer];"), "no error");
  EXPECT_EQ(error_of(copy + "st.shared.u32 [buffer+8], 1; mov.u32 %w0, 1;"), "no error");
  // A barrier is no wait: only the lane that copies can wait for it.
  const std::string other_warp =
      "setp.ne.u32 %p0, %thread, 0; @%p0 bra OTHERS;" + copy + "cp.async.commit_group; OTHERS: bar.sync 0;";
  EXPECT_THAT(error_of(other_warp + "ld.shared.u32 %w0, [buffer];", 64), on_its_way);
  const std::string waited =
      "setp.ne.u32 %p0, %thread, 0; @%p0 bra OTHERS;" + copy + "cp.async.wait_all; OTHERS: bar.sync 0;";
  EXPECT_EQ(error_of(waited + "ld.shared.u32 %w0, [buffer];", 64), "no error");
}

TEST(PtxFaults, AreStoresToWhatIsReadAsConstant) {
  EXPECT_THAT(error_of("ld.global.nc.u32 %w0, [%in]; st.global.u32 [%in], 1;"),
              HasSubstr("which ld.global.nc reads in the same grid"));
  EXPECT_THAT(error_of("st.global.u32 [%in], 1; ld.global.nc.u32 %w0, [%in];"), HasSubstr("by ld.global.nc"));
  EXPECT_EQ(error_of("ld.global.nc.u32 %w0, [%in]; st.global.u32 [%in+4], 1;"), "no error");
}

/// Kernels that follow one another, each with a body over [%memory], which holds four words.
class KernelChain {
 public:
  explicit KernelChain(const std::vector<std::string>& bodies) {
    std::string text;
    for (std::size_t i = 0; i < bodies.size(); ++i)
      text += ".entry kernel" + std::to_string(i) +
              "(.param .u64 at) { .reg .b64 %memory; .reg .b32 %w<4>;\n" + "ld.param.u64 %memory, [at];\n" +
              bodies[i] + "\nret; }\n";
    EXPECT_TRUE(device_.load("chain", module_text(text)));
    memory_ = device_.allocate("memory", 16).value();
    EXPECT_TRUE(device_.clear(memory_, 16));
  }

  std::string run(std::size_t kernel, bool may_start_early) {
    const std::string name = "kernel" + std::to_string(kernel);
    LaunchRequest request{.entry = name, .may_start_early = may_start_early};
    request.parameters = {std::as_bytes(std::span(&memory_, 1))};
    const auto ran = device_.launch(request);
    return ran ? "no error" : ran.error().message;
  }
  void copy() { EXPECT_TRUE(device_.clear(memory_, 4)); }

 private:
  Device device_;
  std::byte* memory_ = nullptr;
};

const std::string write_first = "griddepcontrol.wait; st.global.u32 [%memory], 1;";
const std::string nothing = "griddepcontrol.wait;";
const std::string read_early = "ld.global.u32 %w0, [%memory]; griddepcontrol.wait;";
const std::string read_late = "griddepcontrol.wait; ld.global.u32 %w0, [%memory];";

TEST(PtxEarlyKernels, ReadWhatOthersWriteBehindTheirWaitAlone) {
  KernelChain chain(
      {write_first, nothing, read_early, read_late, "ld.global.u32 %w0, [%memory+4]; griddepcontrol.wait;"});
  EXPECT_EQ(chain.run(0, true), "no error");
  EXPECT_EQ(chain.run(1, true), "no error");
  EXPECT_EQ(chain.run(3, true), "no error");
  EXPECT_EQ(chain.run(4, true), "no error");
  EXPECT_THAT(chain.run(2, true), AllOf(HasSubstr("reads memory + 0 before griddepcontrol.wait"),
                                        HasSubstr("a kernel 4 launches before")));
}

TEST(PtxEarlyKernels, MayReadEarlyWhatACopyBrought) {
  KernelChain chain({write_first, read_early});
  EXPECT_EQ(chain.run(0, true), "no error");
  chain.copy();
  EXPECT_EQ(chain.run(1, true), "no error");
}

TEST(PtxEarlyKernels, AreHeldBackByOneThatMayNotStartEarly) {
  KernelChain chain({write_first, nothing, read_early});
  EXPECT_EQ(chain.run(0, true), "no error");
  EXPECT_EQ(chain.run(1, false), "no error");
  EXPECT_EQ(chain.run(2, true), "no error");
  EXPECT_EQ(chain.run(0, false), "no error");
  EXPECT_THAT(chain.run(2, true), HasSubstr("before griddepcontrol.wait"));
}

TEST(PtxEarlyKernels, MustWaitAndWriteNothingBefore) {
  KernelChain chain({"st.global.u32 [%memory], 1; griddepcontrol.wait;", "mov.u32 %w0, 1;",
                     "red.global.add.u32 [%memory], 1; griddepcontrol.wait;",
                     "griddepcontrol.wait; ld.global.nc.u32 %w0, [%memory];", write_first});
  EXPECT_THAT(chain.run(0, true), HasSubstr("writes memory + 0 before griddepcontrol.wait"));
  EXPECT_THAT(chain.run(1, true), HasSubstr("ends without griddepcontrol.wait"));
  EXPECT_THAT(chain.run(2, true), HasSubstr("changes memory + 0 before griddepcontrol.wait"));
  EXPECT_EQ(chain.run(0, false), "no error");
  EXPECT_EQ(chain.run(1, false), "no error");
  EXPECT_EQ(chain.run(3, true), "no error");
  EXPECT_EQ(chain.run(4, true), "no error");
  EXPECT_THAT(chain.run(3, true), HasSubstr("by ld.global.nc, which a kernel 1 launches before writes"));
}

TEST(PtxLaunches, AreRefusedWhereTheyDoNotFitTheKernel) {
  Device device({.max_shared_bytes = 2048});
  ASSERT_TRUE(device.load("bounds",
                          module_text(".extern .shared .align 16 .b8 more[];\n"
                                      ".entry k(.param .u32 x, .param .u64 y) .maxntid 64, 1, 1 { ret; }")));
  const std::vector<std::byte> four(4);
  const std::vector<std::byte> eight(8);
  const auto error = [&](LaunchRequest request) {
    const auto ran = device.launch(request);
    return ran ? std::string("no error") : ran.error().message;
  };
  EXPECT_EQ(error({.entry = "k", .threads = {64}, .shared_bytes = 2048, .parameters = {four, eight}}),
            "no error");
  EXPECT_THAT(error({.entry = "k", .threads = {96}, .parameters = {four, eight}}),
              HasSubstr("expected 1 to 64"));
  EXPECT_THAT(error({.entry = "k", .shared_bytes = 4096, .parameters = {four, eight}}),
              HasSubstr("shared memory"));
  EXPECT_THAT(error({.entry = "k", .parameters = {four}}), HasSubstr("expected 2"));
  EXPECT_THAT(error({.entry = "k", .parameters = {four, four}}), HasSubstr("expected 8"));
  EXPECT_THAT(error({.entry = "other"}), HasSubstr("no such kernel"));
}

TEST(PtxHostCopies, StayWithinAllocationsAndRefuseWhatNobodyWrote) {
  Device device;
  std::byte* const memory = device.allocate("memory", 8).value();
  std::byte* const other = device.allocate("other", 8).value();
  std::uint64_t value = 5;
  EXPECT_FALSE(device.download(&value, memory, 8));
  ASSERT_TRUE(device.upload(memory, &value, 4));
  EXPECT_FALSE(device.download(&value, memory, 8));
  EXPECT_TRUE(device.download(&value, memory, 4));
  EXPECT_FALSE(device.upload(memory + 4, &value, 8));
  ASSERT_TRUE(device.copy(other, memory, 8));
  EXPECT_TRUE(device.download(&value, other, 4));
  EXPECT_FALSE(device.download(&value, other, 8));
  device.release(memory);
  EXPECT_FALSE(device.clear(memory, 8));
}

}  // namespace
}  // namespace draftscope::ptx::test
