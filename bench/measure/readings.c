/* readings.c - what the system counts around the timed window. */
#include "measure/readings.h"

/* The counters of all devices that the files lie on, added up. */
static bool read_devices(const struct worker_order *order, struct os_device_counters *out) {
  *out = (struct os_device_counters){.flushes_known = true};
  for (unsigned i = 0; i < order->file_count; i++) {
    struct os_device_counters one;
    unsigned first = 0;
    while (order->files[first].device != order->files[i].device) first++;
    if (first < i) continue; /* several members on one device */
    if (os_device_counters(order->files[i].device, &one) < 0) return false;
    out->read_bytes += one.read_bytes;
    out->write_bytes += one.write_bytes;
    out->flushes += one.flushes;
    out->flushes_known = out->flushes_known && one.flushes_known;
  }
  return true;
}

void readings_before(const struct worker_order *order, struct os_cycles *cycles, bool children, struct readings *out) {
  out->has_device = read_devices(order, &out->device);
  os_pressure(&out->pressure);
  out->own_read_bytes = os_storage_read_bytes();
  os_cycles_read(cycles, &out->cycles, &out->instructions);
  os_usage(&out->usage);
  if (children) os_usage_add_children(&out->usage);
}

void readings_after(const struct worker_order *order, struct os_cycles *cycles, bool children, struct readings *out) {
  os_usage(&out->usage);
  if (children) os_usage_add_children(&out->usage);
  os_cycles_read(cycles, &out->cycles, &out->instructions);
  out->own_read_bytes = os_storage_read_bytes();
  out->has_device = read_devices(order, &out->device);
  os_pressure(&out->pressure);
}

static int64_t grown(int64_t before, int64_t after) { return before < 0 || after < 0 ? -1 : after - before; }

static void record_usage(struct worker_order *order, const struct readings *a, const struct readings *b) {
  struct sample *s = &order->sample;
  s->cpu_ns = b->usage.cpu_ns - a->usage.cpu_ns;
  s->minor_faults = b->usage.minor_faults - a->usage.minor_faults;
  s->major_faults = b->usage.major_faults - a->usage.major_faults;
  s->voluntary_switches = b->usage.voluntary_switches - a->usage.voluntary_switches;
  s->involuntary_switches = b->usage.involuntary_switches - a->usage.involuntary_switches;
  s->steal_ns = grown(a->pressure.steal_ns, b->pressure.steal_ns);
  s->cpu_stall_ns = grown(a->pressure.cpu_stall_ns, b->pressure.cpu_stall_ns);
  s->io_stall_ns = grown(a->pressure.io_stall_ns, b->pressure.io_stall_ns);
  s->memory_stall_ns = grown(a->pressure.memory_stall_ns, b->pressure.memory_stall_ns);
  s->cycles = grown(a->cycles, b->cycles);
  s->instructions = grown(a->instructions, b->instructions);
}

/*
 * Reads: what this process made the device read; all else that the device did meanwhile is foreign. Writes leave a process
 * through the page cache and other threads of the kernel, so only the device itself knows.
 */
static void record_device(struct worker_order *order, const struct readings *a, const struct readings *b, bool reader) {
  struct sample *s = &order->sample;
  int64_t own = grown(a->own_read_bytes, b->own_read_bytes);
  s->device_read_bytes = own;
  s->device_write_bytes = s->flushes = s->foreign_bytes = -1;
  if (!a->has_device || !b->has_device) return;
  int64_t read = (int64_t)(b->device.read_bytes - a->device.read_bytes);
  int64_t written = (int64_t)(b->device.write_bytes - a->device.write_bytes);
  s->device_read_bytes = own >= 0 && own < read ? own : read;
  s->device_write_bytes = written;
  if (a->device.flushes_known && b->device.flushes_known) s->flushes = (int64_t)(b->device.flushes - a->device.flushes);
  s->foreign_bytes = read - s->device_read_bytes + (reader ? written : 0);
}

void readings_record(struct worker_order *order, const struct readings *before, const struct readings *after, bool reader) {
  record_usage(order, before, after);
  record_device(order, before, after, reader);
}
