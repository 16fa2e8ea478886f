// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu/kernels/wide_products.h"

#include <dlfcn.h>
#include <array>
#include <dnnl.hpp>
#include <exception>
#include <map>
#include <vector>

#include "cpu/processor.h"
#include "numbers/bf16.h"

namespace draftscope::engine::cpu {
namespace {

using dnnl::memory;

/// Key of a primitive: rows, outputs, depth, out_stride.
using Shape = std::array<std::int64_t, 4>;

struct Descriptions {
  memory::desc activations, weights, out;
};

Descriptions describe(memory::data_type type, const Shape& shape) {
  const auto [rows, outputs, depth, out_stride] = shape;
  return {memory::desc({rows, depth}, type, memory::dims{depth, 1}),
          memory::desc({depth, outputs}, type, memory::dims{1, depth}),
          memory::desc({rows, outputs}, memory::data_type::f32, memory::dims{out_stride, 1})};
}

dnnl::matmul make_primitive(const dnnl::engine& engine, const Descriptions& described) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul(
      dnnl::matmul::primitive_desc(engine, described.activations, described.weights, described.out));
#else
  return dnnl::matmul(dnnl::matmul::primitive_desc(
      dnnl::matmul::desc(described.activations, described.weights, described.out), engine));
#endif
}

/// Limits oneDNN to the calling thread, since it otherwise runs on as many OpenMP threads as its caller may
/// start. The function is looked up in the OpenMP runtime that oneDNN has loaded, whichever it is. A build of
/// oneDNN without OpenMP has nothing to limit.
void keep_to_this_thread() {
  static const auto set_num_threads =
      reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set_num_threads != nullptr) set_num_threads(1);
}

float element(const std::byte* values, std::int64_t i, memory::data_type type) {
  if (type == memory::data_type::f32) return load_unaligned<float>(values + 4 * i);
  return bf16_to_float(load_unaligned<std::uint16_t>(values + 2 * i));
}

/// Computes a product that oneDNN refuses. Throws nothing, as required of the body of a thread team.
void plain_product(const WideTask& task, memory::data_type type) {
  for (std::int64_t row = 0; row < task.rows; ++row)
    for (std::int64_t o = 0; o < task.outputs; ++o) {
      float sum = 0.0F;
      for (std::int64_t k = 0; k < task.depth; ++k)
        sum += element(task.weights, o * task.depth + k, type) *
               element(task.activations, row * task.depth + k, type);
      task.out[row * task.out_stride + o] = sum;
    }
}

class OneDnnProducts final : public WideProducts {
 public:
  OneDnnProducts(memory::data_type type, std::int32_t threads)
      : type_(type), engine_(dnnl::engine::kind::cpu, 0) {
    for (std::int32_t thread = 0; thread < threads; ++thread) lanes_.push_back({dnnl::stream(engine_), {}});
  }

  void run(std::int32_t thread, const WideTask& task) override {
    keep_to_this_thread();
    Lane& lane = lanes_[static_cast<std::size_t>(thread)];
    const Shape shape{task.rows, task.outputs, task.depth, task.out_stride};
    const auto at = [&](const memory::desc& description, const void* data) {
      return memory(description, engine_, const_cast<void*>(data));  // The C++ API has no const memory.
    };
    try {
      const Descriptions described = describe(type_, shape);
      auto found = lane.primitives.find(shape);
      if (found == lane.primitives.end())
        found = lane.primitives.emplace(shape, make_primitive(engine_, described)).first;
      found->second.execute(lane.stream, {{DNNL_ARG_SRC, at(described.activations, task.activations)},
                                          {DNNL_ARG_WEIGHTS, at(described.weights, task.weights)},
                                          {DNNL_ARG_DST, at(described.out, task.out)}});
      lane.stream.wait();
    } catch (const std::exception&) {  // exception of oneDNN, or out of memory
      plain_product(task, type_);
    }
  }

 private:
  struct Lane {
    dnnl::stream stream;
    std::map<Shape, dnnl::matmul> primitives;
  };
  memory::data_type type_;
  dnnl::engine engine_;
  std::vector<Lane> lanes_;
};

}  // namespace

std::unique_ptr<WideProducts> make_wide_products(DType dtype, std::int32_t threads) {
  // oneDNN supports fp16 on few processors. Without VDPBF16PS it emulates bf16, which is slower than our
  // widening.
  if (dtype == DType::f16 || (dtype == DType::bf16 && !instruction_sets().avx512_bf16)) return nullptr;
  const auto type = dtype == DType::f32 ? memory::data_type::f32 : memory::data_type::bf16;
  try {
    return std::make_unique<OneDnnProducts>(type, threads);
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

}  // namespace draftscope::engine::cpu
