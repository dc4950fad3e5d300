/*
 * table.c - the answer on a terminal: who is fastest, with ties, what it rests on and what could not be tried. It looks
 * numbers up and gives them a unit; it computes no statistic.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/ascii.h"
#include "report/claims_text.h"
#include "report/compare_text.h"
#include "report/page.h"

#define WIDTH_PRESET 100u
#define WIDTH_LEAST 40u

/* ---- groups -------------------------------------------------------------------------------------------------------- */

void page_put_heading(const struct page *page, struct text *left, struct text *right) {
  static const char *const rank_words[] = {"", " · ranked by transfer time", " · ranked by CPU time", " · ranked by memory"};
  const struct stat_group *group = page->group;
  text_name(left, group->plan->title);
  if (!group->plan->dropped) text_format(left, " · %u round%s", group->rounds, group->rounds == 1 ? "" : "s");
  text_put(left, rank_words[page->summary->run->plan.rank_by]);
  if (group->baseline < 0) return;
  text_put(right, "baseline: ");
  text_name(right, group->cells[group->baseline].plan->id);
}

static void print_heading(const struct page *page) {
  struct text left = {0}, right = {0};
  page_put_heading(page, &left, &right);
  size_t used = display_width(text_string(&left)), tail = display_width(text_string(&right));
  page_style_on(page, STYLE_BOLD);
  fputs(text_string(&left), page->out);
  page_style_off(page, STYLE_BOLD);
  if (tail > 0 && used + tail + PAGE_GAP > page->width) {
    putc('\n', page->out);
    used = 0;
  }
  if (tail > 0) {
    display_fill(page->out, used + tail < page->width ? page->width - used - tail : 0);
    fputs(text_string(&right), page->out);
  }
  putc('\n', page->out);
  text_release(&left);
  text_release(&right);
}

/* The unit in which the fastest of the group reads well serves for all. */
void page_choose_units(struct page *page) {
  double rate = 0, operations = 0;
  for (unsigned i = 0; i < page->group->cell_count; i++) {
    const struct stat_cell *cell = &page->group->cells[i];
    if (page_is_floor(cell) || !page_is_measured(cell)) continue;
    rate = fmax(rate, cell->bytes_per_s);
    operations = fmax(operations, cell->operations_per_s);
  }
  page->has_rate = rate > 0;
  page->rate.factor = rate >= PAGE_GIB ? PAGE_GIB : rate >= PAGE_GIB / 1024 ? PAGE_GIB / 1024 : PAGE_GIB / 1024 / 1024;
  page->rate.name = rate >= PAGE_GIB ? "GiB/s" : rate >= PAGE_GIB / 1024 ? "MiB/s" : "KiB/s";
  page->operations.factor = operations >= 1e6 ? 1e6 : operations >= 1e3 ? 1e3 : 1;
  page->operations.name = operations >= 1e6 ? "M op/s" : operations >= 1e3 ? "k op/s" : "op/s";
}

void page_dropped(const struct page *page) {
  struct text text = {0};
  text_put(&text, "not measured: ");
  text_name(&text, page->group->plan->drop_reason[0] ? page->group->plan->drop_reason : "no reason is known");
  page_sentence(page, " ", text_string(&text));
  text_release(&text);
}

static void print_group(struct page *page) {
  page_choose_units(page);
  putc('\n', page->out);
  print_heading(page);
  if (page->group->plan->dropped) {
    page_dropped(page);
    return;
  }
  page_rows(page);
  putc('\n', page->out);
  if (page_has_latency(page)) {
    page_latency(page);
    page_latency_notes(page);
    putc('\n', page->out);
  }
  page_absences(page);
  page_answer(page);
  page_advice(page);
  page_certainty(page);
  page_steadiness(page);
  page_evidence(page);
}

/* ---- head and foot of the page ------------------------------------------------------------------------------------- */

static void put_part(struct text *out, const char *before, const char *part, const char *after) {
  if (part == NULL || part[0] == '\0') return;
  if (out->length > 0) text_put(out, " · ");
  text_put(out, before);
  page_put_glued(out, part);
  text_put(out, after);
}

static void put_place(struct text *out, const struct run *run) {
  const char *prefix = run->plan.file ? "file" : "place.0";
  char name[48];
  snprintf(name, sizeof name, "%s.file_system", prefix);
  const char *file_system = run_fact_text(run, name);
  snprintf(name, sizeof name, "%s.device", prefix);
  const char *device = run_fact_text(run, name);
  if (file_system == NULL || file_system[0] == '\0') return;
  put_part(out, "", file_system, "");
  if (device == NULL || device[0] == '\0') return;
  text_put(out, DISPLAY_GLUE "on" DISPLAY_GLUE);
  page_put_glued(out, device);
  const unsigned members = run->plan.group_count ? run->plan.groups[0].demand.members : 0;
  if (members) text_format(out, DISPLAY_GLUE "and" DISPLAY_GLUE "%u" DISPLAY_GLUE "more", members - 1);
}

static void print_interrupted(const struct page *page) {
  const struct summary *summary = page->summary;
  if (page_is_void(page))
    fputs("interrupted: nothing was measured\n", page->out);
  else
    fprintf(page->out, "interrupted after %u of %u rounds\n", summary->rounds, summary->rounds_planned);
}

static bool has_figures(const struct page *page) {
  for (unsigned g = 0; g < page->summary->group_count; g++) {
    const struct plan_group *group = page->summary->groups[g].plan;
    for (unsigned c = 0; c < group->cell_count; c++)
      if (overlay_find(page->overlay, group, &group->cells[c]) != NULL) return true;
  }
  return false;
}

/* Whose figures stand beside ours. */
static void print_overlay(const struct page *page) {
  const struct overlay *overlay = page->overlay;
  struct text text = {0};
  if (overlay == NULL) return;
  text_format(&text, "published: %s, %s: %s; %s. ", overlay->name, overlay->source, overlay->machine, overlay->file);
  text_put(&text, has_figures(page) ? "MB/s there, and the speed against the style of our baseline"
                                    : "None of the cells here is in it; --suite blocks measures those that are");
  display_wrap(page->out, &(struct display_box){page->width, 0, 2}, text_string(&text));
  text_release(&text);
}

void page_head(const struct page *page) {
  const struct run *run = page->summary->run;
  const char *system = run_fact_text(run, "system"), *kernel = run_fact_text(run, "kernel");
  const char *cpus = run_fact_text(run, "cpus"), *version = run_fact_text(run, "weir.version");
  struct text text = {0};
  text_put(&text, "weir");
  if (version != NULL) text_put(&text, DISPLAY_GLUE);
  if (version != NULL) page_put_glued(&text, version);
  put_part(&text, "", system, "");
  if (kernel != NULL && system != NULL) text_put(&text, DISPLAY_GLUE);
  if (kernel != NULL && system != NULL) page_put_glued(&text, kernel);
  if (system == NULL) put_part(&text, "", kernel, "");
  put_place(&text, run);
  put_part(&text, "", cpus, cpus && strcmp(cpus, "1") == 0 ? DISPLAY_GLUE "CPU" : DISPLAY_GLUE "CPUs");
  put_part(&text, "guest of ", run_fact_text(run, "hypervisor"), "");
  if (run->plan.private_copies) text_put(&text, " · private" DISPLAY_GLUE "copies");
  text_format(&text, " · seed" DISPLAY_GLUE "0x%llX", (unsigned long long)run->plan.seed);
  display_wrap(page->out, &(struct display_box){page->width, 0, 2}, text_string(&text));
  text_release(&text);
  print_overlay(page);
  if (run->interrupted) print_interrupted(page);
}

static void put_floor(struct text *out, const char *name, const char *value) {
  if (out->length > 0) text_put(out, " · ");
  size_t from = out->length;
  text_format(out, "%s %s", name, value);
  page_glue(out, from);
}

static void put_floor_time(struct text *out, const char *name, double ns) {
  char text[UNITS_TEXT_MAX];
  if (ns > 0) put_floor(out, name, units_time_text(ns, text));
}

static void put_floor_rate(struct text *out, const char *name, double bytes_per_s) {
  char text[UNITS_TEXT_MAX];
  if (bytes_per_s > 0) put_floor(out, name, units_rate_text(bytes_per_s, text));
}

static void put_floor_operations(struct text *out, const char *name, double per_s) {
  struct text value = {0};
  if (!(per_s > 0)) return;
  text_decimal(&value, per_s >= 1e3 ? per_s / 1e3 : per_s, per_s >= 1e5 || (per_s >= 100 && per_s < 1e3) ? 0 : 1);
  text_put(&value, per_s >= 1e3 ? " k op/s" : " op/s");
  put_floor(out, name, text_string(&value));
  text_release(&value);
}

/* Of the device below one place; its name where there are several. */
static void put_limits(struct text *out, const struct run *run, unsigned place) {
  const struct run_limits *limits = &run->limits[place];
  struct text text = {0};
  put_floor_rate(&text, "device sequential", limits->read_bytes_per_s);
  put_floor_operations(&text, "device random", limits->random_reads_per_s);
  put_floor_rate(&text, "device write", limits->write_bytes_per_s);
  put_floor_time(&text, "sync", limits->sync_ns);
  if (limits->reason[0]) put_floor(&text, "not measured:", limits->reason);
  if (text.length > 0 && out->length > 0) text_put(out, " · ");
  if (text.length > 0 && run->plan.place_count > 1) {
    page_put_glued(out, run->plan.places[place]);
    text_put(out, ": ");
  }
  text_put(out, text_string(&text));
  text_release(&text);
}

static void print_limits(const struct page *page) {
  const struct run *run = page->summary->run;
  struct text text = {0};
  for (unsigned i = 0; run->limits && i < run->plan.place_count; i++) put_limits(&text, run, i);
  if (text.length > 0) {
    fputs("limits: ", page->out);
    display_wrap(page->out, &(struct display_box){page->width, 8, 8}, text_string(&text));
  }
  text_release(&text);
}

void page_floors(const struct page *page) {
  const struct run_floors *floors = &page->summary->run->floors;
  struct text text = {0};
  put_floor_time(&text, "harness per operation", floors->harness_ns_per_op);
  put_floor_time(&text, "with latency", floors->harness_latency_ns_per_op);
  put_floor_time(&text, "clock read", floors->clock_read_ns);
  put_floor_time(&text, "clock step", floors->clock_step_ns);
  put_floor_time(&text, "system call", floors->syscall_ns);
  put_floor_time(&text, "page fault", floors->page_fault_ns);
  put_floor_time(&text, "huge page fault", floors->huge_page_fault_ns);
  put_floor_rate(&text, "memory copy", floors->memcpy_bytes_per_s);
  put_floor_rate(&text, "scan", floors->scan_bytes_per_s);
  if (text.length > 0) {
    fputs("floors: ", page->out);
    display_wrap(page->out, &(struct display_box){page->width, 8, 8}, text_string(&text));
  }
  text_release(&text);
  print_limits(page);
}

void page_warning(const struct page *page, const struct run_warning *warning) {
  struct text id = {0}, text = {0};
  text_name(&id, warning->id);
  text_name(&text, warning->text);
  if (warning->remedy[0]) {
    text_put(&text, " → ");
    text_name(&text, warning->remedy);
  }
  page_style_on(page, STYLE_BOLD);
  fputs(text_string(&id), page->out);
  page_style_off(page, STYLE_BOLD);
  size_t indent = display_width(text_string(&id)) + 1;
  putc(' ', page->out);
  display_wrap(page->out, &(struct display_box){page->width, indent, indent}, text_string(&text));
  text_release(&id);
  text_release(&text);
}

static void print_foot(const struct page *page) {
  const struct run *run = page->summary->run;
  if (!page_is_void(page)) putc('\n', page->out);
  if (page->summary->curve_count) {
    page_curves(page);
    putc('\n', page->out);
  }
  if (!page_is_void(page)) page_floors(page);
  if (!page_is_void(page)) page_machine(page);
  for (unsigned i = 0; i < run->warning_count; i++) page_warning(page, &run->warnings[i]);
}

static void write_utf8(const struct summary *summary, const struct report_options *options, FILE *out) {
  struct page page = {.summary = summary, .out = out, .color = options->color, .overlay = options->overlay,
                      .view = options->view, .whole = !options->width};
  page.width = options->width ? options->width : WIDTH_PRESET;
  if (page.width < WIDTH_LEAST) page.width = WIDTH_LEAST;
  page_head(&page);
  for (unsigned i = 0; i < summary->group_count && !page_is_void(&page); i++) {
    page.group = &summary->groups[i];
    print_group(&page);
  }
  print_foot(&page);
}

static void write_table(const struct summary *summary, const struct report_options *options, FILE *out) {
  struct ascii_sheet sheet;
  write_utf8(summary, options, ascii_open(&sheet, options->ascii, out));
  ascii_close(&sheet);
}

/* One after the other. */
static void write_runs(const struct report_run *runs, unsigned count, const struct report_options *options, FILE *out) {
  for (unsigned i = 0; i < count; i++) {
    struct text name = {0};
    text_name(&name, runs[i].name);
    fputs(i > 0 ? "\n== " : "== ", out);
    if (options->ascii)
      ascii_put(out, text_string(&name));
    else
      fputs(text_string(&name), out);
    fputs("\n\n", out);
    text_release(&name);
    write_table(runs[i].summary, options, out);
  }
}

const struct report report_table = {.name = "table",
                                .suffix = ".txt",
                                .summary = "the answer as a table for the terminal",
                                .write = write_table,
                                .write_claims = claims_table,
                                .write_comparison = compare_table,
                                .write_runs = write_runs};
