/* terminal.c - asks the stream and the environment how text is shown. Prints nothing. */
#include "cli/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"
#include "report/ascii.h"

const char *const terminal_color_words[] = {"auto", "always", "never", NULL};

bool terminal_is(FILE *stream) { return isatty(fileno(stream)) == 1; }

/* Narrower or wider than this is nobody's terminal. */
enum { COLUMNS_LEAST = 20, COLUMNS_MOST = 10000 };

static unsigned told_width(void) {
  const char *value = getenv("COLUMNS");
  uint64_t columns = 0;
  if (!value || units_parse_count(value, &columns) < 0) return 0;
  return columns >= COLUMNS_LEAST && columns <= COLUMNS_MOST ? (unsigned)columns : 0;
}

unsigned terminal_width(FILE *stream) {
  struct winsize size;
  const unsigned told = told_width();
  if (told) return told;
  if (!terminal_is(stream) || ioctl(fileno(stream), TIOCGWINSZ, &size) < 0) return 0;
  return size.ws_col;
}

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && *value;
}

static bool is_text(const char *name, const char *text) {
  const char *value = getenv(name);
  return value && strcmp(value, text) == 0;
}

bool terminal_can_redraw(FILE *stream) { return terminal_is(stream) && is_set("TERM") && !is_text("TERM", "dumb"); }

bool terminal_wants_color(FILE *stream, int mode) {
  if (mode != TERMINAL_AUTO) return mode == TERMINAL_ALWAYS;
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE") && !is_text("CLICOLOR_FORCE", "0")) return true;
  if (is_text("CLICOLOR", "0") || !is_set("TERM") || is_text("TERM", "dumb")) return false;
  return terminal_is(stream);
}

/* Of a locale that is not installed its name tells. */
static bool names_utf8(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!is_set(names[i])) continue;
    const char *set = strchr(getenv(names[i]), '.');
    return set && (strncasecmp(set, ".utf-8", 6) == 0 || strncasecmp(set, ".utf8", 5) == 0);
  }
  return false;
}

/* The program itself stays in the "C" locale: no number that it prints or reads follows another one. */
bool terminal_is_ascii(void) {
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
  if (locale == (locale_t)0) return !names_utf8();
  const bool utf8 = strcasecmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
  freelocale(locale);
  return !utf8;
}

void terminal_put(FILE *stream, const char *text) {
  if (terminal_is_ascii())
    ascii_put(stream, text);
  else
    fputs(text, stream);
}
