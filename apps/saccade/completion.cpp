#include "completion.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

namespace saccade::app {

namespace {

struct Flag {
  std::string name, help;  // "--fps"
  bool takes_value = false, takes_file = false;
};
struct Command {
  std::string name, help;
  std::vector<Flag> flags;
  bool takes_files = false;
};

// First sentence part only, one line, nothing a shell could read as more than text.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, text.find_first_of(";[\n"))) {
    const bool harmless = c != '\'' && c != '"' && c != '`' && c != '$' && c != '\\' && c != ':' &&
                          static_cast<unsigned char>(c) >= 0x20;
    out += harmless ? c : ' ';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> out;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) {
      out.push_back({"--" + name, plain(option->get_description()), option->get_expected_max() > 0,
                     option->get_type_name() == "FILE"});
    }
  }
  return out;
}

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> out;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    if (sub->get_group().empty()) continue;  // hidden
    Command command{sub->get_name(), plain(sub->get_description()), flags_of(*sub), false};
    for (const CLI::Option* option : sub->get_options()) {
      if (option->get_positional()) command.takes_files = true;
    }
    out.push_back(std::move(command));
  }
  return out;
}

std::string bash_script(const CLI::App& app) {
  const std::string name = app.get_name();
  std::string commands, cases, files;
  for (const Command& command : commands_of(app)) {
    commands += " " + command.name;
    std::string flags;
    for (const Flag& flag : command.flags) {
      flags += " " + flag.name;
      if (flag.takes_file && files.find(flag.name + "|") == files.npos) files += flag.name + "|";
    }
    cases += "    " + command.name + ") words='" + flags.substr(flags.empty() ? 0 : 1) + "' ;;\n";
  }
  if (!files.empty()) files.pop_back();
  return "# bash completion of " + name + ": eval \"$(" + name + " completion bash)\"\n_" + name +
         "() {\n  local now=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" "
         "words=''\n  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen "
         "-W '" +
         commands.substr(commands.empty() ? 0 : 1) +
         "' -- \"$now\"))\n    return\n  fi\n  case \"$before\" in\n    " +
         (files.empty() ? "--" : files) +
         ") COMPREPLY=($(compgen -f -- \"$now\")); return ;;\n  esac\n  case \"${COMP_WORDS[1]}\" "
         "in\n" +
         cases +
         "  esac\n  case \"$now\" in\n    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$now\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$now\")) ;;\n  esac\n}\ncomplete -o filenames -F _" +
         name + " " + name + "\n";
}

std::string zsh_script(const CLI::App& app) {
  const std::string name = app.get_name();
  std::string out = "#compdef " + name + "\n_" + name + "() {\n  local -a commands\n  commands=(\n";
  const auto commands = commands_of(app);
  for (const Command& command : commands) {
    out += "    '" + command.name + ":" + command.help + "'\n";
  }
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  case $words[2] in\n";
  for (const Command& command : commands) {
    out += "    " + command.name + ")\n      _arguments";
    for (const Flag& flag : command.flags) {
      std::string help = flag.help;
      for (char& c : help) c = c == '(' || c == ')' ? ' ' : c;
      out += " \\\n        '*" + flag.name + "[" + help + "]";
      if (flag.takes_value) out += flag.takes_file ? ":file:_files" : ":value:";
      out += "'";
    }
    if (command.takes_files) out += " \\\n        '*:file:_files'";
    out += "\n      ;;\n";
  }
  return out + "  esac\n}\nif [ \"$funcstack[1]\" = _" + name + " ]; then _" + name +
         " \"$@\"; else compdef _" + name + " " + name + "; fi\n";
}

std::string fish_script(const CLI::App& app) {
  const std::string name = app.get_name();
  std::string out;
  for (const Command& command : commands_of(app)) {
    out += "complete -c " + name + " -n __fish_use_subcommand -f -a " + command.name + " -d '" +
           command.help + "'\n";
    for (const Flag& flag : command.flags) {
      out += "complete -c " + name + " -n '__fish_seen_subcommand_from " + command.name + "' -l " +
             flag.name.substr(2) + (flag.takes_value ? flag.takes_file ? " -r -F" : " -x" : "") +
             " -d '" + flag.help + "'\n";
    }
  }
  return out;
}

}  // namespace

core::Result<std::string> completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
  return core::error(core::ErrorCode::kUsage, "the shell is '" + shell + "'; no completion for it",
                     "bash, zsh and fish are known");
}

}  // namespace saccade::app
