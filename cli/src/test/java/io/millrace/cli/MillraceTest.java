package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.manual.Examples;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MillraceTest {
  /** A command in the list of a group: two spaces, its names, and its description. */
  private static final Pattern LISTED = Pattern.compile("(?m)^  ([a-z-]+)(?:, [a-z-]+)*  +\\S");

  /** A command line in a module of the dashboard, without the values that the page fills in. */
  private static final Pattern SHOWN = Pattern.compile("\\./millrace ([a-z][^`\"$']*)");

  private static final Pattern OPTION = Pattern.compile("--[a-z][a-z-]+");

  /** A word of a line of a shell, with its quotes. */
  private static final Pattern WORD = Pattern.compile("(?:'[^']*'|[^\\s'])+");

  private static final Pattern OPERATOR = Pattern.compile("[|<>&].*");

  private static final List<String> COMMANDS = allCommands();
  private static final CommandLine PROGRAM = Millrace.program();

  @Test
  void the_version_is_printed() {
    Shell.CommandResult ran = Shell.run("--version");
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).startsWith("millrace ");
  }

  @Test
  void nothing_asked_is_a_usage_error_that_points_to_the_help() {
    Shell.CommandResult ran = Shell.run();
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err()).contains("a command is missing").contains("millrace --help");
  }

  /** All commands and groups of commands that the help lists. */
  static Stream<String> commands() {
    return COMMANDS.stream();
  }

  private static List<String> allCommands() {
    List<String> commands = new ArrayList<>();
    addCommands("", commands);
    return commands;
  }

  private static void addCommands(String group, List<String> commands) {
    String help = Shell.run((group + " --help").strip().split(" ")).out();
    int list = help.indexOf("\nCommands:\n");
    if (list >= 0) {
      Matcher line = LISTED.matcher(help).region(list, help.length());
      while (line.find()) {
        String command = (group + " " + line.group(1)).strip();
        if (!command.equals("help")) {
          commands.add(command);
          addCommands(command, commands);
        }
      }
    }
  }

  @Test
  void the_help_lists_every_group_of_commands() {
    assertThat(commands())
        .hasSizeGreaterThan(80)
        .contains("up", "store backup", "tasks requeue", "graph import", "access me");
  }

  @ParameterizedTest
  @MethodSource("commands")
  void every_command_explains_itself(String command) {
    Shell.CommandResult ran = Shell.run((command + " --help").split(" "));
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).startsWith("Usage: millrace " + command);
    assertThat(ran.err()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void every_command_refuses_an_option_that_it_does_not_have(String command) {
    Shell.CommandResult ran = Shell.run((command + " --no-such-option").split(" "));
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.out()).isEmpty();
    // A parameter that is missing too is named instead.
    assertThat(ran.err())
        .containsAnyOf("--no-such-option", "Missing required")
        .contains("millrace " + command + " --help");
  }

  /** The command lines that pages of the dashboard show, with parts that are filled in. */
  static Stream<String> commandsOfTheDashboard() throws IOException {
    Path modules = Path.of("../server/src/main/resources/io/millrace/server/dashboard");
    List<String> lines = new ArrayList<>();
    try (Stream<Path> files = Files.list(modules)) {
      for (Path file : files.filter(name -> name.toString().endsWith(".js")).toList()) {
        Matcher shown = SHOWN.matcher(Files.readString(file));
        while (shown.find()) {
          lines.add(shown.group(1));
        }
      }
    }
    return lines.stream().distinct();
  }

  @ParameterizedTest
  @MethodSource("commandsOfTheDashboard")
  void a_command_that_the_dashboard_shows_exists_with_its_options(String line) {
    String command =
        commands()
            .filter(name -> (line + " ").startsWith(name + " "))
            .max(Comparator.comparingInt(String::length))
            .orElseThrow();
    String help = Shell.run((command + " --help").split(" ")).out();
    assertThat(help).doesNotContain("\nCommands:\n");
    Matcher option = OPTION.matcher(line);
    while (option.find()) {
      assertThat(help).contains(option.group());
    }
  }

  @Test
  void an_argument_that_names_a_file_after_an_at_sign_is_not_replaced_by_its_content(
      @TempDir Path folder) throws IOException {
    String data = folder.resolve("data").toString();
    String argument = "@" + Files.writeString(folder.resolve("file"), "--help");
    Shell.CommandResult added = Shell.run("store", "add", "g", argument, "--data", data);
    assertThat(added.code()).as(added.err()).isZero();
    assertThat(Shell.run("store", "list", "g", "--json", "--data", data).out()).contains(argument);
  }

  @Test
  void an_unknown_option_is_named_with_the_nearest_one() {
    Shell.CommandResult ran = Shell.run("up", "--prot", "1");
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err()).contains("--prot").contains("--port");
  }

  @Test
  void an_unknown_command_is_named_with_the_nearest_one() {
    Shell.CommandResult ran = Shell.run("store", "grups");
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err()).contains("grups").contains("store groups");
  }

  @Test
  void what_is_wrong_with_a_setting_is_said_by_the_name_that_was_typed(@TempDir Path folder) {
    String data = folder.toString();
    for (String[] wrong :
        new String[][] {
          {"--set server.prot: there is no key", "--set", "server.prot=1"},
          {"--set server.port: server.port must be", "--set", "server.port=many"},
          {"--journal: store.journal must be", "--journal", "foo"},
          {"--port: server.port must be", "-p", "many"},
        }) {
      Shell.CommandResult ran = Shell.run("up", "--data", data, wrong[1], wrong[2]);
      assertThat(ran.code()).as(ran.err()).isEqualTo(2);
      assertThat(ran.err()).contains(wrong[0]);
    }
  }

  @Test
  void a_port_in_use_is_named_with_the_option_that_chooses_another(@TempDir Path folder)
      throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(other.getLocalPort());
      Shell.CommandResult ran = Shell.run("up", "--data", folder.toString(), "--port", port);
      assertThat(ran.code()).isEqualTo(1);
      assertThat(ran.err()).contains("port " + port + ": ", "--port chooses another port");
    }
  }

  @Test
  void a_bad_setting_stops_the_start_with_one_line(@TempDir Path folder) {
    Shell.CommandResult ran = Shell.run("up", "--data", folder.toString(), "--port", "many");
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err().lines()).hasSize(1).first().asString().contains("port").contains("many");
  }

  @ParameterizedTest
  @ValueSource(strings = {"help queues create", "queues help create", "queues create -h", "help"})
  void help_is_asked_for_in_any_order(String words) {
    Shell.CommandResult ran = Shell.run(words.split(" "));
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).startsWith("Usage: millrace ");
    assertThat(ran.out().contains("--plugin")).isEqualTo(words.contains("create"));
  }

  @Test
  void help_for_a_command_that_does_not_exist_is_refused() {
    for (String words : List.of("help queues creat", "queues help creat", "queues creat")) {
      Shell.CommandResult ran = Shell.run(words.split(" "));
      assertThat(ran.code()).isEqualTo(2);
      assertThat(ran.err())
          .contains("there is no command 'creat' in 'millrace queues'")
          .contains("Did you mean: millrace queues create?");
    }
  }

  @Test
  void only_what_is_alike_is_suggested() {
    assertThat(Shell.run("zzz").err())
        .contains("there is no command 'zzz'")
        .doesNotContain("Did you mean");
    assertThat(Shell.run("up", "--zzzzzz").err()).doesNotContain("Did you mean");
    assertThat(Shell.run("up", "--set", "zzz=1").err())
        .contains("there is no key zzz")
        .doesNotContain("did you mean");
  }

  /** Commands that run something, and are listed. */
  static Stream<String> leaves() {
    return commands()
        .filter(command -> commands().noneMatch(other -> other.startsWith(command + " ")));
  }

  @ParameterizedTest
  @MethodSource("leaves")
  void every_command_shows_two_examples_that_can_be_typed(String command) {
    List<String> examples = Examples.all().getOrDefault(command, List.of());
    assertThat(examples).as(command).hasSizeGreaterThanOrEqualTo(2);
    assertThat(Shell.run((command + " --help").split(" ")).out())
        .contains("Examples:")
        .contains(examples);
    for (String example : examples) {
      List<List<String>> calls = calls(example);
      calls.forEach(words -> PROGRAM.parseArgs(words.toArray(String[]::new)));
      assertThat(calls)
          .as(example)
          .anyMatch(words -> String.join(" ", words).concat(" ").startsWith(command + " "));
    }
  }

  @Test
  void examples_belong_to_commands() {
    assertThat(Examples.all().keySet()).containsExactlyInAnyOrderElementsOf(leaves().toList());
  }

  /** The calls of millrace in a line of a shell, each as its arguments. */
  private static List<List<String>> calls(String line) {
    List<List<String>> calls = new ArrayList<>();
    List<String> words = null;
    Matcher word = WORD.matcher(line);
    while (word.find()) {
      String text = word.group().replaceAll("^'(.*)'$", "$1");
      if (text.equals("millrace")) {
        words = new ArrayList<>();
        calls.add(words);
      } else if (OPERATOR.matcher(word.group()).matches()) {
        words = null;
      } else if (words != null) {
        words.add(text.replaceAll("='(.*)'$", "=$1"));
      }
    }
    // What another command passes on stands at the end of its arguments.
    calls.forEach(each -> {
      if (line.contains("xargs millrace " + String.join(" ", each))) {
        each.add("id");
      }
    });
    return calls;
  }

  @Test
  void shells_understand_the_script_for_completion(@TempDir Path folder) throws Exception {
    Shell.CommandResult ran = Shell.run("completion");
    assertThat(ran.code()).isZero();
    Path script = Files.writeString(folder.resolve("completion"), ran.out());
    Process shell =
        new ProcessBuilder(
                "bash",
                "-c",
                "source "
                    + script
                    + "; COMP_WORDS=(millrace queues cre); COMP_CWORD=2; COMP_LINE='millrace queues"
                    + " cre'; _complete_millrace; echo \"${COMPREPLY[@]}\"")
            .redirectErrorStream(true)
            .start();
    assertThat(new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip())
        .isEqualTo("create");
  }

  @Test
  void every_command_has_a_manual_page(@TempDir Path folder) throws IOException {
    Path pages = folder.resolve("man1");
    assertThat(Shell.run("man", "--output", pages.toString()).code()).isZero();
    for (String command : commands().toList()) {
      String page = Files.readString(pages.resolve("millrace-" + command.replace(' ', '-') + ".1"));
      assertThat(page)
          .startsWith(".TH ")
          .contains(".SH NAME\n", ".SH SYNOPSIS\n", ".SH OPTIONS\n", ".SH SEE ALSO\n")
          .doesNotContain("${", "%n");
    }
    assertThat(Files.readString(pages.resolve("millrace.1"))).contains("millrace\\-queues\\fR(1)");
    assertThat(Shell.run("man", "queues", "create").out())
        .isEqualTo(Files.readString(pages.resolve("millrace-queues-create.1")));
    assertThat(Shell.run("man", "queues", "crate").err())
        .contains("there is no command 'crate' in 'millrace queues'");
  }
}
