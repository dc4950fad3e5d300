/*
 * ifstream.cpp - C++ streams as contenders: std::getline into one string, and blocks by read.
 */
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "passes.h"

namespace {

uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

int run_lines(void *, const weir_job *job, weir_flow *flow, uint64_t budget) {
  const uint64_t limit = budget < job->operations ? budget * job->block : job->part_length;
  passes pieces = passes_begin(flow);
  std::ifstream file(job->path, std::ios::binary);
  std::string line;
  if (!file) return -ENOENT;
  while (pieces.offset < limit && std::getline(file, line)) {
    if (!file.eof()) line.push_back('\n'); /* so that all bytes of the file are delivered */
    passes_deliver(&pieces, line.data(), line.size());
  }
  passes_end(&pieces);
  flow->operations = least(budget, job->operations);
  return file.bad() ? -EIO : 0;
}

int run_blocks(void *, const weir_job *job, weir_flow *flow, uint64_t budget) {
  const uint64_t count = least(budget, job->operations);
  std::vector<char> block(static_cast<size_t>(job->block));
  std::ifstream file(job->path, std::ios::binary);
  if (!file) return -ENOENT;
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    const size_t length = weir_order_length(job, offset);
    if (!file.read(block.data(), static_cast<std::streamsize>(length))) return -EIO;
    weir_deliver(flow, offset, block.data(), length);
    weir_operation_end(flow, began);
  }
  return 0;
}

weir_param block_param() {
  weir_param p{};
  p.name = "block";
  p.kind = WEIR_PARAM_SIZE;
  p.preset = "256KiB";
  p.min = 1;
  p.max = 1 << 30;
  p.tasks = p.accesses = p.durabilities = WEIR_ANY;
  p.help = "bytes a request";
  return p;
}
const weir_param params[] = {block_param()};

weir_method method(const char *name, const char *summary, uint32_t tasks, decltype(weir_method::run) run) {
  weir_method m{};
  m.abi = WEIR_METHOD_ABI;
  m.struct_size = sizeof m;
  m.name = name;
  m.summary = summary;
  m.calls = "std::ifstream";
  m.tasks = tasks;
  m.directions = WEIR_BIT(WEIR_READ);
  m.accesses = WEIR_BIT(WEIR_SEQUENTIAL);
  m.durabilities = WEIR_BIT(WEIR_DURABILITY_NONE);
  m.state_size = 1;
  m.run = run;
  return m;
}

weir_method with_block(weir_method m) {
  m.params = params;
  m.param_count = 1;
  return m;
}

const weir_method lines = method("ifstream/getline", "line by line", WEIR_BIT(WEIR_TASK_WHOLE), run_lines);
const weir_method blocks = with_block(method("ifstream/read", "block by block", WEIR_BIT(WEIR_TASK_BLOCKS), run_blocks));
const weir_method *const all[] = {&lines, &blocks, nullptr};

}  // namespace

extern "C" const weir_method *const *weir_plugin_methods(uint32_t abi);
extern "C" const weir_method *const *weir_plugin_methods(uint32_t abi) { return abi == WEIR_METHOD_ABI ? all : nullptr; }
