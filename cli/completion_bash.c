/*
 * completion_bash.c - the script for bash. It needs nothing of the package bash-completion, and cuts "--cache=wa" apart by
 * itself: where '=' breaks words, as it does by default, such a word arrives as three.
 */
#include "cli/completion_parts.h"

#include <stdio.h>

static const char head[] =
    "# bash completion for weir, made from its option tables\n"
    "\n"
    "# The replies: words of $1 that begin with what was typed, behind what stands before them in the same word.\n"
    "_weir_words() {\n"
    "  local word\n"
    "  while IFS= read -r word; do\n"
    "    COMPREPLY+=(\"$lead$word\")\n"
    "  done < <(compgen -W \"$1\" -- \"$current\")\n"
    "}\n"
    "\n"
    "_weir_paths() {\n"
    "  local path\n"
    "  compopt -o filenames 2>/dev/null\n"
    "  while IFS= read -r path; do\n"
    "    COMPREPLY+=(\"$lead$path\")\n"
    "  done < <(compgen \"$@\" -- \"$current\")\n"
    "}\n"
    "\n"
    "_weir_value() { # KIND WORDS\n"
    "  case $1 in\n"
    "    list)\n"
    "      case $current in *,*) lead+=${current%,*}, current=${current##*,} ;; esac\n"
    "      _weir_words \"$2\"\n"
    "      compopt -o nospace 2>/dev/null ;;\n"
    "    words) _weir_words \"$2\" ;;\n"
    "    either) _weir_words \"$2\"; _weir_paths -f ;;\n"
    "    directory) _weir_paths -d ;;\n"
    "    file) _weir_paths -f ;;\n"
    "  esac\n"
    "}\n"
    "\n"
    "_weir() {\n"
    "  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} option= lead=\n"
    "  COMPREPLY=()\n"
    "  if [ \"$COMP_CWORD\" -le 1 ]; then\n"
    "    _weir_words \"$_weir_commands --help --version\"\n"
    "    return\n"
    "  fi\n"
    "  case $current in\n"
    "    --*=*) option=${current%%=*} lead=$option= current=${current#*=} ;;\n"
    "    =) option=${COMP_WORDS[COMP_CWORD-1]} current= ;;\n"
    "    *)\n"
    "      option=${COMP_WORDS[COMP_CWORD-1]}\n"
    "      if [ \"$option\" = = ]; then option=${COMP_WORDS[COMP_CWORD-2]}; fi ;;\n"
    "  esac\n"
    "  case $command:$option in\n";

static const char middle[] =
    "  esac\n"
    "  case $current in\n"
    "    -*)\n"
    "      case $command in\n";

static const char tail[] =
    "  esac\n"
    "}\n"
    "\n"
    "complete -F _weir weir\n";

static const char *kind_name(enum value_kind kind) {
  static const char *const kind_names[] = {"", "free", "words", "list", "file", "directory", "either"};
  return kind_names[kind];
}

static void print_words(const struct values *values) {
  for (unsigned i = 0; i < values->count; i++) printf("%s%s", i ? " " : "", values->words[i]);
}

static void print_value(const struct values *values) {
  printf("_weir_value %s '", kind_name(values->kind));
  print_words(values);
  printf("'");
}

static void print_option(const struct command *command, const struct option_row *row) {
  const struct values values = values_of_option(row);
  if (values.kind == VALUE_NONE) return;
  printf("    %s:--%s", command->name, row->name);
  if (row->letter) printf("|%s:-%c", command->name, row->letter);
  printf(") ");
  print_value(&values);
  printf("; return ;;\n");
}

static void print_names(const struct command *command) {
  printf("        %s) _weir_words '", command->name);
  for (const struct option_row *row = command->options; row && row->name; row++) printf("--%s ", row->name);
  printf("--help' ;;\n");
}

static void print_operands(const struct command *command) {
  const struct values values = values_of_operands(command);
  printf("        %s) ", command->name);
  print_value(&values);
  printf(" ;;\n");
}

void completion_bash(void) {
  printf("%s", head);
  for (unsigned i = 0; command_list[i]; i++)
    for (const struct option_row *row = command_list[i]->options; row && row->name; row++)
      print_option(command_list[i], row);
  printf("%s", middle);
  for (unsigned i = 0; command_list[i]; i++) print_names(command_list[i]);
  printf("      esac ;;\n    *)\n      case $command in\n");
  for (unsigned i = 0; command_list[i]; i++) print_operands(command_list[i]);
  printf("      esac ;;\n%s", tail);
  printf("_weir_commands='");
  for (unsigned i = 0; command_list[i]; i++) printf("%s%s", i ? " " : "", command_list[i]->name);
  printf("'\n");
}
