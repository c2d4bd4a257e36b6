package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server with its node, started again on its folder, wherever it listens then. */
@Timeout(value = 360, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UpRestartTest {
  private final Path root;
  private final List<Program> programs = new ArrayList<>();
  private String address = "";

  UpRestartTest(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() throws IOException {
    programs.forEach(Program::kill);
    Program.killAll(root);
  }

  private Program up() throws IOException {
    Program.Ready ready =
        Program.startReady(
            root.resolve("up.log"),
            List.of("-Xlog:class+load:file=" + root.resolve("classes.log")),
            List.of("up", "--port", "0", "--data", root.resolve("data").toString()));
    programs.add(ready.program());
    String line = ready.line();
    int from = line.indexOf("http://");
    address = line.substring(from, line.indexOf(' ', from));
    return ready.program();
  }

  private Shell.CommandResult run(String... command) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of("--server", address));
    Shell.CommandResult ran = Shell.run(all.toArray(String[]::new));
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran;
  }

  @Test
  void a_task_that_runs_is_reported_to_the_server_at_its_new_address() throws Exception {
    Path fifo = root.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    Program before = up();
    String old = address;
    run("queues", "create", "q", "--plugin", "shell", "--threads", "1");
    String task =
        run("tasks", "submit", "q", "command=echo begun > " + fifo + "; cat " + fifo).out().strip();
    assertThat(Files.readString(fifo)).isEqualTo("begun\n");

    assertThat(before.stopped()).isZero();
    up();
    assertThat(address).isNotEqualTo(old);
    Files.writeString(fifo, "and ended\n");

    run("tasks", "wait", task, "--timeout", "2m");
    assertThat(run("tasks", "tail", task, "--stdout").out()).isEqualTo("and ended\n");
    assertThat(Files.readString(root.resolve("classes.log")))
        .as("without --queues nothing of MongoDB's driver is loaded")
        .contains("io.millrace.queues.registry.Queues ")
        .doesNotContain("com.mongodb", "org.bson", "io.millrace.mongo.", "io.millrace.mongodb.");
  }
}
