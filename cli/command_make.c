/*
 * command_make.c - `weir make`: input files for measuring. It decides what the options mean and what the user reads;
 * contents come from measure/generate.h, and the file is put in place by made_file.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/units.h"
#include "cli/command.h"
#include "cli/made_file.h"
#include "cli/terminal.h"
#include "measure/generate.h"
#include "os/os.h"

#define DRAW_NS UINT64_C(100000000)
#define BLOCK ((size_t)1 << 20)
#define SIZE_PRESET (UINT64_C(10) << 20)
#define FRAGMENTS_MAX 65536
#define ITEM_MAX (1 << 30)

/* Words and shares are negative while nothing is said. */
struct make_request {
  struct plan_sizes size;
  struct option_seed seed;
  unsigned item;
  int newline, encoding;
  bool mark;
  double compressible;
  unsigned fragments;
  bool force, quiet;
};

static const struct option_row rows[] = {
    {.section = "What to make",
     .name = "size",
     .letter = 's',
     .argument = "SIZE",
     .kind = OPTION_SIZES,
     .offset = offsetof(struct make_request, size),
     .help = "bytes of the file (10MiB); of records so many whole ones as\nreach it, of typed values as many as fit"},
    {.name = "seed",
     .argument = "N",
     .kind = OPTION_SEED,
     .offset = offsetof(struct make_request, seed),
     .help = "other contents of the same kind (0)"},
    {.section = "Text",
     .name = "item",
     .argument = "BYTES",
     .kind = OPTION_COUNT,
     .offset = offsetof(struct make_request, item),
     .low = 1,
     .high = ITEM_MAX,
     .help = "average line with its end; lines have from half of it to\none and a half (66)"},
    {.name = "newline",
     .argument = "END",
     .kind = OPTION_WORD,
     .offset = offsetof(struct make_request, newline),
     .words = generate_newline_words,
     .help = "what ends a line"},
    {.name = "encoding",
     .argument = "NAME",
     .kind = OPTION_WORD,
     .offset = offsetof(struct make_request, encoding),
     .words = generate_encoding_words,
     .help = "one in a hundred characters is no ASCII"},
    {.name = "bom",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct make_request, mark),
     .help = "begin with a byte order mark"},
    {.section = "Random bytes",
     .name = "compressible",
     .argument = "SHARE",
     .kind = OPTION_SHARE,
     .offset = offsetof(struct make_request, compressible),
     .help = "this share of each 4 KiB repeats one word (0)"},
    {.section = "The file",
     .name = "fragments",
     .argument = "N",
     .kind = OPTION_COUNT,
     .offset = offsetof(struct make_request, fragments),
     .low = 1,
     .high = FRAGMENTS_MAX,
     .help = "in so many pieces on the disk, of 4 KiB at least; takes up\nto twice the space while it is made"},
    {.name = "force",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .offset = offsetof(struct make_request, force),
     .help = "replace a file that exists"},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .offset = offsetof(struct make_request, quiet),
     .help = "no progress on standard error, no summary"},
    {0},
};

/* One run of the command. */
struct making {
  const struct make_request *request;
  const char *path;
  struct generate_options options;
  uint64_t size, hash, began_ns, drawn_ns;
  int64_t extents; /* -1 unknown */
  bool draws, drawn;
};

/* ---- what the options mean ---- */

static int check_text_options(const struct command *self, const struct make_request *request) {
  const char *option = request->item            ? "--item"
                       : request->newline >= 0  ? "--newline"
                       : request->encoding >= 0 ? "--encoding"
                       : request->mark          ? "--bom"
                                                : NULL;
  return option ? command_fail(self, option, NULL, "only text has that") : 0;
}

static int check_kind_options(const struct command *self, const struct make_request *request, enum generate_kind kind) {
  if (kind != GENERATE_RANDOM && request->compressible >= 0)
    return command_fail(self, "--compressible", NULL, "only random bytes have that");
  if (kind != GENERATE_TEXT) return check_text_options(self, request);
  if (request->mark && (request->encoding == GENERATE_LATIN1 || request->encoding == GENERATE_ASCII))
    return command_fail(self, "--bom", NULL, "%s has no byte order mark", generate_encoding_words[request->encoding]);
  return 0;
}

static int find_kind(const struct command *self, const char *word, enum generate_kind *kind) {
  const int index = plan_word_index(generate_kind_words, word);
  if (index >= 0) *kind = (enum generate_kind)index;
  if (index >= 0) return 0;
  const char *hint = plan_nearest(word, generate_kind_words);
  return command_fail(self, NULL, hint, "unknown kind '%s'%s", word,
                      hint ? "" : "; choose from random, text, records, typed");
}

static int check_size(const struct command *self, struct making *making) {
  const struct make_request *request = making->request;
  if (request->size.count > 1) return command_fail(self, "--size", NULL, "one size at a time");
  making->options.size_bytes = request->size.count ? request->size.values[0] : SIZE_PRESET;
  making->size = making->options.size_bytes > INT64_MAX ? UINT64_MAX : generate_size(&making->options);
  if (making->size > INT64_MAX) return command_fail(self, "--size", NULL, "too large");
  const uint64_t most = making->size / MADE_FILE_PIECE_MIN + (making->size % MADE_FILE_PIECE_MIN != 0);
  if (request->fragments > most)
    return command_fail(self, "--fragments", NULL, "%" PRIu64 " bytes have at most %" PRIu64 " pieces of 4 KiB",
                        making->size, most);
  return 0;
}

static int understand(const struct command *self, struct making *making, const struct option_operands *operands) {
  const struct make_request *request = making->request;
  struct generate_options *options = &making->options;
  if (operands->count < 2) return command_fail(self, NULL, NULL, "say what to make, and the name of the file");
  if (operands->count > 2) return command_fail(self, NULL, NULL, "one file at a time");
  making->path = operands->values[1];
  int code = find_kind(self, operands->values[0], &options->kind);
  if (code == 0) code = check_kind_options(self, request, options->kind);
  if (code) return code;
  options->seed = request->seed.said ? request->seed.value : 0;
  options->item_bytes = request->item;
  options->newline = request->newline < 0 ? GENERATE_LF : (enum generate_newline)request->newline;
  options->encoding = request->encoding < 0 ? GENERATE_UTF8 : (enum generate_encoding)request->encoding;
  options->mark = request->mark;
  options->compressible = request->compressible < 0 ? 0 : request->compressible;
  return check_size(self, making);
}

/* ---- may it be there? ---- */

static int check_name(const struct making *making) {
  struct os_stat stat;
  char link;
  const size_t length = strlen(making->path);
  if (length == 0 || making->path[length - 1] == '/') return command_cannot("'%s' is no name of a file", making->path);
  if (os_read_link(making->path, &link, 1) >= 0) return command_cannot("'%s' is a symbolic link", making->path);
  const int code = os_stat_path(making->path, &stat);
  if (code == -ENOENT) return 0;
  if (code) return command_cannot("'%s': %s", making->path, strerror(-code));
  if (stat.kind != OS_REGULAR) return command_cannot("'%s' is a %s", making->path, os_kind_name(stat.kind));
  return making->request->force ? 0 : command_cannot("'%s' exists; --force replaces it", making->path);
}

static int check_room(const struct making *making) {
  char directory[MADE_FILE_PATH_MAX], wanted[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
  struct os_place place;
  const char *slash = strrchr(making->path, '/');
  snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - making->path) + 1 : 1, slash ? making->path : ".");
  if (os_place(directory, &place) < 0 || place.free_bytes >= making->size) return 0; /* the writing will tell */
  return command_cannot("'%s' takes %s, and %s are free there", making->path, units_size_text((double)making->size, wanted),
                        units_size_text((double)place.free_bytes, there));
}

/* ---- making ---- */

static void draw(struct making *making, uint64_t done) {
  const uint64_t now_ns = os_clock_ns();
  char rate[UNITS_TEXT_MAX];
  if (!making->draws || now_ns - making->drawn_ns < DRAW_NS) return;
  const double spent_ns = (double)(now_ns - making->began_ns);
  fprintf(stderr, "\r[%.0f%%, %s]\x1b[K", 100 * (double)done / (double)making->size,
          units_rate_text((double)done * 1e9 / spent_ns, rate));
  fflush(stderr);
  making->drawn_ns = now_ns;
  making->drawn = true;
}

/* -ECANCELED: the user wants to stop. */
static int write_contents(struct making *making, struct made_file *made, struct generator *generator, unsigned char *block) {
  XXH64_state_t *hash = XXH64_createState();
  int code = hash && XXH64_reset(hash, 0) == XXH_OK ? 0 : -ENOMEM;
  for (size_t length; code == 0 && (length = generate_next(generator, block, BLOCK)) > 0;) {
    (void)XXH64_update(hash, block, length); /* never fails on such a state */
    code = made_file_write(made, block, length);
    draw(making, made->written);
    if (code == 0 && *command_interrupts()) code = -ECANCELED;
  }
  if (code == 0) making->hash = XXH64_digest(hash);
  (void)XXH64_freeState(hash);
  return code;
}

static int fill_file(struct making *making, struct made_file *made) {
  struct generator generator;
  unsigned char *block = malloc(BLOCK);
  if (!block) return -ENOMEM;
  int code = generate_open(&generator, &making->options);
  if (code == 0) {
    code = write_contents(making, made, &generator, block);
    generate_close(&generator);
  }
  free(block);
  return code;
}

static int make_file(struct making *making) {
  struct made_file made;
  int code = made_file_begin(&made, making->path, making->size, making->request->fragments, making->request->force);
  if (code) return code;
  making->draws = !making->request->quiet && terminal_can_redraw(stderr);
  making->began_ns = making->drawn_ns = os_clock_ns();
  code = fill_file(making, &made);
  if (making->drawn) fprintf(stderr, "\r\x1b[K");
  if (code == 0) return made_file_finish(&made, &making->extents);
  made_file_undo(&made);
  return code;
}

/* ---- telling ---- */

static void print_name(FILE *out, const char *text) {
  for (; *text; text++) putc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
}

static void print_summary(const struct making *making) {
  const struct generate_options *options = &making->options;
  char size[UNITS_TEXT_MAX];
  print_name(stdout, making->path);
  printf(": %s", generate_kind_words[options->kind]);
  if (options->kind == GENERATE_TEXT)
    printf(" %s %s", generate_encoding_words[options->encoding], generate_newline_words[options->newline]);
  printf(", %" PRIu64 " bytes", making->size);
  if (making->size >= 1024) printf(" (%s)", units_size_text((double)making->size, size));
  printf(", seed 0x%" PRIX64 ", xxh64 %016" PRIx64, options->seed, making->hash);
  if (making->request->fragments && making->extents >= 0)
    printf(", %" PRId64 " extent%s", making->extents, making->extents == 1 ? "" : "s");
  printf("\n");
}

static void print_note(const struct making *making) {
  const unsigned wanted = making->request->fragments;
  struct os_place place;
  if (wanted == 0 || making->size == 0 || making->extents == (int64_t)wanted) return;
  const bool known = os_place(making->path, &place) == 0;
  fprintf(stderr, "weir: note: ");
  if (making->extents < 0)
    fprintf(stderr, "it cannot be known in how many pieces the file lies");
  else
    fprintf(stderr, "the file lies in %" PRId64 " piece%s instead of %u", making->extents, making->extents == 1 ? "" : "s",
            wanted);
  if (known && place.file_system[0]) fprintf(stderr, "; %s decides that itself", place.file_system);
  fprintf(stderr, "\n");
}

static int tell_failure(const struct making *making, int code) {
  if (code == -ECANCELED) {
    fprintf(stderr, "weir: interrupted; nothing was made\n");
    return EXIT_INTERRUPTED;
  }
  if (code == -EEXIST) return command_cannot("'%s' exists; --force replaces it", making->path);
  return command_cannot("'%s' cannot be made: %s", making->path, strerror(-code));
}

static int run_make(const struct command *self, int argc, char **argv) {
  struct make_request request = {.newline = -1, .encoding = -1, .compressible = -1};
  struct option_operands operands;
  struct making making = {.request = &request, .extents = -1};
  enum option_result parsed = option_parse(self, argc, argv, &request, &operands);
  if (parsed != OPTION_GO) return parsed == OPTION_DONE ? EXIT_FINE : EXIT_CANNOT;
  int code = understand(self, &making, &operands);
  if (code == 0) code = check_name(&making);
  if (code == 0) code = check_room(&making);
  if (code) return code;
  code = os_interrupts_catch(command_interrupts());
  if (code) return command_cannot("interrupts cannot be caught: %s", strerror(-code));
  code = make_file(&making);
  if (code) return tell_failure(&making, code);
  if (!request.quiet) print_summary(&making);
  print_note(&making);
  return EXIT_FINE;
}

const struct command cmd_make = {
    .name = "make",
    .synopsis = "KIND FILE [OPTION]...",
    .summary = "make a file to measure with: text, records, typed values, random bytes",
    .description =
        "Makes FILE from a seed: the same options give the same bytes on every machine. It appears when it is whole and on\n"
        "stable storage; one that exists is left alone unless --force says otherwise. KIND is random (bytes that do not\n"
        "compress), text (lines), records (a text and bytes each, packed, with their lengths; 3.1 KB on average) or typed\n"
        "(24 bytes: two int32, a double, an int64). The line printed ends with the checksum that `xxhsum FILE` prints.",
    .examples =
        "  weir make text lines.txt --size 50MB\n"
        "  weir make text latin1.txt --encoding latin1 --newline crlf\n"
        "  weir make random scattered --size 1GiB --fragments 1000\n",
    .options = rows,
    .operands = generate_kind_words,
    .run = run_make,
};
