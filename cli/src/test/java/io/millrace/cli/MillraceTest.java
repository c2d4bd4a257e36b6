package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MillraceTest {
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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "up",
        "node",
        "store",
        "store groups",
        "store list",
        "store get",
        "store add",
        "store claim",
        "store update",
        "store delete",
        "store watch",
        "store documents",
        "store document",
        "store backup",
        "store restore",
        "store verify",
        "queues",
        "queues list",
        "queues show",
        "queues create",
        "queues set",
        "queues delete",
        "tasks",
        "tasks submit",
        "tasks search",
        "tasks show",
        "tasks tail",
        "tasks wait",
        "tasks cancel",
        "tasks terminate",
        "tasks block",
        "tasks requeue",
        "nodes",
        "nodes list",
        "nodes set",
        "config",
        "config show",
        "config set",
        "jobs",
        "jobs submit",
        "jobs list",
        "jobs show",
        "jobs wait",
        "jobs result",
        "jobs retry",
        "jobs cancel",
        "jobs delete",
        "jobs batches",
        "graph",
        "graph run",
        "graph add",
        "graph show",
        "graph watch",
        "graph wait",
        "graph output",
        "graph kill",
        "graph retry",
        "graph rm",
        "graph export",
        "graph import",
        "workers",
        "worker",
        "demo",
        "demo wordcount"
      })
  void every_command_explains_itself(String command) {
    Shell.CommandResult ran = Shell.run((command + " --help").split(" "));
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).startsWith("Usage: millrace " + command);
    assertThat(ran.err()).isEmpty();
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
