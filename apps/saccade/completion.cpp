#include "completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace saccade::app {

namespace {

// What follows a flag, or stands where no flag does.
struct Value {
  enum class Kind { kNone, kText, kFile, kChoice };
  Kind kind = Kind::kNone;
  std::string choices;  // separated by blanks
};
struct Flag {
  std::string name, help;  // "--fps"
  Value value;
};
struct Command {
  std::string name, help;
  std::vector<Flag> flags;
  std::vector<Command> below;  // has these instead of words of its own
  Value word;
};

// First sentence part only, one line, nothing a shell could read as more than text.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, text.find_first_of(";[\n"))) {
    const bool harmless = c != '\'' && c != '"' && c != '`' && c != '$' && c != '\\' && c != ':' &&
                          c != ']' && static_cast<unsigned char>(c) >= 0x20;
    out += harmless ? c : ' ';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Choices are told by the type name: "auto|on|off", or "see,read,hear" where several may be given.
Value value_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return {};
  std::string type = option.get_type_name();
  if (type.find_first_of("|,") != type.npos) {
    std::replace_if(
        type.begin(), type.end(), [](char c) { return c == '|' || c == ','; }, ' ');
    return {Value::Kind::kChoice, type};
  }
  const bool file = option.get_positional() ? option.get_name() != "NAME" : type == "FILE";
  return {file ? Value::Kind::kFile : Value::Kind::kText, {}};
}

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> out;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    if (sub->get_group().empty()) continue;  // hidden
    Command command{sub->get_name(), plain(sub->get_description()), {}, commands_of(*sub), {}};
    for (const CLI::Option* option : sub->get_options()) {
      if (option->get_positional()) command.word = value_of(*option);
      if (option->get_group().empty()) continue;  // hidden
      for (const std::string& name : option->get_lnames()) {
        command.flags.push_back({"--" + name, plain(option->get_description()), value_of(*option)});
      }
    }
    out.push_back(std::move(command));
  }
  return out;
}

std::string names_of(const std::vector<Command>& commands) {
  std::string out;
  for (const Command& command : commands) out += (out.empty() ? "" : " ") + command.name;
  return out;
}

// `text` with each "@NAME@" replaced.
std::string filled(std::string text, const std::map<std::string, std::string>& parts) {
  for (const auto& [name, value] : parts) {
    const std::string mark = "@" + name + "@";
    for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at + value.size())) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

bool has_files(const Value& value) { return value.kind == Value::Kind::kFile; }

// What bash needs, gathered over all commands.
struct BashParts {
  std::string nested;                   // 'config show'|'config sample'
  std::string cases;                    // per command: its flags and words
  std::map<std::string, Value> values;  // by flag
};

void gather(const std::vector<Command>& commands, const std::string& path, BashParts& parts) {
  for (const Command& command : commands) {
    const std::string here = path + command.name;
    if (!path.empty()) parts.nested += (parts.nested.empty() ? "'" : "|'") + here + "'";
    std::string flags;
    for (const Flag& flag : command.flags) {
      flags += (flags.empty() ? "" : " ") + flag.name;
      if (flag.value.kind != Value::Kind::kNone) parts.values[flag.name] = flag.value;
    }
    const std::string words =
        command.below.empty() ? command.word.choices : names_of(command.below);
    parts.cases += "    '" + here + "') flags='" + flags + "' words='" + words + "'" +
                   (has_files(command.word) ? " files=1" : "") + " ;;\n";
    gather(command.below, here + " ", parts);
  }
}

std::string bash_script(const std::string& name, const std::vector<Command>& commands) {
  BashParts parts;
  gather(commands, "", parts);
  std::string before;
  for (const auto& [flag, value] : parts.values) {
    before += "    " + flag + ") words='" + value.choices +
              "' files=" + (has_files(value) ? "1" : "''") + " ;;\n";
  }
  return filled(R"sh(# bash completion of @NAME@: eval "$(@NAME@ completion bash)"
_@NAME@() {
  local now="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  local path='' flags='' words='' files=''
  [ "$COMP_CWORD" -gt 1 ] && path="${COMP_WORDS[1]}"
  [ "$COMP_CWORD" -gt 2 ] && case "$path ${COMP_WORDS[2]}" in
    @NESTED@) path="$path ${COMP_WORDS[2]}" ;;
  esac
  case "$path" in
    '') words='@COMMANDS@' ;;
@CASES@  esac
  case "$before" in
@BEFORE@  esac
  case "$now" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$now")) files='' ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$now")) ;;
  esac
  if [ -n "$files" ]; then
    local IFS=$'\n'
    COMPREPLY+=($(compgen -f -- "$now"))
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _@NAME@ @NAME@
)sh",
                {{"NAME", name},
                 {"COMMANDS", names_of(commands)},
                 {"NESTED", parts.nested.empty() ? "''" : parts.nested},
                 {"CASES", parts.cases},
                 {"BEFORE", before}});
}

// ":what:action" of _arguments.
std::string zsh_value(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNone:
      return "";
    case Value::Kind::kText:
      return ":value: ";
    case Value::Kind::kFile:
      return ":file:_files";
    case Value::Kind::kChoice:
      return ":value:(" + value.choices + ")";
  }
  return "";
}

// One level: the command's name if the cursor is on it, else what follows it.
std::string zsh_level(const std::vector<Command>& commands, const std::string& indent) {
  std::string names, cases;
  for (const Command& command : commands) {
    names += indent + "  '" + command.name + ":" + command.help + "'\n";
    cases += indent + "  " + command.name + ")\n";
    if (!command.below.empty()) {
      cases += zsh_level(command.below, indent + "    ");
    } else {
      cases += indent + "    _arguments";
      for (const Flag& flag : command.flags) {
        const char* joint = flag.value.kind == Value::Kind::kNone ? "[" : "=[";
        cases += " \\\n" + indent + "      '*" + flag.name + joint + flag.help + "]" +
                 zsh_value(flag.value) + "'";
      }
      if (command.word.kind != Value::Kind::kNone) {
        cases += " \\\n" + indent + "      '*" + zsh_value(command.word) + "'";
      }
      cases += "\n";
    }
    cases += indent + "    ;;\n";
  }
  return indent + "commands=(\n" + names + indent + ")\n" + indent +
         "if (( CURRENT == 2 )); then _describe command commands; return; fi\n" + indent +
         "shift words; (( CURRENT-- ))\n" + indent + "case $words[1] in\n" + cases + indent +
         "esac\n";
}

std::string zsh_script(const std::string& name, const std::vector<Command>& commands) {
  return filled(R"sh(#compdef @NAME@
# zsh completion of @NAME@: as file _@NAME@ in a folder of $fpath, or after compinit
#   eval "$(@NAME@ completion zsh)"
_@NAME@() {
  local -a commands
@BODY@}
if [ "$funcstack[1]" = _@NAME@ ]; then _@NAME@ "$@"; else compdef _@NAME@ @NAME@; fi
)sh",
                {{"NAME", name}, {"BODY", zsh_level(commands, "  ")}});
}

std::string fish_value(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNone:
      return "";
    case Value::Kind::kText:
      return " -x";
    case Value::Kind::kFile:
      return " -r -F";
    case Value::Kind::kChoice:
      return " -x -a '" + value.choices + "'";
  }
  return "";
}

// `seen`: the condition that the commands above were given.
void add_fish(const std::string& name, const std::vector<Command>& commands,
              const std::string& seen, std::string& out) {
  const std::string none =
      seen.empty() ? "__fish_use_subcommand"
                   : seen + "; and not __fish_seen_subcommand_from " + names_of(commands);
  for (const Command& command : commands) {
    const std::string here =
        (seen.empty() ? "" : seen + "; and ") + "__fish_seen_subcommand_from " + command.name;
    const std::string line = "complete -c " + name + " -n '";
    out += line + none + "' -f -a " + command.name + " -d '" + command.help + "'\n";
    if (!has_files(command.word)) {
      const std::string& words = command.word.choices;
      out += line + here + "' -f" + (words.empty() ? "" : " -a '" + words + "'") + "\n";
    }
    for (const Flag& flag : command.flags) {
      out += line + here + "' -l " + flag.name.substr(2) + fish_value(flag.value) + " -d '" +
             flag.help + "'\n";
    }
    add_fish(name, command.below, here, out);
  }
}

}  // namespace

core::Result<std::string> completion_script(const CLI::App& app, const std::string& shell) {
  const std::string name = app.get_name();
  const std::vector<Command> commands = commands_of(app);
  if (shell == "bash") return bash_script(name, commands);
  if (shell == "zsh") return zsh_script(name, commands);
  if (shell == "fish") {
    std::string out = "# fish completion of " + name + ": " + name + " completion fish | source\n";
    add_fish(name, commands, "", out);
    return out;
  }
  return core::error(core::ErrorCode::kUsage, "the shell is '" + shell + "'; no completion for it",
                     "bash, zsh and fish are known");
}

}  // namespace saccade::app
