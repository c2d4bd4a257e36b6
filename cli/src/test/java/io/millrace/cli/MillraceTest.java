package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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

class MillraceTest {
  /** A command in the list of a group: two spaces, its names, and its description. */
  private static final Pattern LISTED = Pattern.compile("(?m)^  ([a-z-]+)(?:, [a-z-]+)*  +\\S");

  /** A command line in a module of the dashboard, without the values that the page fills in. */
  private static final Pattern SHOWN = Pattern.compile("\\./millrace ([a-z][^`\"$']*)");

  private static final Pattern OPTION = Pattern.compile("--[a-z][a-z-]+");

  private static final List<String> COMMANDS = allCommands();

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
  void a_bad_setting_stops_the_start_with_one_line(@TempDir Path folder) {
    Shell.CommandResult ran = Shell.run("up", "--data", folder.toString(), "--port", "many");
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err().lines()).hasSize(1).first().asString().contains("port").contains("many");
  }
}
