/* completion.c - the scripts for zsh and fish, and the choice among the three. That for bash is in completion_bash.c. */
#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

#include "cli/completion_parts.h"

void completion_help(const char *help) {
  for (; *help; help++) {
    if (*help == '\n' && !help[1]) continue;
    putchar(*help == '\n'   ? ' '
            : *help == '\'' ? '"'
            : *help == '['  ? '('
            : *help == ']'  ? ')'
            : *help == ':'  ? ','
                            : *help);
  }
}

static void print_words(const struct values *values) {
  for (unsigned i = 0; i < values->count; i++) printf("%s%s", i ? " " : "", values->words[i]);
}

/* ---- zsh ---- */

static void zsh_value(const struct values *values, const char *argument) {
  printf(":%s:", argument);
  if (values->kind == VALUE_WORDS) {
    printf("(");
    print_words(values);
    printf(")");
  } else if (values->kind == VALUE_LIST) {
    printf("{_values -s , %s ", argument);
    print_words(values);
    printf("}");
  } else if (values->kind == VALUE_EITHER) {
    printf("{compadd -- ");
    print_words(values);
    printf("; _files}");
  } else if (values->kind == VALUE_DIRECTORY) {
    printf("_files -/");
  } else if (values->kind == VALUE_FILE) {
    printf("_files");
  }
}

/* A value that may be left out stands right behind the sign, and has two colons. */
static void zsh_name(const struct option_row *row, const char *dashes, const char *name) {
  const char *sign = !row->argument ? "" : !dashes[1] ? "+" : row->otherwise ? "=-" : "=";
  printf("    '%s%s%s%s[", row->kind == OPTION_TEXTS ? "*" : "", dashes, name, sign);
  completion_help(row->help);
  printf("]");
}

static void zsh_option(const struct option_row *row) {
  const struct values values = values_of_option(row);
  const char letter[] = {row->letter, '\0'};
  for (int i = row->letter ? 0 : 1; i < 2; i++) {
    zsh_name(row, i ? "--" : "-", i ? row->name : letter);
    if (row->otherwise) printf(":");
    if (row->otherwise && values.kind == VALUE_NONE) printf(":%s: ", row->argument);
    if (values.kind != VALUE_NONE) zsh_value(&values, row->argument);
    printf("' \\\n");
  }
}

static void zsh_command(const struct command *command) {
  const struct values operands = values_of_operands(command);
  printf("_weir_%s() {\n  _arguments -S \\\n", command->name);
  for (const struct option_row *row = command->options; row && row->name; row++) zsh_option(row);
  printf("    '(- *)'{-h,--help}'[show this help]' \\\n    '*");
  zsh_value(&operands, operands.kind == VALUE_FILE ? "file" : "word");
  printf("'\n}\n\n");
}

void completion_zsh(void) {
  printf("#compdef weir\n# zsh completion for weir, made from its option tables\n\n");
  for (unsigned i = 0; command_list[i]; i++) zsh_command(command_list[i]);
  printf("_weir() {\n  local -a commands\n  commands=(\n");
  for (unsigned i = 0; command_list[i]; i++) {
    printf("    '%s:", command_list[i]->name);
    completion_help(command_list[i]->summary);
    printf("'\n");
  }
  printf(
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    if [[ $words[2] == -* ]]; then compadd -- --help --version; else _describe command commands; fi\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  (( $+functions[_weir_$words[1]] )) && _weir_$words[1]\n"
      "}\n\n"
      "if [[ $funcstack[1] == _weir ]]; then _weir \"$@\"; else compdef _weir weir; fi\n");
}

/* ---- fish ---- */

static void fish_value(const struct values *values) {
  static const char *const takes[] = {"", " -x", " -x", " -x", " -r -F", " -x", " -r -F"}; /* enum value_kind */
  printf("%s", takes[values->kind]);
  if (values->kind == VALUE_DIRECTORY) printf(" -a '(__fish_complete_directories (commandline -ct))'");
  if (!values->count) return;
  const bool list = values->kind == VALUE_LIST;
  fputs(list ? " -a '(__fish_append , " : " -a '", stdout);
  print_words(values);
  fputs(list ? ")'" : "'", stdout);
}

static void fish_option(const struct command *command, const struct option_row *row) {
  const struct values values = values_of_option(row);
  printf("complete -c weir -n '__fish_seen_subcommand_from %s' -l %s", command->name, row->name);
  if (row->letter) printf(" -s %c", row->letter);
  fish_value(&values);
  printf(" -d '");
  completion_help(row->help);
  printf("'\n");
}

static void fish_command(const struct command *command) {
  const struct values operands = values_of_operands(command);
  printf("complete -c weir -n __fish_use_subcommand -a %s -d '", command->name);
  completion_help(command->summary);
  printf("'\n");
  for (const struct option_row *row = command->options; row && row->name; row++) fish_option(command, row);
  printf("complete -c weir -n '__fish_seen_subcommand_from %s' -l help -s h -d 'show this help'\n", command->name);
  printf("complete -c weir -n '__fish_seen_subcommand_from %s'", command->name);
  if (operands.kind == VALUE_FILE) {
    printf(" -F\n");
    return;
  }
  printf(" -a '");
  print_words(&operands);
  printf("'\n");
}

void completion_fish(void) {
  printf("# fish completion for weir, made from its option tables\ncomplete -c weir -f\n");
  printf("complete -c weir -n __fish_use_subcommand -l help -s h -d 'show the commands'\n");
  printf("complete -c weir -n __fish_use_subcommand -l version -d 'show the version'\n");
  for (unsigned i = 0; command_list[i]; i++) fish_command(command_list[i]);
}

bool completion_print(const char *shell) {
  static const struct {
    const char *name;
    void (*print)(void);
  } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
    if (strcmp(shells[i].name, shell) != 0) continue;
    shells[i].print();
    return true;
  }
  return false;
}
