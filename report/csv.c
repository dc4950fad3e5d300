/*
 * csv.c - one row a cell, for spreadsheets and data frames. The columns of the block study come first and bear its names, so
 * that rows can be put under those of the author; then ours, with units in their names. Quoted as RFC 4180 says; lines end
 * as the system's do. Numbers do not follow the locale; what is not known is empty. Rows stand in the order of the plan, and
 * the hidden second entry of the baseline is not among them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_text.h"
#include "report/display.h"
#include "report/overlay.h"
#include "report/report.h"

#define MIB 1048576.0

/* What a row is made from. */
struct row {
  const struct plan *plan;
  const struct stat_group *group;
  const struct stat_cell *cell;
  const struct overlay *overlay;
};

static bool is_floor(const struct row *row) { return row->cell->plan->capabilities & WEIR_CAP_FLOOR; }
static const struct plan_demand *demand_of(const struct row *row) { return &row->group->plan->demand; }

/* ---- values -------------------------------------------------------------------------------------------------------- */

/* Any bytes, as UTF-8. */
static void put_text(struct text *out, const char *text) {
  char *encoded = text ? run_text_encode(text) : NULL;
  if (encoded != NULL) text_put(out, encoded);
  free(encoded);
}

static void put_number(struct text *out, double value, unsigned decimals) {
  if (value >= 0 && value < 1e18) text_decimal(out, value, decimals);
}

static void put_positive(struct text *out, double value, unsigned decimals) {
  if (value > 0) put_number(out, value, decimals);
}

static void put_count(struct text *out, uint64_t count) { text_format(out, "%llu", (unsigned long long)count); }

/* ---- the columns of the study -------------------------------------------------------------------------------------- */

static void put_style(const struct row *row, struct text *out) { text_put(out, row->cell->plan->style); }

static void put_access(const struct row *row, struct text *out) {
  text_put(out, demand_of(row)->access == WEIR_RANDOM ? "Rand" : "Seq");
}

static void put_direction(const struct row *row, struct text *out) {
  static const char *const words[] = {[WEIR_READ] = "Inp", [WEIR_WRITE] = "Out", [WEIR_MIXED] = "Mixed"};
  text_put(out, words[demand_of(row)->direction]);
}

/* One pass; 0 when nothing was measured. */
static double pass_mib(const struct row *row) {
  return is_floor(row) ? 0 : row->cell->bytes_per_s * row->cell->elapsed_ns.median / 1e9 / MIB;
}
static void put_mbytes(const struct row *row, struct text *out) { put_positive(out, pass_mib(row), 2); }

static void put_block(const struct row *row, struct text *out) {
  const struct plan_cell *cell = row->cell->plan;
  uint64_t block = demand_of(row)->request_bytes;
  for (unsigned i = 0; i < cell->param_count && block == 0; i++)
    if (strcmp(cell->params[i].name, "block") == 0) block = cell->params[i].value;
  if (block > 0) put_count(out, block);
}

static void put_seconds(const struct row *row, struct text *out) {
  put_positive(out, row->cell->elapsed_ns.median / 1e9, 6);
}
static void put_mbytes_per_s(const struct row *row, struct text *out) {
  if (!is_floor(row)) put_positive(out, row->cell->bytes_per_s / MIB, 3);
}

/* ---- ours ---------------------------------------------------------------------------------------------------------- */

static void put_group(const struct row *row, struct text *out) { put_text(out, row->group->plan->id); }
static void put_cell(const struct row *row, struct text *out) { put_text(out, row->cell->plan->id); }
static void put_method(const struct row *row, struct text *out) { put_text(out, row->cell->plan->method); }

/* "block=64KiB;depth=8" */
static void put_params(const struct row *row, struct text *out) {
  const struct plan_cell *cell = row->cell->plan;
  for (unsigned i = 0; i < cell->param_count; i++) {
    if (i > 0) text_put(out, ";");
    put_text(out, cell->params[i].name);
    text_put(out, "=");
    put_text(out, cell->params[i].text);
  }
}

static void put_threads(const struct row *row, struct text *out) { put_count(out, row->cell->plan->threads); }

static void put_place(const struct row *row, struct text *out) {
  const unsigned members = row->group->plan->demand.members, place = row->cell->plan->place;
  for (unsigned i = place; row->plan->file == NULL && i < row->plan->place_count && i < place + (members ? members : 1); i++) {
    if (i > place) text_put(out, ";");
    put_text(out, row->plan->places[i]);
  }
}

static void put_status(const struct row *row, struct text *out) {
  static const char *const words[] = {"ok", "unavailable", "failed"}; /* enum plan_status */
  bool absent = row->cell->status == PLAN_OK && row->cell->n == 0;
  text_put(out, !absent ? words[row->cell->status] : row->group->plan->dropped ? "dropped" : "unmeasured");
}

static void put_reason(const struct row *row, struct text *out) {
  bool dropped = row->cell->status == PLAN_OK && row->group->plan->dropped;
  put_text(out, dropped ? row->group->plan->drop_reason : row->cell->reason);
}

static void put_n(const struct row *row, struct text *out) { put_count(out, row->cell->n); }

static void put_elapsed(const struct row *row, struct text *out) { put_positive(out, row->cell->elapsed_ns.median, 0); }
static void put_elapsed_low(const struct row *row, struct text *out) {
  if (row->cell->elapsed_ns.known) put_positive(out, row->cell->elapsed_ns.low, 0);
}
static void put_elapsed_high(const struct row *row, struct text *out) {
  if (row->cell->elapsed_ns.known) put_positive(out, row->cell->elapsed_ns.high, 0);
}

static void put_bytes_per_s(const struct row *row, struct text *out) { put_positive(out, row->cell->bytes_per_s, 0); }
static void put_operations_per_s(const struct row *row, struct text *out) {
  put_positive(out, row->cell->operations_per_s, 0);
}

static void put_speed(const struct row *row, struct text *out) { put_positive(out, row->cell->speed_ratio.median, 6); }
static void put_speed_low(const struct row *row, struct text *out) {
  if (row->cell->speed_ratio.known) put_positive(out, row->cell->speed_ratio.low, 6);
}
static void put_speed_high(const struct row *row, struct text *out) {
  if (row->cell->speed_ratio.known) put_positive(out, row->cell->speed_ratio.high, 6);
}

static void put_rank_low(const struct row *row, struct text *out) {
  if (row->cell->ranked) put_count(out, row->cell->rank_low);
}
static void put_rank_high(const struct row *row, struct text *out) {
  if (row->cell->ranked) put_count(out, row->cell->rank_high);
}

static void put_verdict(const struct row *row, struct text *out) { text_put(out, stat_verdict_words[row->cell->verdict]); }
static void put_best(const struct row *row, struct text *out) { text_put(out, row->cell->best ? "true" : "false"); }
static void put_label(const struct row *row, struct text *out) { put_text(out, row->cell->label); }

/* What no sample tells, and what has no samples, is empty. */
static void put_evidence(const struct row *row, struct text *out, double value, unsigned decimals) {
  if (row->cell->n > 0) put_number(out, value, decimals);
}
static void put_resident(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->resident_before, 6); }
static void put_device_read(const struct row *row, struct text *out) {
  put_evidence(row, out, row->cell->device_read_bytes, 0);
}
static void put_device_write(const struct row *row, struct text *out) {
  put_evidence(row, out, row->cell->device_write_bytes, 0);
}
static void put_flushes(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->flushes, 3); }
static void put_cpu(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->cpu_ns, 0); }
static void put_minor(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->minor_faults, 3); }
static void put_major(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->major_faults, 3); }
static void put_peak(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->peak_bytes, 0); }
static void put_allocations(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->allocations, 0); }
static void put_allocated(const struct row *row, struct text *out) {
  put_evidence(row, out, row->cell->allocated_bytes, 0);
}

/* Percentile `i` of the time of an operation. */
static void put_latency(const struct row *row, unsigned i, struct text *out) {
  if (row->cell->latency) put_positive(out, row->cell->latency->percentile_ns[i].median, 1);
}
static void put_latency_low(const struct row *row, unsigned i, struct text *out) {
  if (row->cell->latency && row->cell->latency->percentile_ns[i].known)
    put_positive(out, row->cell->latency->percentile_ns[i].low, 1);
}
static void put_latency_high(const struct row *row, unsigned i, struct text *out) {
  if (row->cell->latency && row->cell->latency->percentile_ns[i].known)
    put_positive(out, row->cell->latency->percentile_ns[i].high, 1);
}
#define PERCENTILE(index, name)                                                                            \
  static void put_##name(const struct row *row, struct text *out) { put_latency(row, index, out); }        \
  static void put_##name##_low(const struct row *row, struct text *out) { put_latency_low(row, index, out); } \
  static void put_##name##_high(const struct row *row, struct text *out) { put_latency_high(row, index, out); }
PERCENTILE(0, p50)
PERCENTILE(1, p90)
PERCENTILE(2, p99)
PERCENTILE(3, p99_9)
PERCENTILE(4, p99_99)
static_assert(STAT_PERCENTILES == 5, "a column each");

static void put_limit(const struct row *row, struct text *out) {
  if (row->cell->limit) text_put(out, row->cell->limit);
}
static void put_limit_percent(const struct row *row, struct text *out) {
  put_positive(out, row->cell->limit_percent, 2);
}
static void put_late(const struct row *row, struct text *out) {
  if (row->cell->latency) put_number(out, row->cell->latency->late_share, 6);
}
static void put_cpu_per_byte(const struct row *row, struct text *out) {
  put_evidence(row, out, row->cell->cpu_ns_per_byte, 4);
}
static void put_cycles(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->cycles, 0); }
static void put_instructions(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->instructions, 0); }
static void put_calls(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->system_calls, 0); }
static void put_voluntary(const struct row *row, struct text *out) {
  put_evidence(row, out, row->cell->voluntary_switches, 3);
}
static void put_involuntary(const struct row *row, struct text *out) {
  put_evidence(row, out, row->cell->involuntary_switches, 3);
}
static void put_growth(const struct row *row, struct text *out) {
  if (row->cell->cache_growth_known) text_decimal(out, row->cell->cache_growth_bytes, 0);
}
static void put_evicted(const struct row *row, struct text *out) { put_evidence(row, out, row->cell->evicted_share, 6); }
static void put_steady(const struct row *row, struct text *out) {
  static const char *const words[] = {"", "true", "false"}; /* enum stat_steadiness */
  text_put(out, words[row->cell->steadiness]);
}

static void put_seed(const struct row *row, struct text *out) {
  text_format(out, "0x%llx", (unsigned long long)row->plan->seed);
}

/* ---- the published figures, where they are asked for --------------------------------------------------------------- */

static const struct overlay_figure *figure_of(const struct row *row) {
  return overlay_find(row->overlay, row->group->plan, row->cell->plan);
}
static void put_published_seconds(const struct row *row, struct text *out) {
  const struct overlay_figure *figure = figure_of(row);
  if (figure != NULL) put_number(out, figure->seconds, 3);
}
static void put_published_speed(const struct row *row, struct text *out) {
  const struct overlay_figure *figure = figure_of(row);
  if (figure != NULL && figure->mb_per_s > 0) put_number(out, figure->mb_per_s, 3);
}

/* ---- the document -------------------------------------------------------------------------------------------------- */

struct column {
  const char *name;
  void (*put)(const struct row *row, struct text *out);
};

static const struct column columns[] = {
    {"Style", put_style},
    {"Access", put_access},
    {"Inp/Out", put_direction},
    {"MBytes", put_mbytes},
    {"BlockSiz", put_block},
    {"Seconds", put_seconds},
    {"MBytes/sec", put_mbytes_per_s},
    {"group", put_group},
    {"cell", put_cell},
    {"method", put_method},
    {"params", put_params},
    {"threads", put_threads},
    {"place", put_place},
    {"status", put_status},
    {"reason", put_reason},
    {"n", put_n},
    {"elapsed_ns_median", put_elapsed},
    {"elapsed_ns_low", put_elapsed_low},
    {"elapsed_ns_high", put_elapsed_high},
    {"bytes_per_s", put_bytes_per_s},
    {"operations_per_s", put_operations_per_s},
    {"speed_ratio_median", put_speed},
    {"speed_ratio_low", put_speed_low},
    {"speed_ratio_high", put_speed_high},
    {"rank_low", put_rank_low},
    {"rank_high", put_rank_high},
    {"verdict", put_verdict},
    {"best", put_best},
    {"label", put_label},
    {"resident_before", put_resident},
    {"device_read_bytes", put_device_read},
    {"device_write_bytes", put_device_write},
    {"flushes", put_flushes},
    {"cpu_ns", put_cpu},
    {"minor_faults", put_minor},
    {"major_faults", put_major},
    {"peak_bytes", put_peak},
    {"seed", put_seed},
    {"allocations", put_allocations},
    {"allocated_bytes", put_allocated},
    {"latency_p50_ns", put_p50},
    {"latency_p50_ns_low", put_p50_low},
    {"latency_p50_ns_high", put_p50_high},
    {"latency_p90_ns", put_p90},
    {"latency_p90_ns_low", put_p90_low},
    {"latency_p90_ns_high", put_p90_high},
    {"latency_p99_ns", put_p99},
    {"latency_p99_ns_low", put_p99_low},
    {"latency_p99_ns_high", put_p99_high},
    {"latency_p99_9_ns", put_p99_9},
    {"latency_p99_9_ns_low", put_p99_9_low},
    {"latency_p99_9_ns_high", put_p99_9_high},
    {"latency_p99_99_ns", put_p99_99},
    {"latency_p99_99_ns_low", put_p99_99_low},
    {"latency_p99_99_ns_high", put_p99_99_high},
    {"late_share", put_late},
    {"limit", put_limit},
    {"limit_percent", put_limit_percent},
    {"cpu_ns_per_byte", put_cpu_per_byte},
    {"cycles", put_cycles},
    {"instructions", put_instructions},
    {"system_calls", put_calls},
    {"voluntary_switches", put_voluntary},
    {"involuntary_switches", put_involuntary},
    {"cache_growth_bytes", put_growth},
    {"evicted_share", put_evicted},
    {"steady", put_steady},
};
static const struct column published[] = {
    {"published_seconds", put_published_seconds},
    {"published_mb_per_s", put_published_speed},
};
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static void write_field(FILE *out, const char *text, bool first) {
  bool quoted = text[strcspn(text, ",\"\r\n")] != '\0' || text[0] == ' ';
  if (!first) putc(',', out);
  if (quoted) putc('"', out);
  for (; *text != '\0'; text++) {
    if (*text == '"') putc('"', out);
    putc(*text, out);
  }
  if (quoted) putc('"', out);
}

static void write_fields(const struct row *row, const struct column *fields, size_t count, bool first, FILE *out) {
  struct text text = {0};
  for (size_t i = 0; i < count; i++) {
    text_clear(&text);
    if (row != NULL) fields[i].put(row, &text);
    write_field(out, row != NULL ? text_string(&text) : fields[i].name, first && i == 0);
  }
  text_release(&text);
}

/* Without a row: the names of the columns. */
static void write_row(const struct row *row, const struct overlay *overlay, FILE *out) {
  write_fields(row, columns, COUNT_OF(columns), true, out);
  if (overlay != NULL) write_fields(row, published, COUNT_OF(published), false, out);
  putc('\n', out);
}

static void write_csv(const struct summary *summary, const struct report_options *options, FILE *out) {
  write_row(NULL, options->overlay, out);
  for (unsigned g = 0; g < summary->group_count; g++) {
    const struct stat_group *group = &summary->groups[g];
    for (unsigned c = 0; c < group->cell_count; c++) {
      const struct row row = {&summary->run->plan, group, &group->cells[c], options->overlay};
      if (!group->cells[c].plan->twin) write_row(&row, options->overlay, out);
    }
  }
}

const struct report report_csv = {.name = "csv",
                                .suffix = ".csv",
                                .summary = "one row a cell, with the columns of the block study",
                                .write = write_csv,
                                .write_comparison = compare_csv};
